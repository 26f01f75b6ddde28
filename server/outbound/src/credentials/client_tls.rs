//! A client certificate, whose files may be replaced while the program runs.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls::SignatureScheme;
use rustls::client::ResolvesClientCert;
use rustls::sign::CertifiedKey;
use tracing::warn;

use crate::config::ClientTlsConfig;
use crate::{files, tls};

/// Presents the certificate of two files. Each handshake checks the files for changes. If new files are not valid, the previous certificate
/// stays in use.
pub struct Identity {
    certificate: PathBuf,
    key: PathBuf,
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
        if config.private_key_passphrase.is_some() {
            return Err(".private_key_passphrase: not supported".to_owned());
        }
        let interval = config.cert_reread_interval_seconds.unwrap_or_default();
        let interval = u64::try_from(interval)
            .map_err(|_| ".cert_reread_interval_seconds: must not be negative".to_owned())?;
        let certificate = path("cert", &config.cert)?;
        let key = path("private_key", &config.private_key)?;
        let version = files::version(&[certificate.clone(), key.clone()]);
        let identity = read(&certificate, &key)?;
        Ok(Self {
            certificate,
            key,
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
        // the version is taken before the files are read, so that a change in between is found next time
        let version = files::version(&[self.certificate.clone(), self.key.clone()]);
        if version != current.version {
            match read(&self.certificate, &self.key) {
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

/// Reads certificate and key.
fn read(certificate: &PathBuf, key: &PathBuf) -> Result<Arc<CertifiedKey>, String> {
    let of_certificate = |error: String| format!(".cert: {error}");
    let of_key = |error: String| format!(".private_key: {error}");
    let chain = files::read(certificate).map_err(of_certificate)?;
    let chain = tls::certificates(&chain)
        .map_err(|error| of_certificate(format!("{}: {error}", certificate.display())))?;
    let pem = zeroize::Zeroizing::new(files::read(key).map_err(of_key)?);
    let identity = tls::certified_key(chain, &pem)
        .map_err(|error| of_key(format!("{}: {error}", key.display())))?;
    Ok(Arc::new(identity))
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
