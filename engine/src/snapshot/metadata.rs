//! METADATA of rules that succeeded.

use std::sync::Arc;

use serde_json::{Map, Value};
use solon_syntax::ast::{Annotation, Rule, Scope};

use super::Snapshot;
use crate::trace::Succeeded;

impl Snapshot {
    /// Returns the `id`s of the METADATA blocks of rules that succeeded in this snapshot, or of their documents,
    /// without duplicates, in the order in which the rules succeeded.
    ///
    /// ```
    /// use solon::trace::Succeeded;
    /// use solon::{Engine, Request};
    ///
    /// let engine = Engine::new();
    /// engine.set_module("p.rego", "package p\n# METADATA\n# id: admins-may\nallow if input.admin")?;
    /// let allow = engine.prepare_document("data.p.allow")?;
    /// let (snapshot, mut succeeded) = (engine.snapshot(), Succeeded::default());
    /// let request = Request::new().input_json(br#"{"admin": true}"#);
    /// allow.search(&request.snapshot(&snapshot), &mut succeeded)?;
    /// assert_eq!(snapshot.rule_ids(&succeeded), [std::sync::Arc::from("admins-may")]);
    /// # Ok::<(), solon::Error>(())
    /// ```
    pub fn rule_ids(&self, succeeded: &Succeeded) -> Vec<Arc<str>> {
        let mut ids: Vec<Arc<str>> = Vec::new();
        for rule in succeeded.rules() {
            let blocks = self.blocks_of(rule);
            let mut own_blocks = blocks
                .iter()
                .filter(|block| matches!(block.scope, Scope::Rule | Scope::Document));
            if let Some(id) = own_blocks.find_map(|block| block.id.clone())
                && !ids.contains(&id)
            {
                ids.push(id);
            }
        }
        ids
    }

    /// Returns the `labels` of rules that succeeded in this snapshot, including those of their documents and packages,
    /// without duplicates, in the order in which the rules succeeded.
    pub fn rule_labels(&self, succeeded: &Succeeded) -> Vec<Map<String, Value>> {
        let mut all: Vec<Map<String, Value>> = Vec::new();
        for rule in succeeded.rules() {
            let mut labels = Map::new();
            for block in self.blocks_of(rule) {
                // the nearest block wins
                for (name, value) in block.labels.iter().flatten() {
                    labels.entry(name).or_insert_with(|| value.clone());
                }
            }
            if !labels.is_empty() && !all.contains(&labels) {
                all.push(labels);
            }
        }
        all
    }

    /// Returns the blocks that apply to a rule, nearest first.
    fn blocks_of(&self, rule: &Rule) -> Vec<Arc<Annotation>> {
        let policy = &self.state().policy;
        let source = rule.span.source;
        let mut modules = policy.modules.values();
        let Some(module) = modules.find(|module| module.source.id == source) else {
            return Vec::new();
        };
        let chain = policy
            .compiled
            .annotations
            .chain(&module.package.path, rule);
        chain
            .into_iter()
            .filter_map(|link| link.annotation)
            .collect()
    }
}
