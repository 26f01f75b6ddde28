//! What type errors say: the message, the lines below it, and the same as published JSON.

use serde_json::{Value as Json, json};
use solon_syntax::ast::Term;
use solon_syntax::json;
use solon_syntax::print::display_ref;
use solon_syntax::source::{Code, Diagnostic, Span};

use crate::compile::report::Report;
use crate::types::{Parameter, Type, brief, constant_json};
use crate::value::Value;

/// Where the documentation of match errors is.
const MATCH_ERROR: &str = "https://www.openpolicyagent.org/docs/errors/rego-type-error/match-error";

/// Lines below a message, and the same as published JSON.
pub type Details = (Vec<String>, Option<Json>);

/// A type error without its file.
#[derive(Clone, Debug)]
pub struct Problem {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub message: String,
    /// Lines below the message.
    pub details: Vec<String>,
    /// The same as published JSON.
    pub details_json: Option<Json>,
    /// Whether a type that could not be found out took part: an error reported before may be the reason.
    pub unknown: bool,
}

impl Problem {
    /// An error without details.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
            details: Vec::new(),
            details_json: None,
            unknown: false,
        }
    }

    /// The error with its file.
    pub fn diagnostic(self, report: &Report) -> Diagnostic {
        let mut diagnostic = report.diagnostic(Code::Type, self.span, self.message);
        diagnostic.details = self.details;
        diagnostic.details_json = self.details_json;
        diagnostic
    }

    /// Two terms that can never be equal.
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

    /// Operands that do not fit a function's parameters.
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

/// The lines and the JSON that set operands against parameters.
pub fn operand_details(have: &[Type], want: &[Parameter]) -> Details {
    let (all, wanted) = brief::lists(have, want, "have: ".len());
    let have: Json = have.iter().map(Type::to_json).collect();
    let args: Json = want.iter().map(Parameter::to_json).collect();
    (
        vec![format!("have: {all}"), format!("want: {wanted}")],
        Some(json!({"have": have, "want": {"args": args}})),
    )
}

/// A reference that leads nowhere.
pub struct BadReference<'a> {
    /// The reference in the user's words.
    pub reference: &'a [Term],
    /// The step at which it goes wrong.
    pub position: usize,
}

impl BadReference<'_> {
    /// Nothing can be looked up in what the steps up to the position lead to.
    pub fn unsupported(&self, have: &Type) -> Problem {
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

    /// What stands at the position is no key. `have` is its type, if that decided.
    pub fn invalid(&self, have: Option<&Type>, want: &Type, one_of: Option<&[Value]>) -> Problem {
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
                let keys: Vec<_> = keys.iter().map(Value::to_string).collect();
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

/// A problem whose place is still to be told.
fn detailed(message: String, details: Vec<String>, json: Json) -> Problem {
    Problem {
        details,
        details_json: Some(json),
        ..Problem::new(Span::default(), message)
    }
}
