//! State shared by the passes over modules.

use std::collections::{HashMap, HashSet};
use std::mem;
use std::sync::Arc;

use solon_syntax::ast::{Import, Module, Term};
use solon_syntax::source::{Code, Span};

use super::annotations::AnnotationSet;
use super::blocking::{self, Blocking};
use super::compiled_module::{CompiledModule, Findings};
use super::functions::{CallableFunctions, dotted};
use super::graph::Graph;
use super::keyed;
use super::locals::Locals;
use super::modules::Modules;
use super::report::Report;
use super::rule_tree::RuleTree;
use super::types::{Dependents, TypeTree};
use crate::builtins::{self, Capabilities};
use crate::limits;
use crate::program::canonical::{Keyed, OriginalNames};
use crate::types::Type;
use crate::value::Value;

/// Options of the compiler.
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
    /// If set, the checks of strict mode are made.
    pub strict: bool,
    /// If set, `print` calls are kept; otherwise they are erased.
    pub print: bool,
    /// Maximum number of reported errors; 0 means unlimited.
    pub error_limit: usize,
    /// Schemas by reference (`schema.x` as `["x"]`), for `# METADATA` schemas; `schema` itself under `[]`. With `None`,
    /// references to schemas are not checked.
    pub schemas: Option<HashMap<Vec<String>, serde_json::Value>>,
    /// Names of built-ins that policies may not call.
    pub unsafe_builtins: Vec<String>,
    /// If set, the sides of equalities in test rules are bound to variables, for reports of failed tests.
    pub trace_tests: bool,
    /// If set, rules named `test_…` are compiled for the test runner: rules of one name become separate tests
    /// (`test_x`, `test_x#01`, …), and each case of a rule `test_x[name]` is reported to observers. All modules must be
    /// set in one change, since a later change of one module does not renumber the rules of the others.
    pub tests: bool,
    /// Names of passes and optimisations to skip, for debugging.
    pub skipped_passes: Vec<String>,
    /// Capabilities that policies may use; `None` allows all.
    pub capabilities: Option<Arc<Capabilities>>,
    /// Declarations of functions that the host adds to the built-ins.
    pub(crate) functions: HashMap<String, Type>,
    /// Functions of the host that may block on external I/O.
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
    /// Enables or disables the checks of strict mode.
    #[must_use]
    pub fn strict(mut self, strict: bool) -> Self {
        self.strict = strict;
        self
    }

    /// Sets whether `print` calls are kept.
    #[must_use]
    pub fn print(mut self, print: bool) -> Self {
        self.print = print;
        self
    }

    /// Sets the maximum number of reported errors; 0 means unlimited.
    #[must_use]
    pub fn error_limit(mut self, error_limit: usize) -> Self {
        self.error_limit = error_limit;
        self
    }

    /// Sets schemas by reference. With `None`, references to schemas are not checked.
    #[must_use]
    pub fn schemas(
        mut self,
        schemas: impl Into<Option<HashMap<Vec<String>, serde_json::Value>>>,
    ) -> Self {
        self.schemas = schemas.into();
        self
    }

    /// Sets the names of built-ins that policies may not call.
    #[must_use]
    pub fn unsafe_builtins(mut self, unsafe_builtins: Vec<String>) -> Self {
        self.unsafe_builtins = unsafe_builtins;
        self
    }

    /// Sets whether the sides of equalities in test rules are bound to variables.
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

    /// Sets the passes and optimisations to skip.
    #[must_use]
    pub fn skipped_passes(mut self, skipped_passes: Vec<String>) -> Self {
        self.skipped_passes = skipped_passes;
        self
    }

    /// Sets the capabilities that policies may use. `None` is all that this build has.
    #[must_use]
    pub fn capabilities(mut self, capabilities: Option<Arc<Capabilities>>) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Returns `true` if a pass is skipped. Linear in the number of skipped passes.
    pub(super) fn skips(&self, pass: &str) -> bool {
        self.skipped_passes.iter().any(|name| name == pass)
    }

    /// Returns `true` if one of several passes is skipped.
    pub(super) fn skips_some<'p>(&self, mut passes: impl Iterator<Item = &'p str>) -> bool {
        !self.skipped_passes.is_empty() && passes.any(|pass| self.skips(pass))
    }

    /// Returns the declaration of a function of the host, or else of a built-in that the capabilities contain. `None` if
    /// neither exists.
    pub(crate) fn declaration(&self, name: &str) -> Option<&Type> {
        let builtin = || match &self.capabilities {
            Some(capabilities) => capabilities.declaration(name),
            None => builtins::lookup(name).map(|entry| &*entry.declaration),
        };
        if self.functions.is_empty() {
            return builtin();
        }
        self.functions.get(name).or_else(builtin)
    }

    /// Returns the declaration of the built-in or host function that an operator or a name refers to, or `None`.
    pub(crate) fn declaration_of(&self, operator: &Term) -> Option<&Type> {
        match operator.as_ref().map(Vec::as_slice) {
            None => self.declaration(operator.as_var()?),
            Some(path) => self.declaration(&dotted(path)?),
        }
    }
}

