//! A request and a response as handlers see them.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use hyper::Uri;
use hyper::body::Bytes;
use hyper::header::{
    AsHeaderName, CONNECTION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, VARY,
};
use hyper::http::request::Parts;
use solon::{Cancel, Value};

use super::budget::Held;
use super::declared::{self, Declared};
use super::pool::{Turn, Work};
use super::{Params, Peer, Refusal};

pub use hyper::Method;
pub use hyper::StatusCode as Status;
pub use hyper::header;

/// The header of what a client calls a request.
pub static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What comes ahead of a request's body, and who sent it.
pub struct Head {
    /// Its number within this process, from 1.
    pub id: u64,
    /// `GET`, `POST`, …; case counts.
    pub method: Method,
    /// The target.
    pub target: Uri,
    /// The query parameters.
    pub params: Params,
    /// The headers.
    pub headers: HeaderMap,
    /// What they say of it.
    pub declared: Declared,
    /// Why it is rejected without being looked at further.
    pub refusal: Option<Refusal>,
    /// Who sent it.
    pub peer: Arc<Peer>,
    cancel: OnceLock<Cancel>,
    /// When it was read.
    pub received: Instant,
    /// When it has to be answered.
    pub deadline: Option<Instant>,
}

/// A whole request, on its way to an answer.
pub struct Message {
    /// What came ahead of its body.
    pub head: Arc<Head>,
    /// How much of the path belongs to the route; the rest is the handler's.
    pub routed: usize,
    /// The whole body, unpacked.
    pub body: Bytes,
    /// What the body was read as, where that was needed before the handler.
    pub document: Option<Value>,
    /// Whether whoever sent it may ask this.
    pub allowed: bool,
    /// Whether it was logged.
    pub logged: bool,
    /// The body's part of what all connections may hold.
    pub held: Held,
}

/// Where a request is being answered.
#[derive(Clone, Copy)]
pub enum Place<'a> {
    /// On a thread that serves connections: answers must come at once.
    Reactor,
    /// On a thread that may take its time, and gives others their turn.
    Pool(&'a Turn),
    /// On a thread of those that write: policies and documents change one after another, and nobody else waits for that.
    Apart,
}

impl Place<'_> {
    /// Whether answers must come at once.
    pub fn is_reactor(self) -> bool {
        matches!(self, Self::Reactor)
    }

    /// Does work of many parts here, and on other threads where that is a pool with room.
    ///
    /// `work` is called by each of them, and does part after part until none is left.
    pub fn share(self, work: impl Fn(Place<'_>) + Send + Sync + 'static) {
        match self {
            Self::Pool(turn) => {
                let work: Arc<Work> = Arc::new(move |turn: &Turn| work(Place::Pool(turn)));
                turn.share(&work);
            }
            here => work(here),
        }
    }

    /// Lets others have their turn; to be called now and then.
    pub fn look(self) {
        if let Self::Pool(turn) = self {
            turn.look();
        }
    }
}

/// A whole request, and where it is being answered.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    message: &'a Message,
    /// Where it is being answered.
    pub place: Place<'a>,
}

impl Head {
    /// The head of a request.
    pub fn new(parts: Parts, id: u64, peer: Arc<Peer>, within: Option<Duration>) -> Self {
        let received = Instant::now();
        let (declared, refusal) = Declared::by(&parts.headers, parts.version);
        let mut head = Self {
            id,
            params: parts.uri.query().map(Params::parse).unwrap_or_default(),
            declared,
            refusal,
            method: parts.method,
            target: parts.uri,
            headers: parts.headers,
            peer,
            cancel: OnceLock::new(),
            received,
            deadline: within.and_then(|within| received.checked_add(within)),
        };
        if head.refusal.is_none()
            && let Some(hosts) = &head.peer.hosts
        {
            head.refusal = hosts.check(&head).err();
        }
        head
    }

    /// Stops evaluations once nobody waits for the answer. It is of use on other threads than the connection's, and is
    /// made once one of them is given the request.
    pub fn cancel(&self) -> &Cancel {
        self.cancel.get_or_init(Cancel::default)
    }

    /// Nobody waits for the answer any more.
    pub(super) fn forsake(&self) {
        if let Some(cancel) = self.cancel.get() {
            cancel.cancel();
        }
    }

    /// The path as it was sent, escapes and all.
    pub fn path(&self) -> &str {
        self.target.path()
    }

