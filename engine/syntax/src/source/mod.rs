//! Source texts and spans.

mod diagnostic;
mod span;
mod utf8;

pub use diagnostic::{Code, Diagnostic, Diagnostics};
pub use span::{Source, SourceId, Span};
pub(crate) use utf8::{Repaired, repaired};
