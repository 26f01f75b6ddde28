//! Private keys: PKCS #1, PKCS #8 and SEC 1.

use aws_lc_rs::agreement;

use super::asn1::{Asn1Error, FieldReader, TRAILING};
use super::certificate::dotted;
use super::curve::{self, Curve, PublicPoint};
use super::der::{self, Bits};
use super::oids;
use super::public::{AlgorithmIdentifier, PublicKey, positive};
use super::rsa::{RsaPrivate, RsaPublic};
use super::signature::ed25519_public;
use crate::bug::Within;
use crate::limits::RSA_BITS;

#[derive(Clone)]
pub enum PrivateKey {
    Rsa(Box<RsaPrivate>),
    Ec(PublicPoint, Box<[u8]>),
    /// Seed, and the public key.
    Ed25519(Box<[u8]>, Box<[u8]>),
    /// Key and public key, for key agreement only.
    X25519(Box<[u8]>, Box<[u8]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyEncoding {
    /// RSA (PKCS #1).
    Pkcs1,
    /// Any key, with its algorithm (PKCS #8).
    Pkcs8,
    Sec1,
}

impl KeyEncoding {
    /// Returns the encoding for the label of a PEM block, or `None` for other labels.
    pub fn by_label(label: &[u8]) -> Option<Self> {
        match label {
            b"RSA PRIVATE KEY" => Some(Self::Pkcs1),
            b"PRIVATE KEY" => Some(Self::Pkcs8),
            b"EC PRIVATE KEY" => Some(Self::Sec1),
            _ => None,
        }
    }

    /// Decodes a key. The error is the message.
    pub fn read(self, text: &[u8]) -> Result<PrivateKey, Asn1Error> {
        match self {
            Self::Pkcs1 => match Pkcs1::read(text) {
                // Go reports trailing data first
                Ok((_, rest)) if !rest.is_empty() => Err(TRAILING.into()),
                Ok((fields, _)) => fields.key(),
                Err(problem) => Err(self.hint(text).unwrap_or(problem)),
            },
            Self::Pkcs8 => match Pkcs8::read(text) {
                Ok(fields) => fields.key(),
                Err(problem) => Err(self.hint(text).unwrap_or(problem)),
            },
            Self::Sec1 => sec1(text, None),
        }
    }

    /// Returns an error that names the correct encoding.
    fn hint(self, text: &[u8]) -> Option<Asn1Error> {
        let other_encodings = [
            (Self::Sec1, "EC"),
            (Self::Pkcs8, "PKCS8"),
            (Self::Pkcs1, "PKCS1"),
        ];
        let (_, name) = other_encodings
            .into_iter()
            .find(|(form, _)| *form != self && form.fits(text))?;
        let hint = format!(
            "x509: failed to parse private key (use Parse{name}PrivateKey instead for this key format)"
        );
        Some(hint.into())
    }

    /// Returns `true` if a text has the structure of this encoding.
    fn fits(self, text: &[u8]) -> bool {
        match self {
            Self::Pkcs1 => Pkcs1::read(text).is_ok(),
            Self::Pkcs8 => Pkcs8::read(text).is_ok(),
            Self::Sec1 => Sec1::read(text).is_ok(),
        }
    }
}

/// Undecoded RSA key.
struct Pkcs1<'d> {
    version: i64,
    n: &'d [u8],
    e: i64,
    d: &'d [u8],
    primes: [&'d [u8]; 2],
    /// Precomputed values.
    shortcuts: [Option<&'d [u8]>; 3],
    more_primes: bool,
}

impl<'d> Pkcs1<'d> {
    /// Decodes the structure. Also returns the bytes after it.
    fn read(text: &'d [u8]) -> Result<(Self, &'d [u8]), Asn1Error> {
        let (mut fields, rest) = FieldReader::parse_struct(text, "pkcs1PrivateKey")?;
        let key_fields = Self {
            version: fields.small()?,
            n: fields.integer()?,
            e: fields.small()?,
            d: fields.integer()?,
            primes: [fields.integer()?, fields.integer()?],
            shortcuts: [
                fields.optional_integer()?,
                fields.optional_integer()?,
                fields.optional_integer()?,
            ],
            more_primes: more_primes(&mut fields)?,
        };
        Ok((key_fields, rest))
    }

    #[expect(clippy::many_single_char_names, reason = "the letters of RSA")]
    fn key(self) -> Result<PrivateKey, Asn1Error> {
        if self.version > 1 || self.more_primes {
            return Err("x509: unsupported private key version".into());
        }
        let positive_number = |number: &[u8]| {
            positive(number)
                .map(Box::<[u8]>::from)
                .ok_or("x509: private key contains zero or negative value")
        };
        let [p, q] = self.primes;
        let (n, d, p, q) = (
            positive_number(self.n)?,
            positive_number(self.d)?,
            positive_number(p)?,
            positive_number(q)?,
        );
        let [dp, dq, inverse] = self
            .shortcuts
            .map(|number| number.map(positive_number).transpose());
        let shortcuts = [dp?, dq?, inverse?];
        let max_bytes = usize::try_from(RSA_BITS / 8).unwrap_or(usize::MAX);
        if [&n, &d, &p, &q]
            .iter()
            .any(|number| number.len() > max_bytes)
        {
            return Err("crypto/rsa: key too large".into());
        }
        let e = self.e.max(0).to_be_bytes();
        let zeros = e.iter().take_while(|byte| **byte == 0).count();
        let key = RsaPrivate {
            public: RsaPublic {
                n,
                e: e.within(zeros..).into(),
            },
            d,
            primes: [p, q],
            shortcuts,
        };
        match key.inconsistency() {
            Some(message) => Err(message.into()),
            None => Ok(PrivateKey::Rsa(Box::new(key))),
        }
    }
}

/// Returns `true` if the key has more than two primes.
fn more_primes(fields: &mut FieldReader<'_>) -> Result<bool, Asn1Error> {
    if !fields.next_has_tag(der::SEQUENCE)? {
        return Ok(false);
    }
    let list = fields.list(der::SEQUENCE, Some(der::SEQUENCE))?;
    for prime in &list {
        let mut numbers = FieldReader::inside(prime.content);
        for _ in 0..3 {
            numbers.integer()?;
        }
    }
    Ok(!list.is_empty())
}

/// Undecoded elliptic curve key.
struct Sec1<'d> {
    version: i64,
    scalar: &'d [u8],
    curve: Option<Curve>,
    point: Option<Bits<'d>>,
}

impl<'d> Sec1<'d> {
    fn read(text: &'d [u8]) -> Result<Self, Asn1Error> {
        let (mut fields, _) = FieldReader::parse_struct(text, "ecPrivateKey")?;
        Ok(Self {
            version: fields.small()?,
            scalar: fields.octets()?,
            curve: fields.tagged_oid(0)?.and_then(Curve::by_oid),
            point: fields.tagged_bits(1)?,
        })
    }
}

/// Decodes an elliptic curve key. Its curve may be given outside the key; `Some(None)` is an unsupported curve.
#[expect(clippy::option_option, reason = "not named, not known and known")]
fn sec1(text: &[u8], outer_curve: Option<Option<Curve>>) -> Result<PrivateKey, Asn1Error> {
    let fields = match Sec1::read(text) {
        Ok(fields) => fields,
        Err(problem) => {
            return Err(KeyEncoding::Sec1.hint(text).unwrap_or_else(|| {
                format!("x509: failed to parse EC private key: {problem}").into()
            }));
        }
    };
    if fields.version != 1 {
        let version = fields.version;
        return Err(format!("x509: unknown EC private key version {version}").into());
    }
    let curve = outer_curve.unwrap_or(fields.curve);
    let curve = curve.ok_or("x509: unknown elliptic curve")?;
    let zeros = fields.scalar.len().saturating_sub(curve.len());
    let (front, scalar) = fields.scalar.split_at_checked(zeros).unwrap_or_default();
    if front.iter().any(|byte| *byte != 0) {
        return Err("x509: invalid private key length".into());
    }
    let scalar = [&*vec![0; curve.len() - scalar.len()], scalar].concat();
    let public = match curve {
        // this curve has no arithmetic: the encoded public key is used
        Curve::P224 => {
            let point = fields.point.map(|point| point.bytes());
            let point = point.filter(|point| curve.contains(point));
            let point = point.ok_or("x509: invalid elliptic curve private key value")?;
            PublicPoint {
                curve,
                point: point.into(),
            }
        }
        _ => match curve::public(curve, &scalar) {
            Some(public) => public,
            None if scalar.iter().all(|byte| *byte == 0) => {
                return Err("ecdsa: invalid public key encoding".into());
            }
            None => return Err("input overflows the modulus".into()),
        },
    };
    Ok(PrivateKey::Ec(public, scalar.into()))
}

/// A private key in PKCS#8: its algorithm, and the key as undecoded bytes.
struct Pkcs8<'d> {
    algorithm: AlgorithmIdentifier<'d>,
    key: &'d [u8],
}

impl<'d> Pkcs8<'d> {
    fn read(text: &'d [u8]) -> Result<Self, Asn1Error> {
        let (mut fields, _) = FieldReader::parse_struct(text, "pkcs8")?;
        fields.small()?;
        Ok(Self {
            algorithm: AlgorithmIdentifier::field(&mut fields)?,
            key: fields.octets()?,
        })
    }

