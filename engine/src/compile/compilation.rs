//! What the passes over modules share.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use solon_syntax::ast::{Import, Module, Name, Term};
use solon_syntax::source::{Code, Span};

use super::annotations::AnnotationSet;
use super::blocking::{self, Blocking};
use super::compiled_module::{Findings, Part};
use super::functions::{Functions, dotted};
use super::graph::Graph;
use super::keyed;
use super::locals::Locals;
use super::modules::Modules;
use super::report::Report;
use super::rule_tree::RuleTree;
use super::types::{Dependents, TypeTree};
use crate::builtins::{self, Capabilities};
use crate::limits;
use crate::program::canonical::Keyed;
use crate::types::Type;
use crate::value::Value;

/// How to compile.
///
/// ```
/// use solon::{CompilerOptions, Engine};
///
/// let options = CompilerOptions::default().unsafe_builtins(vec!["opa.runtime".to_owned()]);
/// let engine = Engine::builder().compiler(options).build();
/// assert!(engine.set_module("p.rego", "package p\nenv := opa.runtime().env").is_err());
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether the checks of strict mode are made.
    pub strict: bool,
    /// Whether `print` calls are kept; otherwise they are erased.
    pub print: bool,
    /// Most errors reported; 0 means all.
    pub error_limit: usize,
    /// Schemas by reference (`schema.x` as `["x"]`), for `# METADATA` schemas; `schema` itself under `[]`. With `None`
    /// nobody looks for those that are named.
    pub schemas: Option<HashMap<Vec<String>, serde_json::Value>>,
    /// Names of built-ins that may not be called.
    pub unsafe_builtins: Vec<String>,
    /// Whether the sides of equalities in test rules get names, for reports of failed tests.
    pub trace_tests: bool,
    /// `true` if rules named `test_…` are compiled as the test runner needs them: rules of one name become tests of their own
    /// (`test_x`, `test_x#01`, …), and each case of a rule `test_x[name]` is reported to observers. Such an engine is compiled at
    /// once: a later change of one module does not number the rules of the others again.
    pub tests: bool,
    /// Names of passes and of optimisations that are left out, for those who look for what one does.
    pub skipped_passes: Vec<String>,
    /// What policies may use; `None` is all there is.
    pub capabilities: Option<Arc<Capabilities>>,
    /// Declarations of the functions that the host adds to the built-ins.
    pub(crate) functions: HashMap<String, Type>,
    /// Those of them that may wait for the outside.
    pub(crate) waiting: HashSet<Arc<str>>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            strict: false,
            print: true,
            error_limit: limits::ERRORS,
            schemas: None,
            unsafe_builtins: Vec::new(),
            trace_tests: false,
            tests: false,
            skipped_passes: Vec::new(),
            capabilities: None,
            functions: HashMap::new(),
            waiting: HashSet::new(),
        }
    }
}

impl Options {
    /// Whether the checks of strict mode are made.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Whether `print` calls are kept.
    #[must_use]
    pub fn print(mut self, print: bool) -> Self {
        self.print = print;
        self
    }

    /// With at most so many errors reported; 0 means all.
    #[must_use]
    pub fn error_limit(mut self, error_limit: usize) -> Self {
        self.error_limit = error_limit;
        self
    }

    /// With schemas by reference.
    #[must_use]
    pub fn schemas(
        mut self,
        schemas: impl Into<Option<HashMap<Vec<String>, serde_json::Value>>>,
    ) -> Self {
        self.schemas = schemas.into();
        self
    }

    /// With built-ins that may not be called, by name.
    #[must_use]
    pub fn unsafe_builtins(mut self, unsafe_builtins: Vec<String>) -> Self {
        self.unsafe_builtins = unsafe_builtins;
        self
    }

    /// Whether the sides of equalities in test rules get names.
    #[must_use]
    pub fn trace_tests(mut self, trace_tests: bool) -> Self {
        self.trace_tests = trace_tests;
        self
    }

    /// Compiles rules named `test_…` for the test runner ([`testing`](crate::testing)).
    #[must_use]
    pub fn tests(mut self, tests: bool) -> Self {
        self.tests = tests;
        self
    }

    /// Without these passes and optimisations.
    #[must_use]
    pub fn skipped_passes(mut self, skipped_passes: Vec<String>) -> Self {
        self.skipped_passes = skipped_passes;
        self
    }

    /// With what policies may use.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Option<Arc<Capabilities>>) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Whether a pass is left out.
    pub(super) fn skips(&self, pass: &str) -> bool {
        self.skipped_passes.iter().any(|name| name == pass)
    }

    /// Whether one of some passes is left out.
    pub(super) fn skips_some<'p>(&self, mut passes: impl Iterator<Item = &'p str>) -> bool {
        !self.skipped_passes.is_empty() && passes.any(|pass| self.skips(pass))
    }

    /// The declaration of a built-in, or of a function that the host adds.
    pub fn declaration(&self, name: &str) -> Option<&Type> {
        let builtin = || match &self.capabilities {
            Some(capabilities) => capabilities.declaration(name),
            None => builtins::lookup(name).map(|entry| &*entry.declaration),
        };
        if self.functions.is_empty() {
            return builtin();
        }
        self.functions.get(name).or_else(builtin)
    }

    /// The declaration of the built-in that an operator or a name refers to.
    pub fn declaration_of(&self, operator: &Term) -> Option<&Type> {
        match operator.as_ref().map(Vec::as_slice) {
            None => self.declaration(operator.as_var()?),
            Some(path) => self.declaration(&dotted(path)?),
        }
    }
}

/// Whether base documents hold something at a path below `data`.
pub type BaseExists<'a> = &'a dyn Fn(&[String]) -> bool;

