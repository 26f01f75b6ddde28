//! Authorization of requests by the authorization policy, before any other processing.

use std::collections::BTreeMap;
use std::sync::Arc;

use solon::store::Path;
use solon::{PinnedDocument, Value, ValueRef};

use super::call::Call;
use super::documents::{EvaluationFailure, ServedDocument};
use super::identity;
use super::plan::Plan;
use super::state::State;
use super::{ApiError, body};
use crate::http::header::HeaderValue;
use crate::http::{RequestExt as _, unescape};

/// Verdict of the authorization policy. All but `Allowed` reject the request.
enum PolicyVerdict {
    Allowed,
    Refused(Option<String>),
    /// The result does not define `allowed`.
    Undefined,
}

/// Decision about a request by its head.
pub enum HeadVerdict {
    /// The client may send the request with any body.
    Allowed,
    /// The policy depends on the body.
    NeedsBody,
}

/// Returns `true` if the policy receives the bodies of such requests. It receives those of evaluations, but not those of writes.
pub fn sees_body(plan: Plan) -> bool {
    matches!(plan, Plan::Answered(action) if action.method == "POST")
}

/// Reads the body for the policy. 400 unless the whole body is one document.
pub fn read(request: &Call<'_>) -> Result<Option<Value>, ApiError> {
    body::read_all(request).map_err(ApiError::invalid)
}

/// Evaluates the authorization policy.
///
/// # Errors
/// Fails if the policy does not allow the request; [`ApiError::Elsewhere`] if the evaluation has to run in the pool.
pub fn check(state: &State, request: &Call<'_>) -> Result<(), ApiError> {
    let document = document(state, request)?;
    let now = document.prepared().pin();
    decide(state, request, &document, &now)
}

/// Evaluates the policy for a request whose body has not been read. `has_body` is `true` if the policy would receive that body.
///
/// # Errors
/// Fails as [`check`] does.
pub fn check_head(
    state: &State,
    request: &Call<'_>,
    has_body: bool,
) -> Result<HeadVerdict, ApiError> {
    let document = document(state, request)?;
    // one snapshot both determines if the body is needed and decides
    let now = document.prepared().pin();
    if has_body {
        // finding out visits every module, once per policy version
        document.is_quick_at(request, &now)?;
        if now.may_read_input("body") {
            return Ok(HeadVerdict::NeedsBody);
        }
    }
    decide(state, request, &document, &now).map(|()| HeadVerdict::Allowed)
}

/// Returns the document that decides, prepared.
///
/// # Errors
/// The path of the document is not valid.
fn document(state: &State, request: &Call<'_>) -> Result<Arc<ServedDocument>, ApiError> {
    let live = state.live.load();
    let path = || Ok(Path::from_slashes(&live.default_authorization_decision));
    let (document, _) = state
        .documents
        .get(state, request, &live.authorization_key, path)?;
    Ok(document)
}

fn decide(
    state: &State,
    request: &Call<'_>,
    document: &ServedDocument,
    now: &PinnedDocument,
) -> Result<(), ApiError> {
    let input = input(state, request)?;
    let eval_request = solon::Request::new().input(&input);
    let verdict = document.evaluate(state, request, now, eval_request, verdict);
    match verdict {
        Ok(Some(PolicyVerdict::Allowed)) => Ok(()),
        Ok(Some(PolicyVerdict::Refused(reason))) => {
            Err(ApiError::unauthorized(reason.unwrap_or_else(|| {
                "request rejected by administrative policy".to_owned()
            })))
        }
        Ok(Some(PolicyVerdict::Undefined)) => {
            Err(ApiError::internal("document missing or undefined"))
        }
        Ok(None) => Err(ApiError::internal(
            "authorization policy missing or undefined",
        )),
        // an unauthorized client must not learn which queries run
        Err(EvaluationFailure::Other(error)) => Err(error.without_stacks()),
        Err(EvaluationFailure::Input(message)) => Err(ApiError::internal(message)),
    }
}