    fn key(self) -> Result<PrivateKey, Asn1Error> {
        let Self { algorithm, key } = self;
        let embedded = |kind: &str, problem: Asn1Error| -> Asn1Error {
            format!("x509: failed to parse {kind} private key embedded in PKCS#8: {problem}").into()
        };
        match algorithm.oid {
            oids::RSA => KeyEncoding::Pkcs1
                .read(key)
                .map_err(|problem| embedded("RSA", problem)),
            oids::EC => {
                let parameters = algorithm.parameters;
                let curve_oid = parameters
                    .and_then(|parameters| FieldReader::inside(parameters.whole).oid().ok());
                sec1(key, curve_oid.map(Curve::by_oid)).map_err(|problem| embedded("EC", problem))
            }
            oids::ED25519 | oids::X25519 => octets(algorithm, key),
            other => Err(format!(
                "x509: PKCS#8 wrapping contained private key with unknown algorithm: {}",
                dotted::text(other)
            )
            .into()),
        }
    }
}

fn octets(algorithm: AlgorithmIdentifier<'_>, key: &[u8]) -> Result<PrivateKey, Asn1Error> {
    let edwards = algorithm.oid == oids::ED25519;
    let name = if edwards { "Ed25519" } else { "X25519" };
    if algorithm.parameters.is_some() {
        return Err(format!("x509: invalid {name} private key parameters").into());
    }
    let seed = FieldReader::inside(key)
        .octets()
        .map_err(|problem| format!("x509: invalid {name} private key: {problem}"))?;
    let wrong = || -> Asn1Error {
        let length = seed.len();
        if edwards {
            format!("x509: invalid Ed25519 private key length: {length}").into()
        } else {
            "crypto/ecdh: invalid private key size".into()
        }
    };
    if seed.len() != 32 {
        return Err(wrong());
    }
    if edwards {
        let public = ed25519_public(seed).ok_or_else(wrong)?;
        return Ok(PrivateKey::Ed25519(seed.into(), public.into()));
    }
    let public = agreement::PrivateKey::from_private_key(&agreement::X25519, seed)
        .ok()
        .and_then(|key| key.compute_public_key().ok())
        .ok_or_else(wrong)?;
    Ok(PrivateKey::X25519(seed.into(), public.as_ref().into()))
}

impl PrivateKey {
    /// Decodes a key in any encoding, as TLS does. Fails if no encoding fits.
    pub fn parse_any_encoding(text: &[u8]) -> Result<Self, String> {
        let forms = [KeyEncoding::Pkcs1, KeyEncoding::Pkcs8, KeyEncoding::Sec1];
        let key = forms
            .into_iter()
            .find_map(|encoding| encoding.read(text).ok());
        key.ok_or_else(|| "tls: failed to parse private key".to_owned())
    }

    /// Checks that a public key belongs to this key. The error is the message.
    pub fn check(&self, public: Option<&PublicKey>) -> Result<(), &'static str> {
        let matches = match (public, self) {
            (Some(PublicKey::Rsa(public)), Self::Rsa(key)) => public.n == key.public.n,
            (Some(PublicKey::Ec(public)), Self::Ec(key, _)) => {
                public.curve == key.curve && public.point == key.point
            }
            (Some(PublicKey::Ed25519(public)), Self::Ed25519(_, key)) => public == key,
            (Some(PublicKey::Rsa(_) | PublicKey::Ec(_) | PublicKey::Ed25519(_)), _) => {
                return Err("tls: private key type does not match public key type");
            }
            _ => return Err("tls: unknown public key algorithm"),
        };
        if matches {
            Ok(())
        } else {
            Err("tls: private key does not match public key")
        }
    }
}
