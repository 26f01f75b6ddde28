//! Unused declared variables.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use solon_syntax::ast::{Body, Name, VarScan};
use solon_syntax::source::Span;

use super::renamer::Renamer;
use super::scopes::{Occurrence, Scopes};
use crate::compile::locals::Locals;

impl Renamer<'_> {
    /// Strict mode: rejects variables declared by `:=` in this scope that do not occur again in it or in an inner
    /// scope.
    pub(super) fn check_unused_assigned(&mut self, spans: &[Span], used_names: &BTreeSet<Name>) {
        if !self.strict {
            return;
        }
        self.check_unused(spans, Occurrence::Assigned, |scopes, name, local| {
            name.starts_with('$')
                || scopes.find(name).is_some_and(|variable| variable.count > 1)
                || is_used(scopes, used_names, local)
        });
    }

    /// Rejects variables declared by `some` or `every` in this scope that do not occur in its body or in the terms that
    /// it belongs to.
    pub(super) fn check_unused_declared(
        &mut self,
        spans: &[Span],
        used_names: &BTreeSet<Name>,
        body: &Body,
    ) {
        let Some(scope) = self.scopes.innermost() else {
            return;
        };
        let declared = scope
            .variables
            .iter()
            .filter(|(name, variable)| {
                variable.occurrence == Occurrence::Declared && !name.starts_with(Locals::MODULES)
            })
            .map(|(_, variable)| variable.local.clone());
        let missing = missing_in(body, declared.collect());
        if !missing.is_empty() {
            self.check_unused(spans, Occurrence::Declared, |scopes, _, local| {
                !missing.contains(local) || is_used(scopes, used_names, local)
            });
        }
    }

    fn check_unused(
        &mut self,
        spans: &[Span],
        occurrence: Occurrence,
        mut is_used: impl FnMut(&Scopes, &Name, &Name) -> bool,
    ) {
        // other errors about the variables of a rule take precedence
        if !self.errors.is_empty() || !self.unused.is_empty() {
            return;
        }
        let Some(scope) = self.scopes.innermost() else {
            return;
        };
        let mut unused = Vec::new();
        for (name, variable) in scope.variables.iter() {
            if variable.occurrence == occurrence && !is_used(&self.scopes, name, &variable.local) {
                unused.push((&variable.local, variable.declared_by, name));
            }
        }
        unused.sort();
        let verb = match occurrence {
            Occurrence::Assigned => "assigned",
            _ => "declared",
        };
        for (_, position, name) in unused {
            let span = spans.get(position).copied().unwrap_or_default();
            let name = if name.starts_with('$') { "_" } else { name };
            self.unused
                .push((span, format!("{verb} var {name} unused")));
        }
    }
}

/// Returns the names that no variable of a body has. Stops when none is left.
fn missing_in(body: &Body, mut names: HashSet<Name>) -> HashSet<Name> {
    if !names.is_empty() {
        VarScan::default().each(body, |_, name| {
            if !names.is_empty() {
                names.remove(name);
            }
        });
    }
    names
}

/// Returns `true` if a local replaces one of the used names. Linear in their number.
fn is_used(scopes: &Scopes, used_names: &BTreeSet<Name>, local: &Name) -> bool {
    used_names.iter().any(|name| match scopes.find(name) {
        Some(variable) => variable.local == *local,
        None => name == local,
    })
}
