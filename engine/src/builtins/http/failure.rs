//! Failures of requests, and how policies see them.

use std::sync::Arc;

use crate::builtins::{BuiltinContext, BuiltinError, BuiltinErrorDetail, EvalErrorCode};
use crate::host::{HttpError, HttpErrorKind, WaitError};
use crate::value::{RefRepr, ValueRef};

/// Why a request has no response. Equal requests share it.
#[derive(Clone, Debug)]
pub enum RequestFailure {
    /// Network error before the response arrived.
    Network(Arc<NetworkFailure>),
    /// Invalid request, or error while reading the response's body.
    Rejected(Arc<BuiltinErrorDetail>),
    /// Error found before the request was parsed. Its message has no source location.
    Bare(Arc<str>),
    End(EvalErrorCode, Arc<str>),
}

#[derive(Debug)]
pub struct NetworkFailure {
    /// Method in Go's spelling, such as `Get`.
    pub operation: String,
    pub url: String,
    pub message: String,
    /// `true` for timeouts.
    pub late: bool,
}

impl RequestFailure {
    /// Returns an error of the request, with the code of a built-in's error.
    pub fn rejected(message: impl Into<String>) -> Self {
        let message: String = message.into();
        Self::Rejected(Arc::new(BuiltinErrorDetail::Message(
            EvalErrorCode::Builtin,
            message.into(),
        )))
    }

    /// Returns an error of the request that counts as a type error of the operand.
    pub fn mistyped(message: impl Into<String>) -> Self {
        let message = format!("operand 1 {}", message.into());
        Self::Rejected(Arc::new(BuiltinErrorDetail::Message(
            EvalErrorCode::Type,
            message.into(),
        )))
    }

    /// Converts an error of the host. If the evaluation was cancelled or timed out, that error takes precedence.
    pub fn of_host(
        call: &BuiltinContext<'_>,
        operation: String,
        url: String,
        error: HttpError,
    ) -> Self {
        if let Some(end) = call.budget.ended("http.send") {
            return Self::end(&end);
        }
        match error.kind {
            HttpErrorKind::NoNetwork => Self::End(EvalErrorCode::Builtin, error.message.into()),
            HttpErrorKind::Setup => Self::rejected(error.message),
            HttpErrorKind::Body => Self::rejected(error.message),
            HttpErrorKind::OverInBody(_) => Self::rejected(format!(
                "{} (Client.Timeout or context cancellation while reading body)",
                error.message
            )),
            kind => {
                let is_late = kind == HttpErrorKind::Over(WaitError::TimedOut);
                let suffix = if is_late {
                    " (Client.Timeout exceeded while awaiting headers)"
                } else {
                    ""
                };
                Self::Network(Arc::new(NetworkFailure {
                    operation,
                    url,
                    message: format!("{}{suffix}", error.message),
                    late: is_late,
                }))
            }
        }
    }

    /// Converts an error that ends the evaluation.
    pub fn end(error: &BuiltinError) -> Self {
        match error {
            BuiltinError::Halt(error) | BuiltinError::Error(error) => {
                Self::End(error.code(), error.to_string().into())
            }
            BuiltinError::Undefined => {
                Self::End(EvalErrorCode::Internal, "http.send: undefined".into())
            }
        }
    }

    /// Returns it as an error of the call. [`Self::End`] also ends the evaluation.
    pub fn to_error(&self) -> BuiltinError {
        match self {
            Self::Network(failure) if failure.late => BuiltinError::error(format!(
                "{} {}: request timed out",
                failure.operation, failure.url
            )),
            Self::Network(failure) => BuiltinError::error(failure.to_string()),
            Self::Rejected(error) => {
                let message = error.to_string().into();
                BuiltinError::Error(Box::new(BuiltinErrorDetail::Message(error.code(), message)))
            }
            Self::Bare(message) => BuiltinError::error(message.to_string()),
            Self::End(code, message) => BuiltinError::halt(*code, message.to_string()),
        }
    }

    /// Returns it as a result, for policies that handle errors.
    pub fn to_result<'e>(&self, call: &BuiltinContext<'e>) -> ValueRef<'e> {
        let (code, message) = match self {
            Self::Network(failure) => ("eval_http_send_network_error", failure.to_string()),
            Self::Rejected(error) => {
                let code = error.code().as_str();
                let location = call.source_location();
                let message = format!("{location}: {code}: http.send: {error}");
                ("eval_http_send_internal_error", message)
            }
            Self::Bare(message) | Self::End(_, message) => {
                ("eval_http_send_internal_error", message.to_string())
            }
        };
        let arena = call.arena;
        let error = arena.object_from([
            (arena.text("code"), arena.text(code)),
            (arena.text("message"), arena.text(&message)),
        ]);
        arena.object_from([
            (arena.text("error"), error),
            (arena.text("status_code"), ValueRef(RefRepr::Int(0))),
        ])
    }
}

impl std::fmt::Display for NetworkFailure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let url = super::url::quoted(&self.url);
        write!(f, "{} {url}: {}", self.operation, self.message)
    }
}
