//! JSON Web Keys (JWK) and sets of them.

use super::jwk_fields::JwkFields;
use crate::builtins::crypto::curve::{Curve, PublicPoint};
use crate::builtins::crypto::rsa::{RsaPrivate, RsaPublic};
use crate::value::{Arena, Kind, RefRepr, ValueRef, json};

#[derive(Clone)]
pub struct Jwk {
    pub algorithm: Option<Box<str>>,
    /// `kid`
    pub id: Option<Box<str>>,
    pub material: Material,
}

#[derive(Clone)]
pub enum Material {
    RsaPublic(RsaPublic),
    /// RSA. The factors may be missing.
    RsaPrivate {
        public: RsaPublic,
        d: Box<[u8]>,
        /// Factors of the modulus.
        primes: [Option<Box<[u8]>>; 2],
        /// Precomputed values, see [`RsaPrivate::shortcuts`].
        shortcuts: [Option<Box<[u8]>>; 3],
    },
    EcPublic(PublicPoint),
    EcPrivate(PublicPoint, Box<[u8]>),
    OkpPublic(OkpCurve, Box<[u8]>),
    /// Curve, public key and private key.
    OkpPrivate(OkpCurve, Box<[u8]>, Box<[u8]>),
    /// A shared secret.
    Secret(Box<[u8]>),
}

/// Curves of keys that are byte strings (`OKP`), including unsupported ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OkpCurve {
    /// For signatures.
    Ed25519,
    /// For key agreement.
    X25519,
    Other(&'static str),
}

/// Parses a key or a set of keys. The error is the message.
pub fn read(arena: &Arena, text: &[u8]) -> Result<Vec<Jwk>, String> {
    let text = arena.bump().alloc_slice_copy(text);
    let (value, has_no_rest) = json::first(arena, text).map_err(|error| {
        format!(
            "jwk.Parse: failed to parse sole key: jwk.ParseKey: jwk.Parse: failed to probe data: probe: failed to unmarshal data: {error}"
        )
    })?;
    // a set must be the whole text, while a single key may be followed by anything
    let keys = value
        .as_object()
        .filter(|_| has_no_rest)
        .and_then(|object| object.get_str("keys"));
    let Some(keys) = keys else {
        let key = key(value).map_err(|error| {
            format!("jwk.Parse: failed to parse sole key: jwk.ParseKey: {error}")
        })?;
        return Ok(vec![key]);
    };
    let Some(keys) = keys.as_array() else {
        let actual = token(keys);
        return Err(format!(
            "jwk.Parse: failed to unmarshal JWK set: failed to decode \"keys\": expected '[' but got {actual}"
        ));
    };
    keys.iter()
        .enumerate()
        .map(|(index, value)| {
            key(value).map_err(|error| {
                format!("jwk.Parse: failed to unmarshal JWK set: failed to decode key #{index} in \"keys\": jwk.ParseKey: {error}")
            })
        })
        .collect()
}

/// Returns the first token of a value, as Go's decoder prints it: `<nil>` for null, `{` for an object.
fn token(value: ValueRef<'_>) -> String {
    match value {
        ValueRef(RefRepr::Null) => "<nil>".to_owned(),
        _ if value.kind() == Kind::Object => "{".to_owned(),
        _ => match value.as_text() {
            Some(text) => text.to_str().into_owned(),
            None => value.rego_text().to_string(),
        },
    }
}

fn key(value: ValueRef<'_>) -> Result<Jwk, String> {
    const PROBE: &str =
        "jwk.Parse: failed to probe data: probe: failed to unmarshal data: json: cannot unmarshal";
    let fields: Vec<_> = match value.as_object() {
        Some(object) => object.iter().collect(),
        None if value == ValueRef(RefRepr::Null) => Vec::new(),
        None => {
            let kind = go_kind(value);
            return Err(format!(
                "{PROBE} {kind} into Go value of type struct {{ Kty string \"json:\\\"kty\\\"\"; D json.RawMessage \"json:\\\"d,omitempty\\\"\" }}"
            ));
        }
    };
    // the names of these two are case-insensitive
    let probe = |name: &str| {
        fields
            .iter()
            .rev()
            .find(|(key, _)| {
                key.as_text()
                    .is_some_and(|key| key.as_bytes().eq_ignore_ascii_case(name.as_bytes()))
            })
            .map(|(_, value)| *value)
    };
    let kind = match probe("kty") {
        None | Some(ValueRef(RefRepr::Null)) => String::new(),
        Some(value) => {
            let text = value.as_text().ok_or_else(|| {
                let kind = go_kind(value);
                format!("{PROBE} {kind} into Go struct field .kty of type string")
            })?;
            text.to_str().into_owned()
        }
    };
    let private = probe("d").is_some();
    let name = match (kind.as_str(), private) {
        ("RSA", false) => "rsaPublicKey",
        ("RSA", true) => "rsaPrivateKey",
        ("EC", false) => "ecdsaPublicKey",
        ("EC", true) => "ecdsaPrivateKey",
        ("OKP", false) => "okpPublicKey",
        ("OKP", true) => "okpPrivateKey",
        ("oct", _) => "symmetricKey",
        (other, _) => return Err(format!("invalid key type from JSON ({other})")),
    };
    let in_key = |error: String| {
        let step = format!("failed to unmarshal JSON into key (*jwk.{name})");
        format!("{step}: {step}: {error}")
    };
    let fields = JwkFields::read(&kind, private, &fields).map_err(in_key)?;
    let material = match kind.as_str() {
        "RSA" => rsa(&fields, private),
        "EC" => elliptic(&fields, private),
        "OKP" => octets(&fields, private),
        _ => secret(&fields),
    };
    Ok(Jwk {
        material: material.map_err(|error| {
            format!("jwk.Parse: key validation failed: key validation failed: jwk.{error}")
        })?,
        algorithm: fields.algorithm,
        id: fields.id,
    })
}

