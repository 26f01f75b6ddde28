//! Objects in the store that is a service of a configuration.

use super::http::StoreConnector;
use super::location::{self, ObjectCredentials, ObjectLocation};
use super::{Error, ErrorKind, Object};
use crate::client::Client;
use crate::config::Secret;
use crate::files;

/// An object by its URL: `s3://BUCKET/KEY`, `gs://BUCKET/OBJECT` or `azblob://CONTAINER/BLOB`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectAddress {
    kind: StoreKind,
    bucket: String,
    name: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreKind {
    S3,
    Gcs,
    Azure,
}

impl ObjectAddress {
    /// Parses a URL. Returns `None` if it has another scheme.
    ///
    /// # Errors
    /// The bucket or the name of the object is missing, or the name has a segment that is empty, `.` or `..`.
    pub fn parse(url: &str) -> Option<Result<Self, String>> {
        let (scheme, rest) = url.split_once("://")?;
        let kind = match scheme {
            "s3" => StoreKind::S3,
            "gs" => StoreKind::Gcs,
            "azblob" => StoreKind::Azure,
            _ => return None,
        };
        let expected = || format!("expected a URL such as `{scheme}://bucket/path/bundle.tar.gz`");
        let Some((bucket, name)) = rest.split_once('/') else {
            return Some(Err(expected()));
        };
        let is_valid = |step: &str| !matches!(step, "" | "." | "..");
        if bucket.is_empty() || bucket.contains(['?', '#', '@']) || !name.split('/').all(is_valid) {
            return Some(Err(expected()));
        }
        Some(Ok(Self {
            kind,
            bucket: bucket.to_owned(),
            name: name.to_owned(),
        }))
    }

    fn location(&self, address: &str) -> ObjectLocation {
        let (bucket, name) = (self.bucket.clone(), self.name.clone());
        match self.kind {
            StoreKind::S3 => ObjectLocation::S3 {
                bucket,
                key: name,
                region: String::new(),
                endpoint: address.to_owned(),
            },
            StoreKind::Gcs => ObjectLocation::Gcs {
                bucket,
                object: name,
            },
            StoreKind::Azure => ObjectLocation::Azure {
                account_url: address.to_owned(),
                container: bucket,
                path: name,
            },
        }
    }
}

impl Object {
    /// Opens an object of the store at the address of a service. Requests have the headers, credentials, certificates, proxies and
    /// time-outs of the service, and are sent once.
    ///
    /// # Errors
    /// The credentials of the service are for another kind of store, or cannot be read.
    pub async fn open_at_service(client: &Client, object: &ObjectAddress) -> Result<Self, Error> {
        let failed = |text: String| Error::new(ErrorKind::Credentials, text);
        let address = client.url("/")?.to_string();
        let address = address.trim_end_matches('/');
        let location = object.location(address);
        let config = &client.config().credentials;
        let credentials = match (&config.azure_shared_key, &config.gcp_service_account) {
            (Some(key), _) if object.kind == StoreKind::Azure => ObjectCredentials::Azure {
                account: key.account_name.clone().unwrap_or_default(),
                key: key.account_key.clone().unwrap_or_default(),
            },
            (_, Some(account)) if object.kind == StoreKind::Gcs => {
                let path = account.path.clone().unwrap_or_default();
                ObjectCredentials::Gcp(Secret::from(files::read_token(path.into()).await?))
            }
            (None, None) => ObjectCredentials::Anonymous,
            _ => {
                let text = format!(
                    "the credentials of service `{}` do not fit the object store",
                    client.name()
                );
                return Err(failed(text));
            }
        };
        let connector = StoreConnector::Service(client.clone());
        let store = location::build(&location, &credentials, address, connector, 0);
        Ok(Self {
            store: store.map_err(failed)?,
            path: location.path().map_err(failed)?,
            timeout: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::ObjectAddress;

    #[test]
    fn urls_are_parsed() {
        for url in [
            "s3://b/k",
            "s3://my.bucket/a/b c/d.tar.gz",
            "gs://b/o",
            "azblob://c/p/q",
        ] {
            assert!(ObjectAddress::parse(url).unwrap().is_ok(), "{url}");
        }
        for url in [
            "s3://b",
            "s3://b/",
            "s3:///k",
            "gs://b//k",
            "azblob://c/../k",
            "s3://b/./k",
            "s3://u@b/k",
            "s3://b?x/k",
        ] {
            assert!(ObjectAddress::parse(url).unwrap().is_err(), "{url}");
        }
        for url in [
            "bundles/b",
            "file:///b",
            "S3://b/k",
            "http://h/p",
            "s3:/b/k",
        ] {
            assert!(ObjectAddress::parse(url).is_none(), "{url}");
        }
    }
}
