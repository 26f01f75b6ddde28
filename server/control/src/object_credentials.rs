//! Credentials for object stores by the secrets of the model.

use solon_outbound::objects::{ObjectCredentials, ObjectLocation};

use crate::model::SecretValue;

/// Use of credentials: it decides whether an object store may be used without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Reading, which a store may permit without credentials.
    Read,
    /// Writing, which always needs credentials.
    Write,
}

/// Returns the credentials for an object.
///
/// # Errors
/// The type of the secret does not fit the store, or writing has no credentials.
pub fn object_credentials(
    location: &ObjectLocation,
    secret: Option<&SecretValue>,
    purpose: Purpose,
) -> Result<ObjectCredentials, String> {
    let Some(secret) = secret else {
        return match purpose {
            Purpose::Read => Ok(ObjectCredentials::Anonymous),
            Purpose::Write => Err("`credentials` are missing".to_owned()),
        };
    };
    let text = |name: &str| secret.text(name).unwrap_or_default();
    match (location, secret.kind()) {
        (ObjectLocation::S3 { .. }, "aws_auth") => Ok(ObjectCredentials::Aws {
            id: text("access_key_id").to_owned(),
            secret: text("secret_access_key").into(),
            token: Some(text("session_token"))
                .filter(|token| !token.is_empty())
                .map(Into::into),
        }),
        (ObjectLocation::Gcs { .. }, "gcp_auth") => {
            if text("credentials").is_empty() {
                // a key identifies a project, and permits no access to objects
                return Err(
                    "Google Cloud Storage needs `credentials` of `gcp_auth`, not `api_key`"
                        .to_owned(),
                );
            }
            Ok(ObjectCredentials::Gcp(text("credentials").into()))
        }
        (ObjectLocation::Azure { .. }, "azure_auth") => Ok(ObjectCredentials::Azure {
            account: text("account_name").to_owned(),
            key: text("account_key").into(),
        }),
        (ObjectLocation::S3 { .. }, other) => {
            Err(format!("unsupported authentication type: {other}"))
        }
        (ObjectLocation::Gcs { .. }, _) => Err("invalid GCP secret type".to_owned()),
        (ObjectLocation::Azure { .. }, _) => Err("invalid Azure secret type".to_owned()),
    }
}
