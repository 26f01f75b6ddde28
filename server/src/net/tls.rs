//! TLS configuration: certificates, versions and cipher suites, reloaded when the files change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::{self, PemObject, SectionKind};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ServerConfig, WebPkiClientVerifier};
use rustls::version::{TLS12, TLS13};
use rustls::{ProtocolVersion, RootCertStore};
use tracing::{error, info};

use crate::config::{NO_AUTHORITIES, TlsOptions, TlsVersion};
use crate::system::signals::{Signal, SignalKind, signal};

/// Certificate chain of a client, as DER, its own first.
pub type Certificates = Vec<Vec<u8>>;

/// TLS configuration that can be loaded again while the server runs.
pub struct TlsState {
    options: TlsOptions,
    provider: Arc<CryptoProvider>,
    current: ArcSwap<ServerConfig>,
    /// Files as they were last read.
    files: Mutex<Files>,
    /// Signal to reload the files. The handler is installed at startup: without one, the signal would end the process.
    hangup: Mutex<Option<Signal>>,
}

/// Certificate, private key, and trusted certificate authorities.
#[derive(PartialEq, Eq)]
struct Files {
    certificate: Vec<u8>,
    key: Vec<u8>,
    authorities: Option<Vec<u8>>,
}

impl TlsState {
    /// Reads the files that the options name.
    ///
    /// # Errors
    /// Fails if TLS cannot be configured, with the name of the file or the flag.
    pub fn new(options: TlsOptions) -> Result<Self, String> {
        let provider = Arc::new(provider(&options.cipher_suites)?);
        let files = Files::read(&options)?;
        let config = config(&options, &provider, &files)?;
        Ok(Self {
            options,
            provider,
            current: ArcSwap::from_pointee(config),
            files: Mutex::new(files),
            hangup: Mutex::new(None),
        })
    }

    /// Returns the TLS configuration of new connections. It changes when certificates are loaded again.
    pub fn current(&self) -> Arc<ServerConfig> {
        self.current.load_full()
    }

    /// Returns the shared TLS state, or `None` without options. It must be called within a tokio runtime.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does.
    pub fn shared(options: Option<&TlsOptions>) -> io::Result<Option<Arc<Self>>> {
        let state = options.cloned().map(Self::new).transpose();
        let state =
            state.map_err(|message| io::Error::new(io::ErrorKind::InvalidInput, message))?;
        let Some(state) = state else {
            return Ok(None);
        };
        *state.hangup.lock() = Some(signal(SignalKind::hangup())?);
        Ok(Some(Arc::new(state)))
    }

    /// Reloads the files at intervals and on a signal, until the future is dropped.
    pub async fn keep_fresh(self: Arc<Self>) {
        let Some(mut hangup) = self.hangup.lock().take() else {
            return;
        };
        loop {
            tokio::select! {
                _ = hangup.recv() => {}
                () = tokio::time::sleep(self.options.refresh) => {}
            }
            let state = self.clone();
            match tokio::task::spawn_blocking(move || state.reload()).await {
                Ok(Ok(true)) => info!("Certificates were read anew."),
                Ok(Err(message)) => error!(err = message, "Certificates stay as they are."),
                _ => {}
            }
        }
    }

    /// Reloads the files. Returns `true` if they had changed. Invalid files change nothing.
    ///
    /// # Errors
    /// Fails as [`Self::new`] does.
    pub fn reload(&self) -> Result<bool, String> {
        let files = Files::read(&self.options)?;
        let mut current = self.files.lock();
        if *current == files {
            return Ok(false);
        }
        let config = config(&self.options, &self.provider, &files);
        // an error is reported once, until the files change
        *current = files;
        self.current.store(Arc::new(config?));
        Ok(true)
    }
}

