//! Errors of loading files, and of writing and signing bundles.

use std::fmt;
use std::io;

use solon_syntax::source::{Diagnostic, Diagnostics};

use super::FileError;
use crate::uri::FileUrlError;

/// The reason why a file or a bundle was not loaded.
///
/// ```
/// use std::io::ErrorKind;
/// use solon::bundle::{BundleReader, LoadErrorKind, Loader, MemoryFiles};
///
/// let files = MemoryFiles::from([("p.rego", "package p\n\nallow if")]);
/// let errors = Loader::new(&files).load(&["absent.rego", "p.rego"]).unwrap_err();
/// assert_eq!(errors.0[0].kind(), LoadErrorKind::File(ErrorKind::NotFound));
/// assert_eq!(errors.0[0].to_string(), "stat absent.rego: no such file or directory");
/// assert_eq!(errors.0[1].kind(), LoadErrorKind::Syntax);
/// assert_eq!(errors.0[1].code(), "rego_parse_error");
/// assert_eq!(errors.0[1].diagnostics().len(), 1);
///
/// let errors = BundleReader::new("authz").read_archive(b"not gzip").unwrap_err();
/// assert_eq!(errors.0[0].kind(), LoadErrorKind::Content);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct LoadError {
    kind: LoadErrorKind,
    message: String,
    diagnostics: Diagnostics,
}

/// The kind of a [`LoadError`], for callers that handle some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoadErrorKind {
    /// A file or a folder that cannot be read.
    File(io::ErrorKind),
    /// Content that is not valid: of a document, a manifest, a patch or an archive, or content that exceeds a limit.
    Content,
    /// A module that does not parse. [`LoadError::diagnostics`] returns one diagnostic.
    Syntax,
    /// A policy of a bundle that does not parse. [`LoadError::diagnostics`] returns all diagnostics of the policy.
    BundleSyntax,
    /// A missing or invalid signature, or a file whose content or name differs from the signed one.
    Signature,
    /// Bundles that cannot be activated together: they own the same documents, or a patch cannot be applied.
    Activation,
}

impl LoadError {
    /// Creates the error of a failed system call. `call` is its name, such as `open`, and the message is that of OPA:
    /// `open policies/a.rego: permission denied`.
    pub fn system(call: &str, name: &str, error: &FileError) -> Self {
        let message = format!("{call} {name}: {error}");
        Self::new(LoadErrorKind::File(error.kind()), message)
    }

    /// Creates the error of a file whose content is not valid. The message begins with the name.
    pub fn in_file(name: &str, reason: impl fmt::Display) -> Self {
        Self::content(format!("{name}: {reason}"))
    }

    /// Returns the kind of the error, which does not depend on the message.
    pub fn kind(&self) -> LoadErrorKind {
        self.kind
    }

    /// Returns OPA's code: that of the diagnostic for the kind [`LoadErrorKind::Syntax`], otherwise `load_error`, also for policies
    /// of bundles.
    pub fn code(&self) -> &str {
        self.diagnostic()
            .map_or("load_error", |diagnostic| diagnostic.code.as_str())
    }

    /// Returns the diagnostics of a policy that does not parse. Empty for other errors.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics.0
    }

    /// Returns the diagnostic of an error of the kind [`LoadErrorKind::Syntax`].
    pub(crate) fn diagnostic(&self) -> Option<&Diagnostic> {
        let is_syntax = self.kind == LoadErrorKind::Syntax;
        self.diagnostics.0.first().filter(|_| is_syntax)
    }

    pub(super) fn content(message: String) -> Self {
        Self::new(LoadErrorKind::Content, message)
    }

    pub(crate) fn activation(message: String) -> Self {
        Self::new(LoadErrorKind::Activation, message)
    }

    pub(super) fn syntax(diagnostic: Diagnostic) -> Self {
        Self {
            kind: LoadErrorKind::Syntax,
            message: diagnostic.to_string(),
            diagnostics: Diagnostics(vec![diagnostic]),
        }
    }

    pub(super) fn bundle_syntax(message: String, diagnostics: Diagnostics) -> Self {
        Self {
            kind: LoadErrorKind::BundleSyntax,
            message,
            diagnostics,
        }
    }

    pub(super) fn signature(message: String) -> Self {
        Self::new(LoadErrorKind::Signature, message)
    }

    /// Returns the error with text before its message.
    pub(super) fn prefixed(self, prefix: &str) -> Self {
        let message = format!("{prefix}{}", self.message);
        Self { message, ..self }
    }

    fn new(kind: LoadErrorKind, message: String) -> Self {
        Self {
            kind,
            message,
            diagnostics: Diagnostics(Vec::new()),
        }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for LoadError {}

impl From<FileUrlError> for LoadError {
    fn from(error: FileUrlError) -> Self {
        let kind = LoadErrorKind::File(io::ErrorKind::InvalidInput);
        Self::new(kind, error.to_string())
    }
}

/// The errors of all files that were not loaded, in the order in which the files were read. At least one.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadErrors(pub Vec<LoadError>);

impl fmt::Display for LoadErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [error] => error.fmt(f),
            errors => {
                write!(f, "{} errors occurred:", errors.len())?;
                errors.iter().try_for_each(|error| write!(f, "\n{error}"))
            }
        }
    }
}

