//! Requests as handlers receive them.

use std::ops::Deref;

use crate::execution::Place;
use crate::http::Request;

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
