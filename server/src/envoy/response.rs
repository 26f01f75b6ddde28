//! Responses to checks, with the headers and the status of the decision.

use envoy_types::pb::envoy::config::core::v3::{HeaderValue, HeaderValueOption, QueryParameter};
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{
    CheckResponse, DeniedHttpResponse, OkHttpResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use envoy_types::pb::google::protobuf::{ListValue, Struct, Value as ProtoValue, value};
use envoy_types::pb::google::rpc;
use solon::{Value, ValueRef};

use super::decision::{Decision, key_text};

/// Code of gRPC for a denied request.
const PERMISSION_DENIED: i32 = 7;
/// Status of a denied request without a status of its own.
const FORBIDDEN: u16 = 403;

/// Returns the response to a decision. `id` is the id of the decision, which no metadata of the policy replaces.
pub fn of_decision(decision: Decision, id: &str, is_overridden: bool) -> CheckResponse {
    let mut metadata = decision.dynamic_metadata;
    metadata.retain(|(name, _)| name != DECISION_ID);
    metadata.push((DECISION_ID.to_owned(), Value::from(id)));
    let metadata = Some(structure(metadata));
    if is_overridden {
        return CheckResponse {
            status: Some(rpc::Status::default()),
            dynamic_metadata: metadata,
            http_response: Some(HttpResponse::OkResponse(OkHttpResponse::default())),
        };
    }
    let code = if decision.is_allowed {
        0
    } else {
        PERMISSION_DENIED
    };
    let http_response = match decision.is_allowed {
        _ if decision.is_bare => None,
        true => Some(HttpResponse::OkResponse(OkHttpResponse {
            headers: headers(decision.headers),
            headers_to_remove: decision.request_headers_to_remove,
            response_headers_to_add: headers(decision.response_headers_to_add),
            query_parameters_to_set: decision
                .query_parameters_to_set
                .into_iter()
                .map(|(key, value)| QueryParameter { key, value })
                .collect(),
            query_parameters_to_remove: decision.query_parameters_to_remove,
            ..OkHttpResponse::default()
        })),
        false => Some(HttpResponse::DeniedResponse(DeniedHttpResponse {
            status: Some(status(decision.http_status.unwrap_or(FORBIDDEN))),
            headers: headers(decision.headers),
            body: decision.body.unwrap_or_default(),
        })),
    };
    CheckResponse {
        status: Some(rpc::Status {
            code,
            ..rpc::Status::default()
        }),
        dynamic_metadata: metadata,
        http_response,
    }
}

/// Returns the response that denies a request without a decision. The message is for Envoy's log; clients receive `body`.
pub fn denied(code: u16, message: String, body: String) -> CheckResponse {
    CheckResponse {
        status: Some(rpc::Status {
            code: PERMISSION_DENIED,
            message,
            details: Vec::new(),
        }),
        dynamic_metadata: None,
        http_response: Some(HttpResponse::DeniedResponse(DeniedHttpResponse {
            status: Some(status(code)),
            headers: Vec::new(),
            body,
        })),
    }
}

const DECISION_ID: &str = "decision_id";

fn status(code: u16) -> HttpStatus {
    HttpStatus { code: code.into() }
}

fn headers(pairs: Vec<(String, String)>) -> Vec<HeaderValueOption> {
    let header = |(key, value)| HeaderValueOption {
        header: Some(HeaderValue {
            key,
            value,
            raw_value: Vec::new(),
        }),
        ..HeaderValueOption::default()
    };
    pairs.into_iter().map(header).collect()
}

fn structure(members: Vec<(String, Value)>) -> Struct {
    let members = members.into_iter();
    Struct {
        fields: members
            .map(|(name, value)| (name, proto_value(&value)))
            .collect(),
    }
}

/// Returns a value of protocol buffers. Numbers become doubles, and sets become lists.
fn proto_value(value: &Value) -> ProtoValue {
    let kind = if let Some(flag) = value.as_bool() {
        value::Kind::BoolValue(flag)
    } else if let Some(text) = value.as_str() {
        value::Kind::StringValue(text.to_owned())
    } else if let Some(number) = value.as_f64() {
        value::Kind::NumberValue(number)
    } else if let Some(items) = value.as_array() {
        value::Kind::ListValue(ListValue {
            values: items.iter().map(proto_value).collect(),
        })
    } else if let Some(object) = value.as_object() {
        let members = object.iter();
        value::Kind::StructValue(structure(
            members
                .map(|(name, value)| (key_text(name), value.clone()))
                .collect(),
        ))
    } else if let Some(set) = value.borrow().as_set() {
        value::Kind::ListValue(ListValue {
            values: set
                .iter()
                .map(ValueRef::to_value)
                .map(|item| proto_value(&item))
                .collect(),
        })
    } else {
        value::Kind::NullValue(0)
    };
    ProtoValue { kind: Some(kind) }
}