/// Returns `true` if a base document exists at a path below `data`.
pub type BaseExists<'a> = &'a dyn Fn(&[String]) -> bool;

/// Modules during the passes.
pub struct Compilation<'a> {
    /// Modules, ordered by file name.
    pub modules: Modules,
    /// Findings of the passes about each module.
    pub findings: Vec<Findings>,
    /// Earlier compilation from which some modules are reused.
    pub earlier: Option<EarlierCompilation<'a>>,
    /// Compiler options, the same for all passes.
    pub options: &'a Options,
    /// Tests for base documents; `None` if conflicts with them are not checked.
    pub base_exists: Option<BaseExists<'a>>,
    /// Imports without a use, found by ResolveRefs.
    pub unused_imports: Vec<Import>,
    /// `true` if a rule reads its annotations by `rego.metadata`.
    pub uses_metadata: bool,
    /// Annotations of documents, by their paths.
    pub annotations: AnnotationSet,
    /// Packages and rules by path; built once heads contain only scalars and variables.
    pub rule_tree: Arc<RuleTree>,
    /// Dependency graph of the rules, which a pass builds.
    pub graph: Arc<Graph>,
    /// Types of documents according to rules and schemas.
    pub types: Arc<TypeTree>,
    /// Reverse dependencies of the rules.
    pub dependents: Arc<Dependents>,
    /// Generator of local names. They are unique among all modules.
    pub locals: Locals,
    /// Number of type-checked rules.
    pub checked: usize,
    /// Errors so far.
    pub report: Report,
}

/// An earlier compilation and the differences to it, from which unchanged parts are reused.
pub struct EarlierCompilation<'a> {
    /// Result of the earlier compilation, of which unchanged parts are reused.
    pub compiled: &'a Compiled,
    /// Paths below `data` of the rules of all modules that changed.
    pub gone: Vec<Vec<Value>>,
    /// `true` for each module of the earlier compilation that is reused.
    pub stays: Vec<bool>,
}

impl EarlierCompilation<'_> {
    /// Returns the reused modules with a package. O(modules of the package).
    pub fn reused_of_package(
        &self,
        package: &[Term],
    ) -> impl Iterator<Item = &Arc<CompiledModule>> {
        let positions = self.compiled.rule_tree.modules_of_package(package).iter();
        let positions = positions.map(|position| *position as usize);
        let reused = positions.filter(|position| self.stays.get(*position) == Some(&true));
        reused.filter_map(|position| self.compiled.results.get(position))
    }

    /// Returns the tree of the rules of modules, based on the earlier tree; `None` if that of all modules must be built. It is the
    /// earlier tree if each module has the same rules as before.
    pub fn rule_tree(&self, modules: &Modules) -> Option<Arc<RuleTree>> {
        let Compiled {
            results, rule_tree, ..
        } = self.compiled;
        if modules.len() != results.len() {
            return None;
        }
        let mut changed = Vec::new();
        for (((module, reused), before), position) in modules.with_reused().zip(results).zip(0..) {
            match reused {
                Some(reused) if Arc::ptr_eq(&before.canonical, &reused.canonical) => {}
                // it has another position than before
                Some(_) => return None,
                None if rule_tree.has_rules_of(module, position) => {}
                None => changed.push(position),
            }
        }
        if changed.is_empty() {
            return Some(rule_tree.clone());
        }
        let before = &self.compiled.modules;
        let tree = rule_tree.with_changed(before, modules, &changed)?;
        Some(Arc::new(tree))
    }
}

