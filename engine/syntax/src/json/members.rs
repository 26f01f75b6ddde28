//! Typed access to members of objects and elements of arrays.

use std::borrow::Cow;
use std::sync::Arc;

use super::document::{Document, Error};

#[derive(Clone, Copy)]
pub(super) struct Members<'d>(&'d [(Cow<'d, str>, Document<'d>)]);

impl<'d> Members<'d> {
    pub(super) fn from_document(document: &'d Document<'d>) -> Result<Self, Error> {
        match document {
            Document::Object(members) => Ok(Self(members)),
            other => Err(Error::new(format!(
                "expected an object, found {}",
                other.kind()
            ))),
        }
    }

    /// Returns a member, or `None` if it is missing or null.
    pub(super) fn get(self, key: &str) -> Option<&'d Document<'d>> {
        let member = self.0.iter().rev().find(|(name, _)| name == key);
        member
            .map(|(_, value)| value)
            .filter(|value| !matches!(value, Document::Null))
    }

    pub(super) fn required(self, key: &str) -> Result<&'d Document<'d>, Error> {
        self.get(key)
            .ok_or_else(|| Error::new(format!("missing `{key}`")))
    }

    /// Decodes a required member.
    pub(super) fn read<T>(
        self,
        key: &str,
        convert: impl FnOnce(&'d Document<'d>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        convert(self.required(key)?).map_err(|error| error.at_key(key))
    }

    /// Decodes an optional member. Returns `None` if it is missing. The error of `convert` gets the key.
    pub(super) fn read_optional<T>(
        self,
        key: &str,
        convert: impl FnOnce(&'d Document<'d>) -> Result<T, Error>,
    ) -> Result<Option<T>, Error> {
        self.get(key)
            .map(convert)
            .transpose()
            .map_err(|error| error.at_key(key))
    }

    pub(super) fn flag(self, key: &str) -> Result<bool, Error> {
        Ok(self.read_optional(key, boolean)?.unwrap_or(false))
    }
}

pub(super) fn boolean(document: &Document<'_>) -> Result<bool, Error> {
    match document {
        Document::Boolean(value) => Ok(*value),
        other => Err(Error::new(format!(
            "expected a boolean, found {}",
            other.kind()
        ))),
    }
}

pub(super) fn string(document: &Document<'_>) -> Result<Arc<str>, Error> {
    match document {
        Document::String(text) => Ok(Arc::from(&**text)),
        other => Err(Error::new(format!(
            "expected a string, found {}",
            other.kind()
        ))),
    }
}

pub(super) fn number(document: &Document<'_>) -> Result<Arc<str>, Error> {
    match document {
        Document::Number(text) => Ok(Arc::from(&**text)),
        other => Err(Error::new(format!(
            "expected a number, found {}",
            other.kind()
        ))),
    }
}

pub(super) fn integer(document: &Document<'_>) -> Result<u32, Error> {
    let text = number(document)?;
    text.parse()
        .map_err(|_| Error::new(format!("expected a small integer, found {text}")))
}

pub(super) fn array<'d>(document: &'d Document<'d>) -> Result<&'d [Document<'d>], Error> {
    match document {
        Document::Array(elements) => Ok(elements),
        other => Err(Error::new(format!(
            "expected an array, found {}",
            other.kind()
        ))),
    }
}

/// Decodes each element of an array.
pub(super) fn list<'d, T>(
    document: &'d Document<'d>,
    mut convert: impl FnMut(&'d Document<'d>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let elements = array(document)?;
    let mut out = Vec::with_capacity(elements.len());
    for (index, element) in elements.iter().enumerate() {
        match convert(element) {
            Ok(item) => out.push(item),
            Err(error) => return Err(error.at_index(index)),
        }
    }
    Ok(out)
}
