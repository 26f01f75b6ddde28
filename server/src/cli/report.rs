//! Errors as commands print them: one JSON object, or text with the line and a caret.

use std::fmt::Write as _;

use serde::Serialize;
use solon::bundle::{LoadErrorKind, LoadErrors};
use solon::{ErrorEntry, StackFrame};
use solon_syntax::source::Diagnostic;

use crate::json::answer_text;
use crate::wire::{Details, ErrorLocation, RunningQuery};

/// Errors to be printed.
#[derive(Debug, Serialize)]
pub struct Report {
    errors: Vec<ReportEntry>,
    /// `true` if files could not be loaded.
    #[serde(skip)]
    loading: bool,
    /// `true` if the evaluation continued in spite of the errors.
    #[serde(skip)]
    answered: bool,
    /// `discarded` if the evaluation returned a result that is not printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'static str>,
    /// Result, as a JSON object in OPA's form.
    #[serde(skip)]
    answer: Vec<u8>,
    /// Lines after all errors in the text.
    #[serde(skip)]
    notes: Vec<String>,
}

#[derive(Debug, Serialize)]
struct ReportEntry {
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<ErrorLocation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Details>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stack_trace: Vec<RunningQuery>,
    #[serde(skip)]
    lines: Vec<String>,
    /// Stack of running queries in the text.
    #[serde(skip)]
    traceback: Vec<String>,
}

