//! The cases of a test: the keys of its rule.

use std::collections::BTreeMap;

use solon_syntax::ast::{Term, TermKind};

use crate::builtins::TEST_CASE;
use crate::trace::{Event, EventNode, FailedExpression, Observer, Op};
use crate::value::{Repr, Value, json};

/// Cases by name, in the order of the names.
pub type Cases = BTreeMap<String, Case>;

/// A case of a test, with the cases below it.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Case {
    /// The name: a string as it is, any other key as JSON. Empty for a key whose value is `null`.
    pub name: String,
    /// `true` if the case, or one below it, failed.
    pub failed: bool,
    /// The cases of the next key.
    pub cases: Cases,
    /// The last expression that had failed when the next case started. Only for a case without nested cases, and only
    /// if failures are recorded.
    pub failure: Option<FailedExpression>,
}

/// Collects the cases and the failed expressions that the tracing evaluator reports.
#[derive(Default)]
pub(super) struct CaseObserver {
    /// `true` if failed expressions are recorded.
    pub keeps_failures: bool,
    /// Keys of each case, and the last expression that had failed when the next one started.
    reported: Vec<(Vec<String>, Option<Event>)>,
    /// The last expression that failed.
    pub last: Option<Event>,
}

impl CaseObserver {
    pub fn new(keeps_failures: bool) -> Self {
        Self {
            keeps_failures,
            ..Self::default()
        }
    }

    /// Ends the last case, with the last failure.
    fn end(&mut self) {
        if let Some((_, failure)) = self.reported.last_mut() {
            failure.clone_from(&self.last);
        }
    }

    /// Returns the cases of a test whose value is known, and whether one of them failed. `explain` creates the report
    /// of an expression.
    pub fn cases(
        mut self,
        value: &Value,
        explain: impl Fn(&Event) -> Option<FailedExpression>,
    ) -> (bool, Cases) {
        self.end();
        let (mut failed, mut cases) = of_value(value);
        for (keys, failure) in self.reported {
            failed |= report(&mut cases, &keys, failure.as_ref(), &explain);
        }
        (failed, cases)
    }
}

impl Observer for CaseObserver {
    fn event(&mut self, event: Event) {
        match (event.op, &event.node) {
            (Op::TestCase, EventNode::Expr(expr)) => {
                self.end();
                let keys = expr.operands_of(TEST_CASE);
                if let Some([keys]) = keys
                    && let TermKind::Array(keys) = &keys.kind
                {
                    let names = keys.iter().map(name_of_term);
                    self.reported.push((names.collect(), None));
                }
            }
            // report what fails within an `every`, not the `every` itself
            (Op::Fail, EventNode::Expr(expr))
                if event.query_id > 0
                    && event.span.is_somewhere()
                    && !matches!(expr.kind, solon_syntax::ast::ExprKind::Every(_)) =>
            {
                self.last = Some(event);
            }
            _ => {}
        }
    }

    fn wants(&self, op: Op) -> bool {
        op == Op::TestCase || (self.keeps_failures && op == Op::Fail)
    }

    fn needs_locals(&self) -> bool {
        self.keeps_failures
    }

    fn needs_documents(&self) -> bool {
        self.keeps_failures
    }
}

/// Returns the cases of the value of a test, and whether one of them failed.
fn of_value(value: &Value) -> (bool, Cases) {
    if *value == Value(Repr::Null) {
        return (true, Cases::new());
    }
    let mut failed = false;
    let mut cases = Cases::new();
    let pairs = value.as_object().into_iter();
    for (key, value) in pairs.flat_map(|object| object.iter()) {
        let name = name_of(key);
        let case = of_member(name.clone(), value);
        failed |= case.failed;
        cases.insert(name, case);
    }
    (failed, cases)
}

fn of_member(name: String, value: &Value) -> Case {
    let (failed, cases) = match value {
        Value(Repr::Null) => return Case::default(),
        Value(Repr::Bool(passes)) => (!passes, Cases::new()),
        value if value.as_object().is_some() => of_value(value),
        _ => (true, Cases::new()),
    };
    Case {
        name,
        failed,
        cases,
        failure: None,
    }
}

/// Adds a reported case. If it is not among those of the value, it failed. Returns `true` if it failed.
fn report(
    cases: &mut Cases,
    keys: &[String],
    failure: Option<&Event>,
    explain: &impl Fn(&Event) -> Option<FailedExpression>,
) -> bool {
    let Some((first, rest)) = keys.split_first() else {
        return true;
    };
    let case = cases.entry(first.clone()).or_insert_with(|| Case {
        name: first.clone(),
        failed: true,
        ..Case::default()
    });
    if rest.is_empty() {
        if case.failed {
            case.failure = failure.and_then(explain);
        }
        return case.failed;
    }
    let failed = report(&mut case.cases, rest, failure, explain);
    case.failed |= failed;
    failed
}

fn name_of(key: &Value) -> String {
    match key.as_str() {
        Some(text) => text.to_owned(),
        None => {
            let mut text = Vec::new();
            json::write_go(key.borrow(), &mut text);
            String::from_utf8_lossy(&text).into_owned()
        }
    }
}

fn name_of_term(key: &Term) -> String {
    match &key.kind {
        TermKind::String(text) => text.to_string(),
        _ => name_of(&value_of(key)),
    }
}

/// Returns the value of a ground term, `null` for any other.
fn value_of(term: &Term) -> Value {
    crate::program::constant(term).unwrap_or(Value(Repr::Null))
}
