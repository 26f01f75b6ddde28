//! Requests as handlers receive them.

use std::ops::Deref;

use crate::execution::ExecContext;
use crate::http::{BufferedRequest, RequestExt as _};
use crate::telemetry::RequestSpan;

/// A request whose body was read, and the kind of thread that its handler runs on.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    request: &'a BufferedRequest,
    /// Kind of thread that the handler runs on.
    pub context: ExecContext<'a>,
}

impl<'a> Call<'a> {
    /// Creates the call of a handler.
    pub fn new(request: &'a BufferedRequest, context: ExecContext<'a>) -> Self {
        Self { request, context }
    }

    /// Performs a host call of an evaluation. Requests that it sends are part of the trace of this one.
    pub fn host_call(&self, call: &mut dyn FnMut()) {
        let _attached = self.request.span().map(RequestSpan::attach);
        self.context.host_call(call);
    }

    /// Returns the request, which outlives the call. No copy is made.
    pub fn request(&self) -> &'a BufferedRequest {
        self.request
    }
}

impl Deref for Call<'_> {
    type Target = BufferedRequest;

    fn deref(&self) -> &BufferedRequest {
        self.request
    }
}
