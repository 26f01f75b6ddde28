//! Preparation of queries and documents that are evaluated many times.

use std::borrow::Cow;
use std::sync::Arc;

use solon_syntax::ast::{Import, Ref};
use solon_syntax::source::Diagnostics;

use super::Engine;
use crate::compile::{self, Query, lower};
use crate::decision::Decision;
use crate::error::Error;
use crate::query::{
    Expression, ExpressionText, PreparedDocument, PreparedQuery, QueryCompiler, QueryInner,
    QuerySource, Recompiling,
};
use crate::snapshot::Policy;
use crate::store::Path;
use crate::trace::Timer;

/// The source of a query that is compiled again after changes of the policy.
pub(super) struct OwnedQuerySource {
    text: String,
    package: Option<String>,
    imports: Vec<String>,
    unsafe_builtins: Vec<String>,
    no_rules: bool,
    no_prints: bool,
}

impl OwnedQuerySource {
    pub fn new(source: &QuerySource<'_>) -> Self {
        Self {
            text: source.text.to_owned(),
            package: source.package.map(str::to_owned),
            imports: source.imports.to_vec(),
            unsafe_builtins: source.unsafe_builtins.to_vec(),
            no_rules: source.no_rules,
            no_prints: source.no_prints,
        }
    }

    pub fn borrow(&self) -> QuerySource<'_> {
        QuerySource {
            package: self.package.as_deref(),
            imports: &self.imports,
            unsafe_builtins: &self.unsafe_builtins,
            no_rules: self.no_rules,
            no_prints: self.no_prints,
            ..QuerySource::new(&self.text)
        }
    }
}

impl QueryCompiler for Engine {
    fn query(&self, text: &str, timer: Timer<'_>) -> Result<PreparedQuery, Error> {
        self.prepare_query(QuerySource::new(text).timer(timer))
    }
}

impl Engine {
    /// Compiles a query: a text, or a [`QuerySource`] with a package, imports and other options.
    ///
    /// # Errors
    /// [`Error::Compile`], [`Error::EmptyQuery`].
    pub fn prepare_query<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
    ) -> Result<PreparedQuery, Error> {
        let source = query.into();
        let policy = self.policy_for(&source);
        let first = self.query_for(&policy, &source)?;
        let (engine, owned) = (self.clone(), OwnedQuerySource::new(&source));
        let recompile = move |policy: &Policy| engine.query_for(policy, &owned.borrow());
        let shared = self.inner.shared.clone();
        Ok(PreparedQuery {
            handle: Arc::new(Recompiling::new(shared, &policy, first, recompile)),
        })
    }

    /// Returns the policy that a query is first compiled with.
    pub(super) fn policy_for(&self, source: &QuerySource<'_>) -> Arc<Policy> {
        match source.snapshot {
            Some(snapshot) => snapshot.state().policy.clone(),
            None => self.now().policy.clone(),
        }
    }

    /// Compiles a query for a policy, on a stack that is large enough for its chains. A panic becomes an internal error.
    fn query_for(&self, policy: &Policy, query: &QuerySource<'_>) -> Result<QueryInner, Error> {
        let compile = || self.compile_query(policy, query);
        Error::caught(|| compile::on_large_stack(compile::chain_within(query.text), compile))
    }

    fn compile_query(
        &self,
        policy: &Policy,
        context: &QuerySource<'_>,
    ) -> Result<QueryInner, Error> {
        let text = context.text;
        let source = self.query_text(text);
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
        let plan = lower::query(
            &policy.program,
            &compiled.body,
            &compiled.originals,
            &options,
        );
        laps.end(|| "rego_query_compile".to_owned());
        // in the order of evaluation, which may differ from the source order
        let source_exprs = compiled
            .body
            .iter()
            .filter(|expression| !expression.generated);
        let texts = source_exprs.map(|expression| ExpressionText {
            text: source.slice(expression.span).to_owned(),
            row: expression.span.row,
            col: expression.span.col,
        });
        let texts = texts.collect();
        let expressions = plan
            .expressions
            .iter()
            .map(|position| position.map_or(Expression::AlwaysTrue, Expression::Captured));
        let may_block = policy
            .compiled
            .blocking
            .blocks(&policy.compiled.rule_tree, &compiled.body);
        Ok(QueryInner {
            plan: plan.plan,
            constants: plan.constants,
            variables: plan.variables,
            expressions: expressions.collect(),
            texts,
            outputs: plan.outputs,
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
        context: &QuerySource<'_>,
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
    /// let roles = engine.prepare::<Input<'_>, Vec<String>>("data.p.roles")?;
    /// assert_eq!(roles.decide(&Input { user: "alice" })?, Some(vec!["admin".to_owned()]));
    /// assert_eq!(roles.decide(&Input { user: "bob" })?, None);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::prepare_document`].
    pub fn prepare<In: ?Sized, Out>(&self, document: &str) -> Result<Decision<In, Out>, Error> {
        Ok(Decision::new(self.prepare_document(document)?))
    }

    /// Prepares a document by its name, such as `data.authz.allow` or `authz/allow` ([`Path`]). A document that does not
    /// exist is undefined when it is evaluated; [`PreparedDocument::must_exist`] rejects it.
    ///
    /// # Errors
    /// [`Error::Options`] if the text does not name a document.
    pub fn prepare_document(&self, document: &str) -> Result<PreparedDocument, Error> {
        Ok(self.document(&document.parse()?))
    }

    /// Prepares the document at a path, as [`Self::prepare_document`] does. A step of digits is an index in an array and
    /// a name in an object.
    pub fn document(&self, path: &Path) -> PreparedDocument {
        let queries = Arc::new(self.clone());
        PreparedDocument::new(self.inner.shared.clone(), queries, path)
    }
}