/// Returns the kind of a value as Go's decoder names it.
pub fn go_kind(value: ValueRef<'_>) -> &'static str {
    match value.kind() {
        Kind::Boolean => "bool",
        kind => kind.as_str(),
    }
}

fn rsa(fields: &JwkFields, private: bool) -> Result<Material, String> {
    let kind = if private {
        "RSAPrivateKey"
    } else {
        "RSAPublicKey"
    };
    let number = |name: &str| {
        fields
            .number(name)
            .ok_or_else(|| format!("{kind}: missing \"{name}\" value"))
    };
    let n = number("n")?;
    let e = number("e")?;
    let bits = e.len() * 8 - e.first().map_or(0, |first| first.leading_zeros() as usize);
    if bits > 63 {
        return Err(format!(
            "{kind}: rsa public exponent too large for this platform: {bits} bits (max 63)"
        ));
    }
    if e.last().is_none_or(|last| last & 1 == 0) {
        return Err(format!(
            "{kind}: invalid rsa public exponent: must be a positive odd integer"
        ));
    }
    let public = RsaPublic { n, e };
    if !private {
        return Ok(Material::RsaPublic(public));
    }
    Ok(Material::RsaPrivate {
        public,
        d: number("d")?,
        primes: ["p", "q"].map(|name| fields.number(name)),
        shortcuts: ["dp", "dq", "qi"].map(|name| fields.number(name)),
    })
}

fn elliptic(fields: &JwkFields, private: bool) -> Result<Material, String> {
    let kind = if private {
        "ECDSAPrivateKey"
    } else {
        "ECDSAPublicKey"
    };
    let curve = match fields.curve {
        "P-256" => Curve::P256,
        "P-384" => Curve::P384,
        "P-521" => Curve::P521,
        other => {
            return Err(format!(
                "{kind}: invalid curve algorithm \"{other}\": unknown elliptic curve algorithm: \"{other}\""
            ));
        }
    };
    let number = |name: &str| {
        let bytes = fields.bytes(name).unwrap_or_default();
        let (length, curve_name) = (bytes.len(), curve.name());
        if length == curve.len() {
            return Ok(bytes);
        }
        Err(format!(
            "{kind}: invalid \"{name}\" length ({length}) for curve \"{curve_name}\""
        ))
    };
    let (x, y) = (number("x")?, number("y")?);
    let d = if private { Some(number("d")?) } else { None };
    let point = [&[4], x, y].concat();
    if let Some(rejection) = curve.point_error(&point) {
        let reason = if point.iter().skip(1).all(|byte| *byte == 0) {
            "identity point is not a valid public key".to_owned()
        } else {
            rejection
        };
        return Err(format!("{kind}: invalid ECDSA public key: {reason}"));
    }
    let point = PublicPoint {
        curve,
        point: point.into(),
    };
    Ok(match d {
        Some(d) => Material::EcPrivate(point, d.into()),
        None => Material::EcPublic(point),
    })
}

fn octets(fields: &JwkFields, private: bool) -> Result<Material, String> {
    let kind = if private {
        "OKPPrivateKey"
    } else {
        "OKPPublicKey"
    };
    let (curve, name) = match fields.curve {
        "Ed25519" => (OkpCurve::Ed25519, "ed25519"),
        "X25519" => (OkpCurve::X25519, "x25519"),
        other => (OkpCurve::Other(other), ""),
    };
    let bytes = |field: &str| {
        fields
            .bytes(field)
            .filter(|bytes| !bytes.is_empty())
            .ok_or_else(|| format!("{kind}: missing \"{field}\" field"))
    };
    let wrong = |bytes: &[u8]| !matches!(curve, OkpCurve::Other(_)) && bytes.len() != 32;
    let x = bytes("x")?;
    if wrong(x) {
        return Err(format!("{kind}: {name}: wrong public key size"));
    }
    if !private {
        return Ok(Material::OkpPublic(curve, x.into()));
    }
    let d = bytes("d")?;
    if wrong(d) {
        return Err(format!("{kind}: {name}: wrong private key size"));
    }
    Ok(Material::OkpPrivate(curve, x.into(), d.into()))
}

fn secret(fields: &JwkFields) -> Result<Material, String> {
    match fields.bytes("k") {
        Some(bytes) if !bytes.is_empty() => Ok(Material::Secret(bytes.into())),
        _ => Err("SymmetricKey: missing \"k\" field".to_owned()),
    }
}

impl Material {
    /// Returns the approximate memory size in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::RsaPublic(key) => key.n.len(),
            Self::RsaPrivate { public, .. } => public.n.len(),
            Self::EcPublic(point) | Self::EcPrivate(point, _) => point.point.len(),
            Self::OkpPublic(_, key) | Self::OkpPrivate(_, key, _) => key.len(),
            Self::Secret(secret) => secret.len(),
        }
    }

    /// Returns the RSA private key. The error names the missing field.
    pub fn rsa_private(&self) -> Option<Result<RsaPrivate, String>> {
        let Self::RsaPrivate {
            public,
            d,
            primes: [p, q],
            shortcuts,
        } = self
        else {
            return None;
        };
        let missing = |name| Err(format!("missing \"{name}\" value"));
        Some(match (p, q) {
            (_, None) => missing("q"),
            (None, _) => missing("p"),
            (Some(p), Some(q)) => Ok(RsaPrivate {
                public: public.clone(),
                d: d.clone(),
                primes: [p.clone(), q.clone()],
                shortcuts: shortcuts.clone(),
            }),
        })
    }
}
