//! Constraints on tokens and their claims.

use std::cmp::Ordering;

use super::header::Header;
use super::keys::{Keys, Trusted};
use crate::bug::bug;
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::value::{Number, NumberBuf, ObjectView, TextView, TextViewRepr, ValueRef};

pub struct Constraints<'e> {
    /// Keys or secret that must have signed the token.
    pub trusted: Trusted<'e>,
    algorithm: TextView<'e>,
    issuer: TextView<'e>,
    audience: Option<TextView<'e>>,
    /// Current time, in seconds since 1970.
    now: f64,
}

impl<'e> Constraints<'e> {
    /// Parses constraints, in the order of their names.
    pub fn read(call: &BuiltinContext<'e>, object: ObjectView<'e>) -> Result<Self, BuiltinError> {
        let empty = TextView(TextViewRepr::Utf8(""));
        let (mut certificate, mut secret) = (None, None);
        let (mut algorithm, mut issuer, mut audience) = (empty, empty, None);
        let mut now = None;
        for (name, value) in object.iter() {
            let key = name.as_text();
            match key.as_ref().map(TextView::as_bytes) {
                Some(b"alg") => algorithm = text("alg", value)?,
                Some(b"aud") => audience = Some(text("aud", value)?),
                Some(b"cert") => {
                    certificate = Some(Keys::read(call, text("cert", value)?.as_bytes())?);
                }
                Some(b"iss") => issuer = text("iss", value)?,
                Some(b"secret") => secret = Some(text("secret", value)?),
                Some(b"time") => now = Some(time(value)?),
                _ => {
                    return Err(BuiltinError::error(format!(
                        "unknown token validation constraint: {}",
                        key.map_or_else(
                            || name.rego_text().to_string(),
                            |key| key.to_str().into_owned()
                        )
                    )));
                }
            }
        }
        let secret = secret.filter(|secret| !secret.as_bytes().is_empty());
        let trusted = match (certificate, secret) {
            (None, None) => return Err(BuiltinError::error("no key constraint")),
            (Some(_), Some(_)) => return Err(BuiltinError::error("duplicate key constraints")),
            (Some(keys), None) => Trusted::Keys(keys),
            (None, Some(secret)) => Trusted::Secret(secret),
        };
        #[expect(clippy::cast_precision_loss, reason = "time is compared as a float")]
        let now = now.unwrap_or_else(|| call.now_ns() as f64) / 1e9;
        Ok(Self {
            trusted,
            algorithm,
            issuer,
            audience,
            now,
        })
    }

    /// Returns `true` if a header names the required algorithm.
    pub fn allow(&self, header: &Header<'_>) -> bool {
        let required = self.algorithm.as_bytes();
        required.is_empty() || required == header.algorithm.as_bytes()
    }

    /// Returns `true` if the claims satisfy the constraints and the token is valid now.
    pub fn are_satisfied(&self, claims: ObjectView<'_>) -> Result<bool, BuiltinError> {
        if !self.issuer.as_bytes().is_empty() {
            let issuer = claims.get_str("iss").and_then(|value| value.as_text());
            if issuer.is_none_or(|issuer| issuer.as_bytes() != self.issuer.as_bytes()) {
                return Ok(false);
            }
        }
        let audience_fits = match (claims.get_str("aud"), &self.audience) {
            (None, None) => true,
            (Some(claim), Some(required)) => {
                let is_selected = |value: ValueRef<'_>| {
                    value
                        .as_text()
                        .is_some_and(|text| text.as_bytes() == required.as_bytes())
                };
                is_selected(claim)
                    || claim
                        .as_array()
                        .is_some_and(|all| all.iter().any(is_selected))
            }
            _ => false,
        };
        if !audience_fits {
            return Ok(false);
        }
        if let Some(end) = claims.get_str("exp") {
            let end = end
                .as_number()
                .ok_or_else(|| BuiltinError::error("exp value must be a number"))?;
            if self.compare_now(end).is_ge() {
                return Ok(false);
            }
        }
        if let Some(start) = claims.get_str("nbf") {
            let start = start
                .as_number()
                .ok_or_else(|| BuiltinError::error("nbf value must be a number"))?;
            if self.compare_now(start).is_lt() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Constraints<'_> {
    /// Unreachable: the time of verification is always finite.
    #[cold]
    fn no_time() -> Ordering {
        bug!("the current time is not finite")
    }

    /// Compares the current time with a time of a token as decimal numbers. Whole seconds convert to distinct floats,
    /// so comparing floats is equivalent.
    fn compare_now(&self, time: Number<'_>) -> Ordering {
        const EXACT: i64 = 1 << f64::MANTISSA_DIGITS;
        if let Number::Int(second) = time
            && (-EXACT..=EXACT).contains(&second)
        {
            #[expect(clippy::cast_precision_loss, reason = "it is in the range without any")]
            let second = second as f64;
            return self.now.partial_cmp(&second).unwrap_or_else(Self::no_time);
        }
        let now = NumberBuf::from_f64(self.now);
        now.map_or_else(Self::no_time, |now| now.as_number().compare(time))
    }
}

fn text<'e>(name: &str, value: ValueRef<'e>) -> Result<TextView<'e>, BuiltinError> {
    value
        .as_text()
        .ok_or_else(|| BuiltinError::error(format!("{name} constraint: must be a string")))
}

/// Parses nanoseconds since 1970.
fn time(value: ValueRef<'_>) -> Result<f64, BuiltinError> {
    let wrong = |reason: &str| BuiltinError::error(format!("token time constraint: {reason}"));
    let number = value
        .as_number()
        .ok_or_else(|| wrong("must be a number"))?
        .to_f64();
    if !number.is_finite() {
        return Err(wrong("unvalid float64"));
    }
    if number < 0.0 {
        return Err(wrong("must not be negative"));
    }
    Ok(number)
}
