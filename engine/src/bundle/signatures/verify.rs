//! Verification of bundles while they are read.

use std::collections::BTreeMap;

use super::{MULTIPLE_TOKENS, Signatures, hash};
use crate::bundle::BundleFile;
use crate::bundle::archive_path::cleaned;
use crate::bundle::directory::Ignore;
use crate::bundle::go_json::{GoFields, type_error};
use crate::value::{Repr, Value, json};

/// A key that verifies bundles, with its algorithm.
#[derive(Clone)]
pub struct VerificationKey {
    algorithm: String,
    key: Vec<u8>,
    scope: String,
}

impl VerificationKey {
    /// Creates a key for one algorithm from a secret (`HS256`), or from a public key or certificate in PEM (`RS256`, `PS256`, `ES256`).
    /// Signatures by other algorithms are rejected, whatever their header says.
    pub fn new(algorithm: impl Into<String>, key: impl Into<Vec<u8>>) -> Self {
        Self {
            algorithm: algorithm.into(),
            key: key.into(),
            scope: String::new(),
        }
    }

    /// Sets the scope that a signature by this key must have. [`Verification::scope`] takes precedence.
    #[must_use]
    pub fn scope(self, scope: impl Into<String>) -> Self {
        let scope = scope.into();
        Self { scope, ..self }
    }
}

/// Rules for the verification of a bundle's signature.
///
/// The default accepts unsigned bundles and rejects signed ones, since it has no key.
///
/// ```
/// use solon::bundle::{BundleReader, Verification, VerificationKey};
///
/// let key = VerificationKey::new("HS256", "secret");
/// let reader = BundleReader::new("b").verification(Verification::by_key("default", key));
/// let error = reader.read_files(Vec::new()).unwrap_err();
/// assert_eq!(error.to_string(), "bundle b: bundle missing .signatures.json file");
/// ```
#[derive(Clone, Default)]
pub struct Verification {
    keys: BTreeMap<String, VerificationKey>,
    key_id: String,
    scope: String,
    exclude: Vec<String>,
    mode: Mode,
    allow_unsigned_deltas: bool,
    /// Minimum time of issue, in seconds since 1970.
    issued_from: Option<f64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Mode {
    Skip,
    /// Signatures are verified if the bundle has some.
    #[default]
    IfSigned,
    /// A bundle must be signed.
    Required,
}

impl Verification {
    /// Accepts all bundles and ignores signatures.
    pub fn skip() -> Self {
        Self {
            mode: Mode::Skip,
            ..Self::default()
        }
    }

    /// Requires a signature by a key, whatever key a signature names.
    pub fn by_key(id: impl Into<String>, key: VerificationKey) -> Self {
        let id = id.into();
        Self::by_keys([(id.clone(), key)]).key_id(id)
    }

    /// Requires a signature by the key that the signature names, one of these.
    pub fn by_keys(keys: impl IntoIterator<Item = (String, VerificationKey)>) -> Self {
        Self {
            keys: keys.into_iter().collect(),
            mode: Mode::Required,
            ..Self::default()
        }
    }

    /// Sets the id of the only key that may have signed. By default, the token names it.
    #[must_use]
    pub fn key_id(self, key_id: impl Into<String>) -> Self {
        let key_id = key_id.into();
        Self { key_id, ..self }
    }

    /// Sets the scope that a signature must have. By default, it is that of the key.
    #[must_use]
    pub fn scope(self, scope: impl Into<String>) -> Self {
        let scope = scope.into();
        Self { scope, ..self }
    }

    /// Sets glob patterns of paths of files that need not be signed; `*` matches within one step of a path.
    #[must_use]
    pub fn exclude(self, exclude: Vec<String>) -> Self {
        Self { exclude, ..self }
    }

    /// Accepts unsigned bundles as well. Anyone who can change a bundle can remove its signature then.
    #[must_use]
    pub fn optional(self) -> Self {
        Self {
            mode: Mode::IfSigned,
            ..self
        }
    }

    /// Accepts delta bundles, which cannot be signed, where a signature is required.
    #[must_use]
    pub fn allow_unsigned_deltas(self) -> Self {
        Self {
            allow_unsigned_deltas: true,
            ..self
        }
    }

    /// Rejects signatures that were issued before a time, in seconds since 1970, or without a time of issue (`iat` of the
    /// payload). Otherwise anyone who can change a bundle can replace it by an earlier one. Unsigned bundles, where they are
    /// accepted, are not affected.
    #[must_use]
    pub fn issued_from(self, seconds: f64) -> Self {
        Self {
            issued_from: Some(seconds),
            ..self
        }
    }

