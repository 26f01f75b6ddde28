//! Source text and what points into it.

mod diagnostic;
mod span;

pub use diagnostic::{Code, Diagnostic, Diagnostics};
pub use span::{Source, SourceId, Span};
