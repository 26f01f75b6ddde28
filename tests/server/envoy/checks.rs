//! Checks as JSON, and responses as JSON.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use envoy_types::pb::envoy::config::core::v3::{
    Address, HeaderValueOption, Metadata, SocketAddress, address, socket_address,
};
use envoy_types::pb::envoy::service::auth::v3::attribute_context::{
    HttpRequest, Peer, Request, TlsSession,
};
use envoy_types::pb::envoy::service::auth::v3::authorization_client::AuthorizationClient;
use envoy_types::pb::envoy::service::auth::v3::check_response::HttpResponse;
use envoy_types::pb::envoy::service::auth::v3::{AttributeContext, CheckRequest, CheckResponse};
use envoy_types::pb::google::protobuf::{Struct, Timestamp, Value as ProtoValue, value};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tonic::transport::Channel;

use crate::process::Server;

/// A server with a client of its service.
pub struct Authorization {
    pub server: Server,
    pub address: String,
    pub http_address: String,
    runtime: Runtime,
    client: AuthorizationClient<Channel>,
}

impl Authorization {
    /// Starts a server with settings of the plugin, flags, and a policy.
    pub fn start(settings: &Value, flags: &[&str], policy: &str) -> Self {
        let mut settings = settings.clone();
        if settings["addr"].is_null() {
            settings["addr"] = json!("127.0.0.1:0");
        }
        let config = json!({
            "plugins": {"envoy_ext_authz_grpc": settings},
            "decision_logs": {"console": true},
        });
        let config = config.to_string();
        let files = [("c.yaml", config.as_str()), ("policy.rego", policy)];
        let flags: Vec<&str> = ["--config-file", "c.yaml", "--log-format", "json"]
            .into_iter()
            .chain(flags.iter().copied())
            .collect();
        let mut server = Server::start_with(&flags, &files);
        let line = server.logged_message("Starting gRPC server.");
        let text = |name: &str| line[name].as_str().unwrap().to_owned();
        let address = text("addr");
        let runtime = Runtime::new().unwrap();
        let channel = Channel::from_shared(format!("http://{address}")).unwrap();
        let client = {
            let _in_runtime = runtime.enter();
            AuthorizationClient::new(channel.connect_lazy())
        };
        Self {
            http_address: text("http_addr"),
            server,
            address,
            runtime,
            client,
        }
    }

    /// Sends a check.
    pub fn check(&self, check: CheckRequest) -> Result<CheckResponse, tonic::Status> {
        self.check_within(check, None)
    }

    /// Sends a check whose caller waits for a limited time.
    pub fn check_within(
        &self,
        check: CheckRequest,
        timeout: Option<&str>,
    ) -> Result<CheckResponse, tonic::Status> {
        let mut request = tonic::Request::new(check);
        if let Some(timeout) = timeout {
            let timeout = timeout.parse().unwrap();
            request.metadata_mut().insert("grpc-timeout", timeout);
        }
        let mut client = self.client.clone();
        let response = self.runtime.block_on(client.check(request));
        response.map(tonic::Response::into_inner)
    }

    /// Begins to send a check.
    pub fn begin(
        &self,
        check: CheckRequest,
    ) -> JoinHandle<Result<tonic::Response<CheckResponse>, tonic::Status>> {
        let mut client = self.client.clone();
        self.runtime.spawn(async move { client.check(check).await })
    }

    /// Runs a future.
    pub fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.runtime.block_on(future)
    }
}

/// Returns a check from JSON: `method`, `path`, `headers`, `body`, `raw_body` (base64), `time`, `size`, and of the attributes
/// `source`, `destination`, `context`, `metadata`, `sni`. `null` has no attributes.
pub fn check(case: &Value) -> CheckRequest {
    if case.is_null() {
        return CheckRequest::default();
    }
    let text = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
    let http = HttpRequest {
        id: text("id"),
        method: text("method"),
        headers: texts(&case["headers"]),
        path: text("path"),
        host: text("host"),
        scheme: text("scheme"),
        protocol: text("protocol"),
        body: text("body"),
        raw_body: STANDARD.decode(text("raw_body")).unwrap(),
        size: case["size"].as_i64().unwrap_or_default(),
        ..HttpRequest::default()
    };
    CheckRequest {
        attributes: Some(AttributeContext {
            source: peer(&case["source"]),
            destination: peer(&case["destination"]),
            request: Some(Request {
                time: case["time"].as_array().map(|parts| Timestamp {
                    seconds: parts[0].as_i64().unwrap(),
                    nanos: parts[1].as_i64().unwrap().try_into().unwrap(),
                }),
                http: Some(http),
            }),
            context_extensions: texts(&case["context"]),
            metadata_context: case["metadata"].as_object().map(|metadata| Metadata {
                filter_metadata: metadata
                    .iter()
                    .map(|(name, value)| (name.clone(), structure(value)))
                    .collect(),
                ..Metadata::default()
            }),
            tls_session: case["sni"].as_str().map(|sni| TlsSession {
                sni: sni.to_owned(),
            }),
            ..AttributeContext::default()
        }),
    }
}

/// Returns a check of a path.
pub fn check_of_path(path: &str) -> CheckRequest {
    check(&json!({"method": "GET", "path": path}))
}

