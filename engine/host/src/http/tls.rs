//! TLS of single requests, as policies configure it.

use std::sync::Arc;

use solon::host::{Identity, Tls, Trust};
use solon_outbound::tls::{self, CertificateDer, ClientConfig, FixedIdentity, ResolvesClientCert};

/// Returns the TLS configuration of connections.
///
/// # Errors
/// A certificate or the key cannot be used.
pub fn config(tls: &Tls) -> Result<Arc<ClientConfig>, String> {
    let certificates = |all: &[Vec<u8>]| all.iter().cloned().map(CertificateDer::from).collect();
    let trust = match &tls.trust {
        Trust::Anyone => tls::Trust::Any,
        Trust::Authorities {
            certificates: certificate_texts,
            system,
        } => tls::Trust::Authorities {
            certificates: certificates(certificate_texts),
            system: *system,
        },
    };
    let identity = match &tls.identity {
        None => None,
        Some(Identity {
            certificates: certificate_texts,
            key,
            ..
        }) => {
            let key = tls::certified_key(certificates(certificate_texts), key)?;
            let identity: Arc<dyn ResolvesClientCert> = Arc::new(FixedIdentity(Arc::new(key)));
            Some(identity)
        }
    };
    tls::client_config(&trust, identity)
}
