//! RewriteRuleHeadRefs: references of heads contain only scalars and variables.
//!
//! `p.q[r.s] := v` becomes `p.q[x] := v` with `x = r.s` in its body, a form that the rule tree can represent.

use solon_syntax::ast::TermKind;

use super::{append, hoist};
use crate::compile::Compilation;
use crate::compile::facts::Facts;

/// Moves terms that must be evaluated out of the references of heads.
pub fn rewrite(compilation: &mut Compilation<'_>) {
    let locals = &mut compilation.locals;
    for rule in compilation.modules.rules_with_mut(Facts::OPEN_HEAD) {
        let head = &mut rule.head;
        let last = head.reference.len().saturating_sub(1);
        let mut bindings = Vec::new();
        for (position, part) in head.reference.iter_mut().enumerate().skip(1) {
            if part.is_scalar() || matches!(part.kind, TermKind::Var(_)) {
                continue;
            }
            let is_key = position == last && head.key.as_ref() == Some(part);
            bindings.push(hoist(locals, part));
            if is_key {
                head.key = Some(part.clone());
            }
        }
        append(&mut rule.body, bindings);
    }
}
