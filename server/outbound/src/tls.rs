//! Certificates that a client trusts and presents.

use std::sync::{Arc, LazyLock};

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::sign::CertifiedKey;
use rustls::{CertificateError, DigitallySignedStruct, RootCertStore, SignatureScheme};

pub use rustls::ClientConfig;
pub use rustls::client::ResolvesClientCert;
pub use rustls::pki_types::CertificateDer;

static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));

/// The authorities that the system trusts, read once.
static SYSTEM: LazyLock<RootCertStore> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
});

/// Certificates of servers that a client accepts.
#[derive(Clone, Debug)]
pub enum Trust {
    /// Any certificate. The server is not authenticated.
    Any,
    /// Certificates that an authority signed, and `certificates` themselves.
    Authorities {
        /// Certificates of authorities, or of servers.
        certificates: Vec<CertificateDer<'static>>,
        /// Accepts the authorities of the system as well.
        system: bool,
    },
}

impl Default for Trust {
    fn default() -> Self {
        Self::Authorities {
            certificates: Vec::new(),
            system: true,
        }
    }
}

/// Returns the TLS configuration, with the crypto provider of the workspace. `identity` chooses the certificate that the
/// client presents, at each handshake.
///
/// # Errors
/// None of the trusted certificates can be read.
pub fn client_config(
    trust: &Trust,
    identity: Option<Arc<dyn ResolvesClientCert>>,
) -> Result<Arc<ClientConfig>, String> {
    let builder = ClientConfig::builder_with_provider(PROVIDER.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("tls: {error}"))?;
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier::new(trust)?));
    let mut config = match identity {
        None => builder.with_no_client_auth(),
        Some(identity) => builder.with_client_cert_resolver(identity),
    };
    if config.client_auth_cert_resolver.has_certs() {
        // a resumed session has the client certificate of the first one, which may have been replaced since
        config.resumption = Resumption::disabled();
    }
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Reads the certificates of a PEM text.
///
/// # Errors
/// A block cannot be read, or there is none.
pub fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, String> {
    let blocks = CertificateDer::pem_slice_iter(pem);
    let certificates: Result<Vec<_>, _> = blocks.collect();
    let certificates = certificates.map_err(|error| format!("invalid certificate: {error}"))?;
    if certificates.is_empty() {
        return Err("no certificate found".to_owned());
    }
    Ok(certificates)
}

/// Returns a certificate chain with its private key in PEM.
///
/// # Errors
/// The key cannot be read, or it does not belong to the certificate.
pub fn certified_key(
    chain: Vec<CertificateDer<'static>>,
    key: &[u8],
) -> Result<CertifiedKey, String> {
    let key = PrivateKeyDer::from_pem_slice(key)
        .map_err(|_| "tls: failed to parse private key".to_owned())?;
    CertifiedKey::from_der(chain, key, &PROVIDER).map_err(|error| match error {
        rustls::Error::InconsistentKeys(_) => {
            "tls: private key does not match public key".to_owned()
        }
        other => format!("tls: {other}"),
    })
}

/// Presents the same certificate at each handshake.
#[derive(Debug)]
pub struct FixedIdentity(pub Arc<CertifiedKey>);

impl ResolvesClientCert for FixedIdentity {
    fn resolve(&self, _: &[&[u8]], _: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(self.0.clone())
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// Verifies certificates of servers. Signatures of the handshake are verified in every case.
#[derive(Debug)]
enum Verifier {
    /// Accepts any certificate.
    Any,
    /// Accepts certificates of authorities, and `own`.
    Authorities {
        /// `None` without authorities, so that every chain is rejected.
        chains: Option<Arc<WebPkiServerVerifier>>,
        own: Vec<CertificateDer<'static>>,
    },
}

impl Verifier {
    fn new(trust: &Trust) -> Result<Self, String> {
        match trust {
            Trust::Any => Ok(Self::Any),
            Trust::Authorities {
                certificates,
                system,
            } => Self::authorities(certificates, *system),
        }
    }

    fn authorities(
        own_certificates: &[CertificateDer<'static>],
        system: bool,
    ) -> Result<Self, String> {
        let mut roots = if system {
            SYSTEM.clone()
        } else {
            RootCertStore::empty()
        };
        let (added, _) = roots.add_parsable_certificates(own_certificates.iter().cloned());
        if added == 0 && !own_certificates.is_empty() {
            return Err("could not append certificates".to_owned());
        }
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), PROVIDER.clone());
        Ok(Self::Authorities {
            chains: verifier.build().ok(),
            own: own_certificates.to_vec(),
        })
    }
}

/// Returns `true` if a certificate was rejected only because it belongs to an authority: its validity and encoding are
/// correct.
fn is_authority(error: &rustls::Error) -> bool {
    match error {
        // rustls has no variant for it
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => {
            other.to_string().contains("CaUsedAsEndEntity")
        }
        _ => false,
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let (chains, own_certificates) = match self {
            Self::Any => return Ok(ServerCertVerified::assertion()),
            Self::Authorities {
                chains,
                own: own_certificates,
            } => (chains, own_certificates),
        };
        let Some(chains) = chains else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        match chains.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // a server may present the trusted certificate itself if it is self-signed
            Err(error)
                if is_authority(&error)
                    && own_certificates.iter().any(|trusted| trusted == end_entity) =>
            {
                let parsed = ParsedCertificate::try_from(end_entity)?;
                rustls::client::verify_server_name(&parsed, name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &PROVIDER.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &PROVIDER.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        PROVIDER
            .signature_verification_algorithms
            .supported_schemes()
    }
}
