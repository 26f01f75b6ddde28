//! Tracks the outcome of each rule on the way to a filter.

use std::sync::Arc;

use hashbrown::HashMap;
use solon_syntax::source::Span;

use crate::index::Indexed as _;
use crate::trace::{Event, EventNode, Observer, Op};

/// Observer that records the rules that a search enters.
#[derive(Default)]
pub struct RuleTracker {
    /// Rules in the order in which they were first entered.
    rules: Vec<TrackedRule>,
    /// For each query: the rule whose body it searches, and the enclosing query.
    queries: HashMap<u64, (Option<usize>, u64)>,
}

#[derive(Clone, Debug)]
pub struct TrackedRule {
    pub path: Arc<str>,
    pub span: Span,
    /// `true` if its body may succeed, for some row.
    pub may_succeed: bool,
    pub depends: bool,
    /// Text and location of the expression that failed last.
    pub failed: Option<(String, Span)>,
}

impl RuleTracker {
    /// Returns the rules that were entered.
    pub fn finish(self) -> Vec<TrackedRule> {
        self.rules
    }

    fn rule(&mut self, query: u64) -> Option<&mut TrackedRule> {
        let (rule, _) = self.queries.get(&query)?;
        self.rules.get_mut((*rule)?)
    }
}

impl Observer for RuleTracker {
    fn wants(&self, op: Op) -> bool {
        matches!(op, Op::Enter | Op::Exit | Op::Fail | Op::Save)
    }

    fn needs_locals(&self) -> bool {
        false
    }

    fn event(&mut self, event: Event) {
        let query = event.query_id;
        match (event.op, &event.node) {
            (Op::Enter, EventNode::Rule(rule, path)) => {
                let position = self
                    .rules
                    .iter()
                    .position(|tracked| tracked.span == rule.span);
                let index = position.unwrap_or(self.rules.len());
                if position.is_none() {
                    self.rules.push(TrackedRule {
                        path: path.clone(),
                        span: rule.span,
                        may_succeed: false,
                        depends: false,
                        failed: None,
                    });
                }
                self.queries.insert(query, (Some(index), event.parent_id));
            }
            (Op::Enter, _) if !self.queries.contains_key(&query) => {
                let parent = self.queries.get(&event.parent_id);
                let rule = parent.and_then(|(rule, _)| *rule);
                self.queries.insert(query, (rule, event.parent_id));
            }
            (Op::Exit, EventNode::Rule(..)) => {
                if let Some(tracked) = self.rule(query) {
                    tracked.may_succeed = true;
                }
            }
            (Op::Fail, EventNode::Expr(expr)) => {
                let failed = (expr.to_string(), event.span);
                if let Some(tracked) = self.rule(query) {
                    tracked.failed = Some(failed);
                }
            }
            (Op::Save, _) => {
                let mut query = query;
                // the outermost query is its own parent
                while let Some((rule, parent)) = self.queries.get(&query).copied() {
                    if let Some(rule) = rule {
                        self.rules.item_mut(rule).depends = true;
                    }
                    if parent == query {
                        break;
                    }
                    query = parent;
                }
            }
            _ => {}
        }
    }
}
