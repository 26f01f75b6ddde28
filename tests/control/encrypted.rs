//! Connections to databases over TLS.

use solon_control::ControlPlane;
use solon_control::db::{Database, DatabaseOptions, DatabaseTls, DbError};

use crate::databases::{Folder, skip};
use crate::plane::options;
use crate::servers::{Kind, Server};

/// A certificate for this machine with its key, and the authority that signed it.
fn certificate() -> (String, String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = authority.self_signed(&key).unwrap();
    let issuer = rcgen::Issuer::new(authority, key);
    let own_key = rcgen::KeyPair::generate().unwrap();
    let names = vec!["127.0.0.1".to_owned()];
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
        let end = std::time::Instant::now() + std::time::Duration::from_secs(30);
        // it listens before it takes connections
        while let Err(error) = ControlPlane::open(&options).await {
            assert!(std::time::Instant::now() < end, "{kind:?}: {error}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        // another authority is not trusted, and without TLS the server refuses
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
