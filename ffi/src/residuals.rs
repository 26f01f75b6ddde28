//! Residuals of queries.

use solon_syntax::json;

use crate::argument;
use crate::bytes::Text;
use crate::guard::guard_or;

/// Residuals of a query: bodies, at least one of which must be true, and the modules that they refer to. Several threads may read
/// it at once.
pub struct Residuals {
    queries: Vec<String>,
    support: Vec<String>,
    json: String,
}

impl Residuals {
    pub(crate) fn from_engine(residuals: &::engine::Residuals) -> Self {
        Self {
            queries: residuals.query_texts(),
            support: residuals.support_texts(),
            json: residuals.json("support", json::Options::default(), ""),
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
    guard_or(Text::of_str(otherwise), || {
        // SAFETY: by this function's contract
        let residuals = unsafe { residuals.as_ref() };
        let text = residuals.and_then(|residuals| list(residuals).get(index));
        text.map_or(Text::of_str(otherwise), |text| Text::of_str(text))
    })
}

/// Returns the number of bodies; if it is 0, the query cannot be true. 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_query_count(residuals: *const Residuals) -> usize {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        unsafe { residuals.as_ref() }.map_or(0, |residuals| residuals.queries.len())
    })
}

/// Returns the text of a body, by its position from 0. An empty body is always true. For NULL and for a position without a body
/// it is `false`, which is never true. It lives as long as the residuals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_query(residuals: *const Residuals, index: usize) -> Text {
    // SAFETY: the caller upholds the contract of the header
    unsafe { text(residuals, index, "false", |residuals| &residuals.queries) }
}

/// Returns the number of modules; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_support_count(residuals: *const Residuals) -> usize {
    guard_or(0, || {
        // SAFETY: the caller upholds the contract of the header
        unsafe { residuals.as_ref() }.map_or(0, |residuals| residuals.support.len())
    })
}

/// Returns the text of a module, by its position from 0. It lives as long as the residuals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_support(
    residuals: *const Residuals,
    index: usize,
) -> Text {
    // SAFETY: the caller upholds the contract of the header
    unsafe { text(residuals, index, "", |residuals| &residuals.support) }
}

/// Returns bodies and modules as syntax trees: `{"queries": […], "support": […]}`, in the format of OPA's compile API; empty for
/// NULL. It lives as long as the residuals.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_json(residuals: *const Residuals) -> Text {
    guard_or(Text::of_str(""), || {
        // SAFETY: the caller upholds the contract of the header
        let residuals = unsafe { residuals.as_ref() };
        residuals.map_or(Text::of_str(""), |residuals| Text::of_str(&residuals.json))
    })
}

/// Frees residuals; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_residuals_free(residuals: *mut Residuals) {
    // SAFETY: they were created from a `Box`, and the caller frees them once
    unsafe { argument::free(residuals) };
}
