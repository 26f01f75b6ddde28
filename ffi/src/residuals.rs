//! What queries still depend on.

use solon_syntax::json;

use crate::argument;
use crate::bytes::Text;
use crate::guard::guard_or;

/// What a query still depends on: bodies, one of which must hold, and the modules that they refer to. Several threads may
/// read it at once.
pub struct Residuals {
    queries: Vec<String>,
    support: Vec<String>,
    json: String,
}

impl Residuals {
    pub(crate) fn of(left: &::engine::Residuals) -> Self {
        Self {
            queries: left.query_texts(),
            support: left.support_texts(),
            json: left.json("support", json::Options::default(), ""),
        }
    }
}

/// # Safety
/// `residuals` is NULL or live.
unsafe fn text(
    residuals: *const Residuals,
    index: usize,
    otherwise: &'static str,
    list: impl FnOnce(&Residuals) -> &Vec<String>,
) -> Text {
    guard_or(Text::of(otherwise), || {
        // SAFETY: by this function's contract
        let residuals = unsafe { residuals.as_ref() };
        let text = residuals.and_then(|residuals| list(residuals).get(index));
        text.map_or(Text::of(otherwise), |text| Text::of(text))
    })
}

/// How many bodies there are: without one the query cannot hold. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_query_count(residuals: *const Residuals) -> usize {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        unsafe { residuals.as_ref() }.map_or(0, |residuals| residuals.queries.len())
    })
}

/// The text of a body, by its position from 0; an empty body is always true. For NULL and for a position without a body it is
/// `false`, which never is. It lives as long as the residuals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_query(residuals: *const Residuals, index: usize) -> Text {
    // SAFETY: the caller keeps the rules of the header
    unsafe { text(residuals, index, "false", |residuals| &residuals.queries) }
}

/// How many modules there are; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_support_count(residuals: *const Residuals) -> usize {
    guard_or(0, || {
        // SAFETY: the caller keeps the rules of the header
        unsafe { residuals.as_ref() }.map_or(0, |residuals| residuals.support.len())
    })
}

/// The text of a module, by its position from 0. It lives as long as the residuals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_support(
    residuals: *const Residuals,
    index: usize,
) -> Text {
    // SAFETY: the caller keeps the rules of the header
    unsafe { text(residuals, index, "", |residuals| &residuals.support) }
}

/// Bodies and modules as syntax trees: `{"queries": […], "support": […]}`, as OPA's compile API gives them; empty for
/// NULL. It lives as long as the residuals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_json(residuals: *const Residuals) -> Text {
    guard_or(Text::of(""), || {
        // SAFETY: the caller keeps the rules of the header
        let residuals = unsafe { residuals.as_ref() };
        residuals.map_or(Text::of(""), |residuals| Text::of(&residuals.json))
    })
}

/// Frees residuals; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_free(residuals: *mut Residuals) {
    // SAFETY: they were made of a box, and the caller frees them once
    unsafe { argument::free(residuals) };
}
