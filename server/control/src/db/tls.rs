//! TLS of database connections: trusted authorities, client certificates, and the verification of servers.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::verify_server_cert_signed_by_trust_anchor;
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use zeroize::Zeroizing;

/// TLS settings of a database beyond the defaults of the system, as PEM texts. Empty texts are not set.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct DatabaseTls {
    /// Authorities to trust instead of the system's.
    pub root_ca: String,
    /// Client certificate, with its private key in `key`.
    pub certificate: String,
    /// Private key of the client certificate.
    pub key: Zeroizing<String>,
}

/// Verification of the server certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verification {
    /// A trusted authority has signed the certificate.
    Chain,
    /// A trusted authority has signed the certificate, and it is valid for the host name.
    Full,
}

impl DatabaseTls {
    /// Returns `true` if nothing is set, so that the defaults of the system apply.
    pub(super) fn is_empty(&self) -> bool {
        self.root_ca.is_empty() && self.certificate.is_empty()
    }

    fn roots(&self) -> Result<RootCertStore, String> {
        let mut roots = RootCertStore::empty();
        if self.root_ca.is_empty() {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            return Ok(roots);
        }
        let invalid = || {
            "the root certificate (`sslrootcert`, `ssl-ca`, `root_ca`) is not a valid PEM certificate"
                .to_owned()
        };
        for certificate in CertificateDer::pem_slice_iter(self.root_ca.as_bytes()) {
            let certificate = certificate.map_err(|_| invalid())?;
            roots.add(certificate).map_err(|_| invalid())?;
        }
        if roots.is_empty() {
            return Err(invalid());
        }
        Ok(roots)
    }

    /// Returns the settings for rustls.
    ///
    /// # Errors
    /// A text is not valid PEM, or a key does not match its certificate.
    pub(super) fn client_config(
        &self,
        verification: Verification,
    ) -> Result<Arc<rustls::ClientConfig>, String> {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let roots = self.roots()?;
        let chain_only = ChainOnly {
            roots: roots.clone(),
            algorithms: provider.signature_verification_algorithms,
        };
        let builder = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots);
        let mut config = if self.certificate.is_empty() {
            builder.with_no_client_auth()
        } else {
            let (chain, key) = self.identity()?;
            builder
                .with_client_auth_cert(chain, key)
                .map_err(|error| format!("the client certificate cannot be used: {error}"))?
        };
        if verification == Verification::Chain {
            config
                .dangerous()
                .set_certificate_verifier(Arc::new(chain_only));
        }
        Ok(Arc::new(config))
    }

    /// Reads the client certificate and its key.
    pub(super) fn identity(
        &self,
    ) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), String> {
        let chain: Result<Vec<_>, _> =
            CertificateDer::pem_slice_iter(self.certificate.as_bytes()).collect();
        let chain = chain.ok().filter(|chain| !chain.is_empty());
        let chain = chain.ok_or(
            "the client certificate (`sslcert`, `ssl-cert`, `tls_cert`) is not a valid PEM certificate",
        )?;
        let key = PrivateKeyDer::from_pem_slice(self.key.as_bytes()).map_err(
            |_| "the key of the client certificate (`sslkey`, `ssl-key`, `tls_key`) is not a valid PEM key without a passphrase",
        )?;
        Ok((chain, key))
    }

    /// Checks every text by making a configuration of it.
    pub(super) fn check(&self) -> Result<(), String> {
        self.client_config(Verification::Full).map(drop)
    }
}

/// Reads a file that a parameter of a DSN names.
pub(super) fn read_pem(parameter: &str, path: &Path) -> Result<Zeroizing<String>, String> {
    let text = std::fs::read_to_string(path);
    let text =
        text.map_err(|error| format!("`{parameter}`: cannot read {}: {error}", path.display()))?;
    Ok(Zeroizing::new(text))
}

/// Verifies that a trusted authority has signed a certificate, for any name.
#[derive(Debug)]
struct ChainOnly {
    roots: RootCertStore,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for ChainOnly {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let certificate = ParsedCertificate::try_from(end_entity)?;
        verify_server_cert_signed_by_trust_anchor(
            &certificate,
            &self.roots,
            intermediates,
            now,
            self.algorithms.all,
        )?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
