//! Filters of rows.

use std::sync::Arc;

use solon_syntax::ast::TermKind;

use super::Engine;
use crate::error::Error;
use crate::filter::{Manner, Mappings, Unreadable, annotated, may_hint, unknown_names};
use crate::filter_query::{FilterInner, FilterOptions, Filters, MASKS, PreparedFilters, refused};
use crate::moment::Policy;
use crate::partial_query::PartialOptions;
use crate::query::{Following, QueryContext, Request};
use crate::store::Path;

impl Engine {
    /// Which rows the rule at a path with slashes below `data` is true of, as conditions that a database can ask.
    ///
    /// ```
    /// use solon::{Engine, FilterOptions, FilterQuery, FilterTarget, Request};
    ///
    /// let engine = Engine::new();
    /// let policy = "package filters\n\ninclude if input.fruits.price < 11\n";
    /// engine.set_module("filters.rego", policy)?;
    /// let options = FilterOptions::new([FilterTarget::Sqlite]).unknowns(["input.fruits"]);
    /// let made = engine.filters("filters/include", &options, &Request::new())?;
    /// let Some(FilterQuery::Sql(sql)) = &made.filters[0].query else { panic!() };
    /// assert_eq!(sql.text, "WHERE fruits.price < '11'");
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Self::prepare_filters`] and [`PreparedFilters::compile`].
    pub fn filters(
        &self,
        path: &str,
        options: &FilterOptions,
        request: &Request<'_>,
    ) -> Result<Filters, Error> {
        self.prepare_filters(path, options)?.compile(request)
    }

    /// Prepares the rule at a path to be compiled to filters, for one input after another.
    ///
    /// # Errors
    /// [`Error::Options`] for unknowns, mask rules and mappings that mean nothing; [`Error::Filter`] and [`Error::Compile`]
    /// for METADATA that cannot be read.
    pub fn prepare_filters(
        &self,
        path: &str,
        options: &FilterOptions,
    ) -> Result<PreparedFilters, Error> {
        let policy = &*self.now().policy;
        let first = self.filters_for(policy, path, options)?;
        let (engine, path, options) = (self.clone(), path.to_owned(), options.clone());
        let anew = move |policy: &Policy| engine.filters_for(policy, &path, &options);
        let shared = self.inner.shared.clone();
        Ok(PreparedFilters {
            handle: Arc::new(Following::new(shared, policy, first, anew)),
        })
    }

    fn filters_for(
        &self,
        policy: &Policy,
        path: &str,
        options: &FilterOptions,
    ) -> Result<FilterInner, Error> {
        let path = Path::from_slashes(path);
        let reference = path.reference();
        let mut unknowns = options.unknowns.clone();
        let mut mask = options.mask_rule.clone().map(|rule| {
            let mut beside: Vec<&String> = path.segments().iter().collect();
            beside.pop();
            let beside = Path::new(beside).reference();
            if rule.starts_with("data.") {
                rule
            } else {
                format!("{beside}.{rule}")
            }
        });
        if unknowns.is_empty() || mask.is_none() {
            let rule = self.document_named(&reference)?;
            let modules = policy.modules.values().map(|module| &**module);
            let hints = annotated(modules, &rule).map_err(|error| match error {
                Unreadable::Block(diagnostics) => Error::Compile(diagnostics),
                Unreadable::Hint(refusals) => refused(&policy.compiled, refusals),
            })?;
            if unknowns.is_empty() {
                unknowns = hints.unknowns;
            }
            mask = mask.or(hints.mask_rule);
        }
        let extensions = options.extensions || options.exact;
        let partial = PartialOptions {
            unknowns: unknowns.clone(),
            disable_inlining: options.disable_inlining.clone(),
            nondeterministic_builtins: true,
            skip_false_defaults: true,
            watched: true,
            complements: extensions,
            ..PartialOptions::default()
        };
        let context = QueryContext::default();
        let mask = match mask {
            None => None,
            Some(rule) => {
                let named = self.document_named(&rule);
                let named = named.map_err(|error| {
                    let words = "error(s) occurred while parsing mask_rule name";
                    Error::Options(format!("{words}: {error}"))
                })?;
                let query = format!("{rule} = {MASKS}");
                let query = self.partial_for(policy, &query, &partial, &context)?;
                Some((named, Arc::new(query)))
            }
        };
        let query = self.partial_for(policy, &reference, &partial, &context)?;
        let names = unknown_names(&query.inlining.unknowns);
        let modules = policy.compiled.modules.iter();
        let mut bodies = modules.flat_map(|module| module.rules.iter().map(|rule| &rule.body));
        let hints = bodies.any(|body| may_hint(body, &names));
        let mut targets = Vec::with_capacity(options.targets.len());
        for target in &options.targets {
            if options.exact && !target.is_sql() {
                return Err(Error::Options(format!("exact: {target} is no SQL")));
            }
            let mappings = options.mappings.as_ref();
            let mappings = mappings.map(|all| Mappings::of(all, *target)).transpose()?;
            targets.push((*target, mappings.unwrap_or_default()));
        }
        Ok(FilterInner {
            partial: Arc::new(query),
            mask,
            unknowns,
            hints,
            names,
            targets,
            shorts: options
                .mappings
                .as_ref()
                .map(Mappings::shorts)
                .unwrap_or_default(),
            manner: Manner {
                parameters: options.parameters,
                exact: options.exact,
            },
            extensions,
            bare: options.bare,
        })
    }

    /// The terms of a reference without variables.
    fn document_named(&self, text: &str) -> Result<solon_syntax::ast::Ref, Error> {
        let documents = self.documents_named("path", &[text.to_owned()])?;
        let document = documents.into_iter().next();
        document
            .filter(|terms| {
                terms
                    .iter()
                    .skip(1)
                    .all(|term| !matches!(term.kind, TermKind::Var(_)))
            })
            .ok_or_else(|| Error::Options(format!("expected a reference, got `{text}`")))
    }
}
