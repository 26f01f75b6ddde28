//! Rules with a solution.

use std::collections::HashSet;
use std::sync::Arc;

use solon_syntax::ast::Rule;
use solon_syntax::source::Span;

use super::event::{Event, EventNode, Observer, Op};

/// Observer that records the rules with a solution, each once, in the order of their first solutions.
///
/// [`Snapshot::rule_ids`](crate::Snapshot::rule_ids) and [`Snapshot::rule_labels`](crate::Snapshot::rule_labels) return their
/// identifiers and labels.
#[derive(Clone, Debug, Default)]
pub struct Succeeded {
    rules: Vec<Arc<Rule>>,
    spans: HashSet<Span>,
}

impl Succeeded {
    /// Iterates over the rules, each once.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter().map(|rule| &**rule)
    }
}

impl Observer for Succeeded {
    fn event(&mut self, event: Event) {
        if let EventNode::Rule(rule, _) = event.node
            && self.spans.insert(rule.span)
        {
            self.rules.push(rule);
        }
    }

    fn wants(&self, op: Op) -> bool {
        op == Op::Exit
    }

    fn needs_locals(&self) -> bool {
        false
    }
}
