//! What is known of variables before anything runs: it narrows what `data.p[x]` can refer to.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Expr, ExprKind, Name, Rule, Term, TermKind, VarScan};
use solon_syntax::print::display_ref;

use crate::builtins;
use crate::compile::functions::dotted;
use crate::compile::locals::Locals;
use crate::compile::rule_tree::ground_prefix;
use crate::compile::safety::OWN;
use crate::limits;
use crate::types::FunctionType;

/// What is known of a variable.
#[derive(Clone, Debug)]
pub enum Known {
    /// It has a value.
    Bound,
    /// What it is in its rule.
    Role(Arc<str>),
    /// Where its value comes from, in words; none when words would not help.
    Source(Option<Arc<str>>),
    /// It is one of these constants, which the text shows.
    Values(Arc<[Term]>, Arc<str>),
}

/// What is known of the variables of a rule's body, up to some expression of it.
pub struct Bindings<'c> {
    known: HashMap<Name, Known>,
    locals: &'c Locals,
}

impl<'c> Bindings<'c> {
    /// What is known before the body: arguments, and keys and values that a caller may ask for.
    pub fn new(rule: &Rule, args: &[Term], name: &str, locals: &'c Locals) -> Self {
        let mut known = HashMap::new();
        for term in rule.head.key.iter().chain(&rule.head.value) {
            VarScan::default().each(term, |_, name| {
                known.insert(name.clone(), Known::Bound);
            });
        }
        if let Some(key) = rule.head.key.as_ref().and_then(Term::as_var) {
            known.insert(key.clone(), role("a key", name));
        }
        for arg in args {
            VarScan::default().each(arg, |_, name| {
                known.insert(name.clone(), Known::Bound);
            });
            if let Some(arg) = arg.as_var() {
                known.insert(arg.clone(), role("an argument", name));
            }
        }
        Self { known, locals }
    }

    /// Goes on to the head, where all variables have values.
    pub fn enter_head(&mut self, rule: &Rule, name: &str) {
        let head = &rule.head;
        VarScan::default().each(head, |_, name| {
            self.known.entry(name.clone()).or_insert(Known::Bound);
        });
        for step in head.reference.iter().skip(1).chain(&head.key) {
            if let Some(var) = step.as_var() {
                let known = self.known.entry(var.clone()).or_insert(Known::Bound);
                if matches!(known, Known::Bound) {
                    *known = role("a key", name);
                }
            }
        }
    }

    /// What is known of a variable; `None` when it has no value yet.
    pub fn get(&self, name: &Name) -> Option<&Known> {
        self.known.get(name)
    }

    /// Goes on behind an expression.
    pub fn add(&mut self, expr: &Expr) {
        if let ExprKind::Call(terms) = &expr.kind
            && !expr.negated
            && expr.with.is_empty()
            && let Some((operator, operands)) = terms.split_first()
        {
            if let [left, right] = operands
                && (operator.is_operator("eq") || operator.is_operator("assign"))
            {
                self.equation(left, right);
                self.equation(right, left);
            } else {
                self.call(operator, operands);
            }
        }
        OWN.each(expr, |_, name| {
            self.known.entry(name.clone()).or_insert(Known::Bound);
        });
    }

    fn equation(&mut self, left: &Term, right: &Term) {
        let Some(name) = left.as_var() else {
            return;
        };
        let known = match &right.kind {
            TermKind::Var(other) => match self.known.get(other) {
                Some(known @ (Known::Source(_) | Known::Values(..))) => Some(known.clone()),
                _ => None,
            },
            TermKind::Ref(reference) => self.reference(reference),
            _ if is_constant(right) => {
                let text = right.to_string().into();
                Some(Known::Values([right.clone()].into(), text))
            }
            _ => None,
        };
        if let Some(known) = known {
            self.learn(name, known);
        }
    }

    /// What is known of the value of a reference.
    fn reference(&self, reference: &[Term]) -> Option<Known> {
        let (head, steps) = reference.split_first()?;
        let prefix = || {
            let prefix = self.locals.restore(ground_prefix(reference));
            display_ref(&prefix).to_string()
        };
        let source = match &**head.as_var()? {
            "input" => format!("comes from {}", prefix()),
            "data" => format!(
                "comes from rule {}, whose value isn't known at compile time",
                prefix()
            ),
            _ => {
                let (values, text) = self.values(head, steps)?;
                return Some(Known::Values(values.into(), text));
            }
        };
        Some(Known::Source(Some(source.into())))
    }

    /// The constants that a lookup in a known constant can find, and the text of the latter.
    pub fn values(&self, head: &Term, steps: &[Term]) -> Option<(Vec<Term>, Arc<str>)> {
        let Known::Values(values, text) = self.known.get(head.as_var()?)? else {
            return None;
        };
        let mut found: Vec<&Term> = values.iter().collect();
        for step in steps {
            let mut next = Vec::new();
            for value in found {
                members(value, step, &mut next);
                if next.len() > limits::LOOKUP_COMBINATIONS + 1 {
                    return None;
                }
            }
            found = next;
        }
        Some((found.into_iter().cloned().collect(), text.clone()))
    }

    /// A call with an output.
    fn call(&mut self, operator: &Term, operands: &[Term]) {
        let entry = operator.as_ref().and_then(|reference| dotted(reference));
        let Some(entry) = entry.and_then(|name| builtins::lookup(&name)) else {
            return;
        };
        let arity = entry.declaration.as_function().map(FunctionType::arity);
        if let Some(output) = arity.and_then(|arity| operands.get(arity))
            && let Some(name) = output.as_var()
        {
            let builtin = entry.builtin;
            let words = builtin
                .infix
                .is_empty()
                .then(|| format!("is computed by {}", builtin.name).into());
            self.learn(name, Known::Source(words));
        }
    }

    /// Constants count more than sources, and what came first more than what comes later.
    fn learn(&mut self, name: &Name, new: Known) {
        match self.known.get_mut(name) {
            Some(Known::Values(..)) => {}
            Some(Known::Source(_)) if matches!(new, Known::Source(_)) => {}
            Some(known) => *known = new,
            None => {
                self.known.insert(name.clone(), new);
            }
        }
    }
}

fn role(what: &str, name: &str) -> Known {
    Known::Role(format!("is {what} of {name}").into())
}

/// What a step finds in a constant; a variable finds all.
fn members<'t>(value: &'t Term, step: &Term, found: &mut Vec<&'t Term>) {
    let is_any = !is_constant(step);
    match &value.kind {
        TermKind::Array(items) if is_any => found.extend(items),
        TermKind::Set(items) => found.extend(items.iter().filter(|item| is_any || *item == step)),
        TermKind::Object(pairs) => {
            let matching = pairs.iter().filter(|(key, _)| is_any || key == step);
            found.extend(matching.map(|(_, value)| value));
        }
        TermKind::Array(items) => {
            if let TermKind::Number(text) = &step.kind
                && let Ok(index) = text.parse::<usize>()
            {
                found.extend(items.get(index));
            }
        }
        _ => {}
    }
}

/// Whether a term is the same whenever it is evaluated.
pub fn is_constant(term: &Term) -> bool {
    match &term.kind {
        TermKind::Null | TermKind::Boolean(_) | TermKind::Number(_) | TermKind::String(_) => true,
        TermKind::Array(items) | TermKind::Set(items) => items.iter().all(is_constant),
        TermKind::Object(pairs) => pairs
            .iter()
            .all(|(key, value)| is_constant(key) && is_constant(value)),
        _ => false,
    }
}
