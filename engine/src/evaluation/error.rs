//! Errors that end an evaluation.

use std::fmt;
use std::sync::Arc;

use crate::builtins::FaultCode;
use crate::limits;

/// An error that ends an evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EvalError {
    /// Published code.
    pub code: FaultCode,
    /// What went wrong, in Rego's words.
    pub message: String,
    /// File; empty for queries and errors without a place.
    pub file: Arc<str>,
    /// Row from 1; 0 when there is no place.
    pub row: u32,
    /// Column from 1; 0 when there is no place.
    pub col: u32,
}

impl EvalError {
    /// Something is nested deeper than is allowed.
    pub(crate) fn too_deep() -> Self {
        Self::nowhere(FaultCode::Internal, "evaluation is nested too deeply")
    }

    /// Something takes more memory than is allowed.
    pub(crate) fn too_large() -> Self {
        Self::nowhere(FaultCode::Cancel, limits::MEMORY_EXCEEDED)
    }

    fn nowhere(code: FaultCode, message: &str) -> Self {
        Self {
            code,
            message: message.into(),
            file: Arc::from(""),
            row: 0,
            col: 0,
        }
    }

    /// What is left open is larger than is allowed.
    pub(crate) fn too_open() -> Self {
        let limit = limits::RESIDUAL_EXPRESSIONS;
        Self {
            message: format!("partial evaluation exceeds the limit of {limit} expressions"),
            ..Self::too_deep()
        }
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.row > 0 {
            if self.file.is_empty() {
                write!(f, "{}:{}: ", self.row, self.col)?;
            } else {
                write!(f, "{}:{}: ", self.file, self.row)?;
            }
        }
        write!(f, "{}: {}", self.code.as_str(), self.message)
    }
}

impl std::error::Error for EvalError {}

/// Why a run ends before its time.
#[derive(Debug)]
pub(crate) enum Halt {
    /// An error of the evaluation.
    Error(Box<EvalError>),
    /// A leaf produced what contradicts an earlier value. Whoever runs the rule words it.
    Clash,
}

impl Halt {
    /// The error; a clash never leaves the rule that runs.
    pub fn into_error(self) -> Box<EvalError> {
        match self {
            Self::Error(error) => error,
            Self::Clash => Box::new(EvalError {
                code: FaultCode::Internal,
                message: "conflict outside a rule".into(),
                file: Arc::from(""),
                row: 0,
                col: 0,
            }),
        }
    }
}
