//! API errors: the only module that maps errors to a status and a body.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, json};
use solon::Error;
use solon::store::StoreError;

use crate::config::Spelling;
use crate::execution::LatencyEstimate;
use crate::http::header::RETRY_AFTER;
use crate::http::{Rejection, Response, ResponseExt as _, Status, response};
use crate::json::{JsonFields, answer_text};
use crate::plugins::decision_logs::EventError;
use crate::wire::{Details, ErrorItem, ErrorLocation, RunningQuery};

/// Messages that clients compare.
pub mod message {
    /// Modules that do not parse or compile.
    pub const COMPILE_MODULES: &str = "error(s) occurred while compiling module(s)";
    /// A query that does not parse.
    pub const PARSE_QUERY: &str = "error(s) occurred while parsing query";
    /// A query that does not compile.
    pub const COMPILE_QUERY: &str = "error(s) occurred while compiling query";
    /// An evaluation that failed.
    pub const EVALUATE: &str = "error(s) occurred while evaluating query";
}

/// Reason why a handler did not return a response.
#[derive(Debug)]
pub enum ApiError {
    /// The request takes longer than a reactor may block. It is handled again in the pool, which classifies it by the estimate.
    Elsewhere(Option<Arc<LatencyEstimate>>),
    /// The request was rejected or failed.
    Refused(Box<ErrorContent>),
}

/// An error with the status and the body of its response.
#[derive(Debug)]
pub struct ErrorContent {
    status: Status,
    code: &'static str,
    message: String,
    errors: Vec<ErrorItem>,
    /// Outcome of each rule, if the request selects it.
    explanation: Option<solon::Value>,
}

#[derive(Serialize)]
struct Body<'a> {
    code: &'static str,
    message: &'a str,
    #[serde(skip_serializing_if = "<[ErrorItem]>::is_empty")]
    errors: &'a [ErrorItem],
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a solon::Value>,
}

impl ApiError {
    fn new(status: Status, code: &'static str, message: impl Into<String>) -> Self {
        Self::Refused(Box::new(ErrorContent {
            status,
            code,
            message: message.into(),
            errors: Vec::new(),
            explanation: None,
        }))
    }

    /// 400: the request is invalid.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(Status::BAD_REQUEST, "invalid_parameter", message)
    }

    /// 400: the request conflicts with existing policies or documents.
    pub fn invalid_operation(message: impl Into<String>) -> Self {
        Self::new(Status::BAD_REQUEST, "invalid_operation", message)
    }

    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Status::NOT_FOUND, "resource_not_found", message)
    }

    /// 404: a different value is at the path.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(Status::NOT_FOUND, "resource_conflict", message)
    }

    /// 404: the document is undefined.
    pub fn undefined(message: impl Into<String>) -> Self {
        Self::new(Status::NOT_FOUND, "undefined_document", message)
    }

    /// 401: the client is not authorized.
    pub fn unauthorized(message: impl Into<String>) -> Self {
        Self::new(Status::UNAUTHORIZED, "unauthorized", message)
    }

    pub fn with_status(status: Status, code: &'static str, message: impl Into<String>) -> Self {
        Self::new(status, code, message)
    }

    /// 500: the evaluation was cancelled because no time was left.
    pub fn cancelled() -> Self {
        let mut error = Self::internal(message::EVALUATE);
        if let Self::Refused(rejection) = &mut error {
            rejection.errors = vec![ErrorItem {
                code: "eval_cancel_error".to_owned(),
                message: "caller cancelled query execution".to_owned(),
                location: None,
                details: None,
                stack_trace: Vec::new(),
            }];
        }
        error
    }

    /// 500: an error that the request did not cause.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(Status::INTERNAL_SERVER_ERROR, "internal_error", message)
    }

    /// Returns the error for an unknown policy id: 404.
    pub fn no_policy(id: &str) -> Self {
        let id = solon::Value::string(id);
        let id = id.rego_text();
        Self::not_found(format!("storage_not_found_error: policy id {id}"))
    }

    /// Removes the stack of running queries.
    #[must_use]
    pub fn without_stacks(mut self) -> Self {
        if let Self::Refused(rejection) = &mut self {
            for item in &mut rejection.errors {
                item.stack_trace.clear();
            }
        }
        self
    }

    pub fn response(self, spelling: Spelling) -> Response {
        match self {
            Self::Refused(rejection) => rejection.response(spelling),
            // no handler returns it in the pool
            Self::Elsewhere(_) => response::empty(Status::INTERNAL_SERVER_ERROR),
        }
    }

    /// Adds the outcome of each rule.
    #[must_use]
    pub fn explained(mut self, explanation: Option<solon::Value>) -> Self {
        if let Self::Refused(rejection) = &mut self {
            rejection.explanation = explanation;
        }
        self
    }

    /// Returns the first of the listed errors, after its location, in text form.
    pub fn first_error(&self) -> Option<String> {
        let Self::Refused(rejection) = self else {
            return None;
        };
        let first = rejection.errors.first()?;
        let location = first.location.as_ref();
        let location = location.map(|location| format!("{}:{}: ", location.file, location.row));
        let location = location.unwrap_or_default();
        Some(format!("{location}{}: {}", first.code, first.message))
    }

    /// Returns the code of the first of the listed errors, or `None` without a list.
    pub fn first_code(&self) -> Option<&str> {
        match self {
            Self::Refused(rejection) => rejection.errors.first().map(|error| error.code.as_str()),
            Self::Elsewhere(_) => None,
        }
    }

    /// Returns the error as one text for the log: its first detail, otherwise its message.
    pub fn log_text(&self) -> String {
        let text = self.first_error();
        text.or_else(|| self.message().map(str::to_owned))
            .unwrap_or_default()
    }

    /// Returns the message, or `None` if the request is handled elsewhere.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Refused(rejection) => Some(&rejection.message),
            Self::Elsewhere(_) => None,
        }
    }

    /// Returns `true` if the decision itself failed, `false` if the request was invalid.
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.status != Status::BAD_REQUEST)
    }

    /// Returns the error as events of decisions contain it: the first of the errors that it lists, or itself.
    pub fn event_error(&self, spelling: Spelling) -> Option<EventError> {
        let Self::Refused(rejection) = self else {
            return None;
        };
        let item = |item: &ErrorItem| {
            let mut object = Map::new();
            object.insert("code".to_owned(), json!(spelling.code(&item.code)));
            object.insert("message".to_owned(), json!(spelling.message(&item.message)));
            object
        };
        Some(match rejection.errors.first() {
            Some(first) => {
                let mut object = item(first);
                if let Some(location) = &first.location {
                    object.insert("location".to_owned(), json!(location));
                }
                if !first.stack_trace.is_empty() {
                    object.insert("stack_trace".to_owned(), json!(first.stack_trace));
                }
                EventError {
                    object: crate::json::text_of(&object),
                    text: self.first_error().unwrap_or_default(),
                }
            }
            None => EventError {
                object: crate::json::text_of(&json!({
                    "code": rejection.code,
                    "message": spelling.message(&rejection.message),
                })),
                text: format!("{}: {}", rejection.code, rejection.message),
            },
        })
    }

    /// Adds the entries of an engine error.
    #[must_use]
    pub fn listing(mut self, error: &Error) -> Self {
        if let Self::Refused(rejection) = &mut self {
            rejection.errors = items(error);
        }
        self
    }
}

