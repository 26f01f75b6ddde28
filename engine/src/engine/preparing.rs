//! Preparation of queries and documents that are evaluated many times.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use solon_syntax::ast::{Import, Ref};
use solon_syntax::source::{Diagnostics, Source, SourceId};

use super::Engine;
use crate::compile::{self, Query, lower};
use crate::decision::Decision;
use crate::error::Error;
use crate::query::{
    Expression, ExpressionText, PinnedQuery, PreparedDocument, PreparedQuery, QueryCompiler,
    QueryContext, QueryInner, Recompiling,
};
use crate::snapshot::{Policy, Snapshot};
use crate::store::Path;
use crate::trace::Timer;

/// The context of a query that is compiled again after changes of the policy. It has no timer, because later
/// compilations are not measured.
pub(super) struct OwnedQueryContext {
    package: Option<String>,
    imports: Vec<String>,
    unsafe_builtins: Vec<String>,
    no_rules: bool,
    no_prints: bool,
}

impl OwnedQueryContext {
    pub fn from_context(context: &QueryContext<'_>) -> Self {
        Self {
            package: context.package.map(str::to_owned),
            imports: context.imports.to_vec(),
            unsafe_builtins: context.unsafe_builtins.to_vec(),
            no_rules: context.no_rules,
            no_prints: context.no_prints,
        }
    }

    pub fn borrow(&self) -> QueryContext<'_> {
        QueryContext {
            package: self.package.as_deref(),
            imports: &self.imports,
            unsafe_builtins: &self.unsafe_builtins,
            no_rules: self.no_rules,
            no_prints: self.no_prints,
            timer: Timer::default(),
        }
    }
}

impl QueryCompiler for Engine {
    fn query(&self, text: &str, timer: Timer<'_>) -> Result<PreparedQuery, Error> {
        self.prepare_query_in(text, &QueryContext::default().timer(timer))
    }
}

impl Engine {
    /// Compiles a query.
    ///
    /// # Errors
    /// [`Error::Compile`].
    pub fn prepare_query(&self, text: &str) -> Result<PreparedQuery, Error> {
        self.prepare_query_in(text, &QueryContext::default())
    }

