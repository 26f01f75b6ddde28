//! Conditions of rules that an index can test.
//!
//! A rule that the index excludes is not entered, so prints and errors of its body do not occur. This is correct if
//! OPA's index excludes the rule, too. Any other condition is used only if nothing before it is observable; if errors
//! of built-ins end the evaluation, only if none can occur before it.

use std::cell::OnceCell;

use smallvec::{SmallVec, smallvec};
use solon_syntax::ast::{self, Expr, ExprKind, Term, TermKind};

use super::opa_index::OpaConditions;
use super::symbolic::{self, SymbolicBindings, SymbolicValue};
use super::{Proof, length, texts};
use crate::builtins::{IndexTest, index_test};
use crate::compile::lower::constants::constant;
use crate::compile::lower::precheck::{Effect, EffectAnalysis};
use crate::program::{
    AccessPath, ConditionCoverage, Delimiters, Question, ValueFeature, VirtualDocuments,
};
use crate::value::Value;

/// Maximum number of conditions of one rule in an index.
const MOST: usize = 32;

/// Values of which a rule accepts one.
pub type RequiredValues = SmallVec<[Value; 1]>;

/// A condition that must hold for a rule to succeed.
#[derive(Clone, Debug)]
pub struct IndexCondition {
    /// Question whose answer is required.
    pub question: Question,
    /// Accepted values, of which one must be the answer.
    pub answers: RequiredValues,
    /// `true` if excluding the rule is observable when errors of built-ins end the evaluation.
    pub lenient: bool,
    /// Check that an accepted value implies.
    pub proves: Option<Proof>,
}

/// Returns the conditions of a rule whose expressions are evaluated in `order`, and how completely they cover the rule.
pub fn conditions(
    rule: &ast::Rule,
    prints: bool,
    order: &[&Expr],
    args: &[Term],
    tree: &VirtualDocuments,
    effects: &mut EffectAnalysis<'_>,
) -> (Vec<IndexCondition>, ConditionCoverage) {
    let published = OnceCell::new();
    let mut found = Finding {
        bindings: SymbolicBindings::new(args),
        conditions: Vec::new(),
        proof: None,
    };
    for (at, arg) in (0..).zip(args) {
        found.proof = Some(Proof::Argument(at));
        found.pattern(&SymbolicValue::At(symbolic::argument(at)), arg);
    }
    let known = |conditions: &[IndexCondition], without: ConditionCoverage| match conditions {
        [] => without,
        _ => ConditionCoverage::Some,
    };
    if prints {
        let known = known(&found.conditions, ConditionCoverage::Prints);
        return (found.conditions, known);
    }
    let mut without = ConditionCoverage::None;
    // strongest effect of the first `executed` expressions
    let (mut before, mut executed) = (Effect::Pure, 0);
    for (at, expr) in order.iter().enumerate() {
        if found.conditions.len() >= MOST {
            break;
        }
        let start = found.conditions.len();
        found.proof = u32::try_from(at).ok().map(Proof::Expr);
        found.expr(expr);
        if found.conditions.len() == start {
            continue;
        }
        for (at, expr) in order.iter().enumerate().take(at + 1).skip(executed) {
            before = before.max(effects.of_expr(at, expr));
        }
        executed = at + 1;
        if before == Effect::Pure {
            continue;
        }
        let published = published.get_or_init(|| OpaConditions::of_rule(rule, tree));
        let mut late = found.conditions.split_off(start);
        for condition in &mut late {
            condition.lenient = !published.excludes(condition);
        }
        let all = late.len();
        late.retain(|condition| before < Effect::Observable || !condition.lenient);
        if late.len() < all {
            without = ConditionCoverage::Late;
        }
        found.conditions.append(&mut late);
    }
    let known = known(&found.conditions, without);
    (found.conditions, known)
}

struct Finding<'r> {
    bindings: SymbolicBindings<'r>,
    conditions: Vec<IndexCondition>,
    /// Check under analysis.
    proof: Option<Proof>,
}

