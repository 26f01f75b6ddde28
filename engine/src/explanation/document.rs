//! Explanations of documents: searches that record events.

use super::{ExplainOptions, Explanation};
use crate::error::Error;
use crate::query::{PreparedDocument, PreparedQuery, Request, Solution};
use crate::topdown::SearchOptions;
use crate::value::Value;

impl PreparedDocument {
    /// Returns the document, if it is defined, and the steps of its evaluation.
    ///
    /// ```
    /// use solon::trace::Detail;
    /// use solon::{Engine, Request, TraceLines, Value, value};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\nallow if input.user == data.owner")?;
    /// engine.put("data.owner", value!("alice"))?;
    /// let allow = engine.prepare_document("data.p.allow")?;
    /// let input = value!({"user": "alice"});
    /// let explained = allow.explain(&Request::new().input(&input), Detail::Full);
    /// assert_eq!(explained.lines(TraceLines::default())?.first().map(String::as_str), Some("Enter data.p.allow = _"));
    /// assert_eq!(explained.result?, Some(Value::from(true)));
    /// # Ok::<(), solon::Error>(())
    /// ```
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<ExplainOptions<'s>>,
    ) -> Explanation<Option<Value>> {
        let ExplainOptions {
            detail,
            documents,
            search,
        } = options.into();
        if let Err(error) = request.check_start(&self.handle.shared) {
            return Explanation::without_query(Err(error));
        }
        let mut last = None;
        self.search_texts(request, search, |query, search| {
            let options = ExplainOptions {
                detail,
                documents,
                search,
            };
            let explanation = query.explain(request, options).map(value_of);
            let ends = !matches!(explanation.result, Ok(None));
            last = Some(explanation);
            ends
        });
        last.unwrap_or_else(|| Explanation::without_query(Ok(None)))
    }

    /// Returns the document, if it is defined, computed by the tracing evaluator with the observers, instruments and
    /// optimisations of `options`.
    ///
    /// # Errors
    /// Errors of [`Self::evaluate`].
    pub fn search<'s>(
        &self,
        request: &Request<'_>,
        options: impl Into<SearchOptions<'s>>,
    ) -> Result<Option<Value>, Error> {
        request.check_start(&self.handle.shared)?;
        let mut last = Ok(None);
        self.search_texts(request, options.into(), |query, search| {
            last = query
                .search(request, search.cross_check(true))
                .map(value_of);
            !matches!(last, Ok(None))
        });
        last
    }

    /// Searches with each query that may name the document, until `run` returns `true` for one.
    fn search_texts(
        &self,
        request: &Request<'_>,
        search: SearchOptions<'_>,
        mut run: impl FnMut(&PreparedQuery, SearchOptions<'_>) -> bool,
    ) {
        let path = self.handle.path();
        let SearchOptions {
            mut observer,
            instruments,
            shortcuts,
            builtin_errors: faults,
            cross_check,
        } = search;
        // A step of digits is an index in an array and a name in an object.
        let mut texts = vec![path.reference(), path.named_reference()];
        texts.dedup();
        for text in texts {
            // If the types of rules exclude the document, the query does not compile.
            let Ok(query) = self.handle.search_query(text, request.compile_timer()) else {
                continue;
            };
            let search = SearchOptions {
                observer: match &mut observer {
                    Some(observer) => Some(&mut **observer),
                    None => None,
                },
                instruments,
                shortcuts,
                builtin_errors: faults,
                cross_check,
            };
            if run(&query, search) {
                return;
            }
        }
    }
}

/// Returns the value of the document from the solutions of the query that names it.
fn value_of(rows: Vec<Solution>) -> Option<Value> {
    rows.into_iter().next()?.values.into_iter().next()
}
