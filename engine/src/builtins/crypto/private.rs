//! Private keys: PKCS #1, PKCS #8 and SEC 1.

use aws_lc_rs::agreement;

use super::asn1;
use super::certificate::names::dotted;
use super::curve::{self, Curve, PublicPoint};
use super::der::{self, Reader};
use super::public::{Algorithm, PublicKey, oid, positive};
use super::rsa::{MOST_BITS, RsaPrivate, RsaPublic};
use super::signature::ed25519_public;

/// A private key.
#[derive(Clone)]
pub enum PrivateKey {
    /// RSA
    Rsa(Box<RsaPrivate>),
    /// A scalar, and the point that is public.
    Ec(PublicPoint, Box<[u8]>),
    /// The seed, and the public key.
    Ed25519(Box<[u8]>, Box<[u8]>),
    /// For key agreement only: the key, and the public key.
    X25519(Box<[u8]>, Box<[u8]>),
}

/// The forms in which private keys are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// RSA (PKCS #1).
    Pkcs1,
    /// Any key, with its algorithm (PKCS #8).
    Pkcs8,
    /// A key on a curve (SEC 1).
    Sec1,
}

impl Form {
    /// The form that a label of a block stands for.
    pub fn by_label(label: &[u8]) -> Option<Self> {
        match label {
            b"RSA PRIVATE KEY" => Some(Self::Pkcs1),
            b"PRIVATE KEY" => Some(Self::Pkcs8),
            b"EC PRIVATE KEY" => Some(Self::Sec1),
            _ => None,
        }
    }

    /// Reads a key; the error is the message.
    pub fn read(self, text: &[u8]) -> Result<PrivateKey, String> {
        let key = match self {
            Self::Pkcs1 => pkcs1(text),
            Self::Pkcs8 => pkcs8(text),
            Self::Sec1 => sec1(text, None),
        };
        key.map_err(|fault| match fault {
            Fault::Key(message) => message,
            Fault::Structure(message) => self.hint(text).unwrap_or_else(|| match self {
                Self::Sec1 => format!("x509: failed to parse EC private key: {message}"),
                _ => message,
            }),
        })
    }

    /// Which form would have been right.
    fn hint(self, text: &[u8]) -> Option<String> {
        let others = [
            (Self::Sec1, "EC"),
            (Self::Pkcs8, "PKCS8"),
            (Self::Pkcs1, "PKCS1"),
        ];
        let (_, name) = others
            .into_iter()
            .find(|(form, _)| *form != self && form.fits(text))?;
        Some(format!(
            "x509: failed to parse private key (use Parse{name}PrivateKey instead for this key format)"
        ))
    }

    /// Whether a text has the structure of this form.
    fn fits(self, text: &[u8]) -> bool {
        let Some(mut fields) = Reader::new(text).inside(der::SEQUENCE) else {
            return false;
        };
        if fields.small().is_none() {
            return false;
        }
        match self {
            Self::Pkcs1 => (0..5).all(|_| fields.integer().is_some()),
            Self::Pkcs8 => {
                let algorithm = fields.inside(der::SEQUENCE).map(Algorithm::read);
                matches!(algorithm, Some(Ok(_))) && fields.take(der::OCTET_STRING).is_some()
            }
            Self::Sec1 => fields.take(der::OCTET_STRING).is_some(),
        }
    }
}

/// Why a key was not read.
enum Fault {
    /// The text has another structure.
    Structure(String),
    /// The key is none.
    Key(String),
}

fn key_fault(message: &str) -> Fault {
    Fault::Key(message.to_owned())
}