impl<'a> Compilation<'a> {
    /// Starts a compilation. Modules that are reused bring their findings.
    pub fn new(modules: Modules, options: &'a Options) -> Self {
        let findings = modules.with_reused().map(|(_, reused)| match reused {
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
            rule_tree: Arc::default(),
            graph: Arc::default(),
            types: Arc::default(),
            dependents: Arc::default(),
            locals: Locals::new(Locals::MODULES, []),
            checked: 0,
        }
    }

    /// Returns the earlier compilation if the tree of rules is still the same.
    pub fn earlier_with_same_tree(&self) -> Option<&'a Compiled> {
        let earlier = self.earlier.as_ref()?.compiled;
        Arc::ptr_eq(&earlier.rule_tree, &self.rule_tree).then_some(earlier)
    }

    /// Returns the earlier compilation if the tree and the graph of rules are still the same.
    pub fn earlier_with_same_graph(&self) -> Option<&'a Compiled> {
        let earlier = self.earlier_with_same_tree()?;
        Arc::ptr_eq(&earlier.graph, &self.graph).then_some(earlier)
    }

    /// Reports an error that stops the compilation after the current pass.
    pub fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report.error(code, span, message);
    }

    /// Reports an error after which later passes still run.
    pub fn recoverable(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.report.recoverable(code, span, message);
    }
}

/// Compiled modules: canonical bodies, and the data that queries need.
#[derive(Default)]
pub struct Compiled {
    /// Rewritten modules, ordered by file name.
    pub modules: Arc<Vec<Arc<Module>>>,
    /// Result for each module, in the order of file names.
    pub results: Vec<Arc<CompiledModule>>,
    /// Packages and rules by path.
    pub rule_tree: Arc<RuleTree>,
    /// `true` if a rule reads its annotations by `rego.metadata`.
    pub uses_metadata: bool,
    /// Annotations of documents, by their paths.
    pub annotations: AnnotationSet,
    /// Dependency graph of the rules, which a pass builds.
    pub graph: Arc<Graph>,
    /// Types of documents according to rules and schemas.
    pub types: Arc<TypeTree>,
    /// Reverse dependencies of the rules.
    pub dependents: Arc<Dependents>,
    /// Rules that may block on external I/O.
    pub blocking: Blocking,
    /// Generator of local names, without the original names.
    pub locals: Locals,
    /// User's name of each generated local.
    pub originals: OriginalNames,
    /// Comprehensions that are searched once.
    pub keyed: Keyed,
    /// Amount of work that was done.
    pub work: Work,
}

/// Amount of work of a compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Number of modules whose bodies went through the passes.
    pub modules: usize,
    /// Number of rules whose types were checked.
    pub checked: usize,
    /// Number of documents whose rules were lowered to plans.
    pub lowered: usize,
    /// Number of locals generated since the last full compilation.
    pub locals_since: u32,
}

impl Compiled {
    /// Collects the results of the passes. Modules that were reused keep theirs, except for findings.
    pub(super) fn new(parsed: &[Arc<Module>], mut compilation: Compilation<'_>) -> Self {
        let functions = CallableFunctions::new(compilation.options, &compilation.rule_tree);
        let waiting = &compilation.options.waiting;
        let mut parts = Vec::with_capacity(parsed.len());
        let sources = parsed.iter().zip(compilation.modules.with_reused());
        let sources = sources.zip(compilation.findings).enumerate();
        for (position, ((parsed, (canonical, reused)), findings)) in sources {
            let facts = compilation.modules.facts(position);
            parts.push(match reused {
                Some(part) => part.with(findings),
                None => Arc::new(CompiledModule {
                    parsed: parsed.clone(),
                    canonical: canonical.clone(),
                    findings,
                    keyed: Arc::new(keyed::of_module(canonical, facts, functions)),
                    waiting: blocking::blocking_rules(canonical, facts, waiting).into(),
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
            results: parts,
            rule_tree: compilation.rule_tree,
            uses_metadata: compilation.uses_metadata,
            annotations: compilation.annotations,
            graph: compilation.graph,
            types: compilation.types,
            dependents: compilation.dependents,
            work: Work {
                modules: open,
                checked: compilation.checked,
                lowered: 0,
                locals_since: earlier.map_or(0, |earlier| {
                    let added = compilation.locals.count() - earlier.compiled.locals.count();
                    earlier.compiled.work.locals_since + added
                }),
            },
            originals: match earlier {
                Some(earlier) => {
                    OriginalNames::new(earlier.compiled.originals.base.clone(), originals)
                }
                None => OriginalNames::new(Arc::new(originals), hashbrown::HashMap::new()),
            },
            locals: compilation.locals,
        }
    }
}
