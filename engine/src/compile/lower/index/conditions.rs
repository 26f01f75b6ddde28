//! What a rule cannot succeed without, as far as an index can ask for it.
//!
//! A rule that the index does not find is not entered, so nothing that its body would print or fail with is seen. That is
//! as it must be where the published index excludes the rule too. Beyond that, a condition counts only if nothing
//! before it can be seen; where errors of built-ins end the evaluation, only if none can occur before it.

use std::cell::OnceCell;

use solon_syntax::ast::{self, Expr, ExprKind, Term, TermKind};

use super::published::Published;
use super::spots::{self, Spot, Spots};
use super::{Proof, texts};
use crate::compile::lower::constants::constant;
use crate::compile::lower::rules::prints;
use crate::compile::lower::screen::{Volume, volume};
use crate::program::{Delimiters, Feature, Place, Question, Tree};
use crate::value::Value;

/// Most conditions of one rule that an index knows.
const MOST: usize = 32;

/// A condition that a rule cannot succeed without.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What is asked.
    pub question: Question,
    /// The answers, of which it takes one.
    pub answers: Vec<Value>,
    /// Whether it is seen, where errors of built-ins end the evaluation, that the rule was not entered.
    pub lenient: bool,
    /// What an answer proves.
    pub proves: Option<Proof>,
}

/// The conditions of a rule whose expressions are evaluated in `order`.
pub fn conditions(rule: &ast::Rule, order: &[&Expr], args: &[Term], tree: &Tree) -> Vec<Condition> {
    let published = OnceCell::new();
    let mut found = Finding {
        spots: Spots::new(args),
        conditions: Vec::new(),
        proof: None,
    };
    for (at, arg) in (0..).zip(args) {
        found.proof = Some(Proof::Argument(at));
        found.pattern(&Spot::At(spots::argument(at)), arg);
    }
    if prints(&rule.body) {
        return found.conditions;
    }
    let mut before = Volume::Quiet;
    for (at, expr) in (0..).zip(order) {
        if found.conditions.len() >= MOST {
            break;
        }
        let own = volume(expr, tree);
        let start = found.conditions.len();
        found.proof = Some(Proof::Expr(at));
        found.expr(expr);
        before = before.max(own);
        if before == Volume::Quiet {
            continue;
        }
        let published = published.get_or_init(|| Published::of(rule, tree));
        let mut late = found.conditions.split_off(start);
        for condition in &mut late {
            condition.lenient = !published.excludes(condition);
        }
        late.retain(|condition| before < Volume::Loud || !condition.lenient);
        found.conditions.append(&mut late);
    }
    found.conditions
}

struct Finding<'r> {
    spots: Spots<'r>,
    conditions: Vec<Condition>,
    /// What is looked at.
    proof: Option<Proof>,
}

impl<'r> Finding<'r> {
    fn expr(&mut self, expr: &'r Expr) {
        if expr.negated || !expr.with.is_empty() {
            return;
        }
        match &expr.kind {
            ExprKind::Term(term) => {
                if let Some(Spot::At(place)) = self.spots.of(term) {
                    self.exists(place);
                }
            }
            ExprKind::Call(terms) => {
                if let Some((operator, operands)) = terms.split_first() {
                    self.call(operator, operands);
                }
            }
            _ => {}
        }
    }

    fn call(&mut self, operator: &Term, operands: &'r [Term]) {
        let is = |name: &str| operator.is_operator(name);
        match operands {
            [left, right] if is("eq") || is("equal") => {
                self.equality(left, right);
                self.equality(right, left);
            }
            [element, collection] if is("internal.member_2") => self.member(element, collection),
            [text, delimiter, parts] if is("split") => {
                if let (Some(Spot::At(place)), Some(delimiter)) =
                    (self.spots.of(text), self.spots.constant(delimiter))
                    && let Some(delimiter) = delimiter.utf8().filter(|text| !text.is_empty())
                {
                    let spot = Spot::Parts(place, Delimiters::Text(delimiter.into()));
                    self.spots.note(parts, &spot);
                    self.part(&spot, parts);
                }
            }
            _ => {
                let spots = &self.spots;
                let place = |term: &Term| spots.of(term).and_then(Spot::place);
                let constant = |term: &Term| spots.constant(term);
                let needs = texts::needs(operator, operands, &place, &constant);
                for (question, answers) in needs {
                    self.add(question, answers, false);
                }
            }
        }
    }

