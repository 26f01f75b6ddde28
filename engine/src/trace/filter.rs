//! Which events are shown.

use std::collections::HashMap;

use super::event::{Event, Local, Node, Observer, Op};

/// How much of a trace is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// Everything.
    Debug,
    /// Everything but unification.
    Full,
    /// What failed, and on the way to what.
    Fails,
    /// What `trace` says, and where it was called.
    Notes,
    /// `Fails` and `Notes` together, as the test runner shows them.
    FailsAndNotes,
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

    /// The events that are shown behind the bodies and rules on the way to them; `None` if all are shown.
    fn sought(self) -> Option<&'static [Op]> {
        match self {
            Self::Debug | Self::Full => None,
            Self::Fails => Some(&[Op::Fail]),
            Self::Notes => Some(&[Op::Note]),
            Self::FailsAndNotes => Some(&[Op::Fail, Op::Note]),
        }
    }
}

/// The part of a trace that is shown, taken while the search goes on.
///
/// `Fails` and `Notes` show each event sought behind the bodies and rules that were entered or searched again on the
/// way to it since the last one.
///
/// ```
/// use solon::trace::{Detail, Recorder};
/// use solon::{Engine, Request};
///
/// let query = Engine::new().prepare_query("x := 1; x > 1")?;
/// let mut recorder = Recorder::new(Detail::Fails, 1 << 20);
/// query.search(&Request::new(), Some(&mut recorder))?;
/// assert_eq!(recorder.into_events().len(), 2);
/// # Ok::<(), solon::Error>(())
/// ```
pub struct Recorder {
    detail: Detail,
    documents: bool,
    /// Bytes that events may still take.
    left: usize,
    full: bool,
    /// What is shown.
    events: Vec<Event>,
    /// The last body or rule entered or searched again, by the number of the search.
    entered: HashMap<u64, Event>,
}

impl Recorder {
    /// Nothing yet; events may take some bytes.
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

    /// With the documents that expressions refer to.
    #[must_use]
    pub fn with_documents(mut self) -> Self {
        self.documents = true;
        self
    }

    /// What is shown.
    pub fn into_events(self) -> Vec<Event> {
        self.events
    }

    fn show(&mut self, event: Event) {
        match self.left.checked_sub(bytes(&event)) {
            Some(left) => {
                self.left = left;
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
            Some(left) => self.left = left,
            None => self.full = true,
        }
    }

    /// Shows an event behind the way to it.
    fn show_way(&mut self, event: Event) {
        let (mut above, mut way) = (event.query_id, vec![event]);
        while let Some(event) = self.entered.remove(&above) {
            self.left += bytes(&event);
            above = event.parent_id;
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
        let scope = matches!(event.node, Node::Body(_) | Node::Rule(..));
        match self.detail.sought() {
            None => self.show(event),
            Some(ops) if ops.contains(&event.op) => self.show_way(event),
            Some(_) if scope => self.remember(event),
            Some(_) => {}
        }
    }

    fn wants(&self, op: Op) -> bool {
        match self.detail.sought() {
            None => self.detail == Detail::Debug || op != Op::Unify,
            Some(sought) => sought.contains(&op) || matches!(op, Op::Enter | Op::Redo),
        }
    }

    fn needs_documents(&self) -> bool {
        self.documents
    }

    fn is_full(&self) -> bool {
        self.full
    }
}

/// Memory that an event takes, what it shares with others left out.
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

/// Memory of the node of a unification, or of what is saved, which no other event shares.
const OWN_NODE: usize = 512;