    /// Checks the signature of a bundle.
    ///
    /// # Errors
    /// OPA's message.
    pub(in crate::bundle) fn start(
        &self,
        signatures: Option<&Signatures>,
        is_delta: bool,
    ) -> Result<FileVerifier<'_>, String> {
        let unverified = FileVerifier {
            files: None,
            exclude: &self.exclude,
        };
        if self.mode == Mode::Skip {
            return Ok(unverified);
        }
        if is_delta {
            if self.mode == Mode::Required && !self.allow_unsigned_deltas {
                return Err("delta bundles do not support signature verification".to_owned());
            }
            return Ok(unverified);
        }
        let Some(signatures) = signatures else {
            if self.mode == Mode::Required {
                return Err("bundle missing .signatures.json file".to_owned());
            }
            return Ok(unverified);
        };
        if self.keys.is_empty() {
            return Err("verification key not provided".to_owned());
        }
        let token = match signatures.tokens.as_slice() {
            _ if !matches!(&*signatures.plugin, "" | "_default") => {
                return Err(format!("no verifier exists under id {}", signatures.plugin));
            }
            [] => return Err(".signatures.json: missing JWT (expected exactly one)".to_owned()),
            [token] => token,
            _ => return Err(MULTIPLE_TOKENS.to_owned()),
        };
        Ok(FileVerifier {
            files: Some(self.verified(token)?),
            exclude: &self.exclude,
        })
    }

    /// Verifies a token and returns the files that it lists.
    ///
    /// # Errors
    /// The token is malformed, its key is not known, or signature, scope or time of issue is wrong: OPA's message where OPA
    /// has one.
    fn verified(&self, token: &str) -> Result<BTreeMap<String, SignedFile>, String> {
        let parts: Vec<&str> = token.split('.').collect();
        let [header, payload, signature] = parts.as_slice() else {
            return Err(
                "failed to split compact JWT: jwsbb: invalid number of segments".to_owned(),
            );
        };
        let decode = |part: &str, name: &str| {
            decode_part(part)
                .map_err(|error| format!("failed to base64 decode JWT {name}: {error}"))
        };
        let mut id = self.key_id.clone();
        if id.is_empty() {
            let header = decode(header, "header")?;
            let header = json::read(&header)
                .map_err(|error| format!("failed to extract kid header: {error}"))?;
            id = string(&header, "kid").unwrap_or_default();
        }
        let claims = decode(payload, "payload")?;
        let claims = json::read(&claims).map_err(|_| json::error_message(&claims))?;
        let claims = SignatureClaims::read(&claims)?;
        if id.is_empty() {
            id = claims.key_id;
        }
        if id.is_empty() {
            return Err("verification key ID is empty".to_owned());
        }
        let Some(key) = self.keys.get(&id) else {
            return Err(format!(
                "verification key corresponding to ID {id} not found"
            ));
        };
        let message = token.len() - signature.len() - 1;
        let message = token.as_bytes().get(..message).unwrap_or_default();
        let signature = decode(signature, "signature")?;
        key.verify(message, &signature)?;
        let scope = if self.scope.is_empty() {
            &key.scope
        } else {
            &self.scope
        };
        if claims.scope != *scope {
            return Err("scope mismatch".to_owned());
        }
        if let Some(earliest) = self.issued_from {
            check_issue(claims.issued, earliest)?;
        }
        Ok(claims.files)
    }
}

impl VerificationKey {
    #[cfg(feature = "crypto")]
    fn verify(&self, message: &[u8], signature: &[u8]) -> Result<(), String> {
        crate::builtins::verify_signature(&self.algorithm, &self.key, message, signature)
    }

    /// Without cryptography nothing is verified, so nothing is accepted.
    #[cfg(not(feature = "crypto"))]
    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), String> {
        let length = self.key.len();
        Err(format!(
            "signatures by {} keys of {length} bytes need the feature `crypto`",
            self.algorithm
        ))
    }
}

struct SignedFile {
    hash: String,
    algorithm: String,
}

struct SignatureClaims {
    files: BTreeMap<String, SignedFile>,
    key_id: String,
    scope: String,
    /// Time of issue, in seconds since 1970.
    issued: Option<f64>,
}

