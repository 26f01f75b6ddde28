//! `with`: what is replaced, and by what.

use solon_syntax::ast::{Term, TermKind, With};

use super::body::Lowering;
use super::called::operator_name;
use super::constants::constant;
use crate::builtins::{self, Run};
use crate::program::{Callee, Modifier, RuleKind, Target};

impl Lowering<'_> {
    /// The replacement that a `with` asks for.
    pub(super) fn modifier(&mut self, with: &With) -> Option<Modifier> {
        let root = match &with.target.kind {
            TermKind::Var(name) => name.clone(),
            TermKind::Ref(terms) => terms.first()?.as_var()?.clone(),
            _ => return None,
        };
        let path = || -> Option<Vec<_>> {
            match &with.target.kind {
                TermKind::Ref(terms) => terms.iter().skip(1).map(constant).collect(),
                _ => Some(Vec::new()),
            }
        };
        let target = match (&*root, self.callee(&with.target)) {
            (_, Some(callee)) => self.replacement(callee, &with.value),
            ("input", None) => {
                let path = path()?
                    .into_iter()
                    .map(|key| self.constants.add(key))
                    .collect();
                Target::Input(path, self.term(&with.value))
            }
            ("data", None) => {
                let path = path()?
                    .into_iter()
                    .map(|key| self.constants.add(key))
                    .collect();
                Target::Data(path, self.term(&with.value))
            }
            _ => return None,
        };
        Some(Modifier {
            target,
            span: with.span,
        })
    }

    fn replacement(&mut self, callee: Callee, value: &Term) -> Target {
        if let Some(rule) = self.function(value) {
            return Target::ByRule(callee, rule);
        }
        let name = operator_name(value).filter(|_| self.unbound(value));
        match name.and_then(|name| builtins::lookup(&name)) {
            Some(entry) => Target::ByBuiltin(callee, entry),
            None => Target::ByValue(callee, self.term(value)),
        }
    }

    fn unbound(&self, term: &Term) -> bool {
        let head = term
            .as_ref()
            .and_then(|terms| terms.first())
            .unwrap_or(term);
        head.as_var()
            .is_some_and(|name| self.binding(name).is_none())
    }

    /// What a `with` target names, if it can be called.
    fn callee(&self, target: &Term) -> Option<Callee> {
        if let Some(rule) = self.function(target) {
            let set = self.program.rules.get(rule as usize)?;
            return matches!(set.kind, RuleKind::Function(_)).then_some(Callee::Rule(rule));
        }
        let name = operator_name(target)?;
        if let Some(function) = self.program.function(&name) {
            return Some(Callee::Custom(function));
        }
        let entry = builtins::lookup(&name)?;
        matches!(entry.builtin.run, Run::Function(_)).then_some(Callee::Builtin(entry.builtin.name))
    }
}
