//! Requests as handlers receive them.

use std::ops::Deref;

use crate::execution::{Place, RequestExt as _};
use crate::http::Request;
use crate::telemetry::RequestSpan;

/// A request whose body was read, and the kind of thread that its handler runs on.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    request: &'a Request,
    /// Kind of thread that the handler runs on.
    pub place: Place<'a>,
}

impl<'a> Call<'a> {
    /// Creates the call of a handler.
    pub fn new(request: &'a Request, place: Place<'a>) -> Self {
        Self { request, place }
    }

    /// Performs a host call of an evaluation. Requests that it sends are part of the trace of this one.
    pub fn host_call(&self, call: &mut dyn FnMut()) {
        let _attached = self.request.span().map(RequestSpan::attach);
        self.place.host_call(call);
    }

    /// Returns the request, which outlives the call.
    pub fn request(&self) -> &'a Request {
        self.request
    }
}

impl Deref for Call<'_> {
    type Target = Request;

    fn deref(&self) -> &Request {
        self.request
    }
}
