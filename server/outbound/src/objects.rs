//! Objects in Amazon S3, Google Cloud Storage and Azure Blob Storage: reading them if they changed, and conditional writes.
//!
//! The crate `object_store` makes and signs the requests, and the connections are those of this crate, with its rules for networks,
//! its proxies and its TLS.

mod http;
mod location;
mod service;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use ::http::StatusCode;
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, GetOptions, GetResult, ObjectStore, ObjectStoreExt as _, PutMode,
    PutOptions, UpdateVersion,
};

use crate::error::{Error, ErrorKind};
use crate::networks::NetworkRules;
use crate::proxy::Proxies;

pub use location::{ObjectCredentials, ObjectLocation};
pub use service::ObjectAddress;

/// Settings of the connections to a store.
#[derive(Clone, Debug)]
pub struct ObjectOptions {
    /// Rules for the networks that connections may lead to.
    pub networks: Arc<NetworkRules>,
    /// Proxies of the connections to stores.
    pub proxies: Arc<Proxies>,
    /// Maximum time of an operation.
    pub timeout: Duration,
}

/// An object in a store. Clones share connections.
#[derive(Clone)]
pub struct Object {
    store: Arc<dyn ObjectStore>,
    path: Path,
    /// Maximum time of an operation. A service has its own time-outs.
    timeout: Option<Duration>,
}

/// Version and metadata of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectHead {
    /// The version that a conditional write replaces.
    pub version: ObjectVersion,
    attributes: Attributes,
}

/// A version of an object: entity tag or generation, whichever the store has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectVersion {
    etag: Option<String>,
    generation: Option<String>,
}

/// An object that was read completely.
#[derive(Clone, Debug)]
pub struct ObjectContent {
    /// The bytes.
    pub bytes: Bytes,
    /// The tag, if the store has one.
    pub etag: Option<String>,
}

/// The condition of a write.
#[derive(Clone, Copy, Debug)]
pub enum Precondition<'a> {
    /// The object does not exist.
    Absent,
    /// The object has this version. Otherwise nothing is written.
    Version(&'a ObjectVersion),
    /// No precondition: an existing object is replaced.
    None,
}

/// Result of a conditional write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// The object was written as requested.
    Stored,
    /// The condition does not hold.
    Conflict,
    /// The store does not support the condition. Nothing was written.
    Unsupported,
}

impl ObjectHead {
    /// Returns a member of the object's own metadata, or `None` if it is not set.
    pub fn metadata(&self, name: &'static str) -> Option<&str> {
        let name = Attribute::Metadata(Cow::Borrowed(name));
        self.attributes.get(&name).map(|value| value.as_ref())
    }
}

impl Object {
    /// Opens an object without a connection.
    ///
    /// # Errors
    /// The location or the credentials are not valid. The message does not contain the credentials.
    pub fn open(
        location: &ObjectLocation,
        credentials: &ObjectCredentials,
        options: &ObjectOptions,
    ) -> Result<Self, String> {
        Ok(Self {
            store: location::open(location, credentials, options)?,
            path: location.path()?,
            timeout: Some(options.timeout),
        })
    }

    /// Returns the object, or `None` if its tag is still `known_version`.
    ///
    /// # Errors
    /// The store does not return it, it does not arrive in time, or it is larger than `max` bytes.
    pub async fn read(
        &self,
        known_version: Option<&str>,
        max: usize,
    ) -> Result<Option<ObjectContent>, Error> {
        let options = GetOptions {
            if_none_match: known_version.map(str::to_owned),
            ..GetOptions::default()
        };
        self.in_time(async {
            let result = match self.store.get_opts(&self.path, options).await {
                Err(object_store::Error::NotModified { .. }) => return Ok(None),
                result => result.map_err(|error| failed(&error))?,
            };
            let etag = result.meta.e_tag.clone();
            let bytes = read_bounded(result, max).await?;
            Ok(Some(ObjectContent { bytes, etag }))
        })
        .await
    }

    /// Returns what the store knows about the object, or `None` if it does not exist.
    ///
    /// # Errors
    /// The store does not respond, or does not permit it.
    pub async fn head(&self) -> Result<Option<ObjectHead>, Error> {
        let options = GetOptions {
            head: true,
            ..GetOptions::default()
        };
        self.in_time(async {
            match self.store.get_opts(&self.path, options).await {
                Err(object_store::Error::NotFound { .. }) => Ok(None),
                Err(error) => Err(failed(&error)),
                Ok(result) => Ok(Some(ObjectHead {
                    version: ObjectVersion {
                        etag: result.meta.e_tag,
                        generation: result.meta.version,
                    },
                    attributes: result.attributes,
                })),
            }
        })
        .await
    }