#[expect(clippy::many_single_char_names, reason = "the letters of RSA")]
fn pkcs1(text: &[u8]) -> Result<PrivateKey, Fault> {
    const NAME: &str = "pkcs1PrivateKey";
    let mut outer = Reader::new(text);
    let mut fields = asn1::structure(&mut outer, NAME).map_err(Fault::Structure)?;
    let malformed = |fields: Reader<'_>| Fault::Structure(asn1::field(fields, NAME));
    let version = fields.small().ok_or_else(|| malformed(fields))?;
    let n = fields.integer().ok_or_else(|| malformed(fields))?;
    let mut exponent = fields;
    let e = fields.small().ok_or_else(|| malformed(fields))?;
    let mut number = || fields.integer().ok_or_else(|| malformed(fields));
    let (d, p, q) = (number()?, number()?, number()?);
    // what makes it faster may be missing
    let mut shortcut = || {
        if fields.is_empty() {
            return Ok(None);
        }
        fields.integer().map(Some).ok_or_else(|| malformed(fields))
    };
    let shortcuts = [shortcut()?, shortcut()?, shortcut()?];
    let more_primes = !fields.is_empty();
    if !outer.is_empty() {
        return Err(Fault::Key(asn1::trailing()));
    }
    if version > 1 || more_primes {
        return Err(key_fault("x509: unsupported private key version"));
    }
    let checked = |number: &[u8]| {
        positive(number)
            .map(Box::<[u8]>::from)
            .ok_or_else(|| key_fault("x509: private key contains zero or negative value"))
    };
    let (n, d, p, q) = (checked(n)?, checked(d)?, checked(p)?, checked(q)?);
    let [dp, dq, inverse] = shortcuts.map(|number| number.map(checked).transpose());
    let shortcuts = [dp?, dq?, inverse?];
    if [&n, &p, &q].iter().any(|number| ***number == [1]) {
        return Err(key_fault("modulus must be > 1"));
    }
    let most = usize::try_from(MOST_BITS / 8).unwrap_or(usize::MAX);
    if [&n, &d, &p, &q].iter().any(|number| number.len() > most) {
        return Err(key_fault("crypto/rsa: key too large"));
    }
    let exponent = exponent
        .natural()
        .filter(|_| e > 1)
        .ok_or_else(|| key_fault("crypto/rsa: public exponent too small or negative"))?;
    let key = RsaPrivate {
        public: RsaPublic {
            n,
            e: exponent.into(),
        },
        d,
        primes: [p, q],
        shortcuts,
    };
    match key.inconsistency() {
        Some(message) => Err(key_fault(message)),
        None => Ok(PrivateKey::Rsa(Box::new(key))),
    }
}

fn sec1(text: &[u8], outer_curve: Option<Curve>) -> Result<PrivateKey, Fault> {
    const NAME: &str = "ecPrivateKey";
    const PUBLIC: u8 = 0xa1;
    let mut fields = asn1::structure(&mut Reader::new(text), NAME).map_err(Fault::Structure)?;
    let malformed = |fields: Reader<'_>| Fault::Structure(asn1::field(fields, NAME));
    let version = fields.small().ok_or_else(|| malformed(fields))?;
    let scalar = fields
        .take(der::OCTET_STRING)
        .ok_or_else(|| malformed(fields))?;
    let named = fields
        .optional(der::CONTEXT_0)
        .ok_or_else(|| malformed(fields))?;
    let public = fields.optional(PUBLIC).ok_or_else(|| malformed(fields))?;
    if version != 1 {
        return Err(Fault::Key(format!(
            "x509: unknown EC private key version {version}"
        )));
    }
    let own_curve = || Curve::by_oid(Reader::new(named?).oid()?);
    let curve = outer_curve
        .or_else(own_curve)
        .ok_or_else(|| key_fault("x509: unknown elliptic curve"))?;
    let zeros = scalar.len().saturating_sub(curve.len());
    let (front, scalar) = scalar.split_at_checked(zeros).unwrap_or_default();
    if front.iter().any(|byte| *byte != 0) {
        return Err(key_fault("x509: invalid private key length"));
    }
    let scalar = [&*vec![0; curve.len() - scalar.len()], scalar].concat();
    // no arithmetic on P-224: its public key is taken as it is written
    let written = || {
        let point = Reader::new(public?).bits()?.bytes;
        curve.contains(point).then(|| PublicPoint {
            curve,
            point: point.into(),
        })
    };
    let public = match curve {
        Curve::P224 => written(),
        _ => curve::public(curve, &scalar),
    };
    let public =
        public.ok_or_else(|| key_fault("x509: invalid elliptic curve private key value"))?;
    Ok(PrivateKey::Ec(public, scalar.into()))
}

