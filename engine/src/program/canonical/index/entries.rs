//! Index notes of a rule's body, expression by expression, as in OPA's rule index.
//!
//! An operand is noted together with a test, or with the variable that is bound to it. A variable refers to the first
//! operand that it was noted with, until a value replaces it there.

use std::borrow::Cow;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;
use solon_syntax::ast::{Expr, ExprKind, Name, Term, TermKind};
use solon_syntax::stack;

use super::noted::{Note, What, constraints};
use super::{ConditionOperand, Conditions, Membership, Test, glob};
use crate::builtins::{IndexTest, index_test};
use crate::program::constant;
use crate::value::Value;

/// Maximum number of alternatives of one rule; beyond it, those of `or` are ignored.
const ALTERNATIVES: usize = 32;

/// Notes that must all hold for the rule to match.
type RuleNotes<'r> = Vec<Note<'r>>;

/// Notes of a body, collected expression by expression.
pub(super) struct Entries<'r> {
    is_virtual: &'r dyn Fn(&[Term]) -> bool,
    args: &'r [Term],
    constants: HashMap<&'r Name, &'r Term>,
    list: RuleNotes<'r>,
    /// Operands that variables are bound to; in a nested body, including those of outer bodies.
    names: HashMap<&'r Name, ConditionOperand>,
    /// For each `or`, the lists of which one must hold.
    choices: Vec<Vec<RuleNotes<'r>>>,
    memberships: Vec<Membership>,
}

impl<'r> Entries<'r> {
    pub(super) fn new(args: &'r [Term], is_virtual: &'r dyn Fn(&[Term]) -> bool) -> Self {
        Self {
            is_virtual,
            args,
            constants: HashMap::new(),
            list: Vec::new(),
            names: HashMap::new(),
            choices: Vec::new(),
            memberships: Vec::new(),
        }
    }

    pub(super) fn conditions(mut self) -> Conditions {
        let memberships = std::mem::take(&mut self.memberships);
        let alternatives = self.alternatives();
        Conditions {
            alternatives: alternatives.into_iter().map(constraints).collect(),
            memberships,
        }
    }

    pub(super) fn expr(&mut self, expr: &'r Expr) {
        if expr.negated || !expr.with.is_empty() {
            return;
        }
        match &expr.kind {
            ExprKind::Term(term) => {
                if matches!(term.kind, TermKind::Ref(_))
                    && !self.membership(term)
                    && let Some(place) = self.document(term)
                {
                    self.add(place, What::Something(None));
                }
            }
            ExprKind::Call(terms) => {
                if let Some((operator, operands)) = terms.split_first() {
                    self.call(operator, operands);
                }
            }
            ExprKind::And(pair) => {
                // chains nest in the left operand
                let left = stack::level(|| self.side(&pair.lhs));
                let right = self.side(&pair.rhs);
                self.require(left);
                self.require(right);
            }
            ExprKind::Or(pair) => {
                let mut either = stack::level(|| self.side(&pair.lhs));
                let mut right = self.side(&pair.rhs);
                if !either.is_empty() && !right.is_empty() {
                    either.append(&mut right);
                    self.require(either);
                }
            }
            _ => {}
        }
    }

    /// Returns the alternatives of one side of `and` or `or`; empty if anything may hold there.
    fn side(&self, body: &'r [Expr]) -> Vec<RuleNotes<'r>> {
        let mut inner = Self::new(self.args, self.is_virtual);
        inner.constants.clone_from(&self.constants);
        inner.names.clone_from(&self.names);
        for expr in body {
            inner.expr(expr);
        }
        let mut alternatives = inner.alternatives();
        if matches!(alternatives.as_slice(), [only] if only.is_empty()) {
            return Vec::new();
        }
        // the variables of a side are local to it
        for entry in alternatives.iter_mut().flatten() {
            if entry.what.is_something() {
                entry.what = What::Something(None);
            }
        }
        alternatives
    }

    fn require(&mut self, mut alternatives: Vec<RuleNotes<'r>>) {
        if alternatives.len() > 1 {
            self.choices.push(alternatives);
        } else if let Some(only) = alternatives.pop() {
            for entry in only {
                self.note(entry.place, entry.what, entry.further);
            }
        }
    }

    /// Returns the alternatives of a body: the common notes combined with one list of each choice.
    fn alternatives(&self) -> Vec<RuleNotes<'r>> {
        let mut alternatives = vec![self.list.clone()];
        for choice in &self.choices {
            if alternatives.len() * choice.len() > ALTERNATIVES {
                return vec![self.list.clone()];
            }
            alternatives = alternatives
                .iter()
                .flat_map(|one| {
                    choice
                        .iter()
                        .map(|list| [one.as_slice(), list.as_slice()].concat())
                })
                .collect();
        }
        alternatives
    }

    /// Adds a note. A value replaces a variable, unless it is only a prefix or a suffix.
    fn add(&mut self, place: ConditionOperand, what: What<'r>) {
        self.note(place, what, 0);
    }

