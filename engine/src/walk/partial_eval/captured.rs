//! Variables of support rules that have the name of a rule beside them: as source, they would be that rule.

use std::collections::BTreeSet;

use solon_syntax::ast::visit::{Flow, VisitorMut, WalkMut as _};
use solon_syntax::ast::{Expr, ExprKind, Name, Rule, Term, TermKind, VarScan};

use crate::impossible::WithinMut as _;

/// Gives such variables other names.
pub(super) fn without_captured(rules: &mut [Rule]) {
    let heads = rules.iter().filter_map(|rule| rule.head.reference.first());
    let taken: BTreeSet<Name> = heads.filter_map(Term::as_var).cloned().collect();
    for rule in rules {
        let mut used = BTreeSet::new();
        VarScan::default().collect(&rule.body, &mut used);
        let captured: Vec<Name> = used.intersection(&taken).cloned().collect();
        for name in captured {
            let mut free = format!("{name}_");
            while taken.contains(&*free) || used.contains(&*free) {
                free.push('_');
            }
            let mut renaming = Renaming {
                from: &name,
                to: free.into(),
            };
            // the rule's own name stays
            rule.head.reference.within_mut(1..).walk_mut(&mut renaming);
            rule.head.args.walk_mut(&mut renaming);
            rule.head.key.walk_mut(&mut renaming);
            rule.head.value.walk_mut(&mut renaming);
            rule.body.walk_mut(&mut renaming);
        }
    }
}

struct Renaming<'n> {
    from: &'n Name,
    to: Name,
}

impl VisitorMut for Renaming<'_> {
    fn expr(&mut self, expr: &mut Expr) -> Flow {
        expr.with.walk_mut(self);
        match &mut expr.kind {
            // functions keep their names
            ExprKind::Call(terms) => terms.within_mut(1..).walk_mut(self),
            kind => kind.walk_mut(self),
        }
        Flow::Over
    }

    fn term(&mut self, term: &mut Term) -> Flow {
        match &mut term.kind {
            TermKind::Var(name) if name == self.from => *name = self.to.clone(),
            TermKind::Call(terms) => {
                terms.within_mut(1..).walk_mut(self);
                return Flow::Over;
            }
            _ => {}
        }
        Flow::Into
    }
}
