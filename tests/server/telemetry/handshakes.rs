//! TLS of receivers: authorities, names, client certificates.

use std::fs;
use std::sync::Arc;

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;

use crate::client::{Client, Message};
use crate::logs::metric;
use crate::process::{Folder, Server};
use crate::receiver::{GrpcReceiver, Received, received};
use crate::sink::Sink;
use crate::waiting::wait_until;

/// An authority of certificates.
struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate and its key in PEM.
struct Identity {
    certificate: String,
    key: String,
}

impl Authority {
    fn new() -> Self {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self {
            issuer: Issuer::new(parameters, key),
            pem,
        }
    }

    fn issue(&self, name: &str) -> Identity {
        let key = KeyPair::generate().unwrap();
        let parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        Identity {
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        }
    }
}

/// Accepts TLS and forwards the bytes to a receiver without TLS.
struct TlsFront {
    address: String,
    _runtime: Runtime,
}

impl TlsFront {
    /// Starts with the certificate of the server, the protocol of its connections, and the authority of clients.
    fn start(
        target: &str,
        identity: &Identity,
        protocol: &[u8],
        clients: Option<&Authority>,
    ) -> Self {
        let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
        let builder = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots
                    .add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap())
                    .unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()];
        let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap();
        let mut config = builder.with_single_cert(chain, key).unwrap();
        config.alpn_protocols = vec![protocol.to_vec()];
        let acceptor = TlsAcceptor::from(Arc::new(config));
        let runtime = Runtime::new().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let target = target.to_owned();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, target) = (acceptor.clone(), target.clone());
                tokio::spawn(async move {
                    let Ok(mut stream) = acceptor.accept(stream).await else {
                        return;
                    };
                    let mut receiver = TcpStream::connect(target).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut receiver).await;
                });
            }
        });
        Self {
            address,
            _runtime: runtime,
        }
    }
}

fn start(section: &Value) -> Server {
    let config = json!({"decision_logs": {"otlp": section}}).to_string();
    let files = [
        ("p.rego", "package p\n\nallow := input.x\n"),
        ("c.yaml", &*config),
    ];
    Server::start_with(&["-c", "c.yaml"], &files)
}

fn decide(server: &Server) {
    let message = Message::new("POST", "/v1/data/p/allow").body(r#"{"input": {"x": 1}}"#);
    assert_eq!(Client::connect(server.address()).send(&message).status, 200);
}

/// Checks handshakes that succeed and fail with a receiver of one protocol.
fn check(kind: &str, protocol: &[u8], target: &str, arrived: &dyn Fn() -> usize) {
    let (own, other) = (Authority::new(), Authority::new());
    let right = own.issue("127.0.0.1");
    let client = own.issue("client.example");
    let stranger = other.issue("client.example");
    let folder = Folder::with(&[
        ("own.pem", &own.pem),
        ("other.pem", &other.pem),
        ("client.pem", &client.certificate),
        ("client.key", &client.key),
        ("stranger.pem", &stranger.certificate),
        ("stranger.key", &stranger.key),
    ]);
    let path = |name: &str| folder.path().join(name).display().to_string();
    let plain = TlsFront::start(target, &right, protocol, None);
    let misnamed = TlsFront::start(target, &own.issue("other.example"), protocol, None);
    let mutual = TlsFront::start(target, &right, protocol, Some(&own));
    let with_identity = |name: &str| {
        json!({"encryption": "mtls", "tls_ca_cert_file": path("own.pem"),
            "tls_cert_file": path(&format!("{name}.pem")), "tls_private_key_file": path(&format!("{name}.key"))})
    };
    let trusting = |name: &str| json!({"encryption": "tls", "tls_ca_cert_file": path(name)});
    for (what, front, section, is_accepted) in [
        ("private authority", &plain, trusting("own.pem"), true),
        ("another authority", &plain, trusting("other.pem"), false),
        (
            "authorities of the system",
            &plain,
            json!({"encryption": "tls"}),
            false,
        ),
        ("another name", &misnamed, trusting("own.pem"), false),
        (
            "any certificate",
            &misnamed,
            json!({"encryption": "tls", "allow_insecure_tls": true}),
            true,
        ),
        ("no encryption", &plain, json!({}), false),
        ("client certificate", &mutual, with_identity("client"), true),
        ("no client certificate", &mutual, trusting("own.pem"), false),
        (
            "a client certificate of another authority",
            &mutual,
            with_identity("stranger"),
            false,
        ),
    ] {
        let before = arrived();
        let mut section = section.clone();
        for (name, value) in [
            ("type", json!(kind)),
            ("address", json!(front.address)),
            ("batch_timeout_ms", json!(5)),
            (
                "export_timeout_ms",
                json!(if is_accepted { 30_000 } else { 700 }),
            ),
        ] {
            section[name] = value;
        }
        let server = start(&section);
        decide(&server);
        if is_accepted {
            wait_until(what, || arrived() == before + 1);
        } else {
            let name = "solon_decision_logs_write_failures_total";
            wait_until(what, || metric(server.address(), name) == 1);
            assert_eq!(arrived(), before, "{kind}: {what}");
        }
    }
    fs::metadata(folder.path()).unwrap();
}

#[test]
fn receivers_over_grpc_prove_who_they_are() {
    let grpc = GrpcReceiver::start();
    check("grpc", b"h2", &grpc.address, &|| {
        grpc.received.records().len()
    });
}

#[test]
fn receivers_over_http_prove_who_they_are() {
    let http = Sink::start();
    let address = http.url().trim_start_matches("http://").to_owned();
    let arrived = || {
        let received: Received = received(&http);
        received.records().len()
    };
    check("http", b"http/1.1", &address, &arrived);
}