impl From<Error> for ApiError {
    /// Default conversion, if a handler has no more specific error.
    fn from(error: Error) -> Self {
        match &error {
            Error::Eval(_) => Self::internal(message::EVALUATE).listing(&error),
            Error::Compile(_) => Self::invalid(message::COMPILE_MODULES).listing(&error),
            Error::Store(StoreError::NotFound { index: Some(_), .. }) => {
                Self::not_found(error.to_string())
            }
            Error::Store(StoreError::NotFound { .. }) => {
                Self::not_found("storage_not_found_error: document does not exist")
            }
            Error::Store(StoreError::Conflict { .. }) => Self::conflict(error.to_string()),
            Error::Store(StoreError::Internal { .. }) => Self::internal(error.to_string()),
            Error::Store(StoreError::InvalidPatch { .. }) | Error::Input(_) | Error::Options(_) => {
                Self::invalid(error.to_string())
            }
            Error::UnknownModule { name } => Self::no_policy(name),
            _ => Self::internal(error.to_string()),
        }
    }
}

impl From<Rejection> for ApiError {
    fn from(rejection: Rejection) -> Self {
        let (status, code, message) = rejection.describe();
        // OPA rejects oversized bodies with 400 and the name of the option
        match rejection {
            Rejection::TooLarge { .. } => {
                Self::invalid(format!("{message} (server.decoding.max_length)"))
            }
            Rejection::DecompressedTooLarge(_) => {
                Self::invalid(format!("{message} (server.decoding.gzip.max_length)"))
            }
            Rejection::Late => Self::cancelled(),
            _ => Self::new(status, code, message),
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Error::Store(error).into()
    }
}

impl ErrorContent {
    /// Returns the response. Errors are always indented.
    pub fn response(self, spelling: Spelling) -> Response {
        let errors = in_spelling(self.errors, spelling);
        let body = Body {
            code: self.code,
            message: &spelling.message(&self.message),
            errors: &errors,
            explanation: self.explanation.as_ref(),
        };
        let response = response::json(self.status, answer_text(&body, true));
        if self.status == Status::SERVICE_UNAVAILABLE {
            response.with_static(RETRY_AFTER, "1")
        } else {
            response
        }
    }

    /// Returns the error as one of several results. The message is replaced by the first listed error. `id` is the id of the
    /// decision, if it is logged.
    pub fn fields(self, pretty: bool, spelling: Spelling, id: Option<&str>) -> JsonFields {
        let errors = in_spelling(self.errors, spelling);
        let first = errors.first();
        let message = first.map(|first| format!("{}: {}", first.code, first.message));
        let mut fields = JsonFields::new(pretty);
        if let Some(id) = id {
            fields.typed("decision_id", &id);
        }
        fields.typed("code", &self.code);
        let message = message.unwrap_or_else(|| spelling.message(&self.message).into_owned());
        fields.typed("message", &message);
        if !errors.is_empty() {
            fields.typed("errors", &errors);
        }
        fields
    }
}

fn in_spelling(errors: Vec<ErrorItem>, spelling: Spelling) -> Vec<ErrorItem> {
    let errors = errors.into_iter();
    let spell = |item: ErrorItem| ErrorItem {
        code: spelling.code(&item.code).into_owned(),
        message: spelling.message(&item.message).into_owned(),
        ..item
    };
    errors.map(spell).collect()
}

fn items(error: &Error) -> Vec<ErrorItem> {
    let details = |index: usize| match error {
        Error::Compile(diagnostics) => diagnostics.0.get(index).and_then(Details::from_diagnostic),
        Error::Filter(entries) => entries.get(index).and_then(Details::of_entry),
        _ => None,
    };
    let entries = error.entries().into_iter().enumerate();
    entries
        .map(|(index, entry)| ErrorItem {
            code: entry.code,
            message: entry.message,
            location: entry.location.map(ErrorLocation::from),
            details: details(index),
            stack_trace: entry.stack.iter().map(RunningQuery::from).collect(),
        })
        .collect()
}
