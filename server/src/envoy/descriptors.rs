//! Bodies of gRPC requests, parsed by the message types of a descriptor file.

use std::path::Path;

use prost_reflect::{DescriptorPool, DynamicMessage, MessageDescriptor, SerializeOptions};
use solon::{Value, json};

use super::body::BodyContent;

/// Message types of the services that Envoy forwards requests to. Without a file, no body of a gRPC request is parsed.
#[derive(Debug, Default)]
pub struct Descriptors(Option<DescriptorPool>);

/// Length of the prefix of a message: a flag for compression, and the length of the message in four bytes.
const PREFIX: usize = 5;

impl Descriptors {
    /// Reads a serialized `FileDescriptorSet`.
    ///
    /// # Errors
    /// The file cannot be read or decoded.
    pub fn read(path: &Path) -> Result<Self, String> {
        let file = path.display();
        let bytes = std::fs::read(path).map_err(|error| format!("open {file}: {error}"))?;
        let pool =
            DescriptorPool::decode(bytes.as_slice()).map_err(|error| format!("{file}: {error}"))?;
        Ok(Self(Some(pool)))
    }

    /// Parses the first message of a body. `path` names the service and its method.
    ///
    /// # Errors
    /// The path does not name a method, or the body is not a message of its type.
    pub fn parse(&self, path: &[String], body: &[u8]) -> Result<BodyContent, String> {
        let Some(pool) = self.0.as_ref().filter(|_| !body.is_empty()) else {
            return Ok(BodyContent::default());
        };
        let [service, method] = path else {
            return Err("invalid parsed path".to_owned());
        };
        let (prefix, rest) = body.split_at_checked(PREFIX).ok_or("less than 5 bytes")?;
        let [flag, length @ ..] = prefix else {
            return Err("less than 5 bytes".to_owned());
        };
        if *flag != 0 {
            return Ok(BodyContent::default());
        }
        let length = length
            .iter()
            .fold(0_usize, |length, byte| length << 8 | usize::from(*byte));
        let Some(message) = rest.get(..length) else {
            return Ok(BodyContent {
                value: Value::default(),
                is_truncated: true,
            });
        };
        let Some(input) = input_of(pool, service, method) else {
            return Ok(BodyContent::default());
        };
        Ok(BodyContent {
            value: decode(input, message)?,
            is_truncated: false,
        })
    }
}

/// Returns the input type of a method. It is `None` for an unknown method and for a stream of requests.
fn input_of(pool: &DescriptorPool, service: &str, method: &str) -> Option<MessageDescriptor> {
    let service = pool.get_service_by_name(service)?;
    let mut methods = service.methods();
    let method = methods.find(|candidate| candidate.name() == method)?;
    (!method.is_client_streaming()).then(|| method.input())
}

fn decode(descriptor: MessageDescriptor, message: &[u8]) -> Result<Value, String> {
    let message = DynamicMessage::decode(descriptor, message).map_err(|error| error.to_string())?;
    let mut text = Vec::new();
    let mut serializer = serde_json::Serializer::new(&mut text);
    let options = SerializeOptions::new();
    message
        .serialize_with_options(&mut serializer, &options)
        .map_err(|error| error.to_string())?;
    json::read(&text).map_err(|error| error.to_string())
}
