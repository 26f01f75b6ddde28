//! The attributes of a check as a value: each field that is set, under its JSON name.
//!
//! Unset fields and fields with the default value of their type are absent. A message that is present but empty is `{}`.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use envoy_types::pb::envoy::config::core::v3::envoy_internal_address::AddressNameSpecifier;
use envoy_types::pb::envoy::config::core::v3::socket_address::PortSpecifier;
use envoy_types::pb::envoy::config::core::v3::{Address, HeaderMap, Metadata, address};
use envoy_types::pb::envoy::service::auth::v3::AttributeContext;
use envoy_types::pb::envoy::service::auth::v3::attribute_context::{
    HttpRequest, Peer, Request, TlsSession,
};
use envoy_types::pb::google::protobuf::{Any, Struct, Timestamp, Value as ProtoValue, value};
use solon::Value;

/// Returns the attributes as a value, with the names of Protocol Buffers' JSON.
pub fn of_context(context: &AttributeContext) -> Value {
    let mut fields = AttributeFields::default();
    fields.message("source", context.source.as_ref().map(peer));
    fields.message("destination", context.destination.as_ref().map(peer));
    fields.message("request", context.request.as_ref().map(request));
    fields.texts("contextExtensions", &context.context_extensions);
    fields.message(
        "metadataContext",
        context.metadata_context.as_ref().map(metadata),
    );
    fields.message("tlsSession", context.tls_session.as_ref().map(tls_session));
    fields.message(
        "routeMetadataContext",
        context.route_metadata_context.as_ref().map(metadata),
    );
    fields.finish()
}

fn peer(peer: &Peer) -> Value {
    let mut fields = AttributeFields::default();
    fields.message("address", peer.address.as_ref().map(address));
    fields.text("service", &peer.service);
    fields.texts("labels", &peer.labels);
    fields.text("principal", &peer.principal);
    fields.text("certificate", &peer.certificate);
    fields.finish()
}

fn address(address: &Address) -> Value {
    let mut fields = AttributeFields::default();
    match &address.address {
        Some(address::Address::SocketAddress(socket)) => {
            let mut inner = AttributeFields::default();
            inner.number("protocol", socket.protocol.into());
            inner.text("address", &socket.address);
            match &socket.port_specifier {
                Some(PortSpecifier::PortValue(port)) => {
                    // a member of a oneof is set even if it is zero
                    inner.add("portValue", Value::from(i64::from(*port)));
                }
                Some(PortSpecifier::NamedPort(name)) => {
                    inner.add("namedPort", Value::from(name.as_str()));
                }
                None => {}
            }
            inner.text("resolverName", &socket.resolver_name);
            inner.flag("ipv4Compat", socket.ipv4_compat);
            inner.text(
                "networkNamespaceFilepath",
                &socket.network_namespace_filepath,
            );
            fields.add("socketAddress", inner.finish());
        }
        Some(address::Address::Pipe(pipe)) => {
            let mut inner = AttributeFields::default();
            inner.text("path", &pipe.path);
            inner.number("mode", pipe.mode.into());
            fields.add("pipe", inner.finish());
        }
        Some(address::Address::EnvoyInternalAddress(internal)) => {
            let mut inner = AttributeFields::default();
            if let Some(AddressNameSpecifier::ServerListenerName(name)) =
                &internal.address_name_specifier
            {
                inner.add("serverListenerName", Value::from(name.as_str()));
            }
            inner.text("endpointId", &internal.endpoint_id);
            fields.add("envoyInternalAddress", inner.finish());
        }
        None => {}
    }
    fields.finish()
}

fn request(request: &Request) -> Value {
    let mut fields = AttributeFields::default();
    fields.message("time", request.time.as_ref().map(timestamp));
    fields.message("http", request.http.as_ref().map(http_request));
    fields.finish()
}

fn timestamp(time: &Timestamp) -> Value {
    let mut fields = AttributeFields::default();
    fields.number("seconds", time.seconds);
    fields.number("nanos", time.nanos.into());
    fields.finish()
}