impl Files {
    fn read(options: &TlsOptions) -> Result<Self, String> {
        let authorities = options.ca_cert_file.as_deref();
        Ok(Self {
            certificate: read(&options.cert_file)?,
            key: read(&options.private_key_file)?,
            authorities: authorities.map(read).transpose()?,
        })
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn config(
    options: &TlsOptions,
    provider: &Arc<CryptoProvider>,
    files: &Files,
) -> Result<ServerConfig, String> {
    let versions: &[_] = match options.min_version {
        TlsVersion::V13 => &[&TLS13],
        TlsVersion::V10 | TlsVersion::V11 | TlsVersion::V12 => &[&TLS12, &TLS13],
    };
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| format!("--tls-cipher-suites: {error}"))?;
    let builder = if options.client_certificates {
        let roots = Arc::new(roots(options, files)?);
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider.clone());
        let verifier = verifier
            .build()
            .map_err(|error| format!("--tls-ca-cert-file: {error}"))?;
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let error_in_file = |path: &PathBuf, problem: &str| format!("{}: {problem}", path.display());
    let certificates = certificates(&options.cert_file, &files.certificate)?;
    let key = PrivateKeyDer::from_pem_slice(&files.key)
        .map_err(|_| error_in_file(&options.private_key_file, "no private key found in it"))?;
    let mut config = builder
        .with_single_cert(certificates, key)
        .map_err(|error| error_in_file(&options.private_key_file, &error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// Returns the certificate authorities of client certificates. Those of the system are not included, because they sign certificates
/// for everyone.
fn roots(options: &TlsOptions, files: &Files) -> Result<RootCertStore, String> {
    let (Some(file), Some(text)) = (&options.ca_cert_file, &files.authorities) else {
        return Err(NO_AUTHORITIES.to_owned());
    };
    let mut roots = RootCertStore::empty();
    for (number, certificate) in (1..).zip(certificates(file, text)?) {
        roots.add(certificate).map_err(|error| {
            format!(
                "{}: certificate {number} cannot be an authority: {error}",
                file.display()
            )
        })?;
    }
    Ok(roots)
}

/// Returns the certificates of a file in PEM format.
///
/// # Errors
/// Fails if the file does not contain a certificate, or one of its blocks cannot be parsed.
fn certificates(file: &Path, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let file = file.display();
    let mut certificates = Vec::new();
    for (number, block) in (1..).zip(<(SectionKind, Vec<u8>)>::pem_slice_iter(text)) {
        let (kind, bytes) = block.map_err(|error| {
            let problem = match error {
                pem::Error::MissingSectionEnd { .. } => "its END line is missing".to_owned(),
                pem::Error::IllegalSectionStart { .. } => "invalid BEGIN line".to_owned(),
                pem::Error::Base64Decode(cause) => format!("invalid base64: {cause}"),
                other => other.to_string(),
            };
            format!("{file}: block {number} cannot be read: {problem}")
        })?;
        if kind == SectionKind::Certificate {
            certificates.push(CertificateDer::from(bytes));
        }
    }
    if certificates.is_empty() {
        return Err(format!("{file}: no certificate found in it"));
    }
    Ok(certificates)
}

/// Returns the crypto provider with the cipher suites of these Go names, or with all if there are none. The cipher suites of TLS
/// 1.3 are always enabled, as in Go.
fn provider(names: &[String]) -> Result<CryptoProvider, String> {
    let mut provider = aws_lc_rs::default_provider();
    if names.is_empty() {
        return Ok(provider);
    }
    let is_13 =
        |suite: &rustls::SupportedCipherSuite| suite.version().version == ProtocolVersion::TLSv1_3;
    let name = |suite: &rustls::SupportedCipherSuite| format!("{:?}", suite.suite());
    for suite_name in names {
        let is_known = provider
            .cipher_suites
            .iter()
            .any(|suite| name(suite) == *suite_name);
        let is_of_13 = provider
            .cipher_suites
            .iter()
            .any(|suite| is_13(suite) && name(suite).replace("TLS13_", "TLS_") == *suite_name);
        if !is_known && !is_of_13 {
            return Err(format!(
                "--tls-cipher-suites: `{suite_name}` is not supported"
            ));
        }
    }
    let is_enabled =
        |suite: &rustls::SupportedCipherSuite| is_13(suite) || names.contains(&name(suite));
    provider.cipher_suites.retain(is_enabled);
    Ok(provider)
}

#[cfg(test)]
mod tests {
    use super::provider;

    #[test]
    fn ciphers_are_named_as_go_names_them() {
        let some = provider(&["TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256".to_owned()]).unwrap();
        assert_eq!(some.cipher_suites.len(), 4);
        assert!(provider(&["TLS_AES_128_GCM_SHA256".to_owned()]).is_ok());
        let error = provider(&["TLS_RSA_WITH_RC4_128_SHA".to_owned()]).unwrap_err();
        assert!(
            error.contains("`TLS_RSA_WITH_RC4_128_SHA` is not supported"),
            "{error}"
        );
    }
}
