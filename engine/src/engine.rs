//! The face of the library: modules, base documents, prepared queries.

mod builder;
mod change;
mod compiling;
mod partial;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use solon_syntax::ast::{Import, Module, Ref, Version};
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body};

use crate::builtins::Custom;
use crate::compile::lower::Ledger;
use crate::compile::{self, Compiled, Options, Query, Work, lower};
use crate::decision::Decision;
use crate::error::Error;
use crate::eval::Entry;
use crate::program::{Program, dump};
use crate::query::{
    Basis, DocumentInner, Expression, ExpressionText, Glances, PreparedDocument, PreparedQuery,
    QueryContext, QueryInner, Segment, Shared,
};
use crate::store::{Operation, Path, Snapshot, Store, StoreError, Transaction};
use crate::trace::Timer;
use crate::value::Value;

pub use builder::EngineBuilder;
pub use change::Change;
use change::{Text, Write};

/// A policy engine: modules and base documents, compiled once, asked from any number of threads.
///
/// Cheap to clone; clones are the same engine. A reader never waits: each evaluation sees the program and the
/// documents of one moment.
///
/// ```
/// use solon::{Engine, Request, Value};
///
/// let engine = Engine::new();
/// engine.set_module("authz.rego", r#"
///     package authz
///     allow if input.user in data.admins
/// "#)?;
/// engine.put("/admins", Value::from(vec![Value::from("alice")]))?;
///
/// let allow = engine.prepare_document("/authz/allow")?;
/// let input = Value::object(vec![("user".into(), "alice".into())]);
/// assert_eq!(allow.evaluate(&Request::new().input(&input))?, Some(Value::Bool(true)));
/// # Ok::<(), solon::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    inner: Arc<Inner>,
}

struct Inner {
    version: Version,
    options: Options,
    shared: Arc<Shared>,
    store: Arc<dyn Store>,
    functions: Vec<Custom>,
    allow_base_conflicts: bool,
    state: ArcSwap<State>,
    /// The parsed modules; held while one changes.
    modules: Mutex<BTreeMap<String, Arc<Module>>>,
    next_source: AtomicU32,
}

/// The modules as readers see them.
struct State {
    compiled: Arc<Compiled>,
    program: Arc<Program>,
    /// What the program was made of.
    ledger: Arc<Ledger>,
}

impl Default for Engine {
    fn default() -> Self {
        Self::new()
    }
}

impl Engine {
    /// An engine with the defaults of [`EngineBuilder`].
    pub fn new() -> Self {
        EngineBuilder::default().build()
    }

    /// Chooses how the engine is made.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// Adds or replaces a module.
    ///
    /// # Errors
    /// [`Error::Compile`] when it does not parse, or when all modules together do not compile. Nothing has
    /// changed then.
    pub fn set_module(&self, name: &str, text: &str) -> Result<(), Error> {
        self.set_modules([(name, text)])
    }

