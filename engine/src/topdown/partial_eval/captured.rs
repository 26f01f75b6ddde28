//! Renames variables of support rules that have the name of a rule in the same package: printed as source, they would
//! refer to that rule.

use std::collections::{BTreeMap, BTreeSet};

use solon_syntax::ast::visit::WalkMut as _;
use solon_syntax::ast::{Name, Rule, Term, VarScan};

use super::residual::Renaming;
use crate::bug::WithinMut as _;

/// Renames such variables.
pub(super) fn without_captured(rules: &mut [Rule]) {
    let heads = rules.iter().filter_map(|rule| rule.head.reference.first());
    let taken: BTreeSet<Name> = heads.filter_map(Term::as_var).cloned().collect();
    for rule in rules {
        let mut used = BTreeSet::new();
        VarScan::default().collect(&rule.body, &mut used);
        let free = |name: &Name| {
            let mut free = format!("{name}_");
            while taken.contains(&*free) || used.contains(&*free) {
                free.push('_');
            }
            (name.clone(), Name::from(free))
        };
        let others: BTreeMap<Name, Name> = used.intersection(&taken).map(free).collect();
        if others.is_empty() {
            continue;
        }
        let mut renaming = Renaming(|name: &mut Name| {
            if let Some(other) = others.get(name) {
                *name = other.clone();
            }
        });
        // the name of the rule itself stays
        rule.head.reference.within_mut(1..).walk_mut(&mut renaming);
        rule.head.args.walk_mut(&mut renaming);
        rule.head.key.walk_mut(&mut renaming);
        rule.head.value.walk_mut(&mut renaming);
        rule.body.walk_mut(&mut renaming);
    }
}
