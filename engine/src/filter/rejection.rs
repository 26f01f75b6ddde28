//! What a filter cannot say.

use solon_syntax::ast::{Ref, Term};
use solon_syntax::source::Span;

/// A part of a policy that no filter of the wanted kind can say, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// Published code.
    pub code: &'static str,
    /// What is refused.
    pub message: String,
    /// What may help.
    pub details: Option<String>,
    /// Where it stands; nowhere for what no text stands behind.
    pub place: Span,
    /// The document that it is about, whose rules tell the place where nothing else does.
    pub about: Option<Ref>,
}

impl Rejection {
    /// Without details.
    pub fn new(message: impl Into<String>, place: Span) -> Self {
        Self {
            code: "pe_fragment_error",
            message: message.into(),
            details: None,
            place,
            about: None,
        }
    }

    /// The same about a document.
    #[must_use]
    pub fn about(mut self, document: &[Term]) -> Self {
        self.about = Some(document.to_vec());
        self
    }

    /// The same with a word of help.
    #[must_use]
    pub fn details(mut self, details: impl Into<String>) -> Self {
        self.details = Some(details.into());
        self
    }
}
