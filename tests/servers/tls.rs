//! Private authorities of certificates, and servers that accept TLS for others.

use std::sync::{Arc, mpsc};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// An authority of certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

/// A certificate and its key in PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(parameters, key),
            pem,
        }
    }

    /// Issues a certificate for the name of a host.
    pub fn issue(&self, name: &str) -> Identity {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

/// Accepts TLS and forwards the bytes to a server without TLS, until the process ends.
pub struct TlsFront {
    /// Host and port.
    pub address: String,
}

impl TlsFront {
    /// Starts with the certificate of the server, the protocol of its connections, and the authority of clients. `target` is a
    /// host and a port, perhaps after `http://`.
    pub fn start(
        target: &str,
        identity: &Identity,
        protocol: &[u8],
        clients: Option<&Authority>,
    ) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(configuration(identity, protocol, clients)));
        let target = target.trim_start_matches("http://").to_owned();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                sender.send(listener.local_addr().unwrap()).unwrap();
                while let Ok((stream, _)) = listener.accept().await {
                    tokio::spawn(forward(acceptor.clone(), stream, target.clone()));
                }
            });
        });
        Self {
            address: receiver.recv().unwrap().to_string(),
        }
    }
}

fn configuration(
    identity: &Identity,
    protocol: &[u8],
    clients: Option<&Authority>,
) -> ServerConfig {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let builder = ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let certificate = |pem: &str| CertificateDer::from_pem_slice(pem.as_bytes()).unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(authority) => {
            let mut roots = RootCertStore::empty();
            roots.add(certificate(&authority.pem)).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
    let chain = vec![certificate(&identity.certificate)];
    let mut config = builder.with_single_cert(chain, key).unwrap();
    config.alpn_protocols = vec![protocol.to_vec()];
    config
}

async fn forward(acceptor: TlsAcceptor, stream: TcpStream, target: String) {
    // a failed handshake shows at the client
    let Ok(mut stream) = acceptor.accept(stream).await else {
        return;
    };
    let mut server = TcpStream::connect(target).await.unwrap();
    let _ = tokio::io::copy_bidirectional(&mut stream, &mut server).await;
}