    /// The text of a header; empty when it is missing or no text.
    pub fn header(&self, name: impl AsHeaderName) -> &str {
        declared::text(self.headers.get(name))
    }

    /// Every header with its value, in the order of their names.
    pub fn each_header(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        let headers = self.headers.iter();
        headers.map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
    }

    /// Whether the answer is to be formatted for humans.
    pub fn pretty(&self) -> bool {
        self.params.flag("pretty")
    }

    /// The name that the client gave the request, for the log and the answer.
    pub fn given_name(&self) -> Option<&str> {
        let name = self.declared.is_named.then(|| self.header(&REQUEST_ID))?;
        (!name.is_empty()).then_some(name)
    }

    /// What is left of the time that it has; `None` when it has as much as it likes.
    pub fn time_left(&self) -> Option<Duration> {
        self.deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()))
    }
}

impl Deref for Message {
    type Target = Head;

    fn deref(&self) -> &Head {
        &self.head
    }
}

impl Message {
    /// A request whose body is yet to be read.
    pub fn new(head: Arc<Head>, held: Held) -> Self {
        Self {
            head,
            routed: 0,
            body: Bytes::new(),
            document: None,
            allowed: false,
            logged: false,
            held,
        }
    }

    /// The request, to be answered somewhere.
    pub fn at<'a>(&'a self, place: Place<'a>) -> Request<'a> {
        Request {
            message: self,
            place,
        }
    }

    /// What follows the route in the path, escapes and all, without the slash between.
    /// Nothing where the route is no part of it, which cannot be: the root would be another document.
    pub fn below(&self) -> Option<&str> {
        let rest = self.path().get(self.routed..)?;
        Some(rest.strip_prefix('/').unwrap_or(rest))
    }
}

impl<'a> Request<'a> {
    /// The request without its place, which lives longer.
    pub fn message(&self) -> &'a Message {
        self.message
    }
}

impl Deref for Request<'_> {
    type Target = Message;

    fn deref(&self) -> &Message {
        self.message
    }
}

/// A whole response.
pub struct Response {
    /// The status.
    pub status: Status,
    /// The headers; the length is added when it is sent.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// A status without a body.
    pub fn empty(status: Status) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            body: Bytes::new(),
        }
    }

    /// JSON text with a line end already behind it.
    pub fn json(status: Status, body: Vec<u8>) -> Self {
        Self::of(
            status,
            const { HeaderValue::from_static("application/json") },
            body.into(),
        )
    }

    /// The same under another name; one that cannot stand in a header is JSON.
    pub fn json_as(media: &str, status: Status, body: Vec<u8>) -> Self {
        Self::json(status, body).with(CONTENT_TYPE, media)
    }

    /// Text of a kind.
    pub fn text(status: Status, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self::of(status, HeaderValue::from_static(kind), body.into().into())
    }

    fn of(status: Status, kind: HeaderValue, body: Bytes) -> Self {
        let made = Self {
            body,
            ..Self::empty(status)
        };
        made.with_value(CONTENT_TYPE, kind)
    }

    /// Elsewhere. What is no ASCII is escaped, as headers have none.
    pub fn redirect(status: Status, to: &str) -> Self {
        let mut place = String::with_capacity(to.len());
        for byte in to.bytes() {
            if byte.is_ascii() {
                place.push(char::from(byte));
            } else {
                // writing to a string does not fail
                let _ = write!(place, "%{byte:02x}");
            }
        }
        Self::empty(status).with(LOCATION, &place)
    }

    /// With a header. A value that cannot stand in a header is left out.
    #[must_use]
    pub fn with(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
        self
    }

    /// With a header whose value is always the same.
    #[must_use]
    pub fn with_static(self, name: HeaderName, value: &'static str) -> Self {
        self.with_value(name, HeaderValue::from_static(value))
    }

    fn with_value(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.insert(name, value);
        self
    }

    /// Told to whatever keeps answers: what the client accepts may change it.
    #[must_use]
    pub fn varying(self) -> Self {
        self.with_value(VARY, const { HeaderValue::from_static("Accept-Encoding") })
    }

    /// The last one of its connection.
    #[must_use]
    pub fn closing(self) -> Self {
        self.with_value(CONNECTION, const { HeaderValue::from_static("close") })
    }

    /// Whether it has a header of this name.
    pub fn has(&self, name: &HeaderName) -> bool {
        self.headers.contains_key(name)
    }
}
