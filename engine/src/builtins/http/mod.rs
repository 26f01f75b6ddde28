//! `http.send`: requests of policies, and caching of their responses.
//!
//! `request` parses the operand, `exchange` executes the request (redirections, retries, timeouts), `response` converts
//! the response to a value. Within one evaluation equal requests share one response. `cache` retains responses across
//! evaluations, for requests that enable it and as long as `freshness` allows.

mod cache;
mod caching;
mod exchange;
mod failure;
mod fields;
mod freshness;
mod metrics;
mod request;
mod response;
mod tls;
mod url;

use std::time::Instant;

use hashbrown::HashMap;

pub use cache::ResponseCache;
pub use metrics::SendMetrics;
pub(super) use request::{check_name, is_field};

use self::caching::Caching;
use self::failure::RequestFailure;
use self::response::Decoding;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::host::HttpResponse;
use crate::value::{ObjectView, RefRepr, ValueRef};

/// The built-in `http.send`, which waits for external I/O.
pub const TABLE: &[Builtin] = &[Builtin::new(
    "http.send",
    "request: object[string: any] => response: object[any: any]",
    "The response to an HTTP request.",
    send,
)
.waiting()
.nondeterministic()];

/// Results of this evaluation's requests, by request.
pub type Sent<'e> =
    HashMap<ValueRef<'e>, Result<ValueRef<'e>, RequestFailure>, foldhash::fast::RandomState>;

/// Implements `http.send(request)`. The result has the fields `status`, `status_code`, `body`, `raw_body` and
/// `headers`. Without a response the call fails, unless the request has `"raise_error": false`: then the result
/// contains the error.
fn send<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let options = operands.object(0)?;
    let raises = match options.get_str("raise_error") {
        None => true,
        Some(ValueRef(RefRepr::Bool(raises))) => raises,
        Some(_) => return Err(BuiltinError::error("invalid value for raise_error field")),
    };
    let start = Instant::now();
    let outcome = outcome(call, options);
    if let Some(metrics) = call.hooks.send_metrics {
        metrics.record_call(start);
    }
    match outcome {
        Ok(response) => Ok(response),
        Err(failure) if raises || matches!(failure, RequestFailure::End(..)) => {
            Err(failure.to_error())
        }
        Err(failure) => Ok(failure.to_result(call)),
    }
}

fn outcome<'e>(
    call: &mut BuiltinContext<'e>,
    object: ObjectView<'e>,
) -> Result<ValueRef<'e>, RequestFailure> {
    request::check_fields(object)?;
    let key = caching::key(call, object)?;
    let caching = Caching::read(object)?;
    if let Some(earlier) = call.caches().sent.get(&key) {
        return earlier.clone();
    }
    if let (Some(caching), Some(responses)) = (&caching, call.responses)
        && let Some(fresh) = caching.lookup(call, responses, key)?
    {
        call.caches().sent.insert(key, Ok(fresh));
        return Ok(fresh);
    }
    let outcome = request::HttpSendRequest::read(call, object)
        .and_then(|request| exchange::carry_out(call, &request, object));
    let response = match outcome {
        Ok(response) => response,
        Err(failure) => {
            call.caches().sent.insert(key, Err(failure.clone()));
            return Err(failure);
        }
    };
    let value = Decoding::read(object)?.value(call, &response)?;
    let is_cached = caching.is_some() && call.responses.is_some();
    if is_cached || is_cacheable(&response) {
        call.caches().sent.insert(key, Ok(value));
    }
    if let (Some(caching), Some(responses)) = (&caching, call.responses) {
        caching.keep(call.now_ns(), responses, key, response);
    }
    Ok(value)
}

/// Returns `true` if responses with this status may be cached.
fn is_cacheable(response: &HttpResponse) -> bool {
    const CACHEABLE_STATUS: [u16; 11] = [200, 203, 204, 206, 300, 301, 404, 405, 410, 414, 501];
    CACHEABLE_STATUS.contains(&response.status)
}
