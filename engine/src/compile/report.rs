//! Where passes put what they refuse.

use hashbrown::HashMap;
use std::sync::Arc;

use solon_syntax::source::{Code, Diagnostic, Diagnostics, Source, SourceId, Span};

/// What was refused so far, and whether to go on.
#[derive(Debug, Default)]
pub struct Report {
    errors: Vec<Diagnostic>,
    files: HashMap<SourceId, Arc<str>>,
    limit: usize,
    fatal: bool,
    limit_reached: bool,
}

impl Report {
    /// A report on the given texts that takes `limit` errors; 0 means all.
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

    /// Adds an error after which later passes do not run.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        let diagnostic = self.diagnostic(code, span, message);
        self.push(diagnostic);
    }

    /// Adds an error that lets later passes run.
    pub fn recoverable(&mut self, code: Code, span: Span, message: impl Into<String>) {
        let diagnostic = self.diagnostic(code, span, message);
        self.push_recoverable(diagnostic);
    }

    /// An error to be completed and pushed.
    pub fn diagnostic(&self, code: Code, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(code, self.file(span.source), span, message)
    }

    /// Adds a complete error after which later passes do not run.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.fatal = true;
        self.push_recoverable(diagnostic);
    }

    /// Adds a complete error that lets later passes run. The error that reaches the limit ends the compilation.
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

    /// Whether no later pass may run.
    pub fn is_fatal(&self) -> bool {
        self.fatal
    }

    /// Whether errors were left out because the limit was reached.
    pub fn is_full(&self) -> bool {
        self.limit_reached
    }

    /// Whether nothing was refused.
    pub fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    /// The name of a source text; empty for queries and for nodes without one.
    pub fn file(&self, source: SourceId) -> Arc<str> {
        self.files.get(&source).cloned().unwrap_or_default()
    }

    /// The errors in order of place, the mark of a reached limit last.
    pub fn finish(self) -> Result<(), Diagnostics> {
        let mut errors = Diagnostics(self.errors);
        errors.sort();
        if self.limit_reached {
            errors.0.push(limit_diagnostic());
        }
        finish(errors)
    }

    /// The first `limit` errors in the order they were found, and a mark if there are more; 0 means all.
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