    /// Compiles a query with a package or imports.
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::EmptyQuery`].
    pub fn prepare_query_in(
        &self,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<PreparedQuery, Error> {
        self.prepare_query_for(&self.now().policy, text, context)
    }

    /// Compiles a query with the policies of a snapshot, such as one of [`Engine::check`].
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::EmptyQuery`].
    pub fn prepare_query_at(
        &self,
        snapshot: &Snapshot,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<PinnedQuery, Error> {
        let prepared = self.prepare_query_for(&snapshot.state().policy, text, context)?;
        prepared.pin_to(snapshot)
    }

    fn prepare_query_for(
        &self,
        policy: &Policy,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<PreparedQuery, Error> {
        let first = self.query_for(policy, text, context)?;
        let (engine, text, context) = (
            self.clone(),
            text.to_owned(),
            OwnedQueryContext::from_context(context),
        );
        let anew = move |policy: &Policy| engine.query_for(policy, &text, &context.borrow());
        let shared = self.inner.shared.clone();
        Ok(PreparedQuery {
            handle: Arc::new(Recompiling::new(shared, policy, first, anew)),
        })
    }

    /// Compiles a query for a policy.
    fn query_for(
        &self,
        policy: &Policy,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<QueryInner, Error> {
        let compile = || self.compile_query(policy, text, context);
        Error::caught(|| compile::on_large_stack(compile::chain_within(text), compile))
    }

    fn compile_query(
        &self,
        policy: &Policy,
        text: &str,
        context: &QueryContext<'_>,
    ) -> Result<QueryInner, Error> {
        let id = SourceId(self.inner.next_source.fetch_add(1, Ordering::Relaxed));
        let source = Source::new(id, "", text);
        let options = self.inner.parse_options(self.inner.version)?;
        let mut laps = context.timer.start();
        let body = context.parse(&source, &options)?;
        laps.end(|| "rego_query_parse".to_owned());
        if body.is_empty() {
            return Err(Error::empty_query(text));
        }
        let (package, imports) = self.context(context)?;
        let mut options = Cow::Borrowed(&self.inner.options);
        if context.no_prints {
            options.to_mut().print = false;
        }
        if !context.unsafe_builtins.is_empty() {
            options.to_mut().unsafe_builtins = context.unsafe_builtins.to_vec();
        }
        let query = Query {
            package,
            imports,
            ..Query::new(source.clone(), body)
        };
        let mut stages = context.timer.start();
        let compiled = compile::compile_query(&policy.compiled, query, &options, |pass, _| {
            stages.end(|| pass.timer());
        })?;
        let lowered = lower::query(
            &policy.program,
            &compiled.body,
            &compiled.originals,
            &options,
        );
        laps.end(|| "rego_query_compile".to_owned());
        // in the order of evaluation, which may differ from the source order
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
            .map(|at| at.map_or(Expression::AlwaysTrue, Expression::Captured));
        let may_block = policy
            .compiled
            .blocking
            .within(&policy.compiled.rule_tree, &compiled.body);
        Ok(QueryInner {
            plan: lowered.plan,
            constants: lowered.constants,
            variables: lowered.variables,
            expressions: expressions.collect(),
            texts,
            outputs: lowered.outputs,
            source,
            body: compiled.body,
            originals: compiled.originals,
            keyed: compiled.keyed,
            may_block,
        })
    }

    /// Parses a package and imports by the rules for modules.
    pub(super) fn context(
        &self,
        context: &QueryContext<'_>,
    ) -> Result<(Option<Ref>, Vec<Import>), Diagnostics> {
        if context.package.is_none() && context.imports.is_empty() {
            return Ok((None, Vec::new()));
        }
        let name = context.package.unwrap_or("query");
        let module = self.parse("", &format!("package {name}\n"), self.inner.version)?;
        let package = context.package.map(|_| module.package.path);
        let imports = context.imports.iter();
        let imports: String = imports.map(|import| format!("import {import}\n")).collect();
        let text = format!("package query\n{imports}");
        let module = self
            .parse("", &text, self.inner.version)
            .map_err(|mut errors| {
                // the package line is generated, and the first error is sufficient
                errors.0.truncate(1);
                for error in &mut errors.0 {
                    error.span.row = error.span.row.saturating_sub(1);
                }
                errors
            })?;
        Ok((package, module.imports))
    }

    /// Prepares a document as a decision with a typed input and a typed result.
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
    /// Errors of [`Self::prepare_document`].
    pub fn prepare<In: ?Sized, Out>(&self, path: &str) -> Result<Decision<In, Out>, Error> {
        Ok(Decision::new(self.prepare_document(path)?))
    }

    /// Prepares the document at a path with slashes below `data`.
    ///
    /// # Errors
    /// None today: a document that does not exist is undefined when it is evaluated.
    pub fn prepare_document(&self, path: &str) -> Result<PreparedDocument, Error> {
        self.prepare_document_at(&Path::from_slashes(path))
    }

    /// Prepares the document at a path with slashes, but fails if neither a rule nor a base document is at the path,
    /// above it or below it. It finds misspelt paths.
    ///
    /// ```
    /// use solon::{Engine, Error};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package authz\nallow if input.admin")?;
    /// assert!(engine.prepare_existing_document("authz/allow").is_ok());
    /// let misspelt = engine.prepare_existing_document("authz/alow");
    /// assert!(matches!(misspelt, Err(Error::UnknownPath(_))));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::UnknownPath`].
    pub fn prepare_existing_document(&self, path: &str) -> Result<PreparedDocument, Error> {
        let document = self.prepare_document(path)?;
        if document.exists() {
            Ok(document)
        } else {
            Err(Error::UnknownPath(path.to_owned()))
        }
    }

    /// Prepares the document at a path below `data`. A step of digits is an index in an array and a name in an
    /// object.
    ///
    /// # Errors
    /// None today: a document that does not exist is undefined when it is evaluated.
    pub fn prepare_document_at(&self, path: &Path) -> Result<PreparedDocument, Error> {
        let queries = Arc::new(self.clone());
        Ok(PreparedDocument::new(
            self.inner.shared.clone(),
            queries,
            path,
        ))
    }
}
