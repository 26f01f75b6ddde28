//! HTML pages: `GET /`, and `/ui` if it is enabled. No page loads resources of other hosts or contains data. The page at `/ui`
//! requests its data through the public API.

use http::uri::Authority;

use super::ApiError;
use super::call::Call;
use super::provenance::VERSION;
use super::state::State;
use crate::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use crate::http::{RequestExt as _, Response, ResponseExt as _, Status, response};

/// Content security policy: a page may load its own script and style, and send requests to its own origin.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Files below `/ui`, with their media types.
const FILES: [(&str, &str, &str); 3] = [
    (
        "",
        "text/html; charset=utf-8",
        include_str!("pages/ui.html"),
    ),
    (
        "ui.css",
        "text/css; charset=utf-8",
        include_str!("pages/ui.css"),
    ),
    (
        "ui.js",
        "text/javascript; charset=utf-8",
        include_str!("pages/ui.js"),
    ),
];

/// `GET /`: the name of the server, and links.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn index(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let ui = if state.options.ui {
        "<li><a href=\"/ui\">/ui</a>: look at policies and documents, and ask for decisions</li>\n"
    } else {
        ""
    };
    let page = include_str!("pages/index.html");
    let page = page.replace("{version}", VERSION).replace("{ui}", ui);
    let page = page.replace("{origin}", &origin(request));
    Ok(page_response("text/html; charset=utf-8", page))
}

/// Returns scheme, host and port as the client has named them. A host with other characters is not shown.
fn origin(request: &Call<'_>) -> String {
    let scheme = if request.info().peer.is_secure {
        "https"
    } else {
        "http"
    };
    let authority = request.info().target.authority().map(Authority::as_str);
    let host = authority.unwrap_or_else(|| request.header(HOST));
    let is_shown = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:[]".contains(&byte);
    if host.is_empty() || !host.bytes().all(is_shown) {
        return format!("{scheme}://localhost:8181");
    }
    format!("{scheme}://{host}")
}

/// `GET /ui` and the files that its page loads.
pub fn ui(_: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let name = request.rest_of_path().unwrap_or_default();
    let file = FILES.iter().find(|(file_name, ..)| *file_name == name);
    match file {
        Some((_, kind, text)) => Ok(page_response(kind, *text)),
        None => {
            let path = request.path();
            Err(ApiError::not_found(format!("there is nothing at {path}")))
        }
    }
}

fn page_response(kind: &'static str, text: impl Into<bytes::Bytes>) -> Response {
    response::text(Status::OK, kind, text)
        .with_static(CONTENT_SECURITY_POLICY, POLICY)
        .with_static(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with_static(REFERRER_POLICY, "no-referrer")
        // after an update of the server, browsers must load the new page
        .with_static(CACHE_CONTROL, "no-cache")
}
