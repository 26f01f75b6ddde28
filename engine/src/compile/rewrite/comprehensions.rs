//! RewriteComprehensionTerms: moves evaluated terms from comprehension heads into their bodies.
//!
//! `[x.y | x := xs[_]]` becomes `[z | x := xs[_]; z = x.y]`.

use solon_syntax::ast::Term;
use solon_syntax::ast::visit::{Descent, VisitorMut, WalkMut};

use super::{append, arrange, comprehension, hoist, requires_evaluation};
use crate::compile::facts::Facts;
use crate::compile::locals::Locals;
use crate::compile::{Compilation, QueryCompilation};

/// Rewrites comprehensions in all modules, outer ones first.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let mut rewriter = ComprehensionRewriter {
        locals: &mut compilation.locals,
    };
    let facts = Facts::COMPREHENSION | Facts::COLLECTION;
    for rule in compilation.modules.rules_with_mut(facts) {
        rule.walk_mut(&mut rewriter);
    }
}

/// Rewrites comprehensions in a query, outer ones first.
pub fn rewrite_query(query: &mut QueryCompilation<'_>) {
    let locals = query.locals.restart(&query.body);
    query.body.walk_mut(&mut ComprehensionRewriter { locals });
}

struct ComprehensionRewriter<'l> {
    locals: &'l mut Locals,
}

impl VisitorMut for ComprehensionRewriter<'_> {
    fn term(&mut self, term: &mut Term) -> Descent {
        arrange(term);
        if let Some(inner) = comprehension(term) {
            let heads = inner.key.iter_mut().chain([&mut inner.head]);
            let bindings: Vec<_> = heads
                .filter(|head| requires_evaluation(head))
                .map(|head| hoist(self.locals, head))
                .collect();
            append(&mut inner.body, bindings);
        }
        Descent::Into
    }
}