impl SignatureClaims {
    fn read(value: &Value) -> Result<Self, String> {
        let mut claims = Self {
            files: BTreeMap::new(),
            key_id: String::new(),
            scope: String::new(),
            issued: value.get("iat").and_then(Value::as_f64),
        };
        let Some(fields) = GoFields::of_object(value, "bundle.DecodedSignature")? else {
            return Ok(claims);
        };
        let fields = fields.named("DecodedSignature");
        claims.key_id = fields.string("keyid")?.unwrap_or_default();
        claims.scope = fields.string("scope")?.unwrap_or_default();
        let files = fields.array("files", "[]bundle.FileInfo")?;
        for file in files.unwrap_or_default() {
            let Value(Repr::Object(file)) = file else {
                return Err(type_error(
                    file,
                    "DecodedSignature.files",
                    "bundle.FileInfo",
                ));
            };
            let fields = GoFields::of_nested(file, "FileInfo.files");
            let name = fields.string("name")?.unwrap_or_default();
            let file = SignedFile {
                hash: fields.string("hash")?.unwrap_or_default(),
                algorithm: fields.string("algorithm")?.unwrap_or_default(),
            };
            // as the paths of the archive's entries
            claims.files.insert(cleaned(&name), file);
        }
        Ok(claims)
    }
}

/// Checks that a signature was issued at `earliest` or later, in seconds since 1970. A signature without a time fails.
fn check_issue(issued: Option<f64>, earliest: f64) -> Result<(), String> {
    let Some(issued) = issued else {
        return Err("signature without a time of issue (`iat`)".to_owned());
    };
    if issued >= earliest {
        return Ok(());
    }
    Err(format!(
        "signature is too old: issued at {issued:.0}, expected {earliest:.0} or later"
    ))
}

fn string(value: &Value, field: &str) -> Option<String> {
    let text = value.get(field)?.borrow().as_text()?;
    Some(text.to_str().into_owned())
}

/// Decodes the part of a token: base64 in the alphabet for URLs, without padding.
fn decode_part(part: &str) -> Result<Vec<u8>, String> {
    use base64::Engine as _;
    let part = part.trim_end_matches('=');
    let engine = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    engine.decode(part).map_err(|error| {
        let offset = match error {
            base64::DecodeError::InvalidByte(offset, _)
            | base64::DecodeError::InvalidLastSymbol(offset, _) => offset,
            _ => 0,
        };
        format!("illegal base64 data at input byte {offset}")
    })
}

/// Compares the files of a bundle with those that its signature lists.
pub struct FileVerifier<'v> {
    /// Files that were not found yet; `None` if nothing is verified.
    files: Option<BTreeMap<String, SignedFile>>,
    exclude: &'v [String],
}

impl FileVerifier<'_> {
    /// Compares a file. `path` is its path as signatures name it.
    ///
    /// # Errors
    /// OPA's message.
    pub fn check(&mut self, path: &str, file: &BundleFile) -> Result<(), String> {
        let Some(files) = &mut self.files else {
            return Ok(());
        };
        let path = path.trim_start_matches('/');
        if self
            .exclude
            .iter()
            .any(|pattern| is_excluded(pattern, path))
        {
            files.remove(path);
            return Ok(());
        }
        let Some(signed) = files.remove(path) else {
            return Err(format!("file {path} not included in bundle signature"));
        };
        if signed.algorithm.is_empty() {
            return Err(format!("no hashing algorithm provided for file {path}"));
        }
        let actual = hash::digest(&signed.algorithm, path, &file.bytes)?;
        let expected = hex::decode(&signed.hash).map_err(|_| hex_error(&signed.hash))?;
        if expected == actual {
            return Ok(());
        }
        Err(format!(
            "{path}: digest mismatch (want: {}, got: {})",
            hex::encode(expected),
            hex::encode(actual)
        ))
    }

    /// Checks that all listed files were found.
    ///
    /// # Errors
    /// The files that were not.
    pub fn finish(self) -> Result<(), String> {
        let missing = self.files.unwrap_or_default();
        if missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<String> = missing.into_keys().collect();
        Err(format!(
            "file(s) [{}] specified in bundle signatures but not found in the target bundle",
            missing.join(" ")
        ))
    }
}

/// The message of Go's decoder about a text that is not hexadecimal.
fn hex_error(text: &str) -> String {
    let mut bytes = text.bytes();
    match bytes.find(|byte| !byte.is_ascii_hexdigit()) {
        Some(byte) => format!(
            "encoding/hex: invalid byte: U+{byte:04X} '{}'",
            char::from(byte)
        ),
        None => "encoding/hex: odd length hex string".to_owned(),
    }
}

/// Returns `true` if a pattern matches a path step by step.
fn is_excluded(pattern: &str, path: &str) -> bool {
    let (patterns, steps) = (pattern.split('/'), path.split('/'));
    if patterns.clone().count() != steps.clone().count() {
        return false;
    }
    let mut pairs = patterns.zip(steps);
    pairs.all(|(pattern, step)| Ignore::one(pattern).matches(step))
}
