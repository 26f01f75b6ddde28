//! Text of type errors: the message, the lines below it, and OPA's JSON details.

use serde_json::{Value as Json, json};
use solon_syntax::ast::Term;
use solon_syntax::json;
use solon_syntax::print::display_ref;
use solon_syntax::source::{Code, Diagnostic, Span};

use crate::compile::report::Report;
use crate::types::{Parameter, Type, brief, constant_json};
use crate::value::Value;

/// URL of the documentation of match errors.
const MATCH_ERROR: &str = "https://www.openpolicyagent.org/docs/errors/rego-type-error/match-error";

/// Lines below a message, and OPA's JSON details.
pub type Details = (Vec<String>, Option<Json>);

/// A type error without its file.
#[derive(Clone, Debug)]
pub struct TypeProblem {
    pub span: Span,
    pub message: String,
    /// Lines below the message.
    pub details: Vec<String>,
    /// OPA's JSON details, `None` if the error has none.
    pub details_json: Option<Json>,
    /// `true` if an unknown type was involved: an earlier error may be the cause.
    pub unknown: bool,
}

impl TypeProblem {
    /// Creates an error without details.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            details: Vec::new(),
            details_json: None,
            unknown: false,
        }
    }

    /// Returns the diagnostic, with the file that `report` has for its span.
    pub fn diagnostic(self, report: &Report) -> Diagnostic {
        let mut diagnostic = report.diagnostic(Code::Type, self.span, self.message);
        diagnostic.details = self.details;
        diagnostic.details_json = self.details_json;
        diagnostic
    }

    /// Creates the error for two terms that can never be equal.
    pub fn mismatch(span: Span, left: &Type, right: &Type) -> Self {
        let (a, b) = brief::pair(left, right, "right : ".len());
        let mut details = vec![format!("left  : {a}"), format!("right : {b}")];
        let sides = match (left, right) {
            (Type::Array(_), Type::Array(_)) => Some("arrays"),
            (Type::Object(_), Type::Object(_)) => Some("objects"),
            (Type::Set(_), Type::Set(_)) => Some("sets"),
            _ => None,
        };
        details.extend(sides.map(|sides| {
            format!(
                "hint  : both sides are {sides} but their types differ, so they can never be equal (see {MATCH_ERROR})"
            )
        }));
        Self {
            details,
            details_json: Some(json!({"a": left.to_json(), "b": right.to_json()})),
            unknown: left.has_unknown() || right.has_unknown(),
            ..Self::new(span, "match error")
        }
    }

    /// Creates the error for operands that do not match a function's parameters.
    pub fn operands(
        span: Span,
        name: &str,
        reason: &str,
        have: &[Type],
        want: &[Parameter],
    ) -> Self {
        let (details, details_json) = operand_details(have, want);
        Self {
            details,
            details_json,
            unknown: have.iter().any(Type::has_unknown),
            ..Self::new(span, format!("{name}: {reason}"))
        }
    }
}

/// Returns the details that compare operands with parameters: lines `have:` and `want:`, and OPA's JSON.
pub fn operand_details(have: &[Type], want: &[Parameter]) -> Details {
    let (all, want_text) = brief::lists(have, want, "have: ".len());
    let have: Json = have.iter().map(Type::to_json).collect();
    let args: Json = want.iter().map(Parameter::to_json).collect();
    (
        vec![format!("have: {all}"), format!("want: {want_text}")],
        Some(json!({"have": have, "want": {"args": args}})),
    )
}

pub struct BadReference<'a> {
    /// The reference with the user's names.
    pub reference: &'a [Term],
    /// Index of the invalid step.
    pub position: usize,
}

impl BadReference<'_> {
    /// Returns the error for a value that has no keys.
    pub fn unsupported(&self, have: &Type) -> TypeProblem {
        let text = display_ref(self.reference).to_string();
        let message = match have {
            Type::Function(_) => format!("function {text} used as reference, not called"),
            _ => format!("undefined ref: {text}"),
        };
        let have_line = match have {
            Type::Unknown => "have: <nil>".to_owned(),
            have => format!("have: {have}"),
        };
        let lines = vec![text, "^".repeat(self.width(self.position + 1)), have_line];
        let json = json!({"ref": self.json(), "pos": self.position, "have": have.to_json()});
        detailed(message, lines, json)
    }

    /// Returns the error for an invalid key. `have` is its type, if the type is the reason.
    pub fn invalid(
        &self,
        have: Option<&Type>,
        want: &Type,
        one_of: Option<&[Value]>,
    ) -> TypeProblem {
        let text = display_ref(self.reference).to_string();
        let pad = " ".repeat(self.width(self.position) + 1);
        let have_line = match (have, self.reference.get(self.position)) {
            (Some(have), _) => format!("{pad}have (type): {have}"),
            (None, Some(key)) => format!("{pad}have: {key}"),
            (None, None) => format!("{pad}have: "),
        };
        let message = format!("undefined ref: {text}");
        let want_line = match one_of {
            Some(keys) => {
                let keys: Vec<_> = keys.iter().map(|key| key.rego_text().to_string()).collect();
                format!("{pad}want (one of): [{}]", keys.join(" "))
            }
            None => format!("{pad}want (type): {want}"),
        };
        let lines = vec![text, format!("{pad}^"), have_line, want_line];
        let mut json = json!({
            "ref": self.json(),
            "pos": self.position,
            "want": want.to_json(),
            "oneOf": one_of.filter(|keys| !keys.is_empty()).map(|keys| {
                let keys = keys.iter().map(|key| constant_json(key.borrow()));
                keys.collect::<Vec<_>>()
            }),
        });
        if let (Some(have), Some(json)) = (have, json.as_object_mut()) {
            json.insert("have".into(), have.to_json());
        }
        detailed(message, lines, json)
    }

    /// Width of the text of the steps before `end`.
    fn width(&self, end: usize) -> usize {
        let steps = self.reference.get(..end).unwrap_or(self.reference);
        display_ref(steps).to_string().len()
    }

    fn json(&self) -> Json {
        let options = json::Options::default();
        self.reference
            .iter()
            .map(|term| json::value(term, options))
            .collect()
    }
}

/// Creates a problem whose location is set later.
fn detailed(message: String, details: Vec<String>, json: Json) -> TypeProblem {
    TypeProblem {
        details,
        details_json: Some(json),
        ..TypeProblem::new(Span::default(), message)
    }
}
