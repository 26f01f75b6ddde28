//! Compact tokens: header, payload and signature in base64, separated by dots.

use super::super::encoding::base64::url_safe_in;
use super::super::{BuiltinContext, BuiltinError};
use crate::bug::Within;
use crate::value::{ObjectView, ValueRef, json};

#[derive(Clone, Copy)]
pub struct EncodedToken<'t> {
    header: &'t [u8],
    payload: &'t [u8],
    signature: &'t [u8],
    /// Signed text: header, dot, payload.
    pub signed: &'t [u8],
}

impl<'t> EncodedToken<'t> {
    pub fn split(text: &'t [u8]) -> Result<Self, BuiltinError> {
        const SEGMENTS: usize = 3;
        let mut periods = memchr::memchr_iter(b'.', text);
        let (first, second) = (periods.next(), periods.next());
        let Some(first) = first else {
            return Err(BuiltinError::error("encoded JWT had no period separators"));
        };
        let further_periods = periods.count();
        match second {
            Some(second) if further_periods == 0 => {
                let part = |from, to| text.within(from..to);
                Ok(Self {
                    header: part(0, first),
                    payload: part(first + 1, second),
                    signature: part(second + 1, text.len()),
                    signed: part(0, second),
                })
            }
            _ => {
                let sections = 2 + usize::from(second.is_some()) + further_periods;
                Err(BuiltinError::error(format!(
                    "encoded JWT must have {SEGMENTS} sections, found {sections}"
                )))
            }
        }
    }

    /// Decodes the header. Fails for encrypted tokens.
    pub fn header<'e>(&self, call: &BuiltinContext<'e>) -> Result<JsonObject<'e>, BuiltinError> {
        let text = url_safe_in(call, self.header).map_err(|error| {
            BuiltinError::error(format!("JWT header had invalid encoding: {error}"))
        })?;
        let header = object(call, text)
            .map_err(|error| BuiltinError::error(format!("bad JWT header: {error}")))?;
        match header.fields.get_str("enc") {
            Some(_) => Err(BuiltinError::error(
                "JWT is a JWE object, which is not supported",
            )),
            None => Ok(header),
        }
    }

    /// Decodes the payload into the arena.
    ///
    /// # Errors
    /// The payload is not base64url, or a limit of the evaluation is reached.
    pub fn payload<'e>(&self, call: &BuiltinContext<'e>) -> Result<&'e [u8], BuiltinError> {
        url_safe_in(call, self.payload).map_err(|error| {
            BuiltinError::error(format!("JWT payload had invalid encoding: {error}"))
        })
    }

    /// Decodes the signature. The error is the message.
    pub fn signature<'e>(&self, call: &BuiltinContext<'e>) -> Result<&'e [u8], String> {
        url_safe_in(call, self.signature)
    }
}

#[derive(Clone, Copy)]
pub struct JsonObject<'e> {
    pub value: ValueRef<'e>,
    pub fields: ObjectView<'e>,
}

/// Parses JSON that must be an object. The error is the message.
pub fn object<'e>(call: &BuiltinContext<'e>, text: &'e [u8]) -> Result<JsonObject<'e>, String> {
    let value =
        json::unmarshal(call.arena, text).map_err(|error| format!("invalid JSON: {error}"))?;
    match value.as_object() {
        Some(fields) => Ok(JsonObject { value, fields }),
        None => Err("decoded JSON type was not an Object".to_owned()),
    }
}
