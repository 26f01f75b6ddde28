//! The input of a decision: the attributes of a check, and what is parsed from its path, query and body.

use envoy_types::pb::envoy::service::auth::v3::CheckRequest;
use envoy_types::pb::envoy::service::auth::v3::attribute_context::HttpRequest;
use solon::Value;

use super::attributes;
use super::body::{BodyContent, ParsedRequest};
use super::descriptors::Descriptors;
use super::target;

/// Options of parsing requests into input documents.
pub struct Parsing {
    pub skips_body: bool,
    /// Message types of gRPC services.
    pub descriptors: Descriptors,
}

/// Returns the input for a check.
///
/// # Errors
/// Path, query or body cannot be parsed.
pub async fn of_check(check: &CheckRequest, parsing: &Parsing) -> Result<Value, String> {
    let none = HttpRequest::default();
    let context = check.attributes.as_ref();
    let http = context
        .and_then(|context| context.request.as_ref())
        .and_then(|request| request.http.as_ref())
        .unwrap_or(&none);
    let mut fields = Vec::with_capacity(7);
    let mut add = |name: &str, value| fields.push((Value::from(name), value));
    if let Some(context) = context {
        add("attributes", attributes::of_context(context));
    }
    add("version", version());
    let (path, query) = target::split(&http.path);
    let path = target::segments(path)?;
    add("parsed_query", target::to_value(target::parameters(query)?));
    if !parsing.skips_body {
        let source = ParsedRequest {
            headers: &http.headers,
            text: &http.body,
            bytes: &http.raw_body,
            path: &path,
            descriptors: &parsing.descriptors,
        };
        let BodyContent {
            value,
            is_truncated,
        } = source.parse().await?;
        add("parsed_body", value);
        add("truncated_body", Value::from(is_truncated));
    }
    let path = path.into_iter().map(Value::from).collect();
    add("parsed_path", Value::array(path));
    let principal = context
        .and_then(|context| context.source.as_ref())
        .map_or("", |peer| &peer.principal);
    if !principal.is_empty() {
        add("source_principal", Value::from(principal));
    }
    Ok(Value::object(fields))
}

/// Returns the version of the protocol and the encoding of the attributes.
fn version() -> Value {
    let text = |name: &str, value: &str| (Value::from(name), Value::from(value));
    Value::object(vec![text("ext_authz", "v3"), text("encoding", "protojson")])
}
