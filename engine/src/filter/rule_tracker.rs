//! What becomes of each rule on the way to a filter.

use std::sync::Arc;

use hashbrown::HashMap;
use solon_syntax::source::Span;

use crate::index::Indexed as _;
use crate::trace::{Event, Node, Observer, Op};

/// Watches a search for the rules that it comes by.
#[derive(Default)]
pub struct RuleTracker {
    /// In the order in which they were first entered.
    rules: Vec<TrackedRule>,
    /// The rule whose body each query searches, and the query around it.
    queries: HashMap<u64, (Option<usize>, u64)>,
}

/// A rule that was come by.
#[derive(Clone, Debug)]
pub struct TrackedRule {
    /// The document that it belongs to.
    pub path: Arc<str>,
    /// Where it stands.
    pub span: Span,
    /// Whether its body may hold.
    pub may_succeed: bool,
    /// Whether that depends on the row.
    pub depends: bool,
    /// The expression that failed last, and where it stands.
    pub failed: Option<(String, Span)>,
}

impl RuleTracker {
    /// The rules that were come by.
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
            (Op::Enter, Node::Rule(rule, path)) => {
                let known = self.rules.iter().position(|seen| seen.span == rule.span);
                let at = known.unwrap_or(self.rules.len());
                if known.is_none() {
                    self.rules.push(TrackedRule {
                        path: path.clone(),
                        span: rule.span,
                        may_succeed: false,
                        depends: false,
                        failed: None,
                    });
                }
                self.queries.insert(query, (Some(at), event.parent_id));
            }
            (Op::Enter, _) if !self.queries.contains_key(&query) => {
                let around = self.queries.get(&event.parent_id);
                let rule = around.and_then(|(rule, _)| *rule);
                self.queries.insert(query, (rule, event.parent_id));
            }
            (Op::Exit, Node::Rule(..)) => {
                if let Some(seen) = self.rule(query) {
                    seen.may_succeed = true;
                }
            }
            (Op::Fail, Node::Expr(expr)) => {
                let failed = (expr.to_string(), event.span);
                if let Some(seen) = self.rule(query) {
                    seen.failed = Some(failed);
                }
            }
            (Op::Save, _) => {
                let mut query = query;
                // the query of the whole is around itself
                while let Some((rule, around)) = self.queries.get(&query).copied() {
                    if let Some(rule) = rule {
                        self.rules.item_mut(rule).depends = true;
                    }
                    if around == query {
                        break;
                    }
                    query = around;
                }
            }
            _ => {}
        }
    }
}
