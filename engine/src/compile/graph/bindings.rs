//! Knowledge about variables before evaluation. It narrows down the rules that `data.p[x]` can refer to.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Expr, ExprKind, Name, Rule, Term, TermKind, VarScan};
use solon_syntax::print::display_ref;

use crate::builtins::{self, Builtin};
use crate::compile::functions::dotted;
use crate::compile::locals::Locals;
use crate::compile::rule_tree::ground_prefix;
use crate::compile::safety::OWN;
use crate::limits;
use crate::types::FunctionType;

#[derive(Clone)]
pub enum VarState<'t> {
    Bound,
    /// Its role in the rule, as a text for users.
    Role(&'static str),
    /// Origin of its value, a document or a call.
    Source(ValueOrigin<'t>),
    /// It is one of these constants, which are members of the last one.
    Values(Vec<&'t Term>, &'t Term),
}

/// Origin of a value. It is rendered as text only on demand.
#[derive(Clone, Copy)]
pub enum ValueOrigin<'t> {
    Document(&'t [Term]),
    /// A call of a built-in; the name of an infix operator would not help the user.
    Call(&'static Builtin),
}

/// State of the variables of a rule's body before some expression of it.
pub struct Bindings<'c> {
    states: HashMap<&'c Name, VarState<'c>>,
    locals: &'c Locals,
}

impl<'c> Bindings<'c> {
    /// Returns the state before the body: arguments, and keys and values that a caller may provide.
    pub fn new(rule: &'c Rule, args: &'c [Term], locals: &'c Locals) -> Self {
        let mut states = HashMap::new();
        for term in rule.head.key.iter().chain(&rule.head.value) {
            VarScan::default().each(term, |_, name| {
                states.insert(name, VarState::Bound);
            });
        }
        if let Some(key) = rule.head.key.as_ref().and_then(Term::as_var) {
            states.insert(key, VarState::Role("a key"));
        }
        for arg in args {
            VarScan::default().each(arg, |_, name| {
                states.insert(name, VarState::Bound);
            });
            if let Some(arg) = arg.as_var() {
                states.insert(arg, VarState::Role("an argument"));
            }
        }
        Self { states, locals }
    }

    /// Advances to the head, where all variables have values.
    pub fn enter_head(&mut self, rule: &'c Rule) {
        let head = &rule.head;
        VarScan::default().each(head, |_, name| {
            self.states.entry(name).or_insert(VarState::Bound);
        });
        for step in head.reference.iter().skip(1).chain(&head.key) {
            if let Some(var) = step.as_var() {
                let state = self.states.entry(var).or_insert(VarState::Bound);
                if matches!(state, VarState::Bound) {
                    *state = VarState::Role("a key");
                }
            }
        }
    }

    /// Returns the state of a variable; `None` if it has no value yet.
    pub fn get(&self, name: &Name) -> Option<&VarState<'c>> {
        self.states.get(name)
    }

    /// Describes the origin of a value; `None` if a description would not help the user.
    pub fn describe(&self, origin: ValueOrigin<'_>) -> Option<Arc<str>> {
        let reference = match origin {
            ValueOrigin::Call(builtin) => {
                let text = || format!("is computed by {}", builtin.name).into();
                return builtin.infix.is_empty().then(text);
            }
            ValueOrigin::Document(reference) => reference,
        };
        let prefix = self.locals.restore(ground_prefix(reference));
        let prefix = display_ref(&prefix);
        let is_input = is_var(reference.first()?, "input");
        Some(if is_input {
            format!("comes from {prefix}").into()
        } else {
            format!("comes from rule {prefix}, whose value isn't known at compile time").into()
        })
    }

    /// Advances past an expression.
    pub fn add(&mut self, expr: &'c Expr) {
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
            self.states.entry(name).or_insert(VarState::Bound);
        });
    }

    fn equation(&mut self, left: &'c Term, right: &'c Term) {
        let Some(name) = left.as_var() else {
            return;
        };
        let state = match &right.kind {
            TermKind::Var(other) => match self.states.get(other) {
                Some(state @ (VarState::Source(_) | VarState::Values(..))) => Some(state.clone()),
                _ => None,
            },
            TermKind::Ref(reference) => self.reference(reference),
            _ if is_constant(right) => Some(VarState::Values(vec![right], right)),
            _ => None,
        };
        if let Some(state) = state {
            self.learn(name, state);
        }
    }

    /// Returns the state of a reference's value, or `None` if nothing is known about its head.
    fn reference(&self, reference: &'c [Term]) -> Option<VarState<'c>> {
        let (head, steps) = reference.split_first()?;
        match &**head.as_var()? {
            "input" | "data" => Some(VarState::Source(ValueOrigin::Document(reference))),
            _ => {
                let (values, reference) = self.values(head, steps)?;
                Some(VarState::Values(values, reference))
            }
        }
    }

    /// Returns the constants that a lookup in a known constant can find, and that constant. Returns `None` if the constant is
    /// unknown, or if the lookup can find too many.
    pub fn values(&self, head: &Term, steps: &[Term]) -> Option<(Vec<&'c Term>, &'c Term)> {
        let VarState::Values(values, reference) = self.states.get(head.as_var()?)? else {
            return None;
        };
        let mut selected: Vec<&'c Term> = values.clone();
        for step in steps {
            let mut next = Vec::new();
            for value in selected {
                members(value, step, &mut next);
                if next.len() > limits::LOOKUP_COMBINATIONS + 1 {
                    return None;
                }
            }
            selected = next;
        }
        Some((selected, reference))
    }

    /// Handles a call with an output operand.
    fn call(&mut self, operator: &Term, operands: &'c [Term]) {
        let entry = operator.as_ref().and_then(|reference| dotted(reference));
        let Some(entry) = entry.and_then(|name| builtins::lookup(&name)) else {
            return;
        };
        let arity = entry.declaration.as_function().map(FunctionType::arity);
        if let Some(output) = arity.and_then(|arity| operands.get(arity))
            && let Some(name) = output.as_var()
        {
            self.learn(name, VarState::Source(ValueOrigin::Call(entry.builtin)));
        }
    }

    /// Records the state of a variable. Constants have precedence over origins, and earlier states over later ones.
    fn learn(&mut self, name: &'c Name, new: VarState<'c>) {
        match self.states.get_mut(name) {
            Some(VarState::Values(..)) => {}
            Some(VarState::Source(_)) if matches!(new, VarState::Source(_)) => {}
            Some(state) => *state = new,
            None => {
                self.states.insert(name, new);
            }
        }
    }
}

/// Returns `true` if a term is the variable of that name, not a reference to it.
pub fn is_var(term: &Term, name: &str) -> bool {
    term.as_var().is_some_and(|var| **var == *name)
}

/// Adds the members of a constant that a step selects; a variable selects all.
fn members<'t>(value: &'t Term, step: &Term, selected: &mut Vec<&'t Term>) {
    let is_any = !is_constant(step);
    match &value.kind {
        TermKind::Array(items) if is_any => selected.extend(items),
        TermKind::Set(items) => {
            selected.extend(items.iter().filter(|item| is_any || *item == step));
        }
        TermKind::Object(pairs) => {
            let matching = pairs.iter().filter(|(key, _)| is_any || key == step);
            selected.extend(matching.map(|(_, value)| value));
        }
        TermKind::Array(items) => {
            if let TermKind::Number(text) = &step.kind
                && let Ok(index) = text.parse::<usize>()
            {
                selected.extend(items.get(index));
            }
        }
        _ => {}
    }
}

/// Returns `true` if a term has the same value in every evaluation.
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