    /// Adds or replaces several modules at once.
    ///
    /// # Errors
    /// As for [`Self::set_module`].
    pub fn set_modules<'t>(
        &self,
        modules: impl IntoIterator<Item = (&'t str, &'t str)>,
    ) -> Result<(), Error> {
        let mut change = Change::default();
        for (name, text) in modules {
            change.set_module(name, text);
        }
        self.apply(change)
    }

    /// Removes a module.
    ///
    /// # Errors
    /// [`Error::UnknownModule`] when there is none of that name, [`Error::Compile`] when others need it.
    pub fn remove_module(&self, name: &str) -> Result<(), Error> {
        let mut change = Change::default();
        change.remove_module(name);
        self.apply(change)
    }

    /// Changes modules and base documents as one.
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::Store`] or [`Error::UnknownModule`]. Nothing has changed then.
    pub fn apply(&self, change: Change) -> Result<(), Error> {
        self.apply_timed(change, Timer::default())
    }

    /// The same; `timer` is told how long parsing and compiling take.
    ///
    /// # Errors
    /// As for [`Self::apply`].
    pub fn apply_timed(&self, change: Change, timer: Timer<'_>) -> Result<(), Error> {
        let inner = &*self.inner;
        let mut modules = inner.modules.lock();
        let state = inner.state.load_full();
        let mut next = modules.clone();
        let mut refused = Vec::new();
        let mut laps = timer.start();
        let recompile = !change.modules.is_empty();
        for (name, text) in change.modules {
            match text {
                Some(Text::Source(text)) => match self.parse(&name, &text) {
                    Ok(module) => drop(next.insert(name, Arc::new(module))),
                    Err(diagnostics) => refused.extend(diagnostics.0),
                },
                Some(Text::Parsed(module)) => drop(next.insert(name, module)),
                None => {
                    if next.remove(&name).is_none() {
                        return Err(Error::UnknownModule(name));
                    }
                }
            }
        }
        if !refused.is_empty() {
            return Err(Error::Compile(Diagnostics(refused)));
        }
        laps.end(|| "rego_module_parse".to_owned());
        let mut transaction = Transaction::on(&inner.shared.current.load());
        let wrote = !change.writes.is_empty();
        for (operation, path, value) in change.writes {
            match operation {
                Write::Put => transaction.put(&path, value)?,
                Write::Exactly(operation) => transaction.write(operation, &path, value)?,
            }
        }
        let compiled = if recompile {
            Some(self.compile(&state, &next, &transaction, timer)?)
        } else {
            None
        };
        laps.end(|| "rego_module_compile".to_owned());
        if wrote {
            // a new program was compiled against these documents
            let checked = if recompile {
                None
            } else {
                Some(&*state.program)
            };
            inner.commit(transaction, checked)?;
        }
        if let Some(compiled) = compiled {
            inner.state.store(Arc::new(compiled));
        }
        *modules = next;
        Ok(())
    }

    /// Changes base documents by whatever `change` does; what it refuses has not happened. No other change comes
    /// between what it reads and what it writes.
    ///
    /// # Errors
    /// Those of `change`, and [`Error::Store`] when a document would stand where rules make one.
    pub fn edit<T, E: From<Error>>(
        &self,
        change: impl FnOnce(&mut Transaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let inner = &*self.inner;
        let _modules = inner.modules.lock();
        let mut transaction = Transaction::on(&inner.shared.current.load());
        let result = change(&mut transaction)?;
        inner.commit(transaction, Some(&inner.state.load().program))?;
        Ok(result)
    }

    /// Names of all modules, in order.
    pub fn module_names(&self) -> Vec<String> {
        self.inner.modules.lock().keys().cloned().collect()
    }

    /// The plans that all modules are compiled to, as text for people; its form may change.
    pub fn dump(&self) -> String {
        dump::program(&self.inner.state.load().program)
    }

    /// What finds each rule: a line with its place, its document, and what the rule index asks for it, or why every
    /// decision looks at it. For people; the form may change.
    pub fn indexed(&self) -> String {
        dump::indexed(&self.inner.state.load().program)
    }

    /// How much the last change of modules worked on.
    pub fn work(&self) -> Work {
        self.inner.state.load().compiled.work
    }

    /// All modules as they were parsed, by name.
    pub fn modules(&self) -> Vec<(String, Arc<Module>)> {
        let modules = self.inner.modules.lock();
        modules
            .iter()
            .map(|(name, module)| (name.clone(), module.clone()))
            .collect()
    }

    /// A module as it was parsed.
    pub fn module(&self, name: &str) -> Option<Arc<Module>> {
        self.inner.modules.lock().get(name).cloned()
    }

    /// The base documents now.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.inner.shared.current.load_full()
    }

    /// A base document, at a path with slashes.
    ///
    /// # Errors
    /// [`Error::Store`] when there is none.
    pub fn read(&self, path: &str) -> Result<Value, Error> {
        Ok(self.snapshot().read(&Path::from_slashes(path))?.clone())
    }

    /// Writes a base document, making the objects around it.
    ///
    /// # Errors
    /// [`Error::Store`] when the path runs through something that is no object or into a rule's document.
    pub fn put(&self, path: &str, value: Value) -> Result<(), Error> {
        let mut change = Change::default();
        change.put(Path::from_slashes(path), value);
        self.apply(change)
    }

    /// Removes a base document.
    ///
    /// # Errors
    /// [`Error::Store`] when there is none.
    pub fn remove(&self, path: &str) -> Result<(), Error> {
        let mut change = Change::default();
        change.write(Operation::Remove, Path::from_slashes(path), Value::Null);
        self.apply(change)
    }

    /// Compiles a query.
    ///
    /// # Errors
    /// [`Error::Compile`].
    pub fn prepare_query(&self, text: &str) -> Result<PreparedQuery, Error> {
        self.prepare_query_in(text, &QueryContext::default())
    }

    /// Compiles a query that stands in a package, or imports something.
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::EmptyQuery`].
    pub fn prepare_query_in(
        &self,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<PreparedQuery, Error> {
        compile::on_large_stack(compile::chain_within(text), || {
            self.compile_query(text, context)
        })
    }

    fn compile_query(
        &self,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<PreparedQuery, Error> {
        let state = self.inner.state.load_full();
        let id = SourceId(self.inner.next_source.fetch_add(1, Ordering::Relaxed));
        let source = Source::new(id, "", text);
        let options = self.inner.parse_options()?;
        let mut laps = context.timer.start();
        let body = parse_body(&source, &options)?;
        laps.end(|| "rego_query_parse".to_owned());
        if body.is_empty() {
            return Err(Error::empty_query(text));
        }
        let (package, imports) = self.context(context)?;
        let mut options = Cow::Borrowed(&self.inner.options);
        if !context.unsafe_builtins.is_empty() {
            options.to_mut().unsafe_builtins = context.unsafe_builtins.to_vec();
        }
        let query = Query {
            package,
            imports,
            ..Query::new(source.clone(), body)
        };
        let mut stages = context.timer.start();
        let compiled = compile::compile_query(&state.compiled, query, &options, |pass, _| {
            stages.end(|| pass.timer());
        })?;
        let lowered = lower::query(
            &state.program,
            &compiled.body,
            &compiled.originals,
            &options,
        );
        laps.end(|| "rego_query_compile".to_owned());
        // in the order they are evaluated, which is not always the one they were written in
        let written = compiled
            .body
            .iter()
            .filter(|expression| !expression.generated);
        let texts = written.map(|expression| ExpressionText {
            text: source.slice(expression.span).to_owned(),
            row: expression.span.row,
            col: expression.span.col,
        });
        let texts = texts.collect();
        let expressions = lowered
            .expressions
            .iter()
            .map(|at| at.map_or(Expression::Holds, Expression::Captured));
        let may_block = state
            .compiled
            .blocking
            .within(&state.compiled.rule_tree, &compiled.body);
        Ok(PreparedQuery {
            inner: Arc::new(QueryInner {
                basis: self.inner.basis(&state, may_block),
                expressions: expressions.collect(),
                texts,
                plan: lowered.plan,
                constants: lowered.constants,
                variables: lowered.variables,
                wanted: lowered.wanted,
                source,
                body: compiled.body,
                originals: compiled.originals,
                keyed: compiled.keyed,
            }),
        })
    }

    /// Reads a package and imports by the rules for those of a module.
    fn context(
        &self,
        context: &QueryContext<'_>,
    ) -> Result<(Option<Ref>, Vec<Import>), Diagnostics> {
        if context.package.is_none() && context.imports.is_empty() {
            return Ok((None, Vec::new()));
        }
        let name = context.package.unwrap_or("query");
        let module = self.parse("", &format!("package {name}\n"))?;
        let package = context.package.map(|_| module.package.path);
        let imports = context.imports.iter();
        let imports: String = imports.map(|import| format!("import {import}\n")).collect();
        let text = format!("package query\n{imports}");
        let module = self.parse("", &text).map_err(|mut errors| {
            // nobody wrote the package, and the first error tells enough
            errors.0.truncate(1);
            for error in &mut errors.0 {
                error.span.row = error.span.row.saturating_sub(1);
            }
            errors
        })?;
        Ok((package, module.imports))
    }

    /// Prepares a document as a decision with a typed input and a typed answer.
    ///
    /// ```
    /// #[derive(serde::Serialize)]
    /// struct Input<'a> {
    ///     user: &'a str,
    /// }
    ///
    /// let engine = solon::Engine::new();
    /// engine.set_module("p.rego", "package p\n\nroles := [\"admin\"] if input.user == \"alice\"\n")?;
    /// let roles = engine.prepare::<Input<'_>, Vec<String>>("p/roles")?;
    /// assert_eq!(roles.decide(&Input { user: "alice" })?, Some(vec!["admin".to_owned()]));
    /// assert_eq!(roles.decide(&Input { user: "bob" })?, None);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// As for [`Self::prepare_document`].
    pub fn prepare<In: ?Sized, Out>(&self, path: &str) -> Result<Decision<In, Out>, Error> {
        Ok(Decision::new(self.prepare_document(path)?))
    }

    /// Prepares the document at a path with slashes below `data`.
    ///
    /// # Errors
    /// None today: a path that leads nowhere is undefined when asked.
    pub fn prepare_document(&self, path: &str) -> Result<PreparedDocument, Error> {
        self.prepare_document_at(&Path::from_slashes(path))
    }

    /// Prepares the document at a path below `data`. A step of digits is an index in an array and a name in an
    /// object.
    ///
    /// # Errors
    /// None today: a path that leads nowhere is undefined when asked.
    pub fn prepare_document_at(&self, path: &Path) -> Result<PreparedDocument, Error> {
        let state = self.inner.state.load_full();
        let segments = path.segments().iter();
        let path: Vec<Segment> = segments.map(|segment| Segment::new(segment)).collect();
        let names: Vec<Value> = path.iter().map(|segment| segment.text.clone()).collect();
        let compiled = &state.compiled;
        let may_block = compiled.blocking.reaches(&compiled.rule_tree, &names);
        Ok(PreparedDocument {
            inner: Arc::new(DocumentInner {
                basis: self.inner.basis(&state, may_block),
                entry: Entry::new(&state.program, names),
                path,
                glances: Glances::default(),
            }),
        })
    }
}

impl Inner {
    /// What a query that is prepared now asks.
    fn basis(&self, state: &State, may_block: bool) -> Basis {
        Basis {
            shared: self.shared.clone(),
            program: state.program.clone(),
            may_block,
        }
    }

    /// How modules and queries are parsed.
    fn parse_options(&self) -> Result<ParseOptions, Diagnostics> {
        match &self.options.capabilities {
            Some(capabilities) => capabilities.parse_options(self.version),
            None => Ok(ParseOptions::of(self.version)),
        }
    }

    /// Makes changed documents visible, after a look at the rules of `program`.
    fn commit(&self, transaction: Transaction, program: Option<&Program>) -> Result<(), Error> {
        if let Some(program) = program
            && !self.allow_base_conflicts
        {
            check_conflicts(program, &transaction)?;
        }
        self.shared.current.store(self.store.commit(transaction)?);
        Ok(())
    }
}

/// Base documents may not stand where rules make documents.
fn check_conflicts(program: &Program, transaction: &Transaction) -> Result<(), Error> {
    match program.tree.conflict(transaction.root()) {
        None => Ok(()),
        Some(path) => Err(StoreError::Conflict {
            message: Path::new(path).to_string(),
        }
        .into()),
    }
}
