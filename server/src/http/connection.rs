//! From a request to its answer: classified by its head, read once, answered where it belongs, packed.

use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http_body_util::Full;
use hyper::Method;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use solon::Value;

use super::admission::{Admission, BodyLimits};
use super::body::{BodyError, check_length, read_body};
use super::budget::{Budget, Held, SMALL};
use super::gzip::{GzipError, accepts_gzip, gunzip, gzip};
use super::hosts::AllowedHosts;
use super::message::{Head, Message, Place, REQUEST_ID, Response};
use super::pool::{NotRun, Pace, Pool};
use super::stream::ConnectionState;
use super::tls::Certificates;
use super::writer::Writer;
use crate::config::{Bounds, Live};

/// Who sends requests on a connection.
pub struct Peer {
    /// An address with a port; empty when the socket knows none.
    pub address: String,
    /// The certificates that it showed, its own first.
    pub certificates: Certificates,
    /// The same, read by whoever needed it first.
    pub certificates_read: OnceLock<Option<Value>>,
    /// Whether it is served health and metrics only.
    pub is_diagnostic: bool,
    /// The address of the server that it has connected to.
    pub local: Option<IpAddr>,
    /// The hosts that its requests may name; `None` allows all.
    pub hosts: Option<Arc<AllowedHosts>>,
}

/// It takes longer than a reactor may wait: it is asked again in the pool, where what is known of how long it takes says
/// when.
pub struct Longer(pub Option<Arc<Pace>>);

/// Why a request is refused before an app sees it, or after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its body is larger than one may be; how long it said it was.
    TooLarge(Option<u64>),
    /// Its body is larger than one may be, unpacked.
    UnpackedTooLarge,
    /// Its body is larger than so many bytes, which are read for the authorization policy.
    TooLargeToAuthorize(usize),
    /// Its body is no gzip; in the words of Go's reader.
    NotPacked(String),
    /// Its body did not come in time.
    Slow,
    /// Its body is not what HTTP demands.
    Broken,
    /// It names no host, several, or what cannot be one.
    Host(&'static str),
    /// It names a host that is not allowed; empty if it names none.
    ForeignHost(String),
    /// It comes from a web page of an origin that is not allowed.
    ForeignOrigin(String),
    /// It expects what nobody does.
    Expectation,
    /// Its body comes in another way than in chunks. Whoever stands in front may see its end elsewhere.
    TransferEncoding,
    /// Too much is being done already.
    Busy,
    /// Its time was over before it was begun.
    Late,
    /// The app panicked.
    Panicked,
}

/// What answers requests.
pub trait App: Send + Sync + 'static {
    /// What is decided by the head of a request.
    type Plan: Copy + Send + 'static;

    /// Decides by the head alone.
    fn plan(&self, message: &mut Message) -> Self::Plan;

    /// Decides about a request that has a body, before any of it is read.
    ///
    /// # Errors
    /// The decision takes longer than a reactor may wait; only there. It is then made in the pool.
    fn admit(
        &self,
        plan: &Self::Plan,
        message: &mut Message,
        place: Place<'_>,
    ) -> Result<Admission, Longer>;

    /// Whether the body is of use.
    fn reads_body(&self, plan: &Self::Plan) -> bool;

    /// Whether policies or documents change.
    fn writes(&self, plan: &Self::Plan) -> bool;

    /// Answers a request.
    ///
    /// # Errors
    /// It takes longer than a reactor may wait; only there. The same request is then asked again in the pool.
    fn answer(
        &self,
        plan: &Self::Plan,
        message: &mut Message,
        place: Place<'_>,
    ) -> Result<Response, Longer>;

    /// Answers a request that is refused.
    fn refuse(&self, refusal: &Refusal) -> Response;

    /// Takes note of a request whose client has gone before there was an answer.
    fn abandoned(&self, _: &Head) {}

    /// Takes note of an answered request, and how long that took.
    fn answered(&self, head: &Head, response: &Response, took: Duration);
}

/// Bytes that a byte of a large body is thought to take once it is read, beside itself.
const READ: usize = 4;

/// What all connections share.
pub struct Service<A> {
    pub app: Arc<A>,
    pub pool: Pool,
    pub budget: Budget,
    pub bounds: Arc<Bounds>,
    pub live: Live,
    ids: AtomicU64,
    writer: Writer,
}

pub(super) type Answer = hyper::Response<Full<Bytes>>;

/// What the requests of a connection share.
pub struct Connection<A> {
    pub service: Arc<Service<A>>,
    pub peer: Arc<Peer>,
    pub state: Arc<ConnectionState>,
}

