//! Request bodies of secrets.

use super::items::check_name;
use super::request::ApiRequest;
use crate::error::ApiError;
use crate::model::{Compat, FieldPath, Kind, Origin, Reader, Secret, SecretValue};
use crate::secrets::ZeroizingValue;

/// A secret as a request body describes it.
pub struct SecretBody {
    pub value: SecretValue,
    /// The hosts that may receive the secret from items of other owners.
    pub allowed_hosts: Vec<String>,
}

impl SecretBody {
    /// Parses and checks a body. A name in the body must match the path.
    pub fn from_request(
        request: &ApiRequest,
        compat: Compat,
        name: &str,
    ) -> Result<Self, ApiError> {
        let value = ZeroizingValue(request.json()?);
        let mut reader = Reader::new(compat, Origin::Api);
        let secret = Secret::read(&mut reader, &FieldPath::Root, &value.0);
        check_name(Kind::Secret, &secret.name, name)?;
        let secret = reader.finish(secret)?;
        match secret.value {
            Some(value) => Ok(Self {
                value,
                allowed_hosts: secret.allowed_hosts,
            }),
            None => Err(ApiError::invalid("value is required")),
        }
    }
}