fn texts(value: &Value) -> HashMap<String, String> {
    let pairs = value.as_object().into_iter().flatten();
    pairs
        .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()))
        .collect()
}

fn peer(value: &Value) -> Option<Peer> {
    let fields = value.as_object()?;
    let text = |name: &str| value[name].as_str().unwrap_or_default().to_owned();
    Some(Peer {
        address: fields.contains_key("address").then(|| Address {
            address: Some(address::Address::SocketAddress(SocketAddress {
                protocol: value["protocol"].as_i64().unwrap_or(0).try_into().unwrap(),
                address: text("address"),
                port_specifier: value["port"]
                    .as_u64()
                    .map(|port| socket_address::PortSpecifier::PortValue(port.try_into().unwrap())),
                ..SocketAddress::default()
            })),
        }),
        service: text("service"),
        principal: text("principal"),
        certificate: text("certificate"),
        labels: texts(&value["labels"]),
    })
}

fn structure(value: &Value) -> Struct {
    let pairs = value.as_object().unwrap().iter();
    Struct {
        fields: pairs
            .map(|(name, value)| (name.clone(), proto(value)))
            .collect(),
    }
}

fn proto(value: &Value) -> ProtoValue {
    let kind = match value {
        Value::String(text) => value::Kind::StringValue(text.clone()),
        Value::Number(number) => value::Kind::NumberValue(number.as_f64().unwrap()),
        Value::Bool(flag) => value::Kind::BoolValue(*flag),
        Value::Object(_) => value::Kind::StructValue(structure(value)),
        _ => value::Kind::NullValue(0),
    };
    ProtoValue { kind: Some(kind) }
}

/// Returns a response as JSON, without its decision id, whose form is checked.
pub fn response_json(response: &CheckResponse) -> Value {
    let mut shown = Map::new();
    let status = response.status.clone().unwrap_or_default();
    shown.insert("code".to_owned(), json!(status.code));
    if !status.message.is_empty() {
        shown.insert("message".to_owned(), json!(status.message));
    }
    match &response.http_response {
        Some(HttpResponse::OkResponse(ok)) => {
            let set = ok.query_parameters_to_set.iter();
            let set: Vec<Value> = set
                .map(|one| json!([one.key.clone(), one.value.clone()]))
                .collect();
            let fields = [
                ("headers", headers(&ok.headers)),
                ("headers_to_remove", json!(ok.headers_to_remove)),
                (
                    "response_headers_to_add",
                    headers(&ok.response_headers_to_add),
                ),
                ("query_parameters_to_set", json!(set)),
                (
                    "query_parameters_to_remove",
                    json!(ok.query_parameters_to_remove),
                ),
            ];
            shown.insert("ok".to_owned(), object(fields.into_iter()));
        }
        Some(HttpResponse::DeniedResponse(denied)) => {
            let status = denied.status.as_ref().map(|status| status.code);
            let fields = [
                ("status", json!(status)),
                ("headers", headers(&denied.headers)),
                ("body", json!(denied.body)),
            ];
            shown.insert("denied".to_owned(), object(fields.into_iter()));
        }
        Some(HttpResponse::ErrorResponse(_)) => panic!("an error response is never sent"),
        None => {}
    }
    if let Some(metadata) = &response.dynamic_metadata {
        let mut metadata = json_of_struct(metadata);
        let id = metadata.as_object_mut().unwrap().remove("decision_id");
        let id = id.unwrap();
        assert_eq!(id.as_str().unwrap().len(), 36, "{id}");
        shown.insert("metadata".to_owned(), metadata);
    }
    Value::Object(shown)
}

/// Returns an object without the empty ones of its members.
fn object<'a>(fields: impl Iterator<Item = (&'a str, Value)>) -> Value {
    let fields = fields.filter(|(_, value)| *value != json!([]) && *value != json!(""));
    Value::Object(
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}

fn headers(headers: &[HeaderValueOption]) -> Value {
    let pair = |option: &HeaderValueOption| {
        let header = option.header.as_ref().unwrap();
        json!([header.key.clone(), header.value.clone()])
    };
    headers.iter().map(pair).collect()
}

fn json_of_struct(value: &Struct) -> Value {
    let pairs = value.fields.iter();
    Value::Object(
        pairs
            .map(|(name, value)| (name.clone(), json_of(value)))
            .collect(),
    )
}

fn json_of(value: &ProtoValue) -> Value {
    match value.kind.as_ref() {
        Some(value::Kind::NumberValue(number)) => {
            // whole numbers are written without a fraction, as in the cases
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the number is whole and small"
            )]
            if number.fract() == 0.0 && number.abs() < 1e15 {
                json!(*number as i64)
            } else {
                json!(number)
            }
        }
        Some(value::Kind::StringValue(text)) => json!(text),
        Some(value::Kind::BoolValue(flag)) => json!(flag),
        Some(value::Kind::StructValue(inner)) => json_of_struct(inner),
        Some(value::Kind::ListValue(list)) => list.values.iter().map(json_of).collect(),
        Some(value::Kind::NullValue(_)) | None => Value::Null,
    }
}