impl<A: App> Connection<A> {
    /// Answers a request.
    ///
    /// What needs no waiting is done here: hyper keeps room for what is returned as long as a connection rests.
    pub fn respond(
        self: Arc<Self>,
        incoming: hyper::Request<Incoming>,
    ) -> impl Future<Output = Result<Answer, std::convert::Infallible>> + Send + use<A> {
        let open = self.state.start_request();
        let (parts, body) = incoming.into_parts();
        let service = &*self.service;
        let id = service.ids.fetch_add(1, Ordering::Relaxed) + 1;
        let within = service.bounds.request;
        let head = Arc::new(Head::new(parts, id, self.peer.clone(), within));
        async move {
            let service = &self.service;
            let mut present = Present {
                service: &**service,
                head: &head,
                is_answered: false,
            };
            let response = match &head.refusal {
                None => service.answer(&head, body).await,
                // nobody knows where the next request begins
                Some(refusal @ Refusal::TransferEncoding) => service.app.refuse(refusal).closing(),
                Some(refusal) => service.app.refuse(refusal),
            };
            present.is_answered = true;
            let took = head.received.elapsed();
            let answer = service.sent(&head, response, took);
            drop(open);
            Ok(answer)
        }
    }
}

impl<A: App> Service<A> {
    pub fn new(app: Arc<A>, pool: Pool, budget: Budget, bounds: Arc<Bounds>, live: Live) -> Self {
        let writer = Writer::new(bounds.waiting);
        Self {
            app,
            pool,
            budget,
            bounds,
            live,
            ids: AtomicU64::new(0),
            writer,
        }
    }

    /// An answer on its way out.
    fn sent(&self, head: &Head, response: Response, took: Duration) -> Answer {
        self.app.answered(head, &response, took);
        let mut response = Self::send(head, response);
        if head.declared.is_named
            && let Some(name) = head.headers.get(&REQUEST_ID)
        {
            response.headers_mut().insert(&REQUEST_ID, name.clone());
        }
        response
    }

    async fn answer(self: &Arc<Self>, head: &Arc<Head>, body: Incoming) -> Response {
        let mut message = Message::new(head.clone(), self.budget.none());
        let plan = self.app.plan(&mut message);
        let live = self.live.load();
        let mut limits = BodyLimits::new(live.body, live.unpacked);
        drop(live);
        if !body.is_end_stream() {
            match Box::pin(self.admit(plan, message)).await {
                Ok(admitted) => (message, limits) = admitted,
                Err(response) => return response,
            }
            if let Err(error) = check_length(&body, limits.sent) {
                return self.refuse_body(error, limits);
            }
        }
        if self.app.reads_body(&plan) {
            let (limit, within) = (limits.sent, self.bounds.more_within);
            match read_body(body, limit, within, &mut message.held).await {
                Ok(body) => message.body = body,
                Err(error) => return self.refuse_body(error, limits),
            }
        }
        let has_body = !message.body.is_empty();
        // an empty body that is said to be packed is no gzip either
        let is_packed = self.app.reads_body(&plan) && head.declared.is_packed;
        let packed = is_packed.then_some(limits);
        let is_heavy = message.body.len() > SMALL || is_packed || has_body && head.declared.is_yaml;
        let mut pace = None;
        if !is_heavy {
            match ask(&*self.app, &plan, &mut message, Place::Reactor) {
                Ok(response) => {
                    let is_large = response.body.len() > SMALL;
                    if is_large && self.is_to_pack(head, &response) {
                        return Box::pin(self.packed_elsewhere(response)).await;
                    }
                    return self.finished(head, response);
                }
                Err(Longer(known)) => pace = known,
            }
        }
        Box::pin(self.answer_elsewhere(plan, message, pace, packed)).await
    }

    /// An answer by a thread that may take its time.
    async fn answer_elsewhere(
        self: &Arc<Self>,
        plan: A::Plan,
        mut message: Message,
        pace: Option<Arc<Pace>>,
        packed: Option<BodyLimits>,
    ) -> Response {
        // from here on it is told when nobody waits any more
        message.cancel();
        let service = self.clone();
        if self.app.writes(&plan) {
            let write = move || service.answer_at(&plan, &mut message, Place::Apart, packed);
            return self.or_refused(self.writer.run(write).await);
        }
        let answered = self.pool.run(pace, move |turn| {
            service.answer_at(&plan, &mut message, Place::Pool(turn), packed)
        });
        self.or_refused(answered.await)
    }

    /// An answer, packed by a thread that may take its time.
    async fn packed_elsewhere(self: &Arc<Self>, response: Response) -> Response {
        let service = self.clone();
        let packed = self
            .pool
            .run(None, move |_| service.counted(service.pack(response)));
        self.or_refused(packed.await)
    }

    fn answer_at(
        &self,
        plan: &A::Plan,
        message: &mut Message,
        place: Place<'_>,
        packed: Option<BodyLimits>,
    ) -> Response {
        if message.time_left().is_some_and(|left| left.is_zero()) {
            return self.app.refuse(&Refusal::Late);
        }
        if message.cancel().is_cancelled() {
            return self.app.refuse(&Refusal::Broken);
        }
        if let Some(limits) = packed
            && let Err(refusal) = Self::unpack(message, limits)
        {
            let refused = self.app.refuse(&refusal);
            return refused.varying();
        }
        // a body takes more once it is read; as long as it is, others have less
        let length = message.body.len();
        let read = if length > SMALL {
            length.saturating_mul(READ)
        } else {
            0
        };
        if message.held.add(read).is_err() {
            return self.app.refuse(&Refusal::Busy);
        }
        let answer = ask(&*self.app, plan, message, place);
        message.held.give_back(read);
        match answer {
            Ok(response) => self.finished(&message.head, response),
            // nobody who answers for good says so
            Err(Longer(_)) => self.app.refuse(&Refusal::Panicked),
        }
    }

