//! What the passes share.

use std::collections::HashMap;
use std::sync::Arc;

use solon_syntax::ast::{Body, Module, Name};
use solon_syntax::source::{Code, Diagnostic, Diagnostics, Source, SourceId, Span};

use super::rule_tree::RuleTree;
use crate::limits;

/// How to compile.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the checks of strict mode are made.
    pub strict: bool,
    /// Whether `print` calls are kept; otherwise they are erased.
    pub print: bool,
    /// Most errors reported; 0 means all.
    pub error_limit: usize,
    /// Schemas by reference (`schema.x` as `["x"]`), for `# METADATA` schemas; `schema` itself under `[]`.
    pub schemas: HashMap<Vec<String>, serde_json::Value>,
    /// Names of built-ins that may not be called.
    pub unsafe_builtins: Vec<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: false,
            print: true,
            error_limit: limits::ERRORS,
            schemas: HashMap::new(),
            unsafe_builtins: Vec::new(),
        }
    }
}

/// Modules on their way through the passes.
pub struct Compilation<'a> {
    /// The modules, ordered by file name.
    pub modules: Vec<Module>,
    /// How to compile.
    pub options: &'a Options,
    /// Whether base documents hold something at a path below `data`; `None` when that is not checked.
    pub base_exists: Option<&'a dyn Fn(&[String]) -> bool>,
    /// Packages and rules by path; built once heads hold only scalars and variables.
    pub rule_tree: RuleTree,
    /// The user's name of each generated local.
    pub originals: HashMap<Name, Name>,
    /// Number of the next generated local.
    pub next_local: u32,
    /// What was refused so far.
    pub errors: Vec<Diagnostic>,
    /// Whether an error was reported after which no later pass may run.
    pub fatal: bool,
}

impl Compilation<'_> {
    /// Reports an error after which later passes do not run.
    pub fn error(&mut self, code: Code, source: SourceId, span: Span, message: impl Into<String>) {
        self.fatal = true;
        self.recoverable(code, source, span, message);
    }

    /// Reports an error that lets later passes run.
    pub fn recoverable(
        &mut self,
        code: Code,
        source: SourceId,
        span: Span,
        message: impl Into<String>,
    ) {
        let file = self.file(source);
        self.errors.push(Diagnostic::new(code, file, span, message));
    }

    /// The name of a source text.
    pub fn file(&self, source: SourceId) -> Arc<str> {
        let module = self
            .modules
            .iter()
            .find(|module| module.source.id == source);
        module.map_or_else(|| Arc::from(""), |module| module.source.name.clone())
    }
}

/// Compiled modules: canonical bodies and what queries need to know of them.
pub struct Compiled {
    /// The rewritten modules, ordered by file name.
    pub modules: Vec<Module>,
    /// The user's name of each generated local.
    pub originals: HashMap<Name, Name>,
    /// Number of the next generated local.
    pub next_local: u32,
}

/// A query to compile against modules.
pub struct Query {
    /// The text.
    pub source: Source,
    /// Its expressions.
    pub body: Body,
}

/// A list of diagnostics as a result.
pub fn finish(errors: Vec<Diagnostic>) -> Result<(), Diagnostics> {
    if errors.is_empty() {
        Ok(())
    } else {
        Err(Diagnostics(errors))
    }
}