fn verdict(value: ValueRef<'_>) -> PolicyVerdict {
    match value.as_bool() {
        Some(true) => PolicyVerdict::Allowed,
        Some(false) => PolicyVerdict::Refused(None),
        None => {
            let Some(object) = value.as_object() else {
                return PolicyVerdict::Refused(None);
            };
            let Some(allowed) = object.get_str("allowed") else {
                return PolicyVerdict::Undefined;
            };
            if allowed.as_bool() == Some(true) {
                return PolicyVerdict::Allowed;
            }
            let reason = object.get_str("reason").and_then(|reason| reason.as_text());
            PolicyVerdict::Refused(reason.map(|reason| reason.to_str().into_owned()))
        }
    }
}

/// Returns the input of the policy.
///
/// # Errors
/// Fails if the identity of the client cannot be represented as a value.
fn input(state: &State, request: &Call<'_>) -> Result<Value, ApiError> {
    let mut fields: Vec<(Value, Value)> = vec![
        ("path".into(), path(request.path())),
        (
            "method".into(),
            request
                .method()
                .as_str()
                .to_ascii_uppercase()
                .as_str()
                .into(),
        ),
        ("params".into(), group_values(request.params().pairs())),
        ("headers".into(), headers(request)),
    ];
    if let Some(document) = request.parsed_body() {
        fields.push(("body".into(), document.clone()));
    }
    if let Some(identity) = identity::identity_of(state.options.authentication, request)? {
        fields.push(("identity".into(), identity));
    }
    if let Some(certificates) = identity::certificates(state.options.authentication, request) {
        fields.push(("client_certificates".into(), certificates));
    }
    Ok(Value::object(fields))
}

/// Returns the segments of a path. Policy ids and filter paths are decoded before they are split.
fn path(path: &str) -> Value {
    let decoded = |text: &str| unescape(text).unwrap_or_else(|| text.to_owned());
    let is_whole = ["/v1/policies/", "/v1/compile/"]
        .iter()
        .any(|prefix| path.starts_with(prefix));
    let path_text = if is_whole {
        decoded(path)
    } else {
        path.to_owned()
    };
    let path_text = path_text.strip_prefix('/').unwrap_or(&path_text);
    let segments = path_text.split('/').map(|segment| {
        if is_whole {
            Value::from(segment)
        } else {
            Value::from(decoded(segment).as_str())
        }
    });
    Value::array(segments.collect())
}

/// Headers that describe the message and not its content. The policy does not receive them.
const OF_TRANSPORT: [&str; 3] = ["host", "trailer", "transfer-encoding"];

/// Returns the headers with their names in Go's canonical form.
fn headers(request: &Call<'_>) -> Value {
    let headers = request.headers().iter();
    let headers = headers.filter(|(name, _)| !OF_TRANSPORT.contains(&name.as_str()));
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let named_values: Vec<(String, String)> = headers
        .map(|(name, value)| (canonical(name.as_str()), text(value)))
        .collect();
    group_values(
        named_values
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str())),
    )
}

/// Returns the canonical form of a name: `X-Request-Id` for `x-request-id`.
fn canonical(name: &str) -> String {
    let mut first = true;
    name.chars()
        .map(|c| {
            let letter = if first { c.to_ascii_uppercase() } else { c };
            first = c == '-';
            letter
        })
        .collect()
}

/// Returns an object with all values of each name.
fn group_values<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let mut groups: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for (name, value) in pairs {
        groups.entry(name).or_default().push(value.into());
    }
    let groups = groups.into_iter();
    Value::object(
        groups
            .map(|(name, values)| (name.into(), Value::array(values)))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::{canonical, path};

    #[test]
    fn paths_are_split_as_their_routes_read_them() {
        let text = |raw: &str| path(raw).rego_text().to_string();
        assert_eq!(text("/"), r#"[""]"#);
        assert_eq!(text("/v1/data/a%2Fb/c"), r#"["v1", "data", "a/b", "c"]"#);
        assert_eq!(
            text("/v1/policies/a%2Fb"),
            r#"["v1", "policies", "a", "b"]"#
        );
        assert_eq!(text("/v1/../%zz"), r#"["v1", "..", "%zz"]"#);
    }

    #[test]
    fn names_of_headers() {
        assert_eq!(canonical("x-request-id"), "X-Request-Id");
        assert_eq!(canonical("etag"), "Etag");
    }
}