    /// Replaces a packed body by what is in it.
    fn unpack(message: &mut Message, limits: BodyLimits) -> Result<(), Refusal> {
        match gunzip(&message.body, limits.decompressed, &mut message.held) {
            Ok(body) => {
                message.body = body;
                Ok(())
            }
            Err(GzipError::Malformed(words)) => Err(Refusal::NotPacked(words)),
            Err(GzipError::TooLarge) => Err(limits.decompressed_too_large()),
            Err(GzipError::Full) => Err(Refusal::Busy),
        }
    }

    /// An answer, packed for a client that takes it so, and counted.
    fn finished(&self, head: &Head, response: Response) -> Response {
        if self.is_to_pack(head, &response) {
            return self.counted(self.pack(response));
        }
        self.counted(response)
    }

    fn is_to_pack(&self, head: &Head, response: &Response) -> bool {
        response.body.len() > self.live.load().packing.longer_than
            && !response.has(&CONTENT_ENCODING)
            && accepts_gzip(head.header(ACCEPT_ENCODING))
    }

    fn pack(&self, mut response: Response) -> Response {
        if let Some(packed) = gzip(&response.body, self.live.load().packing.level) {
            response.body = packed.into();
            response = response.with_static(CONTENT_ENCODING, "gzip");
            if !response.has(&VARY) {
                response = response.varying();
            }
        }
        response
    }

    /// An answer that counts among what all connections hold until it is sent; a refusal where there is no room.
    fn counted(&self, mut response: Response) -> Response {
        if response.body.len() <= SMALL {
            return response;
        }
        let Ok(held) = self.budget.take(response.body.len()) else {
            return self.app.refuse(&Refusal::Busy);
        };
        let bytes = std::mem::take(&mut response.body);
        response.body = Bytes::from_owner(Whole { bytes, _held: held });
        response
    }

    fn or_refused(&self, done: Result<Response, NotRun>) -> Response {
        done.unwrap_or_else(|why| self.not_run(why))
    }

    /// The response to a request that no thread has answered.
    pub(super) fn not_run(&self, why: NotRun) -> Response {
        self.app.refuse(match why {
            NotRun::Full => &Refusal::Busy,
            NotRun::Lost => &Refusal::Panicked,
        })
    }

    fn refuse_body(&self, error: BodyError, limits: BodyLimits) -> Response {
        let response = self.app.refuse(&match error {
            BodyError::TooLarge(length) => limits.too_large(length),
            BodyError::Full => Refusal::Busy,
            BodyError::Slow => Refusal::Slow,
            BodyError::Broken => Refusal::Broken,
        });
        // what is left of the body is not read for the sake of the connection
        response.closing()
    }

    fn send(head: &Head, mut response: Response) -> Answer {
        if head.method == Method::HEAD {
            // HTTP/2 would send it
            if !response.has(&CONTENT_LENGTH) {
                let length = response.body.len().to_string();
                response = response.with(CONTENT_LENGTH, &length);
            }
            return answer(response, Bytes::new());
        }
        let body = std::mem::take(&mut response.body);
        answer(response, body)
    }
}

fn answer(response: Response, body: Bytes) -> Answer {
    let mut answer = hyper::Response::new(Full::new(body));
    *answer.status_mut() = response.status;
    *answer.headers_mut() = response.headers;
    answer
}

/// A large answer, which counts among what all connections hold until it is sent.
struct Whole {
    bytes: Bytes,
    _held: Held,
}

impl AsRef<[u8]> for Whole {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// What the app answers. Where it panics, that is answered too: nobody waits for nothing, and the connection goes on.
///
/// What the app shares may be seen after a panic: a change becomes visible as a whole, at its end.
fn ask<A: App>(
    app: &A,
    plan: &A::Plan,
    message: &mut Message,
    place: Place<'_>,
) -> Result<Response, Longer> {
    let answer = catch_unwind(AssertUnwindSafe(|| app.answer(plan, message, place)));
    answer.unwrap_or_else(|_| Ok(app.refuse(&Refusal::Panicked)))
}

/// Lives as long as somebody waits for the answer.
struct Present<'a, A: App> {
    service: &'a Service<A>,
    head: &'a Head,
    is_answered: bool,
}

impl<A: App> Drop for Present<'_, A> {
    fn drop(&mut self) {
        self.head.forsake();
        if !self.is_answered {
            self.service.app.abandoned(self.head);
        }
    }
}
