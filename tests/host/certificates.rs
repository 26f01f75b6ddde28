//! Certificates made for a test.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::aws_lc_rs;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use std::sync::Arc;

/// A certificate and its key as PEM.
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

/// A certificate authority.
pub struct Authority {
    pub certificate: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap().pem();
        Self {
            certificate,
            issuer: Issuer::new(params, key),
        }
    }

    /// A certificate for a name.
    pub fn sign(&self, name: &str) -> Pair {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        Pair {
            certificate,
            key: key.serialize_pem(),
        }
    }
}

/// A self-signed certificate.
pub fn self_signed(name: &str, authority: bool) -> Pair {
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    if authority {
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    }
    let key = KeyPair::generate().unwrap();
    Pair {
        certificate: params.self_signed(&key).unwrap().pem(),
        key: key.serialize_pem(),
    }
}

/// How a server shows a certificate, and whose clients it lets in.
pub fn server(own: &Pair, clients: Option<&Authority>, protocols: &[&str]) -> ServerConfig {
    let provider = Arc::new(aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let der = |text: &str| CertificateDer::from_pem_slice(text.as_bytes()).unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(der(&authority.certificate)).unwrap();
            let verifier =
                WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
            builder.with_client_cert_verifier(verifier.unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
    let mut config = builder
        .with_single_cert(vec![der(&own.certificate)], key)
        .unwrap();
    config.alpn_protocols = protocols
        .iter()
        .map(|name| name.as_bytes().to_vec())
        .collect();
    config
}
