//! Locations of objects in object stores, and credentials for them.

use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::uri::Authority;
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::{GcpCredential, GoogleCloudStorageBuilder};
use object_store::path::Path;
use object_store::{ObjectStore, RetryConfig, StaticCredentialProvider};

use super::ObjectOptions;
use super::http::StoreConnector;
use crate::config::Secret;
use crate::tls::{self, Trust};
use crate::transport::{Target, Transport};

/// Maximum time until a connection is ready for requests.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Number of attempts after the first one, for failures that may pass.
const RETRIES: usize = 3;

/// Time after which no other attempt is made.
const RETRY_TIMEOUT: Duration = Duration::from_mins(1);

const GCS: &str = "https://storage.googleapis.com";

/// The location of an object, without credentials.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObjectLocation {
    /// Amazon S3 or a compatible service.
    S3 {
        /// The bucket, without the address of the store.
        bucket: String,
        /// The key of the object within the bucket.
        key: String,
        /// The region. `us-east-1` if it is empty.
        region: String,
        /// The address of the service, whose paths begin with the bucket, or an empty text for Amazon's.
        endpoint: String,
    },
    /// Google Cloud Storage.
    Gcs {
        /// The bucket, without the address of the store.
        bucket: String,
        /// The name of the object within the bucket.
        object: String,
    },
    /// Azure Blob Storage.
    Azure {
        /// The address of the account, such as `https://account.blob.core.windows.net`.
        account_url: String,
        /// The container of the object within the account.
        container: String,
        /// The name of the blob.
        path: String,
    },
}

/// Credentials for a store. They must be of the store's kind.
#[derive(Clone, Debug)]
pub enum ObjectCredentials {
    /// None: requests are not signed.
    Anonymous,
    /// An access key of AWS, of a user or a session.
    Aws {
        /// The identifier of the key, which is not secret.
        id: String,
        /// The secret part of the key.
        secret: Secret,
        /// The token of a session. `None` for keys of users.
        token: Option<Secret>,
    },
    /// The JSON text of a service account of Google. Its member `gcs_base_url` replaces the address of the service.
    Gcp(Secret),
    /// The key of an account of Azure.
    Azure {
        /// The name of the account that the key belongs to.
        account: String,
        /// The key, in base64.
        key: Secret,
    },
}

impl ObjectLocation {
    /// Returns the name of the object as a path.
    ///
    /// # Errors
    /// The name is empty, or has a step that paths cannot have.
    pub(super) fn path(&self) -> Result<Path, String> {
        let (Self::S3 { key: name, .. }
        | Self::Gcs { object: name, .. }
        | Self::Azure { path: name, .. }) = self;
        let path =
            Path::parse(name).map_err(|_| format!("{name:?} is not a valid name of an object"))?;
        if path.as_ref().is_empty() {
            return Err("the name of the object is empty".to_owned());
        }
        Ok(path)
    }

    /// Returns the address of the store: that of the location, or the public one of the provider.
    fn address(&self, credentials: &ObjectCredentials) -> Result<String, String> {
        match self {
            Self::S3 {
                bucket,
                region,
                endpoint,
                ..
            } => Ok(match endpoint.as_str() {
                // a certificate of `*.s3.…` does not match the dots of a bucket
                "" if bucket.contains('.') => {
                    format!("https://s3.{}.amazonaws.com", or_default(region))
                }
                "" => format!("https://{bucket}.s3.{}.amazonaws.com", or_default(region)),
                endpoint => endpoint.to_owned(),
            }),
            Self::Gcs { .. } => match credentials {
                ObjectCredentials::Gcp(json) => Ok(base_url(json)?.unwrap_or(GCS.to_owned())),
                _ => Ok(GCS.to_owned()),
            },
            Self::Azure { account_url, .. } => Ok(account_url.clone()),
        }
    }
}

fn or_default(region: &str) -> &str {
    if region.is_empty() {
        "us-east-1"
    } else {
        region
    }
}

/// Returns the address of an emulator in the JSON text of a service account.
fn base_url(json: &Secret) -> Result<Option<String>, String> {
    #[derive(serde::Deserialize)]
    struct Account {
        gcs_base_url: Option<String>,
    }
    let account: Account = serde_json::from_str(json.expose())
        .map_err(|_| "the credentials are not the JSON text of a service account".to_owned())?;
    Ok(account.gcs_base_url)
}