    /// A place, and what must be there.
    fn equality(&mut self, place: &'r Term, value: &'r Term) {
        let (spot, other) = (self.spots.of(place), self.spots.of(value));
        match (spot, other) {
            (Some(spot), Some(Spot::Constant(value))) => self.value(spot, vec![value]),
            (Some(spot), Some(Spot::OneOf(values))) => {
                self.proof = None;
                self.value(spot, values);
            }
            (Some(spot), _) => {
                self.spots.note(value, &spot);
                if !matches!(value.kind, TermKind::Var(_)) {
                    self.pattern(&spot, value);
                }
            }
            _ => {}
        }
    }

    fn member(&mut self, element: &Term, collection: &Term) {
        let (element, collection) = (self.spots.of(element), self.spots.of(collection));
        match (element, collection) {
            (Some(spot), Some(Spot::Constant(collection))) => {
                if let Some(values) = spots::elements(&collection) {
                    self.value(spot, values);
                }
            }
            (Some(Spot::Constant(value)), Some(Spot::At(place))) => {
                let feature = Feature::Element;
                self.add(Question { place, feature }, vec![value], true);
            }
            _ => {}
        }
    }

    /// Something must be one of some values.
    fn value(&mut self, spot: Spot, values: Vec<Value>) {
        if let Spot::Parts(..) = spot {
            // a constant array is a pattern
            return;
        }
        let proves = matches!(spot, Spot::At(_));
        if let Some(question) = spot.question() {
            self.add(question, values, proves);
        }
    }

    /// What a value must be like for a pattern to match.
    fn pattern(&mut self, spot: &Spot, pattern: &Term) {
        if let Spot::Parts(..) = spot {
            return self.part(spot, pattern);
        }
        if let Some(value) = constant(pattern) {
            self.value(spot.clone(), vec![value]);
            // what follows is a part of the pattern
            self.proof = None;
            return;
        }
        self.proof = None;
        match &pattern.kind {
            TermKind::Array(items) => {
                if let Spot::At(place) = spot {
                    let question = Question {
                        place: place.clone(),
                        feature: Feature::Length,
                    };
                    self.add(question, vec![length(items.len())], false);
                }
                for (at, item) in items.iter().enumerate() {
                    if let Some(inner) = spot.item(at) {
                        self.pattern(&inner, item);
                    }
                }
            }
            TermKind::Object(pairs) => {
                if let Spot::At(place) = spot {
                    for (key, value) in pairs {
                        if let Some(key) = constant(key) {
                            let mut inner = place.clone();
                            inner.path.push(key);
                            self.pattern(&Spot::At(inner), value);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// What parts of a string must be like for a pattern to match.
    fn part(&mut self, spot: &Spot, pattern: &Term) {
        let (Spot::Parts(place, delimiters), TermKind::Array(items)) = (spot, &pattern.kind) else {
            return;
        };
        self.proof = None;
        let question = Question {
            place: place.clone(),
            feature: Feature::Segments(delimiters.clone()),
        };
        self.add(question, vec![length(items.len())], false);
        for (at, item) in items.iter().enumerate() {
            if let (Some(value), Some(inner)) = (self.spots.constant(item), spot.item(at)) {
                self.value(inner, vec![value]);
            }
        }
    }

    /// Something must be at a place.
    fn exists(&mut self, mut place: Place) {
        if let Some(key) = place.path.pop() {
            let feature = Feature::Key;
            self.add(Question { place, feature }, vec![key], false);
        }
    }

    fn add(&mut self, question: Question, answers: Vec<Value>, proves: bool) {
        if answers.is_empty() || self.conditions.len() >= MOST {
            return;
        }
        // one condition on each question is enough, and what it does not say is tested
        if self.conditions.iter().any(|one| one.question == question) {
            return;
        }
        self.conditions.push(Condition {
            question,
            answers,
            lenient: false,
            proves: self.proof.filter(|_| proves),
        });
    }
}

fn length(items: usize) -> Value {
    Value::Int(i64::try_from(items).unwrap_or(i64::MAX))
}
