//! Collection of the errors of the passes.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::source::{Code, Diagnostic, Diagnostics, Source, SourceId, Span};

/// Errors so far, and whether the compilation continues.
#[derive(Debug, Default)]
pub struct Report {
    errors: Vec<Diagnostic>,
    files: HashMap<SourceId, Arc<str>>,
    limit: usize,
    fatal: bool,
    limit_reached: bool,
}

impl Report {
    /// Creates a sink for errors in the given sources that keeps `limit` errors; 0 means unlimited.
    pub fn new<'s>(sources: impl IntoIterator<Item = &'s Source>, limit: usize) -> Self {
        Self {
            files: sources
                .into_iter()
                .map(|source| (source.id, source.name.clone()))
                .collect(),
            limit,
            ..Self::default()
        }
    }

    /// Adds an error that stops the compilation after the current pass.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        let diagnostic = self.diagnostic(code, span, message);
        self.push(diagnostic);
    }

    /// Adds an error after which later passes still run.
    pub fn recoverable(&mut self, code: Code, span: Span, message: impl Into<String>) {
        let diagnostic = self.diagnostic(code, span, message);
        self.push_recoverable(diagnostic);
    }

    /// Creates an error without adding it.
    pub fn diagnostic(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.file(span.source), span, message)
    }

    /// Adds a complete error that stops the compilation after the current pass.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.fatal = true;
        self.push_recoverable(diagnostic);
    }

    /// Adds a complete error after which later passes still run. The error that reaches the limit ends the compilation.
    pub fn push_recoverable(&mut self, diagnostic: Diagnostic) {
        if self.limit_reached {
            return;
        }
        self.errors.push(diagnostic);
        if self.errors.len() == self.limit {
            self.limit_reached = true;
            self.fatal = true;
        }
    }

    /// Returns `true` if no later pass may run.
    pub fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Returns `true` if errors were omitted because the limit was reached.
    pub fn is_full(&self) -> bool {
        self.limit_reached
    }

    /// Returns `true` if no pass has reported an error.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// Returns the name of a source; empty for queries and for nodes without one.
    pub fn file(&self, source: SourceId) -> Arc<str> {
        self.files.get(&source).cloned().unwrap_or_default()
    }

    /// Returns the errors ordered by location, followed by the notice that the limit was reached.
    pub fn finish(self) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics(self.errors);
        errors.sort();
        if self.limit_reached {
            errors.0.push(limit_diagnostic());
        }
        finish(errors)
    }

    /// Returns the first `limit` errors in the order of discovery, followed by a notice if there are more; 0 means
    /// unlimited.
    pub fn finish_unsorted(self, limit: usize) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics(self.errors);
        if limit > 0 && errors.0.len() > limit {
            errors.0.truncate(limit);
            errors.0.push(limit_diagnostic());
        }
        finish(errors)
    }
}

fn limit_diagnostic() -> Diagnostic {
    Diagnostic::new(
        Code::Compile,
        Arc::default(),
        Span::default(),
        "error limit reached",
    )
}

fn finish(errors: Diagnostics) -> Result<(), Diagnostics> {
    if errors.0.is_empty() {
        Ok(())
    } else {
        Err(errors)
    }
}
