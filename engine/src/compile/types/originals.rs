//! Terms in the words of the source, for messages: generated locals give way to what they stand for.

use hashbrown::HashMap;

use solon_syntax::ast::visit::{Exprs, Flow, Terms, Walk, WalkMut};
use solon_syntax::ast::{Expr, ExprKind, Name, Ref, Term, TermKind};

use crate::compile::locals::Locals;
use crate::limits;

/// What generated locals of one rule or query stand for.
pub struct Originals<'a> {
    locals: &'a Locals,
    terms: HashMap<&'a Name, Original<'a>>,
}

#[derive(Clone, Copy)]
enum Original<'a> {
    /// A term that was moved out of another.
    Term(&'a Term),
    /// A call that was moved out, without its output.
    Call(&'a [Term]),
}

impl<'a> Originals<'a> {
    /// Collects what the expressions in a node gave to locals.
    pub fn of<N: Walk + ?Sized>(node: &'a N, locals: &'a Locals) -> Self {
        let mut terms = HashMap::new();
        node.walk(&mut Exprs(|expr: &'a Expr| {
            if let Some((name, original)) = moved(expr, locals) {
                terms.entry(name).or_insert(original);
            }
            Flow::Into
        }));
        Self { locals, terms }
    }

    /// A reference as the user wrote it.
    pub fn restore(&self, reference: &[Term]) -> Ref {
        let mut reference = reference.to_vec();
        for term in &mut reference {
            self.restore_term(term, 0);
        }
        reference
    }

    fn restore_term(&self, term: &mut Term, depth: usize) {
        if depth > limits::TYPE_NESTING {
            return;
        }
        term.walk_mut(&mut Terms(|term: &mut Term| {
            let TermKind::Var(name) = &mut term.kind else {
                return Flow::Into;
            };
            match self.terms.get(name) {
                Some(Original::Term(original)) => term.kind = original.kind.clone(),
                Some(Original::Call(terms)) => term.kind = TermKind::Call(terms.to_vec().into()),
                None => {
                    *name = self.locals.original(name).clone();
                    return Flow::Over;
                }
            }
            self.restore_term(term, depth + 1);
            Flow::Over
        }));
    }
}

/// The local that an expression gives a moved term to.
fn moved<'a>(expr: &'a Expr, locals: &Locals) -> Option<(&'a Name, Original<'a>)> {
    let ExprKind::Call(terms) = &expr.kind else {
        return None;
    };
    let unnamed = |term: &'a Term| {
        let name = term.as_var()?;
        let generated = name.starts_with(Locals::MODULES) && locals.original(name) == name;
        generated.then_some(name)
    };
    if let Some([left, right]) = expr.operands_of("eq") {
        return match unnamed(left) {
            Some(name) => Some((name, Original::Term(right))),
            None => unnamed(right).map(|name| (name, Original::Term(left))),
        };
    }
    let (output, call) = terms.split_last()?;
    unnamed(output).map(|name| (name, Original::Call(call)))
}
