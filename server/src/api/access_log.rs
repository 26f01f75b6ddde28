//! Access log: one line for each request that was read, and one for each response.

use std::time::Duration;

use tracing::Level;

use crate::http::{BufferedRequest, RequestExt as _, RequestInfo, Response};

/// Writes a log line at a level that is known only at run time.
macro_rules! line {
    ($level:expr, $($fields:tt)*) => {
        match $level {
            Level::ERROR => tracing::error!($($fields)*),
            Level::WARN => tracing::warn!($($fields)*),
            Level::DEBUG => tracing::debug!($($fields)*),
            _ => tracing::info!($($fields)*),
        }
    };
}

/// Returns `true` if log lines contain bodies.
fn with_bodies() -> bool {
    tracing::enabled!(Level::DEBUG)
}

/// Logs a request that was read, with its body if bodies are logged.
pub fn received(level: Level, request: &BufferedRequest) {
    if level > tracing::level_filters::LevelFilter::current() {
        return;
    }
    let with_bodies = with_bodies();
    let info = request.info();
    line!(
        level,
        client_addr = &*info.peer.address,
        req_id = info.id,
        request_id = info.given_name(),
        req_method = info.method.as_str(),
        req_path = info.path(),
        req_params = with_bodies.then(|| info.target.query().unwrap_or("")),
        req_body = with_bodies
            .then(|| String::from_utf8_lossy(request.body()))
            .as_deref(),
        "Received request."
    );
}

pub fn log_response(level: Level, request: &RequestInfo, response: &Response, took: Duration) {
    if level > tracing::level_filters::LevelFilter::current() {
        return;
    }
    let text = with_bodies().then(|| String::from_utf8_lossy(response.body()));
    line!(
        level,
        client_addr = &*request.peer.address,
        req_id = request.id,
        request_id = request.given_name(),
        req_method = request.method.as_str(),
        req_path = request.path(),
        resp_bytes = response.body().len(),
        resp_duration = took.as_secs_f64() * 1e3,
        resp_status = response.status().as_u16(),
        resp_body = text.as_deref(),
        "Sent response."
    );
}
