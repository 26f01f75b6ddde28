//! Data sources in object stores.

use std::fmt;
use std::sync::Arc;

use solon_outbound::objects::{Object, ObjectLocation, ObjectOptions};

use super::{DatasourceError, ReceivedDocument, Validators};
use crate::model::{DatasourceConfig, SecretValue};
use crate::object_credentials::{Purpose, object_credentials};
use crate::sync::FetchOptions;

#[derive(Clone)]
pub struct StoreSource(Object);

impl fmt::Debug for StoreSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreSource")
    }
}

impl StoreSource {
    /// Opens a data source without a connection.
    ///
    /// # Errors
    /// The configuration or the secret is not valid.
    pub fn open(
        config: &DatasourceConfig,
        secret: Option<&SecretValue>,
        options: &FetchOptions,
    ) -> Result<Self, String> {
        let location = match config {
            DatasourceConfig::S3 {
                bucket,
                key,
                region,
                endpoint,
            } => ObjectLocation::S3 {
                bucket: bucket.clone(),
                key: key.clone(),
                region: region.clone(),
                endpoint: endpoint.clone(),
            },
            DatasourceConfig::Gcp { bucket, object } => ObjectLocation::Gcs {
                bucket: bucket.clone(),
                object: object.clone(),
            },
            DatasourceConfig::Azure {
                account_url,
                container,
                path,
            } => ObjectLocation::Azure {
                account_url: account_url.clone(),
                container: container.clone(),
                path: path.clone(),
            },
            DatasourceConfig::Http { .. } => {
                return Err("not a datasource in an object store".to_owned());
            }
        };
        let credentials = object_credentials(&location, secret, Purpose::Read)?;
        let options = ObjectOptions {
            networks: Arc::new(options.networks.clone()),
            proxies: options.proxies.clone(),
            timeout: options.datasource_timeout,
        };
        Object::open(&location, &credentials, &options).map(Self)
    }

    /// Returns the document, or `None` if the store still has the known version.
    ///
    /// # Errors
    /// The store does not return it, or it is larger than `max` bytes.
    pub async fn receive(
        &self,
        known: Option<&Validators>,
        max: usize,
    ) -> Result<Option<ReceivedDocument>, DatasourceError> {
        let known = known.and_then(|known| known.etag.as_deref());
        match self.0.read(known, max).await {
            Ok(None) => Ok(None),
            Ok(Some(content)) => Ok(Some(ReceivedDocument {
                bytes: content.bytes,
                validators: Validators {
                    etag: content.etag,
                    last_modified: None,
                },
            })),
            Err(error) => Err(match error.status() {
                Some(status) => DatasourceError::of_status(status, error.to_string()),
                None => DatasourceError::failed(error.to_string()),
            }),
        }
    }
}
