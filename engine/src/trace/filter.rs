//! Which events are shown.

use std::collections::HashMap;

use super::event::{Event, Node, Op};

/// How much of a trace is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Everything.
    Debug,
    /// Everything but unification.
    Full,
    /// What failed, and on the way to what.
    Fails,
    /// What `trace` says, and where it was called.
    Notes,
}

impl Detail {
    /// The detail of a published name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "full" => Self::Full,
            "fails" => Self::Fails,
            "notes" => Self::Notes,
            _ => return None,
        })
    }
}

/// The events of a trace that are shown.
pub fn filter(events: &[Event], detail: Detail) -> Vec<&Event> {
    match detail {
        Detail::Debug => events.iter().collect(),
        Detail::Full => events
            .iter()
            .filter(|event| event.op != Op::Unify)
            .collect(),
        Detail::Fails => lineage(events, Op::Fail),
        Detail::Notes => lineage(events, Op::Note),
    }
}

/// The events of one kind, each behind the bodies and rules that were entered or searched again on the way to it
/// since the last one.
fn lineage(events: &[Event], op: Op) -> Vec<&Event> {
    let mut entered: HashMap<u64, &Event> = HashMap::new();
    let mut shown = Vec::new();
    for event in events {
        if event.op == op {
            let mut path = vec![event];
            let mut above = entered.remove(&event.query_id);
            while let Some(event) = above {
                path.push(event);
                above = entered.remove(&event.parent_id);
            }
            shown.extend(path.into_iter().rev());
            entered.clear();
        }
        let scope = matches!(event.node, Node::Body(_) | Node::Rule(..));
        if scope && matches!(event.op, Op::Enter | Op::Redo) {
            entered.insert(event.query_id, event);
        }
    }
    shown
}
