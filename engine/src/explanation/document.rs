//! Explanations of documents.

use super::{Explanation, Watched};
use crate::query::{PreparedDocument, Request};
use crate::value::Value;
use crate::walk::Search;

impl PreparedDocument {
    /// The document, if it is defined, and how it was found.
    ///
    /// ```
    /// use solon::trace::Detail;
    /// use solon::{Engine, Request, Value, value};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\nallow if input.user == data.owner")?;
    /// engine.put("owner", value!("alice"))?;
    /// let allow = engine.prepare_document("p/allow")?;
    /// let input = value!({"user": "alice"});
    /// let explained = allow.explain(&Request::new().input(&input), Detail::Full);
    /// assert_eq!(explained.lines(false, false)?.first().map(String::as_str), Some("Enter data.p.allow = _"));
    /// assert_eq!(explained.answer?, Some(Value::Bool(true)));
    /// # Ok::<(), solon::Error>(())
    /// ```
    pub fn explain<'s>(
        &self,
        request: &Request<'_>,
        watched: impl Into<Watched<'s>>,
    ) -> Explanation<Option<Value>> {
        let Watched {
            detail,
            documents,
            search,
        } = watched.into();
        let Search {
            mut observer,
            instruments,
            shortcuts,
            faults,
        } = search;
        let path = self.handle.path();
        // a step of digits is an index in an array and a name in an object
        let mut texts = vec![path.reference(), path.named_reference()];
        texts.dedup();
        let mut explained = None;
        for text in texts {
            // the types of rules exclude a document that is not there
            let Ok(query) = self.handle.queries.query(&text) else {
                continue;
            };
            let search = Search {
                observer: match &mut observer {
                    Some(observer) => Some(&mut **observer),
                    None => None,
                },
                instruments,
                shortcuts,
                faults,
            };
            let watched = Watched {
                detail,
                documents,
                search,
            };
            let found = query.explain(request, watched).map(|rows| {
                let value = rows.first().and_then(|row| row.values.first());
                value.cloned()
            });
            let ends = !matches!(found.answer, Ok(None));
            explained = Some(found);
            if ends {
                break;
            }
        }
        explained.unwrap_or_else(|| Explanation::of_nothing(Ok(None)))
    }
}
