//! `with`: replaced targets and their replacements.

use solon_syntax::ast::{Term, TermKind, With};

use super::body::Lowering;
use super::called::operator_name;
use crate::builtins::{self, BuiltinFn};
use crate::program::{Callee, ConstId, ModifierTarget, Operand, RuleKind, document_path};

impl Lowering<'_> {
    /// Lowers the replacement of a `with`. Returns `None` if the target is neither a function nor a root document.
    pub(super) fn modifier(&mut self, with: &With) -> Option<ModifierTarget> {
        let root = match &with.target.kind {
            TermKind::Var(name) => name.clone(),
            TermKind::Ref(terms) => terms.first()?.as_var()?.clone(),
            _ => return None,
        };
        Some(match (&*root, self.callee(&with.target)) {
            (_, Some(callee)) => self.replacement(callee, &with.value),
            ("input", None) => self.replaced_document(ModifierTarget::Input, with),
            ("data", None) => self.replaced_document(ModifierTarget::Data, with),
            _ => return None,
        })
    }

    /// Lowers a replacement of a part of the input or of the documents. The path must consist of strings.
    fn replaced_document(
        &mut self,
        target: impl FnOnce(Box<[ConstId]>, Operand) -> ModifierTarget,
        with: &With,
    ) -> ModifierTarget {
        let value = self.term(&with.value);
        match document_path(&with.target) {
            Some(path) => {
                let path = path.into_iter().map(|key| self.constants.add(key));
                target(path.collect(), value)
            }
            None => ModifierTarget::Nowhere,
        }
    }

    fn replacement(&mut self, callee: Callee, value: &Term) -> ModifierTarget {
        if let Some(rule) = self.function(value) {
            return ModifierTarget::ByRule(callee, rule);
        }
        let name = operator_name(value).filter(|_| self.unbound(value));
        match name.and_then(|name| builtins::lookup(&name)) {
            Some(entry) => ModifierTarget::ByBuiltin(callee, entry),
            None => ModifierTarget::ByValue(callee, self.term(value)),
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

    /// Returns the function that a `with` target names, or `None` if it names a document.
    fn callee(&self, target: &Term) -> Option<Callee> {
        if let Some(rule) = self.function(target) {
            let set = self.program.rules.get(rule as usize)?;
            return matches!(set.kind, RuleKind::Function(_)).then_some(Callee::Rule(rule));
        }
        let name = operator_name(target)?;
        if let Some(function) = self.program.function(&name) {
            return Some(Callee::HostFunction(function));
        }
        let entry = builtins::lookup(&name)?;
        matches!(entry.builtin.run, BuiltinFn::Function(_))
            .then_some(Callee::Builtin(entry.builtin.name))
    }
}
