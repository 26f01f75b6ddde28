//! Token headers: parsing, and the check that they are supported.

use std::borrow::Cow;

use super::super::{BuiltinError, Members};
use crate::value::{ObjectView, TextView, TextViewRepr, ValueRef};

/// Header parameters that affect verification.
#[derive(Default)]
pub struct Header<'e> {
    /// Algorithm. Empty if there is none.
    pub algorithm: Cow<'e, str>,
    /// Id of the key that signed the token.
    pub key_id: Option<Cow<'e, str>>,
    /// `true` if the payload is a token, too.
    pub nested: bool,
    /// `true` if a critical parameter is not supported.
    pub beyond: bool,
}

impl<'e> Header<'e> {
    /// Decodes the parameters, in the order of their names.
    pub fn read(object: ObjectView<'e>) -> Result<Self, BuiltinError> {
        let mut header = Self::default();
        let mut critical = None;
        let mut unknown = Vec::new();
        for (name, value) in object.iter() {
            let Some(key) = name.as_text() else {
                continue;
            };
            match key.as_bytes() {
                b"alg" => header.algorithm = text("alg", value)?,
                b"kid" => header.key_id = Some(text("kid", value)?),
                b"typ" => drop(text("typ", value)?),
                b"cty" => header.nested = text("cty", value)?.eq_ignore_ascii_case("JWT"),
                b"crit" => critical = Some(names(value)?),
                _ => unknown.push(name),
            }
        }
        header.beyond = critical.is_some_and(|critical| {
            critical
                .iter()
                .any(|name| unknown.iter().any(|other| other == name))
        });
        Ok(header)
    }

    /// Returns `true` if the token can be verified.
    pub fn is_valid(&self) -> bool {
        !self.algorithm.is_empty() && !self.beyond
    }
}

fn text<'e>(name: &str, value: ValueRef<'e>) -> Result<Cow<'e, str>, BuiltinError> {
    match value.as_text() {
        Some(TextView(TextViewRepr::Utf8(text))) => Ok(Cow::Borrowed(text)),
        Some(text) => Ok(Cow::Owned(text.to_str().into_owned())),
        None => Err(BuiltinError::error(format!("{name}: must be a string"))),
    }
}

/// Returns the names in a list. Elements that are not strings are ignored.
fn names(value: ValueRef<'_>) -> Result<Vec<ValueRef<'_>>, BuiltinError> {
    let Some(Members::Array(list)) = Members::from_value(value) else {
        return Err(BuiltinError::error("crit: must be a list"));
    };
    let names: Vec<ValueRef<'_>> = list
        .iter()
        .filter(|name| name.as_text().is_some())
        .collect();
    if names.is_empty() {
        return Err(BuiltinError::error("crit: must be a nonempty list"));
    }
    Ok(names)
}
