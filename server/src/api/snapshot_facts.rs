//! Facts about events of the decision log that depend only on the policies and documents.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use solon::store::Path;
use solon::{Engine, Snapshot};

use super::state::State;
use crate::config::DecisionLogOptions;

/// Facts about events that are the same for all decisions on a snapshot.
pub struct SnapshotFacts {
    generation: u64,
    pub drop: PolicyFacts,
    /// The policy that masks events before they are logged.
    pub mask: PolicyFacts,
    /// JSON object with the revisions of bundles by name; `None` without bundles.
    pub bundles: Option<Vec<u8>>,
    /// `true` if a rule, document or package has `labels`. Only then decisions are searched for the rules that succeeded.
    pub has_labels: bool,
}

/// Facts about a policy that decides about events.
pub struct PolicyFacts {
    /// The path of its document, with slashes.
    pub path: String,
    /// `true` if there are rules or documents.
    pub exists: bool,
}

impl SnapshotFacts {
    fn of_snapshot(engine: &Engine, snapshot: &Snapshot, options: &DecisionLogOptions) -> Self {
        let policy = |path: &str| PolicyFacts {
            path: path.to_owned(),
            exists: engine
                .document(&Path::from_slashes(path))
                .pin_to(snapshot)
                .exists(),
        };
        let bundles: Map<String, Json> = snapshot
            .bundles()
            .into_iter()
            .map(|bundle| {
                let revision = match &*bundle.revision {
                    "" => json!({}),
                    revision => json!({ "revision": revision }),
                };
                (bundle.name, revision)
            })
            .collect();
        let mut annotations = snapshot.modules().flat_map(|(_, module)| {
            let rules = module.rules.iter();
            let rules = rules.flat_map(|rule| rule.annotations.iter());
            module.annotations.iter().chain(rules)
        });
        let has_labels = annotations.any(|block| {
            block
                .labels
                .as_ref()
                .is_some_and(|labels| !labels.is_empty())
        });
        Self {
            generation: snapshot.generation(),
            drop: policy(&options.drop_decision),
            mask: policy(&options.mask_decision),
            bundles: (!bundles.is_empty()).then(|| crate::json::text_of(&bundles)),
            has_labels,
        }
    }

    /// Returns `true` if these are the facts of a snapshot with the policies that the options name.
    fn are_of(&self, snapshot: &Snapshot, options: &DecisionLogOptions) -> bool {
        self.generation == snapshot.generation()
            && self.drop.path == options.drop_decision
            && self.mask.path == options.mask_decision
    }
}

impl State {
    /// Returns the facts of a snapshot, which are computed once per snapshot.
    pub fn snapshot_facts(
        &self,
        snapshot: &Snapshot,
        options: &DecisionLogOptions,
    ) -> Arc<SnapshotFacts> {
        let cached = self.facts.load();
        if let Some(facts) = &*cached
            && facts.are_of(snapshot, options)
        {
            return facts.clone();
        }
        let facts = SnapshotFacts::of_snapshot(&self.engine, snapshot, options);
        let facts = Arc::new(facts);
        self.facts.store(Some(facts.clone()));
        facts
    }
}
