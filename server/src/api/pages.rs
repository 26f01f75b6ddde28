//! Pages for people: `GET /`, and `/ui` where that is on. Nothing is loaded from elsewhere, and no page holds anything that is
//! not in this program: what the one at `/ui` shows, it asks for like any other client.

use super::ApiError;
use super::call::Call;
use super::provenance::VERSION;
use super::state::State;
use crate::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use crate::http::{RequestExt as _, Response, ResponseExt as _, Status, response};

/// What a page may load and do: its own script and style, and to ask the server that it came from.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What is below `/ui`, with its media type.
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

/// `GET /`: who answers here, and where to go on.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn index(state: &State, _: &Call<'_>) -> Result<Response, ApiError> {
    let ui = if state.options.ui {
        "<li><a href=\"/ui\">/ui</a>: look at policies and documents, and ask for decisions</li>\n"
    } else {
        ""
    };
    let page = include_str!("pages/index.html");
    let page = page.replace("{version}", VERSION).replace("{ui}", ui);
    Ok(guarded("text/html; charset=utf-8", page))
}

/// `GET /ui` and what its page loads.
pub fn ui(_: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let name = request.below().unwrap_or_default();
    let file = FILES.iter().find(|(known, ..)| *known == name);
    match file {
        Some((_, kind, text)) => Ok(guarded(kind, *text)),
        None => {
            let path = request.path();
            Err(ApiError::not_found(format!("there is nothing at {path}")))
        }
    }
}

fn guarded(kind: &'static str, text: impl Into<bytes::Bytes>) -> Response {
    response::text(Status::OK, kind, text)
        .with_static(CONTENT_SECURITY_POLICY, POLICY)
        .with_static(X_CONTENT_TYPE_OPTIONS, "nosniff")
        .with_static(REFERRER_POLICY, "no-referrer")
        // who updates the server does not want the old page
        .with_static(CACHE_CONTROL, "no-cache")
}
