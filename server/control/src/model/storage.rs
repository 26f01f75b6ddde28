//! Storage of built bundles.

use serde::Serialize;
use serde_json::Value;

use super::{Address, FieldPath, Kind, Reader, Reference};

/// A location in an object store, or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Storage {
    /// Amazon S3 or a compatible service.
    Aws {
        /// The bucket, without the address of the service.
        bucket: String,
        /// The key of the object, which newer builds overwrite.
        key: String,
        /// The region of the bucket, which signatures cover.
        region: String,
        /// The name of the secret with the credentials. Empty if there is none.
        #[serde(skip_serializing_if = "String::is_empty")]
        credentials: String,
        /// The address of the service if it is not Amazon's.
        #[serde(skip_serializing_if = "String::is_empty")]
        url: String,
    },
    /// A local file.
    Filesystem {
        /// The path of the file. A relative path begins in the folder of storages.
        path: String,
    },
    /// Google Cloud Storage.
    Gcp {
        /// The project of the bucket.
        project: String,
        /// The bucket, without the address of the service.
        bucket: String,
        /// The name of the object, which newer builds overwrite.
        object: String,
        /// The name of the secret with the credentials. Empty if there is none.
        #[serde(skip_serializing_if = "String::is_empty")]
        credentials: String,
    },
    /// Azure Blob Storage, with the key of an account.
    Azure {
        /// The address of the account, such as `https://account.blob.core.windows.net`.
        account_url: String,
        /// The container of the blob within the account.
        container: String,
        /// The name of the blob.
        path: String,
        /// The name of the secret with the credentials. Empty if there is none.
        #[serde(skip_serializing_if = "String::is_empty")]
        credentials: String,
    },
}

const VARIANTS: &str = "`aws`, `filesystem`, `gcp` or `azure`";

impl Storage {
    /// Reads a storage, which is exactly one of the variants.
    pub(super) fn read(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        value: &Value,
    ) -> Option<Self> {
        let mut members = reader.object(field_path, value);
        let variants: Vec<(&'static str, &Value)> = ["aws", "filesystem", "gcp", "azure"]
            .into_iter()
            .filter_map(|name| Some((name, members.take(name)?)))
            .collect();
        let is_object = members.is_object();
        members.end(reader, field_path);
        match variants.as_slice() {
            [(name, value)] => Some(Self::read_variant(
                reader,
                &field_path.member(name),
                name,
                value,
            )),
            [] => {
                if is_object && reader.is_content() {
                    reader.report(
                        field_path,
                        format_args!("must have exactly one of {VARIANTS}"),
                    );
                }
                None
            }
            several => {
                let names: Vec<&str> = several.iter().map(|&(name, _)| name).collect();
                let had = names.join("`, `");
                reader.report(
                    field_path,
                    format_args!("must have exactly one of {VARIANTS}, not `{had}`"),
                );
                None
            }
        }
    }

    fn read_variant(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        name: &str,
        value: &Value,
    ) -> Self {
        let mut members = reader.object(field_path, value);
        let storage = match name {
            "aws" => {
                let bucket = members.required(reader, field_path, "bucket");
                let key = members.required(reader, field_path, "key");
                let region = members.required(reader, field_path, "region");
                let credentials = members.text(reader, field_path, "credentials");
                let url = members.text(reader, field_path, "url");
                reader.check_web_address(&field_path.member("url"), &url);
                Self::Aws {
                    bucket,
                    key,
                    region,
                    credentials,
                    url,
                }
            }
            "gcp" => Self::Gcp {
                project: members.required(reader, field_path, "project"),
                bucket: members.required(reader, field_path, "bucket"),
                object: members.required(reader, field_path, "object"),
                credentials: members.text(reader, field_path, "credentials"),
            },
            "azure" => {
                let account_url = members.required(reader, field_path, "account_url");
                reader.check_web_address(&field_path.member("account_url"), &account_url);
                Self::Azure {
                    account_url,
                    container: members.required(reader, field_path, "container"),
                    path: members.required(reader, field_path, "path"),
                    credentials: members.text(reader, field_path, "credentials"),
                }
            }
            _ => {
                let path = members.required(reader, field_path, "path");
                reader.check_local(&field_path.member("path"), &path);
                Self::Filesystem { path }
            }
        };
        // the name of an object may become a file path if the store is backed by folders
        let (field, object) = match &storage {
            Self::Aws { key, .. } => ("key", key),
            Self::Gcp { object, .. } => ("object", object),
            Self::Azure { path, .. } => ("path", path),
            Self::Filesystem { .. } => ("path", &String::new()),
        };
        reader.check_inside(&field_path.member(field), object.trim_start_matches('/'));
        members.end(reader, field_path);
        storage
    }

    /// Returns the reference to the secret, with the address that it is sent to. Returns `None` without credentials.
    pub fn reference(&self) -> Option<Reference> {
        let (variant, credentials, address) = match self {
            Self::Aws {
                credentials,
                url,
                region,
                ..
            } => ("aws", credentials, Address::of_s3(url, region)),
            Self::Gcp { credentials, .. } => {
                let address = Address::of_service("storage.googleapis.com");
                ("gcp", credentials, address)
            }
            Self::Azure {
                credentials,
                account_url,
                ..
            } => ("azure", credentials, Address::of_url(account_url)),
            Self::Filesystem { .. } => return None,
        };
        (!credentials.is_empty()).then(|| Reference {
            kind: Kind::Secret,
            name: credentials.clone(),
            field: format!("object_storage.{variant}.credentials"),
            address,
        })
    }
}
