//! Selects the rules that a block applies to: those whose references have the same ground prefix, as in OPA.

use std::hash::{Hash, Hasher};

use crate::ast::order::{sorted, sorted_pairs};
use crate::ast::{Comprehension, Expr, ExprKind, Rule, Term, TermKind};
use crate::stack;

/// Ground prefix of a rule's reference: its terms up to the first one that can have several values.
///
/// A reference such as `loc.row` is ground whatever its head is. Numbers are equal only if they are spelled alike.
#[derive(Debug)]
pub(super) struct Target<'a>(Vec<&'a Term>);

impl<'a> Target<'a> {
    /// Returns the target of a block above a rule.
    pub(super) fn from_rule(rule: &'a Rule) -> Self {
        let terms = rule.head.reference.iter().enumerate();
        let ground = terms.take_while(|(index, term)| *index == 0 || is_ground(term));
        Self(ground.map(|(_, term)| term).collect())
    }
}

impl PartialEq for Target<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0 && numbers(&self.0) == numbers(&other.0)
    }
}

impl Eq for Target<'_> {}

impl Hash for Target<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

/// Returns `true` if a term contains no variable except as the head of a reference. Templates always count as
/// variables.
fn is_ground(term: &Term) -> bool {
    stack::level(|| match &term.kind {
        TermKind::Null | TermKind::Boolean(_) | TermKind::Number(_) | TermKind::String(_) => true,
        TermKind::Ref(terms) => terms.iter().skip(1).all(is_ground),
        TermKind::Array(terms) | TermKind::Set(terms) | TermKind::Call(terms) => {
            terms.iter().all(is_ground)
        }
        TermKind::Object(pairs) => {
            let mut pairs = pairs.iter();
            pairs.all(|(key, value)| is_ground(key) && is_ground(value))
        }
        TermKind::ArrayComprehension(comprehension)
        | TermKind::SetComprehension(comprehension)
        | TermKind::ObjectComprehension(comprehension) => is_ground_within(comprehension),
        TermKind::Var(_) | TermKind::Template(_) => false,
    })
}

fn is_ground_within(comprehension: &Comprehension) -> bool {
    let expr = |expr: &Expr| match &expr.kind {
        ExprKind::Term(term) => is_ground(term),
        ExprKind::Call(terms) => terms.iter().all(is_ground),
        _ => false,
    };
    comprehension.key.iter().all(is_ground)
        && is_ground(&comprehension.head)
        && comprehension.body.iter().all(expr)
}

/// Returns the spellings of all numbers, in an order that is the same for equal terms.
fn numbers<'a>(terms: &[&'a Term]) -> Vec<&'a str> {
    let mut numbers = Vec::new();
    for term in terms {
        collect(term, &mut numbers);
    }
    numbers
}

fn collect<'a>(term: &'a Term, numbers: &mut Vec<&'a str>) {
    stack::level(|| match &term.kind {
        TermKind::Number(text) => numbers.push(text),
        TermKind::Ref(terms) => terms.iter().for_each(|term| collect(term, numbers)),
        TermKind::Array(terms) | TermKind::Call(terms) => {
            terms.iter().for_each(|term| collect(term, numbers));
        }
        TermKind::Set(members) => {
            for term in sorted(members) {
                collect(term, numbers);
            }
        }
        TermKind::Object(pairs) => {
            for (key, value) in sorted_pairs(pairs) {
                collect(key, numbers);
                collect(value, numbers);
            }
        }
        TermKind::ArrayComprehension(comprehension)
        | TermKind::SetComprehension(comprehension)
        | TermKind::ObjectComprehension(comprehension) => {
            for term in comprehension.key.iter().chain([&comprehension.head]) {
                collect(term, numbers);
            }
            for expr in &comprehension.body {
                match &expr.kind {
                    ExprKind::Term(term) => collect(term, numbers),
                    ExprKind::Call(terms) => terms.iter().for_each(|term| collect(term, numbers)),
                    _ => {}
                }
            }
        }
        _ => {}
    });
}
