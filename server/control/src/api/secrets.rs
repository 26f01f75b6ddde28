//! Secrets as bodies describe them.

use super::items::check_name;
use super::request::Asked;
use crate::error::Refusal;
use crate::model::{Compat, Kind, Origin, Place, Reader, Secret, SecretValue};
use crate::secrets::Cleared;

/// A secret as a body describes it.
pub struct Read {
    /// Its value.
    pub value: SecretValue,
    /// The hosts that may receive it from items of others.
    pub allowed_hosts: Vec<String>,
}

impl Read {
    /// Reads and checks a body. A name in it must be that of the path.
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