/// Opens the store of a location, without connecting.
///
/// # Errors
/// The address is not valid, or the credentials are not of the store's kind.
pub fn open(
    location: &ObjectLocation,
    credentials: &ObjectCredentials,
    options: &ObjectOptions,
) -> Result<Arc<dyn ObjectStore>, String> {
    let address = location.address(credentials)?;
    let connector = connector(&address, options)?;
    build(location, credentials, &address, connector, RETRIES)
}

/// Opens the store of a location at an address, with a number of attempts after the first one.
pub fn build(
    location: &ObjectLocation,
    credentials: &ObjectCredentials,
    address: &str,
    connector: StoreConnector,
    retries: usize,
) -> Result<Arc<dyn ObjectStore>, String> {
    let retry = RetryConfig {
        max_retries: retries,
        retry_timeout: RETRY_TIMEOUT,
        ..RetryConfig::default()
    };
    let invalid = "the credentials do not fit the object store";
    let store: Result<Arc<dyn ObjectStore>, object_store::Error> = match location {
        ObjectLocation::S3 {
            bucket,
            region,
            endpoint,
            ..
        } => {
            let is_virtual = endpoint.is_empty() && !bucket.contains('.');
            let mut builder = AmazonS3Builder::new()
                .with_http_connector(connector)
                .with_retry(retry)
                .with_bucket_name(bucket)
                .with_region(or_default(region))
                .with_endpoint(address)
                .with_virtual_hosted_style_request(is_virtual);
            builder = match credentials {
                ObjectCredentials::Aws { id, secret, token } => {
                    builder = builder
                        .with_access_key_id(id)
                        .with_secret_access_key(secret.expose());
                    match token {
                        Some(token) => builder.with_token(token.expose()),
                        None => builder,
                    }
                }
                ObjectCredentials::Anonymous => builder.with_skip_signature(true),
                _ => return Err(invalid.to_owned()),
            };
            builder.build().map(|store| Arc::new(store) as _)
        }
        ObjectLocation::Gcs { bucket, .. } => {
            let builder = GoogleCloudStorageBuilder::new()
                .with_http_connector(connector)
                .with_retry(retry)
                .with_bucket_name(bucket)
                .with_base_url(address);
            let builder = match credentials {
                ObjectCredentials::Gcp(json) => builder.with_service_account_key(json.expose()),
                ObjectCredentials::Anonymous => {
                    // credentials of the machine would be read otherwise
                    let none = GcpCredential {
                        bearer: String::new(),
                    };
                    builder
                        .with_credentials(Arc::new(StaticCredentialProvider::new(none)))
                        .with_skip_signature(true)
                }
                _ => return Err(invalid.to_owned()),
            };
            builder.build().map(|store| Arc::new(store) as _)
        }
        ObjectLocation::Azure { container, .. } => {
            let builder = MicrosoftAzureBuilder::new()
                .with_http_connector(connector)
                .with_retry(retry)
                .with_container_name(container)
                .with_endpoint(address.to_owned());
            let builder = match credentials {
                ObjectCredentials::Azure { account, key } => {
                    builder.with_account(account).with_access_key(key.expose())
                }
                ObjectCredentials::Anonymous => {
                    builder.with_account("anonymous").with_skip_signature(true)
                }
                _ => return Err(invalid.to_owned()),
            };
            builder.build().map(|store| Arc::new(store) as _)
        }
    };
    // messages of the crate may repeat parts of the credentials
    store.map_err(|_| "the location or the credentials of the object store are invalid".to_owned())
}

fn connector(address: &str, options: &ObjectOptions) -> Result<StoreConnector, String> {
    let invalid = || format!("{address:?} is not the address of an object store");
    let uri: Uri = address.parse().map_err(|_| invalid())?;
    if !matches!(uri.scheme_str(), Some("http" | "https")) {
        return Err(invalid());
    }
    let host: &Authority = uri.authority().ok_or_else(invalid)?;
    let target = Target {
        tls: tls::client_config(&Trust::default(), None)?,
        server_name: None,
        socket: None,
        networks: options.networks.clone(),
        proxies: options.proxies.clone(),
        connect_timeout: Some(CONNECT_TIMEOUT),
    };
    Ok(StoreConnector::new(Transport::new(target, true), host))
}
