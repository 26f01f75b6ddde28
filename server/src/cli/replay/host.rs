//! The host of a replay: time is that of the logged decision, and the network is unavailable.

use std::cell::Cell;
use std::net::IpAddr;

use solon::Host;
use solon::host::{
    HostError, HttpError, HttpErrorKind, HttpRequest, HttpResponse, LookupError, OfflineHost, Wait,
};

thread_local! {
    static NOW_NS: Cell<i64> = const { Cell::new(0) };
    static IS_CALLED: Cell<bool> = const { Cell::new(false) };
}

/// Provides the time of the decision that the current thread replays. Calls whose results are not in the event fail and are recorded.
pub struct LoggedHost;

impl LoggedHost {
    /// Begins the replay of a decision on the current thread.
    pub fn begin(now_ns: i64) {
        NOW_NS.set(now_ns);
        IS_CALLED.set(false);
    }

    /// Returns `true` if the decision needed a call that is not in its event.
    pub fn is_called() -> bool {
        IS_CALLED.get()
    }
}

impl Host for LoggedHost {
    fn now_ns(&self) -> i64 {
        NOW_NS.get()
    }

    fn fill_random(&self, buffer: &mut [u8]) -> Result<(), HostError> {
        IS_CALLED.set(true);
        OfflineHost.fill_random(buffer)
    }

    fn addresses(&self, _: &str, _: &Wait<'_>) -> Result<Vec<IpAddr>, LookupError> {
        IS_CALLED.set(true);
        Err(LookupError::NoNetwork)
    }

    fn send(&self, _: &HttpRequest, _: &Wait<'_>) -> Result<HttpResponse, HttpError> {
        IS_CALLED.set(true);
        let message = "a replay sends no requests";
        Err(HttpError::new(HttpErrorKind::NoNetwork, message))
    }
}
