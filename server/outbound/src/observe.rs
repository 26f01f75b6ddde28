//! Observers of exchanges, such as tracing.

use std::fmt::Debug;

use http::{HeaderMap, Uri};

/// Observes the requests of clients. A redirect is another request.
pub trait ObserveExchanges: Send + Sync + Debug {
    /// Begins a request, and may add headers. Returns `None` if it is not observed.
    fn begin(
        &self,
        method: &str,
        url: &Uri,
        headers: &mut HeaderMap,
    ) -> Option<Box<dyn ObservedExchange>>;
}

/// A request that is being sent. It is dropped if the caller no longer waits for the response.
pub trait ObservedExchange: Send {
    /// Ends the observation, with the status of the response or with the error.
    fn end(self: Box<Self>, result: Result<u16, &str>);
}
