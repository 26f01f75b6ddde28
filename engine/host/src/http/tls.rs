//! How connections are protected.

use std::sync::{Arc, LazyLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use solon::host::{Identity, Tls, Trust};

static PROVIDER: LazyLock<Arc<CryptoProvider>> =
    LazyLock::new(|| Arc::new(aws_lc_rs::default_provider()));

/// The authorities that the system trusts, read once.
static SYSTEM: LazyLock<RootCertStore> = LazyLock::new(|| {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    roots
});

/// A configuration, or why there is none.
pub fn config(tls: &Tls) -> Result<Arc<ClientConfig>, String> {
    let builder = ClientConfig::builder_with_provider(PROVIDER.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("tls: {error}"))?;
    let builder = builder
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier::new(&tls.trust)?));
    let mut config = match &tls.identity {
        None => builder.with_no_client_auth(),
        Some(Identity {
            certificates, key, ..
        }) => {
            let key = PrivateKeyDer::from_pem_slice(key)
                .map_err(|_| "tls: failed to parse private key".to_owned())?;
            let certificates = certificates.iter().cloned().map(CertificateDer::from);
            let built = builder.with_client_auth_cert(certificates.collect(), key);
            built.map_err(|error| match error {
                rustls::Error::InconsistentKeys(_) => {
                    "tls: private key does not match public key".to_owned()
                }
                other => format!("tls: {other}"),
            })?
        }
    };
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Whom a connection trusts. Whoever that is, the signatures of the handshake must be good.
#[derive(Debug)]
enum Verifier {
    /// Whoever answers, as a policy may ask for by name.
    Anyone,
    /// Authorities, and the certificates themselves that a policy names.
    Authorities {
        /// `None` when there is no authority, so that nobody is trusted.
        chains: Option<Arc<WebPkiServerVerifier>>,
        own: Vec<CertificateDer<'static>>,
    },
}

impl Verifier {
    fn new(trust: &Trust) -> Result<Self, String> {
        match trust {
            Trust::Anyone => Ok(Self::Anyone),
            Trust::Authorities {
                certificates,
                system,
            } => Self::authorities(certificates, *system),
        }
    }

    fn authorities(certificates: &[Vec<u8>], system: bool) -> Result<Self, String> {
        let mut roots = if system {
            SYSTEM.clone()
        } else {
            RootCertStore::empty()
        };
        let own: Vec<CertificateDer<'static>> = certificates
            .iter()
            .cloned()
            .map(CertificateDer::from)
            .collect();
        let (added, _) = roots.add_parsable_certificates(own.iter().cloned());
        if added == 0 && !own.is_empty() {
            return Err("could not append certificates".to_owned());
        }
        let verifier =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), PROVIDER.clone());
        Ok(Self::Authorities {
            chains: verifier.build().ok(),
            own,
        })
    }
}

/// Whether a certificate was refused only for being an authority's: its time and its form are good.
fn is_authority(error: &rustls::Error) -> bool {
    match error {
        // rustls knows no case of its own for it
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
        let (chains, own) = match self {
            Self::Anyone => return Ok(ServerCertVerified::assertion()),
            Self::Authorities { chains, own } => (chains, own),
        };
        let Some(chains) = chains else {
            return Err(CertificateError::UnknownIssuer.into());
        };
        match chains.verify_server_cert(end_entity, intermediates, name, ocsp, now) {
            // a server may show the very certificate that is trusted, as it does with those it signed itself
            Err(error) if is_authority(&error) && own.iter().any(|own| own == end_entity) => {
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