impl<'r> Finding<'r> {
    fn expr(&mut self, expr: &'r Expr) {
        if expr.negated || !expr.with.is_empty() {
            return;
        }
        match &expr.kind {
            ExprKind::Term(term) => {
                if let Some(SymbolicValue::At(place)) = self.bindings.of_term(term) {
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
        let Some(test) = index_test(operator) else {
            return;
        };
        match (test, operands) {
            (IndexTest::Equality, [left, right]) => self.equality(left, right),
            (IndexTest::Member, [element, collection]) => self.member(element, collection),
            (IndexTest::Split, [text, delimiter, parts]) => {
                if let (Some(SymbolicValue::At(place)), Some(delimiter)) = (
                    self.bindings.of_term(text),
                    self.bindings.constant(delimiter),
                ) && let Some(delimiter) = delimiter.utf8().filter(|text| !text.is_empty())
                {
                    let spot = SymbolicValue::Split(place, Delimiters::Text(delimiter.into()));
                    self.bindings.note(parts, &spot);
                    self.part(&spot, parts);
                }
            }
            _ => {
                let bindings = &self.bindings;
                let place =
                    |term: &Term| bindings.of_term(term).and_then(SymbolicValue::access_path);
                let constant = |term: &Term| bindings.constant(term);
                let needs = texts::needs(test, operands, &place, &constant);
                for (question, answers) in needs {
                    self.add(question, answers, false);
                }
            }
        }
    }

    fn equality(&mut self, left: &'r Term, right: &'r Term) {
        match (self.bindings.of_term(left), self.bindings.of_term(right)) {
            (Some(SymbolicValue::Constant(value)), Some(spot))
            | (Some(spot), Some(SymbolicValue::Constant(value))) => {
                self.value(spot, smallvec![value]);
            }
            (Some(SymbolicValue::OneOf(values)), Some(spot))
            | (Some(spot), Some(SymbolicValue::OneOf(values))) => {
                self.proof = None;
                self.value(spot, values);
            }
            (Some(one), Some(other)) => {
                self.matched(&one, right);
                self.matched(&other, left);
            }
            (Some(spot), None) => self.matched(&spot, right),
            (None, Some(spot)) => self.matched(&spot, left),
            (None, None) => self.pairwise(left, right),
        }
    }

    /// Adds the conditions for a value to equal a term, and binds the variables of the term.
    fn matched(&mut self, spot: &SymbolicValue, term: &'r Term) {
        match term.kind {
            TermKind::Var(_) => self.bindings.note(term, spot),
            TermKind::Array(_) | TermKind::Object(_) => {
                self.bindings.note(term, spot);
                self.pattern(spot, term);
            }
            _ => {}
        }
    }

    /// Adds the conditions for two arrays to be equal, item by item.
    fn pairwise(&mut self, left: &'r Term, right: &'r Term) {
        if let (TermKind::Array(left), TermKind::Array(right)) = (&left.kind, &right.kind)
            && left.len() == right.len()
        {
            self.proof = None;
            for (left, right) in left.iter().zip(right) {
                self.equality(left, right);
            }
        }
    }

    fn member(&mut self, element: &Term, collection: &Term) {
        let (element, collection) = (
            self.bindings.of_term(element),
            self.bindings.of_term(collection),
        );
        match (element, collection) {
            (Some(spot), Some(SymbolicValue::Constant(collection))) => {
                if let Some(values) = symbolic::elements(&collection) {
                    self.value(spot, values);
                }
            }
            (Some(SymbolicValue::Constant(value)), Some(SymbolicValue::At(place))) => {
                let feature = ValueFeature::Element;
                self.add(Question { place, feature }, smallvec![value], true);
            }
            _ => {}
        }
    }

    /// Adds the condition that something has one of some values.
    fn value(&mut self, spot: SymbolicValue, values: RequiredValues) {
        if let SymbolicValue::Split(..) = spot {
            // a constant array is a pattern
            return;
        }
        let proves = matches!(spot, SymbolicValue::At(_));
        if let Some(question) = spot.question() {
            self.add(question, values, proves);
        }
    }

    /// Adds the conditions for a value to match a pattern.
    fn pattern(&mut self, spot: &SymbolicValue, pattern: &Term) {
        if let SymbolicValue::Split(..) = spot {
            return self.part(spot, pattern);
        }
        if let Some(value) = constant(pattern) {
            self.value(spot.clone(), smallvec![value]);
            // the remaining conditions cover only a part of the pattern
            self.proof = None;
            return;
        }
        self.proof = None;
        match &pattern.kind {
            TermKind::Array(items) => {
                if let SymbolicValue::At(place) = spot {
                    let question = Question {
                        place: place.clone(),
                        feature: ValueFeature::Length,
                    };
                    self.add(question, smallvec![length(items.len())], false);
                }
                for (at, item) in items.iter().enumerate() {
                    if let Some(inner) = spot.item(at) {
                        self.pattern(&inner, item);
                    }
                }
            }
            TermKind::Object(pairs) => {
                if let SymbolicValue::At(place) = spot {
                    for (key, value) in pairs {
                        if let Some(key) = constant(key) {
                            let mut inner = place.clone();
                            inner.path.push(key);
                            self.pattern(&SymbolicValue::At(inner), value);
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds the conditions for segments of a string to match a pattern.
    fn part(&mut self, spot: &SymbolicValue, pattern: &Term) {
        let (SymbolicValue::Split(place, delimiters), TermKind::Array(items)) =
            (spot, &pattern.kind)
        else {
            return;
        };
        self.proof = None;
        let question = Question {
            place: place.clone(),
            feature: ValueFeature::Segments(delimiters.clone()),
        };
        self.add(question, smallvec![length(items.len())], false);
        for (at, item) in items.iter().enumerate() {
            if let (Some(value), Some(inner)) = (self.bindings.constant(item), spot.item(at)) {
                self.value(inner, smallvec![value]);
            }
        }
    }

    /// Adds the condition that a value exists at an access path: its parent has the key.
    fn exists(&mut self, mut place: AccessPath) {
        if let Some(key) = place.path.pop() {
            let feature = ValueFeature::Key;
            self.add(Question { place, feature }, smallvec![key], false);
        }
    }

    fn add(&mut self, question: Question, answers: RequiredValues, proves: bool) {
        if answers.is_empty() || self.conditions.len() >= MOST {
            return;
        }
        // one condition for each question suffices; the rest is tested by the body
        if self.conditions.iter().any(|one| one.question == question) {
            return;
        }
        self.conditions.push(IndexCondition {
            question,
            answers,
            lenient: false,
            proves: self.proof.filter(|_| proves),
        });
    }
}