/// Modules on their way through the passes.
pub struct Compilation<'a> {
    /// The modules, ordered by file name.
    pub modules: Modules,
    /// What is known of each of them.
    pub findings: Vec<Findings>,
    /// What some of them are kept from.
    pub earlier: Option<Earlier<'a>>,
    /// How to compile.
    pub options: &'a Options,
    /// Whether base documents hold something at a path below `data`; `None` when that is not checked.
    pub base_exists: Option<BaseExists<'a>>,
    /// Imports that ResolveRefs found no use of.
    pub unused_imports: Vec<Import>,
    /// Whether a rule asks for its METADATA.
    pub uses_metadata: bool,
    /// Which METADATA blocks speak of what.
    pub annotations: AnnotationSet,
    /// Packages and rules by path; built once heads hold only scalars and variables.
    pub rule_tree: RuleTree,
    /// Which rules each rule needs.
    pub graph: Graph,
    /// What each document is, as far as rules and schemas tell.
    pub types: TypeTree,
    /// Which rules need which, the other way round.
    pub dependents: Dependents,
    /// The generator of locals.
    pub locals: Locals,
    /// How many rules had their types checked.
    pub checked: usize,
    /// What was refused so far.
    pub report: Report,
}

/// An earlier compilation, and what is not as it was then.
pub struct Earlier<'a> {
    /// What it made.
    pub compiled: &'a Compiled,
    /// The paths below `data` of the rules of all modules that are not as they were.
    pub gone: Vec<Vec<Value>>,
}

impl<'a> Compilation<'a> {
    /// The start of a compilation.
    pub fn new(modules: Modules, options: &'a Options) -> Self {
        let findings = modules.parts().map(|(_, kept)| match kept {
            Some(part) => part.findings.clone(),
            None => Findings::default(),
        });
        Self {
            report: Report::new(
                modules.iter().map(|module| &module.source),
                options.error_limit,
            ),
            findings: findings.collect(),
            modules,
            earlier: None,
            options,
            base_exists: None,
            unused_imports: Vec::new(),
            uses_metadata: false,
            annotations: AnnotationSet::default(),
            rule_tree: RuleTree::default(),
            graph: Graph::default(),
            types: TypeTree::default(),
            dependents: Dependents::default(),
            locals: Locals::new(Locals::MODULES, []),
            checked: 0,
        }
    }

    /// Reports an error after which later passes do not run.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report.error(code, span, message);
    }

    /// Reports an error that lets later passes run.
    pub fn recoverable(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report.recoverable(code, span, message);
    }
}

/// Compiled modules: canonical bodies and what queries need to know of them.
#[derive(Default)]
pub struct Compiled {
    /// The rewritten modules, ordered by file name.
    pub modules: Arc<Vec<Arc<Module>>>,
    /// What was made of each of them.
    pub parts: Vec<Arc<Part>>,
    /// Packages and rules by path.
    pub rule_tree: RuleTree,
    /// Whether a rule asks for its METADATA.
    pub uses_metadata: bool,
    /// Which METADATA blocks speak of what.
    pub annotations: AnnotationSet,
    /// What each document is, as far as rules and schemas tell.
    pub types: TypeTree,
    /// Which rules need which, the other way round.
    pub dependents: Dependents,
    /// Which rules may wait for the outside.
    pub blocking: Blocking,
    /// The generator of locals, without their originals.
    pub locals: Locals,
    /// The user's name of each generated local.
    pub originals: Arc<hashbrown::HashMap<Name, Name>>,
    /// The comprehensions that are searched once.
    pub keyed: Keyed,
    /// What it took.
    pub work: Work,
}

/// How much a compilation worked on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Modules whose bodies went through the passes.
    pub modules: usize,
    /// Rules whose types were checked.
    pub checked: usize,
    /// Documents whose rules became plans.
    pub lowered: usize,
    /// Locals that were made since all modules were compiled.
    pub locals_since: u32,
}

impl Compiled {
    pub(super) fn new(parsed: &[Arc<Module>], mut compilation: Compilation<'_>) -> Self {
        let functions = Functions::new(compilation.options, &compilation.rule_tree);
        let waiting = &compilation.options.waiting;
        let mut parts = Vec::with_capacity(parsed.len());
        let sources = parsed.iter().zip(compilation.modules.parts());
        let sources = sources.zip(compilation.findings).enumerate();
        for (position, ((parsed, (canonical, kept)), findings)) in sources {
            let facts = compilation.modules.facts(position);
            parts.push(match kept {
                Some(part) => part.with(findings),
                None => Arc::new(Part {
                    parsed: parsed.clone(),
                    canonical: canonical.clone(),
                    findings,
                    keyed: Arc::new(keyed::of_module(canonical, facts, functions)),
                    waiting: blocking::waiting(canonical, facts, waiting).into(),
                }),
            });
        }
        let open = compilation.modules.open().count();
        let originals = mem::take(&mut compilation.locals.originals);
        let mut keyed = Keyed::default();
        for part in &parts {
            keyed.add(&part.keyed);
        }
        let blocking = Blocking::new(&parts, &compilation.dependents, waiting.clone());
        let earlier = compilation.earlier.as_ref();
        Self {
            modules: Arc::new(compilation.modules.to_vec()),
            keyed,
            blocking,
            parts,
            rule_tree: compilation.rule_tree,
            uses_metadata: compilation.uses_metadata,
            annotations: compilation.annotations,
            types: compilation.types,
            dependents: compilation.dependents,
            work: Work {
                modules: open,
                checked: compilation.checked,
                lowered: 0,
                locals_since: earlier.map_or(0, |earlier| {
                    let made = compilation.locals.made() - earlier.compiled.locals.made();
                    earlier.compiled.work.locals_since + made
                }),
            },
            locals: compilation.locals,
            originals: Arc::new(originals),
        }
    }
}