    fn note(&mut self, place: ConditionOperand, what: What<'r>, further: usize) {
        if let What::Something(Some(name)) = what {
            match self.names.entry(name) {
                Entry::Occupied(known) if *known.get() == place => return,
                Entry::Occupied(_) => {}
                Entry::Vacant(free) => {
                    free.insert(place.clone());
                }
            }
            self.list.push(Note {
                place,
                what,
                further,
            });
            return;
        }
        let replaces = !what.is_something() && !what.is_end();
        for old in self.list.iter_mut().filter(|old| old.place == place) {
            if old.what == what {
                old.further += further;
                return;
            }
            if replaces && let What::Something(name) = old.what {
                if let Some(name) = name {
                    self.names.remove(name);
                }
                old.what = what;
                old.further += further;
                return;
            }
        }
        self.list.push(Note {
            place,
            what,
            further,
        });
    }

    fn call(&mut self, operator: &Term, operands: &'r [Term]) {
        let Some(test) = index_test(operator) else {
            return;
        };
        match (test, operands) {
            (IndexTest::Equality, [left, right]) => {
                let _ = self.element(left, right)
                    || self.element(right, left)
                    || self.equality(left, right)
                    || self.equality(right, left);
            }
            (IndexTest::Member, [element, collection]) => self.member(element, collection),
            (IndexTest::Prefix, [text, base]) => {
                self.end(text, base, Test::Prefix);
            }
            (IndexTest::Suffix, [text, base]) => {
                self.end(text, base, Test::Suffix);
            }
            (IndexTest::Glob, [pattern, delimiters, text]) => {
                if let (Some(place), Some(test)) = (
                    text.as_var().and_then(|name| self.variable(name)),
                    glob::test(pattern, delimiters),
                ) {
                    self.add(place, What::Test(test));
                }
            }
            _ => {}
        }
    }

    /// Notes a prefix or a suffix of a string, or one of several.
    fn end(&mut self, text: &'r Term, base: &'r Term, test: fn(Vec<Value>) -> Test) {
        let base = self.resolve(base);
        let items = match &base.kind {
            TermKind::String(_) => std::slice::from_ref(base),
            TermKind::Array(items) | TermKind::Set(items) => items,
            _ => return,
        };
        let mut texts = Vec::with_capacity(items.len());
        for item in items {
            let Some(text) = item.as_string() else { return };
            let text = Value::string(text);
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        // an empty list matches no string
        if let (Some(place), Some(further)) = (self.document(text), items.len().checked_sub(1)) {
            self.note(place, What::Test(test(texts)), further);
        }
    }

    /// Notes a test for an element: `collection[_] == "a"`.
    fn element(&mut self, reference: &'r Term, value: &'r Term) -> bool {
        let TermKind::Ref(terms) = &reference.kind else {
            return false;
        };
        let Some((last, prefix)) = terms.split_last().filter(|(_, prefix)| !prefix.is_empty())
        else {
            return false;
        };
        if self.step(last).is_some() {
            return false;
        }
        let value = self.resolve(value);
        let (Some(test), Some(place)) = (scalar(value).map(Test::Contains), self.path(prefix))
        else {
            return false;
        };
        self.add(place, What::Test(test));
        true
    }

    /// Notes an equality. Returns `true` if there was anything to note.
    fn equality(&mut self, place: &'r Term, value: &'r Term) -> bool {
        match &place.kind {
            TermKind::Var(name) if !is_document(name) => {
                let is_constant = value.as_var().is_none() && constant(value).is_some();
                let known = match value.as_var().filter(|name| !is_document(name)) {
                    Some(other) => self.constants.get(other).copied(),
                    None => is_constant.then_some(value),
                };
                if let Some(known) = known {
                    self.constants.insert(name, known);
                }
                let (Some(place), Some(what)) = (self.variable(name), indexed(value)) else {
                    return false;
                };
                self.add(place, what);
                true
            }
            TermKind::Var(_) | TermKind::Ref(_) => {
                let Some(place) = self.document(place) else {
                    return false;
                };
                let constant = value.as_var().and_then(|name| self.constants.get(name));
                let what = match constant {
                    Some(value) => Some(listed(value)),
                    None => indexed(value),
                };
                let Some(what) = what else {
                    return false;
                };
                self.add(place, what);
                true
            }
            _ => false,
        }
    }

    fn member(&mut self, element: &'r Term, collection: &'r Term) {
        if let Some(place) = element.as_var().and_then(|name| self.variable(name)) {
            let items: Vec<&'r Term> = match &self.resolve(collection).kind {
                TermKind::Array(items) | TermKind::Set(items) => items.iter().collect(),
                TermKind::Object(pairs) => pairs.iter().map(|(_, value)| value).collect(),
                _ => return,
            };
            if items.iter().all(|item| item.as_var().is_none()) {
                for (at, item) in items.into_iter().enumerate() {
                    self.note(place.clone(), listed(item), usize::from(at > 0));
                }
            }
            return;
        }
        let element = self.resolve(element);
        let what = match scalar(element) {
            Some(value) => What::Test(Test::Contains(value)),
            None if element.as_var().is_some() => What::Something(None),
            None => return,
        };
        if let Some(place) = self.document(collection) {
            self.add(place, what);
        }
    }

