//! The databases that tests run on.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use solon_control::db::{DatabaseOptions, DatabaseTls};

use crate::plane::pause;
use crate::servers::{Kind, Server};
use crate::waiting::Waiting;

/// A database that tests run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    Memory,
    Sqlite,
    Postgres,
    Mariadb,
}

impl On {
    pub const ALL: [Self; 4] = [Self::Memory, Self::Sqlite, Self::Postgres, Self::Mariadb];

    /// Creates a new, empty database. Returns `None` and prints a message if it cannot be started on this machine.
    pub async fn fresh(self, folder: &std::path::Path) -> Option<DatabaseOptions> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("plane{}", COUNT.fetch_add(1, Ordering::Relaxed));
        let server = match self {
            Self::Memory => return Some(DatabaseOptions::Memory),
            Self::Sqlite => return Some(DatabaseOptions::Sqlite(folder.join("sqlite.db"))),
            Self::Postgres => server(Kind::Postgres)?,
            Self::Mariadb => server(Kind::Mariadb)?,
        };
        create(self, server, &name).await;
        Some(options(self, server, &name))
    }
}

/// Returns the options of a database of a server.
pub fn options(on: On, server: &Server, name: &str) -> DatabaseOptions {
    match on {
        On::Postgres => DatabaseOptions::Postgres(server.dsn(name), DatabaseTls::default()),
        _ => DatabaseOptions::Mysql(server.dsn(name), DatabaseTls::default()),
    }
}

/// Creates an empty database.
pub async fn create(on: On, server: &Server, name: &str) {
    let sql = format!("CREATE DATABASE {name}");
    if on == On::Postgres {
        let waiting = Waiting::until("PostgreSQL takes connections");
        let (client, connection) = loop {
            match tokio_postgres::connect(&server.dsn("postgres"), tokio_postgres::NoTls).await {
                Ok(connected) => break connected,
                // it listens before it accepts connections
                Err(_) => pause(&waiting).await,
            }
        };
        tokio::spawn(connection);
        client.batch_execute(&sql).await.unwrap();
    } else {
        use mysql_async::prelude::Queryable as _;
        let url = format!(
            "mysql://root@127.0.0.1:{}/mysql?prefer_socket=false",
            server.port
        );
        let mut connection = mysql_async::Conn::from_url(url).await.unwrap();
        connection.query_drop(sql).await.unwrap();
    }
}

/// Returns the server that all tests of a process share.
fn server(kind: Kind) -> Option<&'static Server> {
    static POSTGRES: OnceLock<Option<Server>> = OnceLock::new();
    static MARIADB: OnceLock<Option<Server>> = OnceLock::new();
    let cell = match kind {
        Kind::Postgres => &POSTGRES,
        Kind::Mariadb => &MARIADB,
    };
    let server = cell.get_or_init(|| Server::start(kind));
    if server.is_none() {
        skip(kind);
    }
    server.as_ref()
}

/// A folder of a test, removed when the test ends.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("solon-control-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Reports that the programs of a server are absent. Fails if the environment requires them.
pub fn skip(kind: Kind) {
    let words = format!("the programs of {kind:?} are absent");
    assert!(
        std::env::var_os("SOLON_REQUIRE_DATABASES").is_none(),
        "{words}"
    );
    eprintln!("skipped: {words}");
}