/// Returns the text of a file, to print its lines. The query is the file without a name.
pub type Texts<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Report {
    /// Creates a report of an engine error.
    pub fn of_error(error: &solon::Error, texts: Texts<'_>) -> Self {
        let errors = match error {
            solon::Error::Compile(diagnostics) => diagnostics
                .0
                .iter()
                .map(|diagnostic| ReportEntry::of_diagnostic(diagnostic, texts))
                .collect(),
            solon::Error::EmptyQuery => vec![ReportEntry::message(error.to_string())],
            other => other
                .entries()
                .into_iter()
                .map(|entry| ReportEntry::of_evaluation(entry, texts))
                .collect(),
        };
        Self {
            errors,
            loading: false,
            answered: false,
            result: None,
            answer: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Creates a report of built-in errors that did not end the evaluation. `failed` is the error that did.
    pub fn of_builtins(
        failed: Option<&solon::Error>,
        errors: &[solon::Error],
        texts: Texts<'_>,
    ) -> Self {
        let mut report = failed.map_or_else(Self::answered, |error| Self::of_error(error, texts));
        for error in errors {
            report.errors.extend(Self::of_error(error, texts).errors);
        }
        report
    }

    /// Records that the evaluation returned a result, which is not printed.
    #[must_use]
    pub fn discarding(mut self, is_defined: bool) -> Self {
        self.result = is_defined.then_some("discarded");
        self
    }

    /// Adds a result as JSON.
    #[must_use]
    pub fn with_result(mut self, result: Vec<u8>) -> Self {
        self.answer = result;
        self
    }

    fn answered() -> Self {
        Self {
            errors: Vec::new(),
            loading: false,
            answered: true,
            result: None,
            answer: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Creates a report of errors of loading files. Syntax errors keep their location.
    pub fn of_files(errors: LoadErrors) -> Self {
        let entries = errors.0.into_iter().map(|error| match error.diagnostics() {
            [diagnostic] if error.kind() == LoadErrorKind::Syntax => {
                ReportEntry::of_diagnostic(diagnostic, &|_| None)
            }
            _ => ReportEntry::message(error.to_string()),
        });
        Self {
            errors: entries.collect(),
            loading: true,
            answered: false,
            result: None,
            answer: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Creates a report of one message without a location.
    pub fn message(message: impl Into<String>) -> Self {
        Self {
            errors: vec![ReportEntry::message(message.into())],
            loading: false,
            answered: false,
            result: None,
            answer: Vec::new(),
            notes: Vec::new(),
        }
    }

    /// Adds lines after the errors in the text.
    #[must_use]
    pub fn noting(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    pub fn messages(&self) -> impl Iterator<Item = &str> {
        self.errors.iter().map(|error| &*error.message)
    }

    /// Returns `true` if an error is located in a file, or if its message contains a position in it, as messages of conflicts do.
    pub fn names(&self, file: &str) -> bool {
        let prefix = format!(" {file}:");
        self.errors.iter().any(|error| {
            let location = error.location.as_ref();
            location.is_some_and(|location| location.file == file)
                || error.message.contains(&prefix)
        })
    }

    /// Returns the errors as JSON, with the result.
    pub fn json(&self) -> Vec<u8> {
        let mut text = answer_text(self, true);
        // merges the members of the two objects
        let (end, start) = (text.strip_suffix(b"\n}\n"), self.answer.strip_prefix(b"{"));
        if let (Some(errors), Some(members)) = (end, start) {
            text = [errors, b",", members].concat();
        }
        text
    }

    /// Returns the errors as JSON with sorted keys.
    pub fn sorted_json(&self) -> Vec<u8> {
        answer_text(&serde_json::to_value(self).unwrap_or_default(), true)
    }

    /// Returns the errors as text. If `loading` is set, the heading says when they occurred.
    pub fn text(&self, loading: bool) -> String {
        let during = if loading { " during loading" } else { "" };
        let mut text = match self.errors.len() {
            1 => format!("1 error occurred{during}: "),
            count => format!("{count} errors occurred{during}:\n"),
        };
        for error in &self.errors {
            error.write(&mut text);
        }
        for note in &self.notes {
            text.push_str(note);
            text.push('\n');
        }
        text
    }

    /// Returns the message of an error without a location that was found before compilation.
    pub fn bare(&self) -> Option<&str> {
        match self.errors.as_slice() {
            [error] if !self.loading && error.code.is_none() => Some(&error.message),
            _ => None,
        }
    }

    /// Returns `true` if the evaluation continued in spite of the errors.
    pub fn is_of_answered(&self) -> bool {
        self.answered
    }

    /// Sets whether the errors occurred while files were loaded.
    #[must_use]
    pub fn during_loading(mut self, is_loading: bool) -> Self {
        self.loading = is_loading;
        self
    }

    /// Returns `true` if files could not be loaded.
    pub fn is_of_files(&self) -> bool {
        self.loading
    }

    /// Returns `true` if the errors were found before compilation.
    pub fn is_of_loading(&self) -> bool {
        self.loading
            || self
                .errors
                .iter()
                .all(|error| error.code.as_deref() == Some("rego_parse_error"))
    }
}

impl ReportEntry {
    fn message(message: String) -> Self {
        Self {
            message,
            code: None,
            location: None,
            details: None,
            stack_trace: Vec::new(),
            lines: Vec::new(),
            traceback: Vec::new(),
        }
    }

    fn of_diagnostic(diagnostic: &Diagnostic, texts: Texts<'_>) -> Self {
        let location = diagnostic.has_location().then(|| ErrorLocation {
            file: diagnostic.file.to_string(),
            row: diagnostic.span.row,
            col: diagnostic.span.col,
        });
        let lines = if diagnostic.details.is_empty() {
            excerpt(diagnostic, texts).unwrap_or_default()
        } else {
            diagnostic.details.clone()
        };
        Self {
            message: diagnostic.message.clone(),
            code: Some(diagnostic.code.as_str().to_owned()),
            location,
            details: Details::from_diagnostic(diagnostic),
            stack_trace: Vec::new(),
            lines,
            traceback: Vec::new(),
        }
    }

    fn of_evaluation(entry: ErrorEntry, texts: Texts<'_>) -> Self {
        let frames = entry.stack.iter();
        Self {
            message: entry.message,
            code: Some(entry.code),
            location: entry.location.map(ErrorLocation::from),
            details: None,
            stack_trace: frames.clone().map(RunningQuery::from).collect(),
            lines: entry.details,
            traceback: frames.map(|frame| running(frame, texts)).collect(),
        }
    }

    fn write(&self, out: &mut String) {
        // writing to a string does not fail
        let _ = match &self.location {
            Some(location) if location.file.is_empty() => {
                write!(out, "{}:{}: ", location.row, location.col)
            }
            Some(location) => write!(out, "{}:{}: ", location.file, location.row),
            None => Ok(()),
        };
        if let Some(code) = &self.code {
            let _ = write!(out, "{code}: ");
        }
        out.push_str(&self.message);
        out.push('\n');
        for line in &self.lines {
            let _ = writeln!(out, "\t{line}");
        }
        if !self.traceback.is_empty() {
            out.push_str("\nTraceback:\n");
        }
        for line in &self.traceback {
            let _ = writeln!(out, "  {line}");
        }
    }
}

/// Returns the text of a running query: its location, and the expression.
pub fn running(frame: &StackFrame, texts: Texts<'_>) -> String {
    let Some((file, row, col)) = &frame.location else {
        return "<unknown>".to_owned();
    };
    let text = frame.text(&texts(file).unwrap_or_default());
    if file.is_empty() {
        format!("{row}:{col}: {text}")
    } else {
        format!("{file}:{row}: {text}")
    }
}

/// Returns the line of an error, and a line with a caret below its position.
fn excerpt(diagnostic: &Diagnostic, texts: Texts<'_>) -> Option<Vec<String>> {
    let text = texts(&diagnostic.file).filter(|_| diagnostic.span.is_somewhere())?;
    let line = text
        .lines()
        .nth(diagnostic.span.row.checked_sub(1)? as usize)?;
    let before = line
        .chars()
        .take(diagnostic.span.col.checked_sub(1)? as usize);
    // tabs are kept, so that the caret is aligned with its character
    let blank: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    Some(vec![line.to_owned(), format!("{blank}^")])
}
