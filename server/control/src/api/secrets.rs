//! Request bodies of secrets.

use super::items::check_name;
use super::request::Asked;
use crate::error::Refusal;
use crate::model::{Compat, Kind, Origin, Place, Reader, Secret, SecretValue};
use crate::secrets::Cleared;

/// A secret as a request body describes it.
pub struct Read {
    /// The value.
    pub value: SecretValue,
    /// The hosts that may receive the secret from items of other owners.
    pub allowed_hosts: Vec<String>,
}

impl Read {
    /// Parses and checks a body. A name in the body must match the path.
    pub fn of(asked: &Asked, compat: Compat, name: &str) -> Result<Self, Refusal> {
        let value = Cleared(asked.json()?);
        let mut reader = Reader::new(compat, Origin::Api);
        let secret = Secret::read(&mut reader, &Place::Root, &value.0);
        check_name(Kind::Secret, &secret.name, name)?;
        let secret = reader.finish(secret)?;
        match secret.value {
            Some(value) => Ok(Self {
                value,
                allowed_hosts: secret.allowed_hosts,
            }),
            None => Err(Refusal::invalid("value is required")),
        }
    }
}
