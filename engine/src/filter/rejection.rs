//! Rejections: parts of a policy that a filter cannot express.

use solon_syntax::ast::{Ref, Term};
use solon_syntax::source::Span;

/// A part of a policy that the requested kind of filter cannot express.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Error code as in OPA.
    pub code: &'static str,
    pub message: String,
    /// Suggestion for the user.
    pub details: Option<String>,
    /// Source location; empty for generated terms.
    pub span: Span,
    /// Document that the rejection is about. Its rules provide a location if there is no other.
    pub about: Option<Ref>,
}

impl Rejection {
    /// Creates a rejection without details.
    pub fn new(message: impl Into<String>, span: Span) -> Self {
        Self {
            code: "pe_fragment_error",
            message: message.into(),
            details: None,
            span,
            about: None,
        }
    }

    /// Sets the document that the rejection is about, for its message.
    #[must_use]
    pub fn about(mut self, document: &[Term]) -> Self {
        self.about = Some(document.to_vec());
        self
    }

    /// Sets a suggestion for the user.
    #[must_use]
    pub fn details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }
}