    /// Writes the object with its metadata if a condition holds.
    ///
    /// # Errors
    /// The store does not accept it. Whether a write without a response took effect is unknown.
    pub async fn write(
        &self,
        bytes: Bytes,
        metadata: &[(&'static str, &str)],
        condition: Precondition<'_>,
    ) -> Result<Written, Error> {
        let attributes = metadata
            .iter()
            .map(|(name, value)| {
                (
                    Attribute::Metadata(Cow::Borrowed(*name)),
                    (*value).to_owned(),
                )
            })
            .collect();
        let is_conditional = !matches!(condition, Precondition::None);
        let mode = match condition {
            Precondition::Absent => PutMode::Create,
            Precondition::None => PutMode::Overwrite,
            Precondition::Version(version) => PutMode::Update(UpdateVersion {
                e_tag: version.etag.clone(),
                version: version.generation.clone(),
            }),
        };
        let options = PutOptions {
            mode,
            attributes,
            ..PutOptions::default()
        };
        self.in_time(async {
            let result = self.store.put_opts(&self.path, bytes.into(), options).await;
            match result {
                Ok(_) => Ok(Written::Stored),
                Err(
                    object_store::Error::AlreadyExists { .. }
                    | object_store::Error::Precondition { .. }
                    | object_store::Error::NotModified { .. },
                ) => Ok(Written::Conflict),
                Err(error) => match failed(&error) {
                    error
                        if is_conditional
                            && error.status() == Some(StatusCode::NOT_IMPLEMENTED) =>
                    {
                        Ok(Written::Unsupported)
                    }
                    error => Err(error),
                },
            }
        })
        .await
    }

    /// Deletes the object.
    ///
    /// # Errors
    /// The store does not permit it.
    pub async fn delete(&self) -> Result<(), Error> {
        self.in_time(async {
            let deleted = self.store.delete(&self.path).await;
            deleted.map_err(|error| failed(&error))
        })
        .await
    }

    async fn in_time<T>(
        &self,
        operation: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        let Some(timeout) = self.timeout else {
            return operation.await;
        };
        let result = tokio::time::timeout(timeout, operation).await;
        result.unwrap_or_else(|_| {
            let seconds = timeout.as_secs();
            let text = format!("timeout: the object store did not finish within {seconds} seconds");
            Err(Error::new(ErrorKind::Timeout, text))
        })
    }
}

async fn read_bounded(result: GetResult, max: usize) -> Result<Bytes, Error> {
    let too_large = || {
        let text = format!("object exceeds the limit of {max} bytes");
        Error::new(ErrorKind::BodyTooLarge, text)
    };
    let size = result.meta.size;
    if usize::try_from(size).map_or(true, |size| size > max) {
        return Err(too_large());
    }
    let mut stream = result.into_stream();
    let mut bytes = BytesMut::new();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| failed(&error))?;
        if bytes.len() + chunk.len() > max {
            return Err(too_large());
        }
        bytes.extend_from_slice(&chunk);
    }
    if bytes.len() as u64 != size {
        let text = format!("object ends after {} of {size} bytes", bytes.len());
        return Err(Error::new(ErrorKind::Body, text));
    }
    Ok(bytes.freeze())
}

/// Returns the error of a store. The body of a response is not part of it, because stores repeat session tokens in it, except for its
/// code.
fn failed(error: &object_store::Error) -> Error {
    let mut text = String::new();
    let first: &(dyn std::error::Error + 'static) = error;
    for source in std::iter::successors(Some(first), |source| source.source()) {
        if let Some(http_error) = source.downcast_ref::<Error>() {
            return http_error.clone();
        }
        text = source.to_string();
        if status_in(&text).is_some() {
            break;
        }
    }
    let status = match error {
        object_store::Error::NotFound { .. } => Some(StatusCode::NOT_FOUND),
        object_store::Error::PermissionDenied { .. } => Some(StatusCode::FORBIDDEN),
        object_store::Error::Unauthenticated { .. } => Some(StatusCode::UNAUTHORIZED),
        _ => status_in(&text),
    };
    match status {
        Some(status) => {
            let code = code_in(&text).map_or_else(String::new, |code| format!(": {code}"));
            let text = format!("object store replied with {status}{code}");
            Error::new(ErrorKind::Status(status), text)
        }
        None => Error::new(
            ErrorKind::Exchange,
            "the response of the object store is not as expected",
        ),
    }
}

/// Returns the status in a message of `object_store`.
fn status_in(text: &str) -> Option<StatusCode> {
    let (_, after) = text.split_once("status code: ")?;
    after.get(..3)?.parse().ok()
}

/// Returns the code in the XML of an error: `AccessDenied`.
fn code_in(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("<Code>")?;
    let (code, _) = after.split_once("</Code>")?;
    let is_code = code.len() <= 64 && code.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_code.then_some(code)
}
