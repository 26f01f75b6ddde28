//! Preconditions of requests: `If-Match` and `If-None-Match`.

use http::header::{HeaderName, IF_MATCH, IF_NONE_MATCH};

use super::request::ApiRequest;
use crate::error::{ApiError, ApiErrorKind};

/// Rejects a write whose preconditions do not match the current state. A `tag` of `None` means that the item does not
/// exist.
pub fn check(request: &ApiRequest, tag: Option<&str>) -> Result<(), ApiError> {
    let failed = |message: &str| Err(ApiError::new(ApiErrorKind::Precondition, message));
    if let Some(expected_tags) = header_value(request, &IF_MATCH) {
        match tag {
            None => return failed("`If-Match` asks for what is not there"),
            Some(tag) if !matches(&expected_tags, tag, false) => {
                return failed("it was changed since: `If-Match` names another state");
            }
            Some(_) => {}
        }
    }
    if let Some(unwanted) = header_value(request, &IF_NONE_MATCH)
        && let Some(tag) = tag
        && matches(&unwanted, tag, true)
    {
        return failed("`If-None-Match` asks for what is there not to be there");
    }
    Ok(())
}

/// Returns `true` if the client of a read already has the current state.
pub fn is_not_modified(request: &ApiRequest, tag: Option<&str>) -> bool {
    match (header_value(request, &IF_NONE_MATCH), tag) {
        (Some(known_tags), Some(tag)) => matches(&known_tags, tag, true),
        _ => false,
    }
}

/// Returns `true` if the request has preconditions: `If-Match` or `If-None-Match`.
pub fn are_present(request: &ApiRequest) -> bool {
    request.headers.contains_key(IF_MATCH) || request.headers.contains_key(IF_NONE_MATCH)
}

/// Returns the tags that a header lists on all of its lines, or `None` if the header is missing. A line that is not text
/// becomes a tag that matches no state, so that the request is not treated as one without a precondition.
fn header_value(request: &ApiRequest, name: &HeaderName) -> Option<String> {
    let lines = request.headers.get_all(name).iter();
    let lines = lines.map(|line| String::from_utf8_lossy(line.as_bytes()));
    let lines: Vec<_> = lines.collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

/// Returns `true` if a list of tags contains `tag` or is `*`. Weak tags match only if `weak` is set, which is for reads.
fn matches(list: &str, tag: &str, weak: bool) -> bool {
    list.split(',').map(str::trim).any(|item| {
        let item = match item.strip_prefix("W/") {
            Some(item) if weak => item,
            _ => item,
        };
        let tag_text = item
            .strip_prefix('"')
            .and_then(|item| item.strip_suffix('"'));
        item == "*" || tag_text == Some(tag)
    })
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn tags_in_lists() {
        assert!(matches("*", "a", false));
        assert!(matches("\"b\", \"a\"", "a", false));
        assert!(!matches("a", "a", false));
        assert!(!matches("W/\"a\"", "a", false));
        assert!(matches("W/\"a\"", "a", true));
    }
}