fn http_request(http: &HttpRequest) -> Value {
    let mut fields = AttributeFields::default();
    fields.text("id", &http.id);
    fields.text("method", &http.method);
    fields.texts("headers", &http.headers);
    fields.text("path", &http.path);
    fields.text("host", &http.host);
    fields.text("scheme", &http.scheme);
    fields.text("query", &http.query);
    fields.text("fragment", &http.fragment);
    fields.number("size", http.size);
    fields.text("protocol", &http.protocol);
    fields.text("body", &http.body);
    fields.bytes("rawBody", &http.raw_body);
    fields.message("headerMap", http.header_map.as_ref().map(header_map));
    fields.finish()
}

fn header_map(headers: &HeaderMap) -> Value {
    let mut fields = AttributeFields::default();
    let items = headers.headers.iter().map(|header| {
        let mut fields = AttributeFields::default();
        fields.text("key", &header.key);
        fields.text("value", &header.value);
        fields.bytes("rawValue", &header.raw_value);
        fields.finish()
    });
    let items: Vec<Value> = items.collect();
    if !items.is_empty() {
        fields.add("headers", Value::array(items));
    }
    fields.finish()
}

fn tls_session(session: &TlsSession) -> Value {
    let mut fields = AttributeFields::default();
    fields.text("sni", &session.sni);
    fields.finish()
}

fn metadata(metadata: &Metadata) -> Value {
    let mut fields = AttributeFields::default();
    fields.add_map("filterMetadata", &metadata.filter_metadata, structure);
    fields.add_map("typedFilterMetadata", &metadata.typed_filter_metadata, any);
    fields.finish()
}

fn any(any: &Any) -> Value {
    let mut fields = AttributeFields::default();
    fields.text("typeUrl", &any.type_url);
    fields.bytes("value", &any.value);
    fields.finish()
}

fn structure(structure: &Struct) -> Value {
    let pairs = structure.fields.iter();
    Value::object(
        pairs
            .map(|(name, value)| (Value::from(name.as_str()), json(value)))
            .collect(),
    )
}

/// Returns a JSON value. The nesting of messages is limited by their decoder.
fn json(value: &ProtoValue) -> Value {
    match &value.kind {
        None | Some(value::Kind::NullValue(_)) => Value::default(),
        Some(value::Kind::NumberValue(number)) => Value::from(*number),
        Some(value::Kind::StringValue(text)) => Value::from(text.as_str()),
        Some(value::Kind::BoolValue(flag)) => Value::from(*flag),
        Some(value::Kind::StructValue(inner)) => structure(inner),
        Some(value::Kind::ListValue(list)) => Value::array(list.values.iter().map(json).collect()),
    }
}

/// Members of an object. Those with a default value are left out.
#[derive(Default)]
struct AttributeFields(Vec<(Value, Value)>);

impl AttributeFields {
    fn add(&mut self, name: &str, value: Value) {
        self.0.push((Value::from(name), value));
    }

    fn message(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    fn text(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.add(name, Value::from(text));
        }
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.add(name, Value::from(STANDARD.encode(bytes)));
        }
    }

    fn number(&mut self, name: &str, number: i64) {
        if number != 0 {
            self.add(name, Value::from(number));
        }
    }

    fn flag(&mut self, name: &str, flag: bool) {
        if flag {
            self.add(name, Value::from(true));
        }
    }

    fn texts(&mut self, name: &str, texts: &HashMap<String, String>) {
        self.add_map(name, texts, |text| Value::from(text.as_str()));
    }

    fn add_map<T>(&mut self, name: &str, items: &HashMap<String, T>, value: impl Fn(&T) -> Value) {
        if items.is_empty() {
            return;
        }
        let pairs = items
            .iter()
            .map(|(key, item)| (Value::from(key.as_str()), value(item)));
        self.add(name, Value::object(pairs.collect()));
    }

    fn finish(self) -> Value {
        Value::object(self.0)
    }
}
