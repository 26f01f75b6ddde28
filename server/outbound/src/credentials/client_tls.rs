//! A client certificate, whose files may be replaced while the program runs.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use pkcs8::der::pem::{LineEnding, PemLabel as _};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, SecretDocument};
use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use tracing::warn;
use zeroize::Zeroizing;

use crate::config::{ClientTlsConfig, Secret};
use crate::{files, tls};

/// A client certificate and its key, from two files. Each handshake checks the files for changes. If new files are not valid, the previous
/// certificate stays in use.
pub struct Identity {
    certificate: PathBuf,
    key: PathBuf,
    password: Option<Secret>,
    interval: Duration,
    current: Mutex<Current>,
}

struct Current {
    identity: Arc<CertifiedKey>,
    version: Vec<Option<(u64, Option<SystemTime>)>>,
    checked: Instant,
}

impl Identity {
    /// Reads the files of a configuration.
    ///
    /// # Errors
    /// A file is missing, or not valid.
    pub fn new(config: &ClientTlsConfig) -> Result<Self, String> {
        let path = |name: &str, path: &Option<String>| {
            let path = path.as_ref().filter(|path| !path.is_empty());
            path.map(PathBuf::from)
                .ok_or_else(|| format!(".{name}: missing"))
        };
        let interval = config.cert_reread_interval_seconds.unwrap_or_default();
        let interval = u64::try_from(interval)
            .map_err(|_| ".cert_reread_interval_seconds: must not be negative".to_owned())?;
        let certificate = path("cert", &config.cert)?;
        let key = path("private_key", &config.private_key)?;
        let version = files::version(&[certificate.clone(), key.clone()]);
        let password = config.private_key_passphrase.clone();
        let password = password.filter(|password| !password.expose().is_empty());
        let identity = read(&certificate, &key, password.as_ref())?;
        Ok(Self {
            certificate,
            key,
            password,
            interval: Duration::from_secs(interval),
            current: Mutex::new(Current {
                identity,
                version,
                checked: Instant::now(),
            }),
        })
    }

    /// Returns the certificate, after a check of the files.
    fn current(&self) -> Arc<CertifiedKey> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.checked.elapsed() < self.interval {
            return current.identity.clone();
        }
        current.checked = Instant::now();
        // the version is read before the files, so that a change in between is detected next time
        let version = files::version(&[self.certificate.clone(), self.key.clone()]);
        if version != current.version {
            match read(&self.certificate, &self.key, self.password.as_ref()) {
                Ok(identity) => {
                    current.identity = identity;
                    current.version = version;
                }
                Err(error) => {
                    warn!("client certificate not reloaded: client_tls{error}");
                }
            }
        }
        current.identity.clone()
    }
}

/// Reads certificate and key, which may be encrypted with `password`. Blocks.
///
/// # Errors
/// A file cannot be read or is not PEM.
fn read(
    certificate: &Path,
    key: &Path,
    password: Option<&Secret>,
) -> Result<Arc<CertifiedKey>, String> {
    let of_certificate = |error: String| format!(".cert: {error}");
    let of_key = |error: String| format!(".private_key: {error}");
    let chain = files::read(certificate).map_err(of_certificate)?;
    let chain = tls::certificates(&chain)
        .map_err(|error| of_certificate(format!("{}: {error}", certificate.display())))?;
    let pem = Zeroizing::new(files::read(key).map_err(of_key)?);
    let identity = match password {
        None => tls::certified_key(chain, &pem),
        Some(password) => decrypt_key(&pem, password.expose())
            .and_then(|pem| tls::certified_key(chain, pem.as_bytes())),
    };
    let identity = identity.map_err(|error| of_key(format!("{}: {error}", key.display())))?;
    Ok(Arc::new(identity))
}

/// Returns a private key without its password, as PEM.
fn decrypt_key(pem: &[u8], password: &str) -> Result<Zeroizing<String>, String> {
    let text = std::str::from_utf8(pem).map_err(|_| "invalid PEM".to_owned())?;
    if text.contains("Proc-Type: 4,ENCRYPTED") {
        let text = "the encryption of this PEM file is not supported: convert it with `openssl pkcs8 -topk8`";
        return Err(text.to_owned());
    }
    let invalid = |_| "invalid private key".to_owned();
    let (label, document) = SecretDocument::from_pem(text).map_err(|_| "invalid PEM".to_owned())?;
    if label != EncryptedPrivateKeyInfoRef::PEM_LABEL {
        return Err("the private key has no password".to_owned());
    }
    let encrypted = EncryptedPrivateKeyInfoRef::try_from(document.as_bytes());
    let encrypted = encrypted.map_err(|_| "invalid private key".to_owned())?;
    let key = encrypted.decrypt(password);
    let key = key.map_err(|_| {
        "the password of the private key is wrong, or its encryption is not supported".to_owned()
    })?;
    key.to_pem(PrivateKeyInfoRef::PEM_LABEL, LineEnding::LF)
        .map_err(invalid)
}

impl ResolvesClientCert for Identity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.current())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("certificate", &self.certificate)
            .finish_non_exhaustive()
    }
}
