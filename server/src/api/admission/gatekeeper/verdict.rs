//! Results of reviews: violations, and constraints that could not be evaluated.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::constraint::{Constraint, ReportedViolation};
use super::enforcement::EnforcementAction;
use crate::api::admission::decision::AdmissionDecision;
use crate::api::admission::review::Answer;

/// Code of the status of an object that is admitted with warnings, as Gatekeeper has it.
const WARNED: u16 = 299;

#[derive(Debug, Default)]
pub struct Verdict {
    violations: Vec<Violation>,
    failures: Vec<Failure>,
}

#[derive(Debug)]
struct Violation {
    kind: String,
    name: String,
    actions: Vec<EnforcementAction>,
    message: String,
    details: Option<Json>,
}

/// A constraint that could not be evaluated.
#[derive(Debug)]
struct Failure {
    kind: String,
    name: String,
    actions: Vec<EnforcementAction>,
    problem: String,
}

impl Verdict {
    pub fn add(&mut self, constraint: &Constraint, violations: Vec<ReportedViolation>) {
        let violations = violations.into_iter().map(|violation| Violation {
            kind: constraint.kind.clone(),
            name: constraint.name.clone(),
            actions: constraint.actions.clone(),
            message: violation.message,
            details: violation
                .details
                .and_then(|details| solon::from_value(details.borrow()).ok()),
        });
        self.violations.extend(violations);
    }

    /// Adds a constraint for which it cannot be decided whether it applies. That is a violation with the reason as its message.
    pub fn add_undecided_match(&mut self, constraint: &Constraint, problem: String) {
        let violation = ReportedViolation {
            message: problem,
            details: None,
        };
        self.add(constraint, vec![violation]);
    }

    /// Adds a constraint whose evaluation failed.
    pub fn add_failure(&mut self, constraint: &Constraint, problem: String) {
        self.failures.push(Failure {
            kind: constraint.kind.clone(),
            name: constraint.name.clone(),
            actions: constraint.actions.clone(),
            problem,
        });
    }

    /// Returns the reason of a missing decision: a constraint that denies could not be evaluated, and no other constraint denies.
    pub fn undecided(&self) -> Option<String> {
        if !self.lines(EnforcementAction::Deny).is_empty() {
            return None;
        }
        let denies = |failure: &&Failure| failure.actions.contains(&EnforcementAction::Deny);
        self.failures.iter().find(denies).map(Failure::text)
    }

    /// Returns the constraints that could not be evaluated, each with the reason.
    pub fn failures(&self) -> impl Iterator<Item = String> {
        self.failures.iter().map(Failure::text)
    }

    /// Returns the messages of violations with an action, in the order of the constraints.
    fn lines(&self, action: EnforcementAction) -> Vec<String> {
        let violations = self.violations.iter();
        let violations = violations.filter(|violation| violation.actions.contains(&action));
        violations
            .map(|Violation { name, message, .. }| format!("[{name}] {message}"))
            .collect()
    }

    /// Returns the response. Constraints that cannot be evaluated become warnings if they warn.
    pub fn answer(&self) -> Answer {
        let denials = self.lines(EnforcementAction::Deny);
        let mut warnings = self.lines(EnforcementAction::Warn);
        let failures = self.failures.iter();
        let failures = failures.filter(|one| one.actions.contains(&EnforcementAction::Warn));
        // the reason is in the log
        warnings.extend(
            failures.map(|one| format!("[{}] the constraint cannot be evaluated", one.name)),
        );
        let (is_allowed, is_warned) = (denials.is_empty(), !warnings.is_empty());
        let answer = Answer::of_decision(&AdmissionDecision {
            is_allowed,
            denials,
            warnings,
            patch: Vec::new(),
            annotations: BTreeMap::new(),
        });
        match (is_allowed, is_warned) {
            (false, _) => answer.with_status("reason", json!("Forbidden")),
            (true, true) => answer.with_status("code", json!(WARNED)),
            (true, false) => answer,
        }
    }

    /// Returns the result for the decision log.
    pub fn to_json(&self) -> Json {
        let names = |actions: &[EnforcementAction]| -> Vec<_> {
            actions.iter().map(|action| action.name()).collect()
        };
        let violations = self.violations.iter().map(|violation| {
            json!({
                "constraint": {"kind": violation.kind, "name": violation.name},
                "actions": names(&violation.actions),
                "msg": violation.message,
                "details": violation.details,
            })
        });
        let failures = self.failures.iter().map(|failure| {
            json!({
                "constraint": {"kind": failure.kind, "name": failure.name},
                "actions": names(&failure.actions),
                "error": failure.problem,
            })
        });
        json!({
            "allowed": self.lines(EnforcementAction::Deny).is_empty(),
            "violations": violations.collect::<Vec<_>>(),
            "failures": failures.collect::<Vec<_>>(),
        })
    }
}

impl Failure {
    fn text(&self) -> String {
        format!("{}/{}: {}", self.kind, self.name, self.problem)
    }
}
