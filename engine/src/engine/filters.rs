//! Preparation of row filters.

use std::sync::Arc;

use solon_syntax::ast::TermKind;

use super::Engine;
use super::preparing::OwnedQuerySource;
use crate::error::{Error, OptionError};
use crate::filter::{Manner, Mappings, may_hint, unknown_names};
use crate::filter_query::{FilterInner, FilterOptions, Filters, MASKS, PreparedFilters, reject};
use crate::partial_query::PartialOptions;
use crate::query::{QuerySource, Recompiling, Request};
use crate::snapshot::Policy;
use crate::store::Path;

impl Engine {
    /// Compiles a rule, by its name, to row filters: conditions on rows that a database evaluates.
    ///
    /// ```
    /// use solon::{Engine, FilterOptions, FilterQuery, FilterTarget, Request};
    ///
    /// let engine = Engine::new();
    /// let policy = "package filters\n\ninclude if input.fruits.price < 11\n";
    /// engine.set_module("filters.rego", policy)?;
    /// let options = FilterOptions::new([FilterTarget::Sqlite]).unknowns(["input.fruits"]);
    /// let filters = engine.filters("data.filters.include", &options, &Request::new())?;
    /// let Some(FilterQuery::Sql(sql)) = &filters.filters[0].query else { panic!() };
    /// assert_eq!(sql.text, "WHERE fruits.price < '11'");
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::prepare_filters`] and [`PreparedFilters::compile`].
    pub fn filters<'q>(
        &self,
        rule: impl Into<QuerySource<'q>>,
        options: &FilterOptions,
        request: &Request<'_>,
    ) -> Result<Filters, Error> {
        self.prepare_filters(rule, options)?.compile(request)
    }

    /// Prepares a rule for compilation to filters, for any number of inputs. Its name is a reference
    /// (`data.filters.include`) or a path (`filters/include`).
    ///
    /// The timer of a [`QuerySource`] receives how long each stage took: reading METADATA
    /// (`compile_extract_annotations_unknowns` and `compile_extract_annotations_mask`, if the options leave these open),
    /// parsing (`rego_query_parse`) and compiling (`rego_query_compile` and its `query_compile_stage_…`) the queries for
    /// the rule and its masks.
    ///
    /// # Errors
    /// [`Error::Options`] if `rule` does not name a document, and for invalid unknowns, mask rules or mappings;
    /// [`Error::UnknownPath`] if the rule or a mask rule does not exist, unless the options
    /// [allow that](FilterOptions::allow_undefined()); [`Error::Filter`] and [`Error::Compile`] for METADATA that cannot be read.
    pub fn prepare_filters<'q>(
        &self,
        rule: impl Into<QuerySource<'q>>,
        options: &FilterOptions,
    ) -> Result<PreparedFilters, Error> {
        let rule = rule.into();
        let policy = self.policy_for(&rule);
        let first = self.filters_for(&policy, options, &rule)?;
        let (engine, options) = (self.clone(), options.clone());
        let owned = OwnedQuerySource::new(&rule);
        let recompile =
            move |policy: &Policy| engine.filters_for(policy, &options, &owned.borrow());
        let shared = self.inner.shared.clone();
        Ok(PreparedFilters {
            handle: Arc::new(Recompiling::new(shared, &policy, first, recompile)),
        })
    }

    fn filters_for(
        &self,
        policy: &Policy,
        options: &FilterOptions,
        context: &QuerySource<'_>,
    ) -> Result<FilterInner, Error> {
        let timer = context.timer;
        let path: Path = context.text.parse()?;
        if !options.allow_undefined {
            self.check_defined(policy, context, &path)?;
        }
        // the steps of a path with slashes are keys, not indices of arrays
        let reference = if ["data.", "data["]
            .iter()
            .any(|start| context.text.starts_with(start))
        {
            context.text.to_owned()
        } else {
            path.named_reference()
        };
        let mut unknowns = options.unknowns.clone();
        for unknown in self.documents_named("unknowns", &unknowns)? {
            // nothing would be unknown, and every row rejected
            if let [root] = unknown.as_slice()
                && let Some(name) = root.as_var()
                && !matches!(&**name, "input" | "data")
            {
                let message = "error(s) occurred while parsing unknowns: expected ref but got";
                return Err(OptionError::new(format!("{message} {name}")).into());
            }
        }
        let full_name = |rule: &String| {
            let mut siblings: Vec<&String> = path.segments().iter().collect();
            siblings.pop();
            let siblings = Path::new(siblings).reference();
            if rule.starts_with("data.") {
                rule.clone()
            } else if rule.contains('/') {
                Path::from_slashes(rule).reference()
            } else {
                format!("{siblings}.{rule}")
            }
        };
        let mut mask = options.mask_rule.as_ref().map(full_name);
        let extensions = options.extensions || options.exact;
        if !options.more_masks.is_empty() && !extensions {
            let message = "several mask rules: only with `extensions`, or `exact`";
            return Err(OptionError::new(message).into());
        }
        if unknowns.is_empty() || mask.is_none() {
            let mut laps = timer.start();
            let rule = self.document_named(&reference)?;
            let blocks = policy.notes().blocks.as_ref();
            let blocks = blocks.map_err(|diagnostics| Error::Compile(diagnostics.clone()))?;
            let hints = blocks.hints(&rule);
            let hints = hints.map_err(|rejections| reject(&policy.compiled, rejections))?;
            if unknowns.is_empty() {
                unknowns = hints.unknowns;
                laps.end(|| "compile_extract_annotations_unknowns".to_owned());
            }
            if mask.is_none() {
                mask = hints.mask_rule;
                laps.end(|| "compile_extract_annotations_mask".to_owned());
            }
        }
        let partial = PartialOptions {
            unknowns: unknowns.clone(),
            disable_inlining: options.disable_inlining.clone(),
            nondeterministic_builtins: true,
            skip_false_defaults: true,
            watched: true,
            complements: extensions,
            ..PartialOptions::default()
        };
        let mut masks = Vec::new();
        for rule in mask
            .into_iter()
            .chain(options.more_masks.iter().map(full_name))
        {
            let rule_path = self.document_named(&rule).map_err(|error| {
                let message = "error(s) occurred while parsing mask_rule name";
                Error::from(OptionError::new(format!("{message}: {error}")))
            })?;
            if !options.allow_undefined {
                self.check_defined(policy, context, &rule.parse()?)?;
            }
            let query = format!("{rule} = {MASKS}");
            let query = self.partial_for(policy, &partial, &context.with_text(&query))?;
            masks.push((rule_path, Arc::new(query)));
        }
        let query = self.partial_for(policy, &partial, &context.with_text(&reference))?;
        let names = unknown_names(&query.inlining.unknowns);
        let hints = may_hint(&policy.notes().input_names, &names);
        let mut targets = Vec::with_capacity(options.targets.len());
        for target in &options.targets {
            if options.exact && !target.is_sql() {
                return Err(OptionError::new(format!("exact: {target} is not SQL")).into());
            }
            let mappings = options.mappings.as_ref();
            let mappings = mappings
                .map(|all| Mappings::for_target(all, *target))
                .transpose()?;
            targets.push((*target, mappings.unwrap_or_default()));
        }
        Ok(FilterInner {
            partial: Arc::new(query),
            masks,
            unknowns,
            hints,
            names,
            targets,
            shorts: options
                .mappings
                .as_ref()
                .map(Mappings::shorts)
                .unwrap_or_default(),
            paths: options
                .mappings
                .as_ref()
                .filter(|_| extensions)
                .map(Mappings::paths)
                .unwrap_or_default(),
            manner: Manner {
                parameters: options.parameters,
                exact: options.exact,
            },
            extensions,
            bare: options.bare,
        })
    }

    /// Fails if neither the policy nor the base documents define a document.
    fn check_defined(
        &self,
        policy: &Policy,
        context: &QuerySource<'_>,
        path: &Path,
    ) -> Result<(), Error> {
        let current = || self.snapshot();
        let snapshot = context.snapshot.cloned().unwrap_or_else(current);
        let is_defined = self
            .document(path)
            .is_defined_in(policy, snapshot.documents());
        if is_defined {
            Ok(())
        } else {
            Err(Error::UnknownPath(path.clone()))
        }
    }

    /// Parses a reference without variables and returns its terms.
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
            .ok_or_else(|| OptionError::new(format!("expected a reference, got `{text}`")).into())
    }
}
