//! Preparation of queries for partial evaluation.

use std::sync::Arc;

use solon_syntax::ParseOptions;
use solon_syntax::ast::Ref;
use solon_syntax::parse_term;

use super::Engine;
use super::preparing::OwnedQuerySource;
use crate::compile::{self, Query};
use crate::error::{Error, OptionError};
use crate::partial::{Dependence, Inlining, Residuals};
use crate::partial_query::{PartialInner, PartialOptions, PreparedPartial, document};
use crate::query::{QuerySource, Recompiling, Request};
use crate::snapshot::Policy;

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
    /// let residuals = engine.partial("data.p.allow", &options, &Request::new())?;
    /// assert_eq!(residuals.query_texts(), ["input.role = \"admin\""]);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::prepare_partial`] and [`PreparedPartial::evaluate`].
    pub fn partial<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
        options: &PartialOptions,
        request: &Request<'_>,
    ) -> Result<Residuals, Error> {
        self.prepare_partial(query, options)?.evaluate(request)
    }

    /// Compiles a query for partial evaluation: a text, or a [`QuerySource`] with a package, imports and other options.
    ///
    /// # Errors
    /// [`Error::Compile`]; [`Error::EmptyQuery`]; [`Error::Options`] if an unknown or a document that must not be
    /// inlined is not a reference.
    pub fn prepare_partial<'q>(
        &self,
        query: impl Into<QuerySource<'q>>,
        options: &PartialOptions,
    ) -> Result<PreparedPartial, Error> {
        let query = query.into();
        let policy = self.policy_for(&query);
        let first = self.partial_for(&policy, options, &query)?;
        let (engine, options) = (self.clone(), options.clone());
        let owned = OwnedQuerySource::new(&query);
        let recompile =
            move |policy: &Policy| engine.partial_for(policy, &options, &owned.borrow());
        let shared = self.inner.shared.clone();
        Ok(PreparedPartial {
            handle: Arc::new(Recompiling::new(shared, &policy, first, recompile)),
        })
    }

    /// Compiles such a query for a policy, on a stack that is large enough for its chains.
    pub(super) fn partial_for(
        &self,
        policy: &Policy,
        options: &PartialOptions,
        query: &QuerySource<'_>,
    ) -> Result<PartialInner, Error> {
        compile::on_large_stack(compile::chain_within(query.text), || {
            self.compile_partial(policy, options, query)
        })
    }

    fn compile_partial(
        &self,
        policy: &Policy,
        partial: &PartialOptions,
        context: &QuerySource<'_>,
    ) -> Result<PartialInner, Error> {
        let text = context.text;
        let source = self.query_text(text);
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
            let term = parse_term(&self.query_text(text), &self.parsing());
            let term = term.map_err(|errors| format!("failed to parse term: {errors}"))?;
            document(term)
                .ok_or_else(|| format!("expected a reference without variables, got `{text}`"))
        });
        let documents: Result<Vec<Ref>, String> = documents.collect();
        documents.map_err(|reason| {
            OptionError::new(format!(
                "error(s) occurred while parsing {option}: {reason}"
            ))
            .into()
        })
    }
}
