//! Attributes of messages: those of this server, and of its parts.

use opentelemetry_proto::tonic::common::v1::{
    AnyValue, InstrumentationScope, KeyValue, any_value::Value as Any,
};
use opentelemetry_proto::tonic::resource::v1::Resource;

use crate::config::CollectorOptions;

pub fn text(value: &str) -> AnyValue {
    AnyValue {
        value: Some(Any::StringValue(value.to_owned())),
    }
}

pub fn attribute(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(text(value)),
        ..KeyValue::default()
    }
}

/// Returns the attributes of this server. `service` is its name if the options have none.
pub fn resource(options: &CollectorOptions, service: &str) -> Resource {
    let name = options.service_name.as_deref().unwrap_or(service);
    let mut attributes = vec![
        attribute("service.name", name),
        attribute("service.version", env!("CARGO_PKG_VERSION")),
    ];
    for (key, value) in &options.resource {
        attributes.retain(|attribute| attribute.key != *key);
        attributes.push(attribute(key, value));
    }
    Resource {
        attributes,
        ..Resource::default()
    }
}

/// Returns the scope of all messages: this program and its version.
pub fn scope() -> InstrumentationScope {
    InstrumentationScope {
        name: "solon".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..InstrumentationScope::default()
    }
}
