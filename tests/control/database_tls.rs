//! TLS parameters of DSNs on real servers, and errors of invalid DSNs.

use std::path::Path;

use solon_control::ControlPlane;
use solon_control::db::{Database, DatabaseOptions, DatabaseTls, DbError};

use crate::databases::{Folder, skip};
use crate::encrypted::certificate_for;
use crate::plane::{options, pause};
use crate::servers::{Kind, Server};
use crate::waiting::Waiting;

fn postgres(dsn: &str) -> DatabaseOptions {
    DatabaseOptions::Postgres(dsn.to_owned(), DatabaseTls::default())
}

fn mysql(dsn: &str) -> DatabaseOptions {
    DatabaseOptions::Mysql(dsn.to_owned(), DatabaseTls::default())
}

/// Connects, and returns the error of the first attempt.
async fn connect(options: &DatabaseOptions) -> Result<(), DbError> {
    match Database::new(options)?.check_version().await {
        // The tables do not exist yet.
        Ok(()) | Err(DbError::Pending(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Waits until a server accepts a connection that must succeed.
async fn reached(options: &DatabaseOptions) {
    let waiting = Waiting::until("the server accepts the connection");
    while let Err(error) = connect(options).await {
        assert!(matches!(error, DbError::Unavailable(_)), "{error}");
        pause(&waiting).await;
    }
}

fn file(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    path.display().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_verifies_as_sslmode_says() {
    let (certificate, key, authority) = certificate_for("127.0.0.1");
    let Some(server) = Server::start_with_tls(Kind::Postgres, &certificate, &key) else {
        skip(Kind::Postgres);
        return;
    };
    let folder = Folder::new();
    let root = file(&folder.0, "root.pem", &authority);
    let other = file(&folder.0, "other.pem", &certificate_for("127.0.0.1").2);
    let url = |host: &str, parameters: &str| {
        let port = server.port;
        postgres(&format!(
            "postgres://solon@{host}:{port}/postgres?{parameters}"
        ))
    };
    let words = |parameters: &str| {
        let port = server.port;
        postgres(&format!(
            "host=127.0.0.1 port={port} user=solon dbname=postgres {parameters}"
        ))
    };
    reached(&url(
        "127.0.0.1",
        &format!("sslmode=verify-full&sslrootcert={root}"),
    ))
    .await;
    let accepted = [
        url(
            "127.0.0.1",
            &format!("sslmode=verify-ca&sslrootcert={root}"),
        ),
        url("127.0.0.1", &format!("sslmode=require&sslrootcert={root}")),
        // A fallback without TLS would give no protection.
        url("127.0.0.1", &format!("sslmode=allow&sslrootcert={root}")),
        url("127.0.0.1", &format!("sslmode=prefer&sslrootcert={root}")),
        url("127.0.0.1", &format!("sslrootcert={root}")),
        url(
            "127.0.0.1",
            &format!(
                "gssencmode=disable&sslmode=verify-full&sslrootcert={}",
                root.replace('/', "%2F")
            ),
        ),
        words(&format!(
            "sslmode='verify-full' sslrootcert = '{root}' application_name='a \\'b\\''"
        )),
        // The certificate is for another name, which only the verification of the chain ignores.
        url(
            "localhost",
            &format!("hostaddr=127.0.0.1&sslmode=verify-ca&sslrootcert={root}"),
        ),
    ];
    for options in accepted {
        let DatabaseOptions::Postgres(dsn, _) = &options else {
            panic!();
        };
        connect(&options)
            .await
            .unwrap_or_else(|error| panic!("{dsn}: {error}"));
    }
    let refused = [
        // Another authority.
        (
            url(
                "127.0.0.1",
                &format!("sslmode=verify-full&sslrootcert={other}"),
            ),
            "certificate",
        ),
        (
            url(
                "127.0.0.1",
                &format!("sslmode=verify-ca&sslrootcert={other}"),
            ),
            "certificate",
        ),
        (
            url("127.0.0.1", &format!("sslmode=require&sslrootcert={other}")),
            "certificate",
        ),
        // Authorities of the system.
        (url("127.0.0.1", "sslmode=require"), "certificate"),
        (url("127.0.0.1", "sslmode=verify-full"), "certificate"),
        (
            url("127.0.0.1", "sslmode=verify-full&sslrootcert=system"),
            "certificate",
        ),
        (url("127.0.0.1", "sslrootcert=system"), "certificate"),
        // Another name.
        (
            url(
                "localhost",
                &format!("hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert={root}"),
            ),
            "not valid for name",
        ),
        (
            url(
                "localhost",
                &format!("hostaddr=127.0.0.1&sslmode=require&sslrootcert={root}"),
            ),
            "not valid for name",
        ),
        // No TLS, which the server requires.
        (url("127.0.0.1", "sslmode=disable"), "no encryption"),
        (url("127.0.0.1", "sslmode=allow"), "no encryption"),
        // Authentication without channel binding.
        (
            url(
                "127.0.0.1",
                &format!("channel_binding=require&sslmode=verify-full&sslrootcert={root}"),
            ),
            "channel binding",
        ),
    ];
    for (options, told) in refused {
        let DatabaseOptions::Postgres(dsn, _) = &options else {
            panic!();
        };
        match connect(&options).await {
            Err(DbError::Unavailable(message)) => {
                assert!(message.contains(told), "{dsn}: {message}");
            }
            other => panic!("{dsn}: {other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_binds_authentication_to_the_channel_and_shows_a_certificate() {
    let (certificate, key, authority) = certificate_for("127.0.0.1");
    let Some(server) = Server::start_with_tls(Kind::Postgres, &certificate, &key) else {
        skip(Kind::Postgres);
        return;
    };
    let folder = Folder::new();
    let root = file(&folder.0, "root.pem", &authority);
    let own = file(&folder.0, "own.pem", &certificate);
    let own_key = file(&folder.0, "own-key.pem", &key);
    let port = server.port;
    let with = |user: &str, parameters: &str| {
        let tls = format!("sslmode=verify-full&sslrootcert={root}");
        postgres(&format!(
            "postgres://{user}@127.0.0.1:{port}/postgres?{tls}{parameters}"
        ))
    };
    reached(&with("solon", "")).await;
    let (client, connection) = {
        let tls = rustls::ClientConfig::builder_with_provider(
            rustls::crypto::aws_lc_rs::default_provider().into(),
        );
        let mut roots = rustls::RootCertStore::empty();
        let pem = <rustls::pki_types::CertificateDer<'_> as rustls::pki_types::pem::PemObject>::from_pem_slice(authority.as_bytes());
        roots.add(pem.unwrap()).unwrap();
        let tls = tls.with_safe_default_protocol_versions().unwrap();
        let tls = tls.with_root_certificates(roots).with_no_client_auth();
        let dsn = format!("postgres://solon@127.0.0.1:{port}/postgres?sslmode=require");
        let tls = tokio_postgres_rustls::MakeRustlsConnect::new(tls);
        tokio_postgres::connect(&dsn, tls).await.unwrap()
    };
    tokio::spawn(connection);
    client
        .batch_execute("CREATE ROLE bound LOGIN PASSWORD 'p@ss?word'")
        .await
        .unwrap();
    let rules =
        "hostssl all bound 127.0.0.1/32 scram-sha-256\nhostssl all all 127.0.0.1/32 trust\n";
    std::fs::write(server.folder.join("data/pg_hba.conf"), rules).unwrap();
    client
        .batch_execute("SELECT pg_reload_conf()")
        .await
        .unwrap();
    let waiting = Waiting::until("the rules are read");
    while connect(&with("bound", "")).await.is_ok() {
        pause(&waiting).await;
    }
    for parameters in ["", "&channel_binding=require", "&channel_binding=disable"] {
        let bound = with("bound:p%40ss%3Fword", parameters);
        connect(&bound)
            .await
            .unwrap_or_else(|error| panic!("{parameters}: {error}"));
    }
    // A client certificate is presented, and a key that does not match it is an error at once.
    let identity = format!("&sslcert={own}&sslkey={own_key}");
    connect(&with("solon", &identity)).await.unwrap();
    let (_, stranger, _) = certificate_for("127.0.0.1");
    let stranger = file(&folder.0, "stranger.pem", &stranger);
    let refused = connect(&with("solon", &format!("&sslcert={own}&sslkey={stranger}"))).await;
    assert!(
        matches!(&refused, Err(DbError::Options(message)) if message.contains("client certificate")),
        "{refused:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mysql_verifies_as_ssl_mode_says() {
    let (certificate, key, authority) = certificate_for("127.0.0.1");
    let Some(server) = Server::start_with_tls(Kind::Mariadb, &certificate, &key) else {
        skip(Kind::Mariadb);
        return;
    };
    let folder = Folder::new();
    let root = file(&folder.0, "root.pem", &authority);
    let other = file(&folder.0, "other.pem", &certificate_for("127.0.0.1").2);
    let port = server.port;
    let url =
        |parameters: &str| mysql(&format!("mysql://root@127.0.0.1:{port}/mysql?{parameters}"));
    let go = |parameters: &str| mysql(&format!("root@tcp(127.0.0.1:{port})/mysql?{parameters}"));
    reached(&url(&format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"))).await;
    for options in [
        url(&format!("ssl-mode=REQUIRED&ssl-ca={root}")),
        url(&format!("ssl_mode=required&ssl_ca={root}")),
        url(&format!("ssl-ca={root}")),
        go(&format!(
            "parseTime=true&ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"
        )),
        go("tls=skip-verify"),
    ] {
        connect(&options).await.unwrap();
    }
    for options in [
        url(&format!("ssl-mode=VERIFY_IDENTITY&ssl-ca={other}")),
        url(&format!("ssl-mode=REQUIRED&ssl-ca={other}")),
        url("ssl-mode=REQUIRED"),
        url("ssl-mode=DISABLED"),
        url("ssl-mode=PREFERRED"),
        go("tls=true"),
        mysql(&format!(
            "mysql://root@localhost:{port}/mysql?ssl-mode=VERIFY_IDENTITY&ssl-ca={root}"
        )),
    ] {
        let refused = connect(&options).await;
        assert!(
            matches!(refused, Err(DbError::Unavailable(_))),
            "{refused:?}"
        );
    }
}

/// The message names the parameter and contains no text of the DSN, which may be part of a password.
#[tokio::test]
async fn errors_of_dsns_name_the_parameter_and_never_the_password() {
    let folder = Folder::new();
    let broken = file(&folder.0, "broken.pem", "no certificate");
    let url = |parameters: &str| format!("postgres://u:canary@h/db?{parameters}");
    let cases = [
        (url("sslmode=verify-ful"), "invalid value for `sslmode`"),
        (
            url("sslmode=verify-ca"),
            "`sslmode=verify-ca` needs `sslrootcert`",
        ),
        (
            url("sslmode=verify-ca&sslrootcert=system"),
            "`sslrootcert=system` needs `sslmode=verify-full`",
        ),
        (
            url("sslmode=disable&sslrootcert=system"),
            "`sslrootcert=system` needs",
        ),
        (
            url("sslmode=verify-full&sslrootcert=/not/there.pem"),
            "`sslrootcert`: cannot read /not/there.pem",
        ),
        (
            url(&format!("sslmode=verify-full&sslrootcert={broken}")),
            "not a valid PEM certificate",
        ),
        (
            url("sslmode=require&sslcert=/x"),
            "`sslcert` and `sslkey` are only valid together",
        ),
        (
            url("sslmode=require&sslcert=/not/cert&sslkey=/not/key"),
            "`sslcert`: cannot read /not/cert",
        ),
        (
            url("channel_binding=maybe"),
            "invalid value for `channel_binding`",
        ),
        (
            url("channel_binding=require"),
            "`channel_binding=require` needs TLS",
        ),
        (url("port=canary"), "invalid value for `port`"),
        (
            url("connect_timeout=canary"),
            "invalid value for `connect_timeout`",
        ),
        (
            url("target_session_attrs=canary"),
            "invalid value for `target_session_attrs`",
        ),
        (url("gssencmode=require"), "invalid value for `gssencmode`"),
        (url("sslcrl=/x"), "`sslcrl` is not supported"),
        (
            url("sslmod=require"),
            "parameter 1 is unknown; did you mean `sslmode`?",
        ),
        (url("sslmode"), "parameter 1 has no `=`"),
        (
            "postgres://u:can?canary=1@h/db".replace("@h", "%40h"),
            "parameter 1 is unknown",
        ),
        (
            "host=h password=canary canary sslmode=require".to_owned(),
            "parameter 3 is unknown",
        ),
        (
            "host=h password='canary".to_owned(),
            "parameter 2 has no end of its quoted value",
        ),
        ("canary".to_owned(), "parameter 1 has no `=`"),
        (String::new(), "it is empty"),
        (
            "postgres://u:canary@[h/db".to_owned(),
            "invalid value for `host`",
        ),
        (
            "postgres://u:canary@h:canary/db".to_owned(),
            "invalid value for `port`",
        ),
    ];
    for (dsn, told) in cases {
        let error = Database::new(&postgres(&dsn)).err();
        let message = error.unwrap_or_else(|| panic!("{dsn}")).to_string();
        assert!(message.contains(told), "{dsn}: {message}");
        assert!(message.starts_with("DSN of PostgreSQL: "), "{message}");
        assert!(!message.contains("canary"), "{message}");
    }
    let url = |parameters: &str| format!("mysql://u:canary@h/db?{parameters}");
    let cases = [
        (url("ssl-mode=canary"), "invalid value for `ssl-mode`"),
        (
            url("ssl-mode=VERIFY_CA"),
            "`ssl-mode=VERIFY_CA` is not supported",
        ),
        (
            url("ssl-mode=REQUIRED&ssl-ca=/not/there.pem"),
            "`ssl-ca`: cannot read /not/there.pem",
        ),
        (
            url("ssl-cert=/x"),
            "`ssl-cert` and `ssl-key` are only valid together",
        ),
        (
            url(&format!("ssl-ca={broken}")),
            "not a valid PEM certificate",
        ),
        (url("ssl-canary=1"), "parameter 1 is unknown"),
        (url("require_ssl=canary"), "invalid value for `require_ssl`"),
        (url("canary=1"), "a parameter is unknown"),
        (
            "mysql://u:canary@h:canary/db".to_owned(),
            "expected `mysql://",
        ),
        ("u:canary@tcp(h:canary)/db".to_owned(), "expected `mysql://"),
        (
            "u:canary@tcp(h)/db?ssl-mode=x".to_owned(),
            "invalid value for `ssl-mode`",
        ),
    ];
    for (dsn, told) in cases {
        let error = Database::new(&mysql(&dsn)).err();
        let message = error.unwrap_or_else(|| panic!("{dsn}")).to_string();
        assert!(message.contains(told), "{dsn}: {message}");
        assert!(message.starts_with("DSN of MySQL: "), "{message}");
        assert!(!message.contains("canary"), "{message}");
    }
    // The start fails with the same message.
    let mut options = options(&folder.0);
    options.database = Some(postgres("postgres://u:canary@h/db?sslmode=x"));
    let message = ControlPlane::open(&options)
        .await
        .err()
        .unwrap()
        .to_string();
    assert!(message.contains("invalid value for `sslmode`"), "{message}");
    assert!(!message.contains("canary"), "{message}");
}
