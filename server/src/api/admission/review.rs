//! `AdmissionReview` of `admission.k8s.io/v1`: requests and responses.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, json};
use solon::Value;

use super::decision::AdmissionDecision;

const VERSION: &str = "admission.k8s.io/v1";
const KIND: &str = "AdmissionReview";

/// A request of the API server.
#[derive(Debug)]
pub struct Review<'a> {
    pub input: &'a Value,
    /// The member `request`, an object.
    pub request: &'a Value,
    /// Id that the response must have.
    pub uid: &'a str,
    operation: &'a str,
}

impl<'a> Review<'a> {
    /// Reads a review.
    ///
    /// # Errors
    /// The document is not a review of a supported version, or lacks a member that each review has.
    pub fn from_input(input: &'a Value) -> Result<Self, String> {
        let text = |value: &'a Value, name: &str| value.get(name).and_then(Value::as_str);
        if input.as_object().is_none() {
            return Err(format!("expected an object, got {}", input.kind().as_str()));
        }
        match (text(input, "apiVersion"), text(input, "kind")) {
            (Some(VERSION), Some(KIND)) => {}
            (version, kind) => {
                let shown = |text: Option<&str>| text.unwrap_or("none").to_owned();
                return Err(format!(
                    "expected {KIND} of {VERSION}, got {} of {}",
                    shown(kind),
                    shown(version)
                ));
            }
        }
        let request = input.get("request");
        let request = request
            .filter(|request| request.as_object().is_some())
            .ok_or("`request` must be an object")?;
        let uid = text(request, "uid").filter(|uid| !uid.is_empty());
        let uid = uid.ok_or("`request.uid` must be a non-empty string")?;
        let operation = text(request, "operation");
        let operation = operation.ok_or("`request.operation` must be a string")?;
        Ok(Self {
            input,
            request,
            uid,
            operation,
        })
    }

    /// Returns the id of a document that may not be a review, or `None` if it has none.
    pub fn uid_of(input: &'a Value) -> Option<&'a str> {
        input.get("request")?.get("uid")?.as_str()
    }

    /// Returns `true` if the object is deleted, so that only its old state exists.
    pub fn is_delete(&self) -> bool {
        self.operation == "DELETE"
    }
}

/// Response to a review, without its id.
#[derive(Debug)]
pub struct Answer {
    members: Map<String, serde_json::Value>,
}

impl Answer {
    /// Returns the response that denies with a status.
    pub fn denied(code: u16, message: &str) -> Self {
        let mut members = Map::new();
        members.insert("allowed".to_owned(), json!(false));
        members.insert(
            "status".to_owned(),
            json!({"code": code, "message": message}),
        );
        Self { members }
    }

    /// Returns the response of a decision. A denial has status 403 and the denials as its message.
    pub fn of_decision(decision: &AdmissionDecision) -> Self {
        let mut answer = if decision.is_allowed {
            let mut members = Map::new();
            members.insert("allowed".to_owned(), json!(true));
            if !decision.patch.is_empty() {
                let operations: Vec<_> = decision.patch.iter().map(|text| text.get()).collect();
                let patch = format!("[{}]", operations.join(","));
                members.insert("patch".to_owned(), json!(STANDARD.encode(patch)));
                members.insert("patchType".to_owned(), json!("JSONPatch"));
            }
            Self { members }
        } else {
            Self::denied(403, &decision.denials.join("\n"))
        };
        if !decision.warnings.is_empty() {
            let warnings = json!(decision.warnings);
            answer.members.insert("warnings".to_owned(), warnings);
        }
        if !decision.annotations.is_empty() {
            let annotations = json!(decision.annotations);
            answer
                .members
                .insert("auditAnnotations".to_owned(), annotations);
        }
        answer
    }

    /// Sets a member of the status, which is created if necessary.
    #[must_use]
    pub fn with_status(mut self, name: &str, value: serde_json::Value) -> Self {
        let status = self.members.entry("status").or_insert_with(|| json!({}));
        if let Some(status) = status.as_object_mut() {
            status.insert(name.to_owned(), value);
        }
        self
    }

    /// Returns the text of the review with this response. `uid` is that of the request.
    pub fn review(self, uid: &str) -> Vec<u8> {
        let mut members = self.members;
        members.insert("uid".to_owned(), json!(uid));
        let review = json!({"apiVersion": VERSION, "kind": KIND, "response": members});
        review.to_string().into_bytes()
    }
}