fn pkcs8(text: &[u8]) -> Result<PrivateKey, Fault> {
    const NAME: &str = "pkcs8";
    let mut fields = asn1::structure(&mut Reader::new(text), NAME).map_err(Fault::Structure)?;
    let malformed = |fields: Reader<'_>| Fault::Structure(asn1::field(fields, NAME));
    fields.small().ok_or_else(|| malformed(fields))?;
    let algorithm = fields
        .inside(der::SEQUENCE)
        .ok_or_else(|| malformed(fields))?;
    let algorithm =
        Algorithm::read(algorithm).map_err(|error| Fault::Structure(error.to_owned()))?;
    let key = fields
        .take(der::OCTET_STRING)
        .ok_or_else(|| malformed(fields))?;
    let embedded = |kind: &str, fault: Fault| {
        let (Fault::Key(message) | Fault::Structure(message)) = fault;
        Fault::Key(format!(
            "x509: failed to parse {kind} private key embedded in PKCS#8: {message}"
        ))
    };
    match algorithm.oid {
        oid::RSA => pkcs1(key).map_err(|fault| embedded("RSA", fault)),
        oid::EC => {
            let named = algorithm
                .parameters
                .filter(|parameters| parameters.tag == der::OID)
                .and_then(|parameters| Curve::by_oid(parameters.content));
            sec1(key, named).map_err(|fault| embedded("EC", fault))
        }
        oid::ED25519 | oid::X25519 => octets(algorithm, key),
        other => Err(Fault::Key(format!(
            "x509: PKCS#8 wrapping contained private key with unknown algorithm: {}",
            dotted(other)
        ))),
    }
}

fn octets(algorithm: Algorithm<'_>, key: &[u8]) -> Result<PrivateKey, Fault> {
    let edwards = algorithm.oid == oid::ED25519;
    let name = if edwards { "Ed25519" } else { "X25519" };
    if algorithm.parameters.is_some() {
        return Err(Fault::Key(format!(
            "x509: invalid {name} private key parameters"
        )));
    }
    let seed = Reader::new(key).take(der::OCTET_STRING).ok_or_else(|| {
        let error = asn1::field(Reader::new(key), "[]uint8");
        Fault::Key(format!("x509: invalid {name} private key: {error}"))
    })?;
    let wrong = || {
        let length = seed.len();
        Fault::Key(if edwards {
            format!("x509: invalid Ed25519 private key length: {length}")
        } else {
            "crypto/ecdh: invalid private key size".to_owned()
        })
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
    /// Reads a key of whatever form, as TLS does.
    pub fn of_any_form(text: &[u8]) -> Result<Self, String> {
        let forms = [Form::Pkcs1, Form::Pkcs8, Form::Sec1];
        let key = forms.into_iter().find_map(|form| form.read(text).ok());
        key.ok_or_else(|| "tls: failed to parse private key".to_owned())
    }

    /// Checks that a public key belongs to it; the error is the message.
    pub fn check(&self, public: Option<&PublicKey>) -> Result<(), &'static str> {
        let same = match (public, self) {
            (Some(PublicKey::Rsa(public)), Self::Rsa(key)) => public.n == key.public.n,
            (Some(PublicKey::Ec(public)), Self::Ec(own, _)) => {
                public.curve == own.curve && public.point == own.point
            }
            (Some(PublicKey::Ed25519(public)), Self::Ed25519(_, own)) => public == own,
            (Some(PublicKey::Rsa(_) | PublicKey::Ec(_) | PublicKey::Ed25519(_)), _) => {
                return Err("tls: private key type does not match public key type");
            }
            _ => return Err("tls: unknown public key algorithm"),
        };
        if same {
            Ok(())
        } else {
            Err("tls: private key does not match public key")
        }
    }
}
