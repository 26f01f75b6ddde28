//! `GET /v1/config`: the active configuration, without secrets.

use solon::json;

use super::ApiError;
use super::call::Call;
use super::data::style;
use super::state::State;
use crate::http::{RequestExt as _, Response, Status, response};
use crate::json::JsonFields;

/// `GET /v1/config`, without secrets.
#[expect(clippy::unnecessary_wraps, reason = "every handler answers a result")]
pub fn get(state: &State, request: &Call<'_>) -> Result<Response, ApiError> {
    let pretty = request.pretty();
    let live = state.live.load();
    let mut text = Vec::new();
    // a configuration is far shorter than this limit
    let result = json::write_within(
        live.config.borrow(),
        style(pretty, "  "),
        usize::MAX,
        &mut text,
    );
    let mut fields = JsonFields::new(pretty);
    if result.is_ok() {
        fields.text("result", &text);
    }
    Ok(response::json(Status::OK, fields.finish()))
}