impl std::error::Error for LoadErrors {}

impl From<LoadError> for LoadErrors {
    fn from(error: LoadError) -> Self {
        Self(vec![error])
    }
}

impl From<Diagnostics> for LoadErrors {
    fn from(diagnostics: Diagnostics) -> Self {
        Self(diagnostics.0.into_iter().map(LoadError::syntax).collect())
    }
}

/// The reason why a part of a bundle was not read, or a bundle was not merged, signed or written.
///
/// ```
/// use solon::bundle::{BundleErrorKind, Manifest};
///
/// let error = Manifest::read(br#"{"roots": 7}"#).unwrap_err();
/// assert_eq!(error.kind(), BundleErrorKind::Manifest);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundleError {
    kind: BundleErrorKind,
    message: String,
}

/// The kind of a [`BundleError`], for callers that handle some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BundleErrorKind {
    /// The text of a manifest is not valid.
    Manifest,
    /// The text of `.signatures.json` is not valid.
    Signatures,
    /// The bundles cannot be merged, such as for overlapping roots.
    Merge,
    /// The files cannot be signed, or the key is not a key of its algorithm.
    Signing,
    /// An archive cannot contain a file.
    Archive,
}

impl BundleError {
    pub(super) fn new(kind: BundleErrorKind, message: String) -> Self {
        Self { kind, message }
    }

    /// Returns the kind of the error, which does not depend on the message.
    pub fn kind(&self) -> BundleErrorKind {
        self.kind
    }
}

impl fmt::Display for BundleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for BundleError {}

/// Errors of a policy's text in OPA's layout: their number, and for each its line with a caret.
pub(crate) fn syntax_errors(diagnostics: &Diagnostics, text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let each: Vec<String> = diagnostics
        .0
        .iter()
        .map(|diagnostic| syntax_error(diagnostic, &text))
        .collect();
    match each.as_slice() {
        // this one is not of OPA's parser, which counts
        [text] if text.ends_with(": empty module") => text.clone(),
        [text] => format!("1 error occurred: {text}"),
        texts => format!("{} errors occurred:\n{}", texts.len(), texts.join("\n")),
    }
}

fn syntax_error(diagnostic: &Diagnostic, text: &str) -> String {
    let mut out = String::new();
    if diagnostic.has_location() {
        out.push_str(&format!("{}:{}: ", diagnostic.file, diagnostic.span.row));
    }
    out.push_str(&format!(
        "{}: {}",
        diagnostic.code.as_str(),
        diagnostic.message
    ));
    let row = usize::try_from(diagnostic.span.row).unwrap_or(0);
    let line = row.checked_sub(1).and_then(|row| text.lines().nth(row));
    if !diagnostic.details.is_empty() {
        for line in &diagnostic.details {
            out.push_str(&format!("\n\t{line}"));
        }
    } else if let (Some(line), true) = (line, diagnostic.has_location()) {
        let column = usize::try_from(diagnostic.span.col)
            .unwrap_or(0)
            .saturating_sub(1);
        let before = line.chars().take(column);
        let blank: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        out.push_str(&format!("\n\t{line}\n\t{blank}^"));
    }
    out
}
