//! Preparation of queries for partial evaluation.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use solon_syntax::ParseOptions;
use solon_syntax::ast::Ref;
use solon_syntax::parse_term;
use solon_syntax::source::{Source, SourceId};

use super::Engine;
use super::preparing::OwnedQueryContext;
use crate::compile::{self, Query};
use crate::error::Error;
use crate::partial::{Dependence, Inlining, Residuals};
use crate::partial_query::{PartialInner, PartialOptions, PreparedPartial, document};
use crate::query::{QueryContext, Recompiling, Request};
use crate::snapshot::Policy;
use crate::store::Path;

impl Engine {
    /// Partially evaluates a query: returns residual bodies, one of which must be true, and the support modules that
    /// they refer to.
    ///
    /// ```
    /// use solon::{Engine, PartialOptions, Request};
    ///
    /// let engine = Engine::new();
    /// let policy = "package p\n\nallow if input.user == data.owners[input.path]\n\nallow if input.role == \"admin\"\n";
    /// engine.set_module("policy.rego", policy)?;
    /// let options = PartialOptions::default();
    /// let left = engine.partial("data.p.allow", &options, &Request::new())?;
    /// assert_eq!(left.query_texts(), ["input.role = \"admin\""]);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::prepare_partial`] and [`PreparedPartial::evaluate`].
    pub fn partial(
        &self,
        query: &str,
        options: &PartialOptions,
        request: &Request<'_>,
    ) -> Result<Residuals, Error> {
        let prepared = self.prepare_partial(query, options, &QueryContext::default())?;
        prepared.evaluate(request)
    }

    /// Compiles a query for partial evaluation.
    ///
    /// # Errors
    /// [`Error::Compile`]; [`Error::EmptyQuery`]; [`Error::Options`] if an unknown or a document that must not be
    /// inlined is not a reference.
    pub fn prepare_partial(
        &self,
        query: &str,
        options: &PartialOptions,
        context: &QueryContext<'_>,
    ) -> Result<PreparedPartial, Error> {
        let policy = &*self.now().policy;
        let first = self.partial_for(policy, query, options, context)?;
        let (engine, query, options) = (self.clone(), query.to_owned(), options.clone());
        let context = OwnedQueryContext::from_context(context);
        let anew =
            move |policy: &Policy| engine.partial_for(policy, &query, &options, &context.borrow());
        let shared = self.inner.shared.clone();
        Ok(PreparedPartial {
            handle: Arc::new(Recompiling::new(shared, policy, first, anew)),
        })
    }

    /// Compiles the document at a path with slashes below `data` for partial evaluation.
    ///
    /// # Errors
    /// Errors of [`Self::prepare_partial`].
    pub fn prepare_partial_document(
        &self,
        path: &str,
        options: &PartialOptions,
    ) -> Result<PreparedPartial, Error> {
        let reference = Path::from_slashes(path).reference();
        self.prepare_partial(&reference, options, &QueryContext::default())
    }

    /// Compiles such a query for a policy.
    pub(super) fn partial_for(
        &self,
        policy: &Policy,
        text: &str,
        options: &PartialOptions,
        context: &QueryContext<'_>,
    ) -> Result<PartialInner, Error> {
        compile::on_large_stack(compile::chain_within(text), || {
            self.compile_partial(policy, text, options, context)
        })
    }

    fn compile_partial(
        &self,
        policy: &Policy,
        text: &str,
        partial: &PartialOptions,
        context: &QueryContext<'_>,
    ) -> Result<PartialInner, Error> {
        let source = self.text(text);
        let mut laps = context.timer.start();
        let body = context.parse(&source, &self.parsing())?;
        laps.end(|| "rego_query_parse".to_owned());
        if body.is_empty() {
            return Err(Error::empty_query(text));
        }
        let unknowns = self.documents_named("unknowns", &partial.unknowns)?;
        let disabled = self.documents_named("disableInlining", &partial.disable_inlining)?;
        let (package, imports) = self.context(context)?;
        let mut options = self.inner.options.clone();
        options
            .unsafe_builtins
            .extend_from_slice(context.unsafe_builtins);
        options.print = options.print && !context.no_prints;
        let query = Query {
            package,
            imports,
            capture: false,
            unify_equals: true,
            ..Query::new(source, body)
        };
        let mut stages = context.timer.start();
        let compiled = compile::compile_query(&policy.compiled, query, &options, |pass, _| {
            stages.end(|| pass.timer());
        })?;
        laps.end(|| "rego_query_compile".to_owned());
        let inlining = Inlining {
            unknowns,
            disabled,
            shallow: partial.shallow_inlining,
            nondeterministic: partial.nondeterministic_builtins,
            skip_false_defaults: partial.skip_false_defaults,
            namespace: partial.namespace.as_str().into(),
            skip_namespace: partial.skip_namespace,
            reports_choices: partial.watched,
            complements: partial.complements,
        };
        Ok(PartialInner {
            options,
            inlining,
            dependence: Dependence::default(),
            body: compiled.body,
            originals: compiled.originals,
        })
    }

    fn text(&self, text: &str) -> Source {
        let id = SourceId(self.inner.next_source.fetch_add(1, Ordering::Relaxed));
        Source::new(id, "", text)
    }

    fn parsing(&self) -> ParseOptions {
        ParseOptions {
            version: self.inner.version,
            ..ParseOptions::default()
        }
    }

    /// Parses the references of documents that an option lists.
    pub(super) fn documents_named(
        &self,
        option: &str,
        texts: &[String],
    ) -> Result<Vec<Ref>, Error> {
        let documents = texts.iter().map(|text| {
            let term = parse_term(&self.text(text), &self.parsing());
            let term = term.map_err(|errors| format!("failed to parse term: {errors}"))?;
            document(term)
                .ok_or_else(|| format!("expected a reference without variables, got `{text}`"))
        });
        let documents: Result<Vec<Ref>, String> = documents.collect();
        documents.map_err(|words| {
            Error::Options(format!("error(s) occurred while parsing {option}: {words}"))
        })
    }
}
