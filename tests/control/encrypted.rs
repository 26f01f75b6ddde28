//! Connections to databases over TLS.

use solon_control::ControlPlane;
use solon_control::db::{Database, DatabaseOptions, DatabaseTls, DbError};

use crate::databases::{Folder, skip};
use crate::plane::{options, pause};
use crate::servers::{Kind, Server};
use crate::waiting::Waiting;

/// Creates a certificate for this machine with its key, and the authority that signed it.
fn certificate() -> (String, String, String) {
    certificate_for("127.0.0.1")
}

/// Creates a certificate for a name with its key, and the authority that signed it.
pub fn certificate_for(name: &str) -> (String, String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = authority.self_signed(&key).unwrap();
    let issuer = rcgen::Issuer::new(authority, key);
    let own_key = rcgen::KeyPair::generate().unwrap();
    let names = vec![name.to_owned()];
    let own = rcgen::CertificateParams::new(names)
        .unwrap()
        .signed_by(&own_key, &issuer)
        .unwrap();
    (own.pem(), own_key.serialize_pem(), root.pem())
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_are_reached_over_tls() {
    for kind in [Kind::Postgres, Kind::Mariadb] {
        let (certificate, key, authority) = certificate();
        let Some(server) = Server::start_with_tls(kind, &certificate, &key) else {
            skip(kind);
            continue;
        };
        let dsn = match kind {
            Kind::Postgres => format!("postgres://solon@127.0.0.1:{}/postgres", server.port),
            Kind::Mariadb => server.dsn("mysql"),
        };
        let trusting = |authority: String| {
            let tls = DatabaseTls {
                root_ca: authority,
                ..DatabaseTls::default()
            };
            match kind {
                Kind::Postgres => DatabaseOptions::Postgres(dsn.clone(), tls),
                Kind::Mariadb => DatabaseOptions::Mysql(dsn.clone(), tls),
            }
        };
        let folder = Folder::new();
        let mut options = options(&folder.0);
        options.database = Some(trusting(authority));
        let waiting = Waiting::until("the database takes connections");
        // it listens before it accepts connections
        while ControlPlane::open(&options).await.is_err() {
            pause(&waiting).await;
        }
        // another authority is not trusted, and the server rejects connections without TLS
        let (_, _, other) = self::certificate();
        for untrusted in [other, String::new()] {
            let database = Database::new(&trusting(untrusted)).unwrap();
            let refused = database.check_version().await;
            assert!(
                matches!(refused, Err(DbError::Unavailable(_))),
                "{kind:?}: {refused:?}"
            );
        }
        let broken = Database::new(&trusting("no certificate".to_owned()));
        let refused = match broken {
            Ok(database) => database.check_version().await.is_err(),
            Err(_) => true,
        };
        assert!(refused, "{kind:?}");
    }
}
