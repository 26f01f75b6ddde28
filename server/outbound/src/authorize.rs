//! Credentials of requests.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

use bytes::Bytes;
use http::Request;

use crate::error::Error;

/// A future of a trait's method.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Adds credentials to requests of one service.
pub trait Authorize: Debug + Send + Sync {
    /// Adds the credentials to a request whose URL is absolute and whose other headers and body are final. It may read files and request
    /// tokens, and it may be called for several requests at the same time.
    ///
    /// # Errors
    /// The credentials are missing or cannot be obtained. The request is not sent.
    fn authorize<'a>(&'a self, request: &'a mut Request<Bytes>)
    -> BoxFuture<'a, Result<(), Error>>;

    /// Forgets cached credentials after the service responded with 401. Returns `true` if new ones may differ, so that the request is worth
    /// sending again.
    fn forget(&self) -> bool {
        false
    }
}
