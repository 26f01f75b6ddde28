//! Selection of the events of a trace.

use std::collections::HashMap;

use super::event::{Event, EventNode, Local, Observer, Op};

/// Level of detail of a trace: which events are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// All events.
    Debug,
    /// All events except unification.
    Full,
    /// Failures, with the bodies and rules that lead to them.
    Fails,
    /// Notes of `trace`, with the bodies and rules that lead to them.
    Notes,
    /// `Fails` and `Notes` together, as in the test runner.
    FailsAndNotes,
}

impl Detail {
    /// Returns the level with OPA's name (`debug`, `full`, `fails`, `notes`), or `None` for other names.
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "debug" => Self::Debug,
            "full" => Self::Full,
            "fails" => Self::Fails,
            "notes" => Self::Notes,
            _ => return None,
        })
    }

    /// Returns the kinds of events that are recorded together with the path to them; `None` if all events are recorded.
    fn recorded_ops(self) -> Option<&'static [Op]> {
        match self {
            Self::Debug | Self::Full => None,
            Self::Fails => Some(&[Op::Fail]),
            Self::Notes => Some(&[Op::Note]),
            Self::FailsAndNotes => Some(&[Op::Fail, Op::Note]),
        }
    }
}

/// Observer that records the selected part of a trace during the search.
///
/// `Fails` and `Notes` record each selected event after the bodies and rules that were entered or searched again since
/// the previous one.
///
/// ```
/// use solon::trace::{Detail, Recorder};
/// use solon::{Engine, Request};
///
/// let query = Engine::new().prepare_query("x := 1; x > 1")?;
/// let mut recorder = Recorder::new(Detail::Fails, 1 << 20);
/// query.search(&Request::new(), &mut recorder)?;
/// assert_eq!(recorder.into_events().len(), 2);
/// # Ok::<(), solon::Error>(())
/// ```
pub struct Recorder {
    detail: Detail,
    documents: bool,
    /// Bytes that events may still use.
    left: usize,
    full: bool,
    events: Vec<Event>,
    /// The last event of a body or rule that was entered or searched again, by query number.
    entered: HashMap<u64, Event>,
}

impl Recorder {
    /// An empty recorder whose events may use `bytes` bytes.
    pub fn new(detail: Detail, bytes: usize) -> Self {
        Self {
            detail,
            documents: false,
            left: bytes,
            full: false,
            events: Vec::new(),
            entered: HashMap::new(),
        }
    }

    /// Also records the documents that expressions refer to.
    #[must_use]
    pub fn with_documents(mut self) -> Self {
        self.documents = true;
        self
    }

    /// Returns the recorded events, in order.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }

    fn show(&mut self, event: Event) {
        match self.left.checked_sub(bytes(&event)) {
            Some(remaining) => {
                self.left = remaining;
                self.events.push(event);
            }
            None => self.full = true,
        }
    }

    fn remember(&mut self, event: Event) {
        let size = bytes(&event);
        let old = self.entered.insert(event.query_id, event);
        self.left += old.as_ref().map_or(0, bytes);
        match self.left.checked_sub(size) {
            Some(remaining) => self.left = remaining,
            None => self.full = true,
        }
    }

    /// Records an event after the events that lead to it.
    fn show_way(&mut self, event: Event) {
        let (mut parent_id, mut way) = (event.query_id, vec![event]);
        while let Some(event) = self.entered.remove(&parent_id) {
            self.left += bytes(&event);
            parent_id = event.parent_id;
            way.push(event);
        }
        self.left += self
            .entered
            .drain()
            .map(|(_, event)| bytes(&event))
            .sum::<usize>();
        for event in way.into_iter().rev() {
            self.show(event);
        }
    }
}

impl Observer for Recorder {
    fn event(&mut self, event: Event) {
        if self.full {
            return;
        }
        let scope = matches!(event.node, EventNode::Body(_) | EventNode::Rule(..));
        match self.detail.recorded_ops() {
            None => self.show(event),
            Some(ops) if ops.contains(&event.op) => self.show_way(event),
            Some(_) if scope => self.remember(event),
            Some(_) => {}
        }
    }

    fn wants(&self, op: Op) -> bool {
        match self.detail.recorded_ops() {
            None => self.detail == Detail::Debug || op != Op::Unify,
            Some(ops) => ops.contains(&op) || matches!(op, Op::Enter | Op::Redo),
        }
    }

    fn needs_documents(&self) -> bool {
        self.documents
    }

    fn is_full(&self) -> bool {
        self.full
    }
}

/// Memory of an event in bytes, without what it shares with others.
fn bytes(event: &Event) -> usize {
    let shared = 2 * size_of::<usize>();
    size_of::<Event>()
        + event.message.len()
        + event.locals.len() * size_of::<Local>()
        + event.documents.len() * shared
        + if matches!(event.op, Op::Unify | Op::Save) {
            OWN_NODE
        } else {
            0
        }
}

/// Estimated bytes of the node of a unification or a saved expression, which no other event shares.
const OWN_NODE: usize = 512;
