//! Resolution of operators.

use std::borrow::Cow;

use solon_syntax::ast::{Name, Term, TermKind};

use super::body::Lowering;
use super::constants::constant;
use crate::builtins;
use crate::program::{RuleId, RuleKind};

/// Function that a call names.
pub(super) enum Called<'t> {
    /// A function of the policy.
    Rule(RuleId),
    /// A built-in, or a function of the host.
    Name(Cow<'t, str>),
}

impl Lowering<'_> {
    /// Returns the rule set of the function that an operator names, or `None` if it is not a function of the policy.
    pub(super) fn function(&self, operator: &Term) -> Option<RuleId> {
        let terms = operator.as_ref()?;
        if terms.first()?.as_var().is_none_or(|name| &**name != "data") {
            return None;
        }
        let mut node = 0;
        for term in terms.iter().skip(1) {
            node = self.program.tree.child(node, constant(term)?.borrow())?;
        }
        self.program.tree.node(node)?.rule
    }

    /// Returns the function that an operator names, or `None` if its name is not constant.
    pub(super) fn called<'t>(&self, operator: &'t Term) -> Option<Called<'t>> {
        match self.function(operator) {
            Some(rule) => Some(Called::Rule(rule)),
            None => operator_name(operator).map(Called::Name),
        }
    }

    /// Number of operands, without the result.
    pub(super) fn arity(&self, called: &Called<'_>) -> usize {
        let name = match called {
            Called::Rule(rule) => {
                let set = self.program.rules.get(*rule as usize);
                return match set.map(|set| set.kind) {
                    Some(RuleKind::Function(arity)) => arity as usize,
                    _ => 0,
                };
            }
            Called::Name(name) => &**name,
        };
        if let Some(function) = self.program.functions.iter().find(|f| *f.name == *name) {
            return function.arity();
        }
        match builtins::lookup(name).map(|entry| &*entry.declaration) {
            Some(crate::types::Type::Function(function)) if function.variadic.is_none() => {
                function.args.len()
            }
            _ => usize::MAX,
        }
    }
}

fn text(term: &Term) -> Option<&Name> {
    term.as_var().or_else(|| term.as_string())
}

/// Returns the dotted name of an operator. Returns `None` if a step is neither a name nor a string.
pub(super) fn operator_name(operator: &Term) -> Option<Cow<'_, str>> {
    match &operator.kind {
        TermKind::Var(name) => Some(Cow::Borrowed(name)),
        TermKind::Ref(terms) => {
            let (head, steps) = terms.split_first()?;
            if steps.is_empty() {
                return text(head).map(|name| Cow::Borrowed(&**name));
            }
            let mut name = String::with_capacity(32);
            name.push_str(text(head)?);
            for step in steps {
                name.push('.');
                name.push_str(text(step)?);
            }
            Some(Cow::Owned(name))
        }
        _ => None,
    }
}