    /// Notes a test for a key: `data.collection[input.key]`.
    fn membership(&mut self, reference: &'r Term) -> bool {
        let TermKind::Ref(terms) = &reference.kind else {
            return false;
        };
        let Some((last, prefix)) = terms.split_last() else {
            return false;
        };
        if self.step(last).is_some() {
            return false;
        }
        let Some(collection @ ConditionOperand::Data(_)) = self.path_of_root(prefix) else {
            return false;
        };
        let key = match &last.kind {
            TermKind::Ref(terms) => self.path_of_root(terms),
            TermKind::Var(name) if is_document(name) => {
                self.path_of_root(std::slice::from_ref(last))
            }
            TermKind::Var(name) => self.variable(name),
            _ => None,
        };
        let Some(key) = key else {
            return false;
        };
        let new = Membership { key, collection };
        if !self.memberships.contains(&new) {
            self.memberships.push(new);
        }
        true
    }

    /// Returns the constant that a variable is bound to, or the term itself.
    fn resolve(&self, term: &'r Term) -> &'r Term {
        let known = term.as_var().and_then(|name| self.constants.get(name));
        known.copied().unwrap_or(term)
    }

    /// Returns the operand of a variable or a reference.
    fn document(&self, term: &Term) -> Option<ConditionOperand> {
        let place = match &term.kind {
            TermKind::Var(name) if is_document(name) => self.path(std::slice::from_ref(term)),
            TermKind::Var(name) => self.variable(name),
            TermKind::Ref(terms) => self.path(terms),
            _ => None,
        };
        place.filter(|place| !matches!(place, ConditionOperand::Argument(_)))
    }

    fn variable(&self, name: &Name) -> Option<ConditionOperand> {
        let argument = || self.args.iter().position(|arg| arg.as_var() == Some(name));
        let noted = self.names.get(name).cloned();
        noted.or_else(|| argument().map(ConditionOperand::Argument))
    }

    fn path(&self, terms: &[Term]) -> Option<ConditionOperand> {
        let name = terms.first()?.as_var()?;
        if is_document(name) {
            return self.path_of_root(terms);
        }
        let keys = terms.iter().skip(1).map(|step| self.step(step));
        let keys: Vec<Value> = keys.collect::<Option<_>>()?;
        match self.variable(name)? {
            ConditionOperand::Input(path) => Some(ConditionOperand::Input(
                path.into_iter().chain(keys).collect(),
            )),
            ConditionOperand::Data(path) => Some(ConditionOperand::Data(
                path.into_iter().chain(keys).collect(),
            )),
            ConditionOperand::Argument(_) => None,
        }
    }

    fn path_of_root(&self, terms: &[Term]) -> Option<ConditionOperand> {
        let (head, steps) = terms.split_first()?;
        let steps = self.plugged(steps);
        let keys = |steps: &[Term]| steps.iter().map(scalar).collect::<Option<_>>();
        match &**head.as_var()? {
            "input" => Some(ConditionOperand::Input(keys(&steps)?)),
            "data" if steps.is_empty() || (self.is_virtual)(&steps) => None,
            "data" => Some(ConditionOperand::Data(keys(&steps)?)),
            _ => None,
        }
    }

    /// Returns steps with variables replaced by their scalars.
    fn plugged<'t>(&self, steps: &'t [Term]) -> Cow<'t, [Term]> {
        let known = |step: &Term| {
            let value = self.constants.get(step.as_var()?)?;
            value.is_scalar().then_some(*value)
        };
        if steps.iter().all(|step| known(step).is_none()) {
            return Cow::Borrowed(steps);
        }
        let steps = steps.iter();
        steps
            .map(|step| known(step).unwrap_or(step).clone())
            .collect()
    }

    /// Returns the key of a step, if it is known.
    fn step(&self, step: &Term) -> Option<Value> {
        match step.as_var() {
            Some(name) => scalar(self.constants.get(name)?),
            None => scalar(step),
        }
    }
}

/// Returns the note for an equation with a term: a scalar, a flat array, or a variable.
fn indexed(term: &Term) -> Option<What<'_>> {
    match &term.kind {
        TermKind::Var(name) if !is_document(name) => Some(What::Something(Some(name))),
        TermKind::Array(items) => {
            let is_flat = |item: &Term| {
                item.is_scalar() || item.as_var().is_some_and(|name| !is_document(name))
            };
            items.iter().all(is_flat).then(|| listed(term))
        }
        _ if term.is_scalar() => Some(listed(term)),
        _ => None,
    }
}

/// Returns the note for equality with a constant: for arrays the length and the scalars, for objects and sets nothing.
fn listed(term: &Term) -> What<'_> {
    match &term.kind {
        TermKind::Array(items) => What::Test(Test::Items(items.iter().map(scalar).collect())),
        _ => match scalar(term) {
            Some(value) => What::Test(Test::Equal(value)),
            None => What::Value,
        },
    }
}

fn scalar(term: &Term) -> Option<Value> {
    if term.is_scalar() {
        constant(term)
    } else {
        None
    }
}

fn is_document(name: &Name) -> bool {
    matches!(&**name, "input" | "data")
}
