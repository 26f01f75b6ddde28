//! Evaluation of logged decisions on one thread.

use hashbrown::HashMap;
use jiff::Timestamp;
use serde_json::value::RawValue;
use solon::json::{self, Style};
use solon::store::Path;
use solon::{Engine, Error, NdBuiltinCache, PinnedDocument, PinnedQuery, Request, Value};

use super::changes::{DecisionSubject, Group, Tally};
use super::event::{ReplayEvent, SkipReason};
use super::host::LoggedHost;
use super::log::Block;
use super::outcome::ReplayOutcome;
use crate::http::segments;

/// Maximum number of prepared documents, and of prepared queries. They are prepared again if there are more.
const PREPARED: usize = 10_000;

/// Evaluates decisions. Documents and queries are prepared once.
pub struct Worker<'e> {
    engine: &'e Engine,
    /// Only decisions of this document and of documents below it.
    path: Option<&'e str>,
    /// Maximum number of ids for each group of changes.
    examples: usize,
    documents: HashMap<String, Option<PinnedDocument>>,
    queries: HashMap<String, PinnedQuery>,
    tally: Tally,
}

impl<'e> Worker<'e> {
    /// Creates a worker without prepared documents.
    pub fn new(engine: &'e Engine, path: Option<&'e str>, examples: usize) -> Self {
        Self {
            engine,
            path,
            examples,
            documents: HashMap::new(),
            queries: HashMap::new(),
            tally: Tally::default(),
        }
    }

    /// Replays the events of a block and counts those that differ, are skipped or cannot be read.
    pub fn replay(&mut self, block: &Block) {
        for (number, line) in block.text.split(|byte| *byte == b'\n').enumerate() {
            let line = line.trim_ascii();
            if line.is_empty() {
                continue;
            }
            if !line.starts_with(b"{") {
                self.tally.skipped += 1;
                continue;
            }
            match serde_json::from_slice::<ReplayEvent<'_>>(line) {
                Ok(event) if event.decision_id.is_empty() => self.tally.skipped += 1,
                Ok(event) => self.replay_event(&event, (block.number, number)),
                Err(_) => self.tally.unreadable += 1,
            }
        }
    }

    pub fn finish(self) -> Tally {
        self.tally
    }

    fn replay_event(&mut self, event: &ReplayEvent<'_>, position: (u64, usize)) {
        let (kind, name) = match &event.query {
            Some(query) => (DecisionSubject::Query, query),
            None => (DecisionSubject::Document, &event.path),
        };
        if !self.is_selected(kind, name) {
            return;
        }
        if let Some(reason) = event.reason() {
            return self.tally.add_reason(reason);
        }
        let old = ReplayOutcome::logged(event);
        if old.is_cancelled() {
            return self.tally.add_reason(SkipReason::Cancelled);
        }
        let time = event.timestamp.as_ref().and_then(|time| time.parse().ok());
        let time: Timestamp = time.unwrap_or_default();
        LoggedHost::begin(i64::try_from(time.as_nanosecond()).unwrap_or_default());
        let calls = event.nd_builtin_cache.map(cache);
        let mut request = Request::new().strict_builtin_errors(old.is_strict());
        if let Some(input) = event.input {
            request = request.input_json(input.get().as_bytes());
        }
        if let Some(calls) = &calls {
            request = request.nd_builtin_cache(calls);
        }
        let new = match kind {
            DecisionSubject::Document => self.document(name, &request),
            DecisionSubject::Query => self.query(name, &request),
        };
        if LoggedHost::is_called() {
            return self.tally.add_reason(SkipReason::UnloggedCall);
        }
        match old.difference(&ReplayOutcome::evaluated(new)) {
            None => self.tally.unchanged += 1,
            Some((old, new)) => {
                let name = name.clone().into_owned();
                let group = Group {
                    kind,
                    name,
                    old,
                    new,
                };
                let id = &event.decision_id;
                self.tally.add_change(group, position, id, self.examples);
            }
        }
    }

    fn is_selected(&self, kind: DecisionSubject, name: &str) -> bool {
        let Some(path) = self.path else { return true };
        let rest_of_name = name.strip_prefix(path);
        kind == DecisionSubject::Document
            && rest_of_name.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn document(&mut self, path: &str, request: &Request<'_>) -> Result<Option<Vec<u8>>, Error> {
        if !self.documents.contains_key(path) {
            let pinned = match segments(path) {
                None => None,
                Some(segments) => Some(self.engine.document(&Path::new(segments)).pin()),
            };
            if self.documents.len() >= PREPARED {
                self.documents.clear();
            }
            self.documents.insert(path.to_owned(), pinned);
        }
        match self.documents.get(path) {
            // events contain text in this style
            Some(Some(document)) => {
                document.evaluate_json(&request.json_style(&Style::default().html(true)))
            }
            _ => Ok(None),
        }
    }

    /// Evaluates a query. The result is that of an event: the bindings of each solution, or `null`.
    fn query(&mut self, query: &str, request: &Request<'_>) -> Result<Option<Vec<u8>>, Error> {
        if !self.queries.contains_key(query) {
            let pinned = self.engine.prepare_query(query)?.pin()?;
            if self.queries.len() >= PREPARED {
                self.queries.clear();
            }
            self.queries.insert(query.to_owned(), pinned);
        }
        let Some(pinned) = self.queries.get(query) else {
            return Ok(None);
        };
        let rows = pinned.solutions(request)?.into_iter().map(|solution| {
            let pairs = solution.bindings.into_iter();
            let pairs = pairs.map(|(name, value)| (Value::string(&name), value));
            Value::object(pairs.collect())
        });
        let rows: Vec<Value> = rows.collect();
        let result = if rows.is_empty() {
            Value::NULL
        } else {
            Value::array(rows)
        };
        let mut text = Vec::new();
        json::write(result.borrow(), &mut text);
        Ok(Some(text))
    }
}

/// Returns the logged results of nondeterministic functions.
fn cache(logged: &RawValue) -> NdBuiltinCache {
    let value = json::read(logged.get().as_bytes());
    value.map_or_else(
        |_| NdBuiltinCache::default(),
        |value| NdBuiltinCache::from_value(&value),
    )
}
