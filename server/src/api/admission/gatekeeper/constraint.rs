//! Constraints: which objects a template checks, with which parameters, and what a violation does.

use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use solon::{Error, PreparedDocument, Value};

use super::enforcement::{EnforcementAction, ScopedAction, webhook_actions};
use super::manifest::Manifest;
use super::matching::Match;
use super::section::{self, or_default};
use super::subject::{NamespaceObject, ReviewedRequest};
use super::template::ConstraintTemplate;

/// API group of constraints.
pub const CONSTRAINTS: &str = "constraints.gatekeeper.sh";

/// Versions of constraints that are read.
const VERSIONS: [&str; 2] = ["v1beta1", "v1alpha1"];

/// Evaluates a document of a template with an input.
pub type Evaluate<'e> = dyn FnMut(&PreparedDocument, &Value) -> Result<Option<Value>, Error> + 'e;

pub struct Constraint {
    /// Kind, which names the template.
    pub kind: String,
    /// Name, which messages to users contain.
    pub name: String,
    /// File and object, for errors.
    pub label: String,
    /// Effects of a violation. They are empty if the webhook does not enforce the constraint.
    pub actions: Vec<EnforcementAction>,
    template: Arc<ConstraintTemplate>,
    matching: Match,
    parameters: Value,
}

/// A violation as the rule `violation` reports it: a message with optional details.
#[derive(Debug, PartialEq)]
pub struct ReportedViolation {
    pub message: String,
    /// Further facts.
    pub details: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    default,
    expecting = "an object"
)]
struct ConstraintSpec {
    enforcement_action: Option<String>,
    scoped_enforcement_actions: Option<Vec<ScopedAction>>,
    #[serde(rename = "match", deserialize_with = "or_default")]
    matching: Match,
    /// Read from the object itself, which keeps numbers as they are written.
    #[serde(rename = "parameters")]
    _parameters: Option<IgnoredAny>,
}

impl Constraint {
    /// Reads a constraint of a template.
    ///
    /// # Errors
    /// The constraint is not valid, or its parameters violate the schema: names the file, the object and the problem.
    pub fn read(manifest: &Manifest, template: Arc<ConstraintTemplate>) -> Result<Self, String> {
        let constraint = Self::parse(manifest, template);
        constraint.map_err(|problem| format!("{}: {problem}", manifest.label()))
    }

    fn parse(manifest: &Manifest, template: Arc<ConstraintTemplate>) -> Result<Self, String> {
        let version = manifest.version();
        if !VERSIONS.contains(&version) {
            let known = VERSIONS.join("`, `");
            return Err(format!(
                "unknown version `{version}`: expected one of `{known}`"
            ));
        }
        if manifest.name().is_empty() {
            return Err("`metadata.name` must be a non-empty string".to_owned());
        }
        let spec: Option<ConstraintSpec> = section::read(&manifest.value, "spec")?;
        let spec = spec.unwrap_or_default();
        let parameters = manifest.value.get("spec");
        let parameters = parameters.and_then(|spec| spec.get("parameters"));
        let parameters = match (
            parameters.filter(|given| !given.is_null()),
            &template.schema,
        ) {
            (Some(parameters), Some(schema)) => schema.check(parameters)?,
            (Some(parameters), None) => parameters.clone(),
            (None, Some(schema)) => match schema.default() {
                Some(parameters) => schema.check(&parameters)?,
                None => Value::object(Vec::new()),
            },
            (None, None) => Value::object(Vec::new()),
        };
        Ok(Self {
            kind: manifest.kind().to_owned(),
            name: manifest.name().to_owned(),
            label: manifest.label(),
            actions: webhook_actions(
                spec.enforcement_action.as_deref(),
                spec.scoped_enforcement_actions.as_deref(),
            )?,
            template,
            matching: spec.matching,
            parameters,
        })
    }

    /// Returns `true` if the constraint applies to a request.
    ///
    /// # Errors
    /// Errors of [`Match::matches`].
    pub fn applies_to(
        &self,
        request: &ReviewedRequest<'_>,
        namespace: Option<NamespaceObject<'_>>,
    ) -> Result<bool, String> {
        self.matching.matches(&request.subjects, namespace)
    }

    /// Evaluates the template. `review` is `input.review`, and `documents` contains the inventory.
    ///
    /// # Errors
    /// The evaluation fails, or `violation` has a value of a wrong form.
    pub fn violations(
        &self,
        review: &Value,
        documents: &Value,
        evaluate: &mut Evaluate<'_>,
    ) -> Result<Vec<ReportedViolation>, String> {
        let code = &self.template.code;
        let mut members = vec![
            ("review".into(), review.clone()),
            ("parameters".into(), self.parameters.clone()),
        ];
        if code.reads_inventory {
            // an empty inventory is written as such: without one, nothing would be found to compare with, and all be admitted
            let inventory = documents.get("inventory").cloned();
            let inventory =
                inventory.ok_or("the template reads `data.inventory`, which does not exist")?;
            members.push(("inventory".into(), inventory));
        }
        let result = evaluate(&code.violation, &Value::object(members));
        let result = result.map_err(|error| error.to_string())?;
        let violations = result.ok_or("`violation` is undefined")?;
        reported(&violations)
    }
}

/// Reads the value of the rule `violation`.
fn reported(violations: &Value) -> Result<Vec<ReportedViolation>, String> {
    let set = violations.as_set();
    let set = set.ok_or("`violation` must be a set")?;
    let mut reported = Vec::new();
    for violation in set.items() {
        let message = violation.get("msg").and_then(Value::as_str);
        let message =
            message.ok_or("each element of `violation` must be an object with the string `msg`")?;
        reported.push(ReportedViolation {
            message: message.to_owned(),
            details: violation.get("details").cloned(),
        });
    }
    Ok(reported)
}
