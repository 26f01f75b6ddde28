//! RewriteRefsInHead: heads contain no terms that must be evaluated.
//!
//! `p := input.x` becomes `p := x` with `x = input.x` at the end of its body.

use super::{append, each_branch_with, hoist, requires_evaluation};
use crate::compile::Compilation;
use crate::compile::facts::Facts;

/// Moves terms that must be evaluated out of keys, values and arguments.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let locals = &mut compilation.locals;
    each_branch_with(&mut compilation.modules, Facts::OPEN_HEAD, |rule| {
        let head = &mut rule.head;
        let terms = head
            .key
            .iter_mut()
            .chain(&mut head.value)
            .chain(&mut head.args);
        let bindings: Vec<_> = terms
            .filter(|term| requires_evaluation(term))
            .map(|term| hoist(locals, term))
            .collect();
        append(&mut rule.body, bindings);
    });
}
