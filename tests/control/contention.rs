//! Locks of other clients: requests fail in time, and healthy connections stay open.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use solon_control::db::{DatabaseOptions, Mode};

use crate::databases::On;
use crate::plane::{Plane, json};

/// A session of another client.
enum Session {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client),
    Mysql(mysql_async::Conn),
}

impl Session {
    async fn open(database: &DatabaseOptions) -> Self {
        match database {
            DatabaseOptions::Sqlite(path) => {
                Self::Sqlite(rusqlite::Connection::open(path).unwrap())
            }
            DatabaseOptions::Postgres(dsn, _) => {
                let connected = tokio_postgres::connect(dsn, tokio_postgres::NoTls).await;
                let (client, connection) = connected.unwrap();
                tokio::spawn(connection);
                Self::Postgres(client)
            }
            DatabaseOptions::Mysql(dsn, _) => {
                let address = dsn.replace("root@tcp(", "mysql://root@").replace(')', "");
                let url = format!("{address}?prefer_socket=false");
                Self::Mysql(mysql_async::Conn::from_url(url).await.unwrap())
            }
            DatabaseOptions::Memory => panic!("it is not reached from outside"),
        }
    }

    async fn run(&mut self, sql: &str) {
        use mysql_async::prelude::Queryable as _;
        match self {
            Self::Sqlite(connection) => connection.execute_batch(sql).unwrap(),
            Self::Postgres(client) => client.batch_execute(sql).await.unwrap(),
            Self::Mysql(connection) => connection.query_drop(sql).await.unwrap(),
        }
    }

    /// Returns the ids of the other connections to the database.
    async fn connections(&mut self) -> BTreeSet<i64> {
        use mysql_async::prelude::Queryable as _;
        match self {
            Self::Sqlite(_) => BTreeSet::new(),
            Self::Postgres(client) => {
                let sql = "SELECT pid::bigint FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
                let rows = client.query(sql, &[]).await.unwrap();
                rows.iter().map(|row| row.get(0)).collect()
            }
            Self::Mysql(connection) => {
                let sql = "SELECT id FROM information_schema.processlist WHERE db = DATABASE() AND id <> CONNECTION_ID()";
                let ids: Vec<i64> = connection.query(sql).await.unwrap();
                ids.into_iter().collect()
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_of_others_close_no_healthy_connection_of_postgres() {
    contend(On::Postgres).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_of_others_close_no_healthy_connection_of_mariadb() {
    contend(On::Mariadb).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn locks_of_others_are_503_on_sqlite() {
    contend(On::Sqlite).await;
}

/// A write waits ten seconds for a lock. `SOLON_FULL` holds it for a minute.
async fn contend(on: On) {
    let held = match std::env::var_os("SOLON_FULL") {
        Some(_) => Duration::from_mins(1),
        None => Duration::from_secs(5),
    };
    let mut database = None;
    let Some(plane) = Plane::with(on, |options| database.clone_from(&options.database)).await
    else {
        return;
    };
    let database = database.unwrap();
    plane.done("admin", "PUT /v1/bundles/b", "{}").await;
    // every connection of the pool is open
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(plane.plane.database().begin(Mode::Read).await.unwrap());
    }
    for transaction in open {
        transaction.roll_back().await;
    }
    let mut watcher = Session::open(&database).await;
    let before = watcher.connections().await;
    assert!(on == On::Sqlite || before.len() >= 8, "{before:?}");
    let mut holder = Session::open(&database).await;
    let lock = match on {
        On::Sqlite => "BEGIN IMMEDIATE",
        _ => "BEGIN; SELECT id FROM writer WHERE id = 1 FOR UPDATE",
    };
    for statement in lock.split("; ") {
        holder.run(statement).await;
    }
    let begun = Instant::now();
    let refused = async {
        loop {
            let writes = (0..4).map(|_| plane.send("admin", "PUT /v1/bundles/b", "{}"));
            for response in join(writes).await {
                assert_eq!(response.status(), 503, "{on:?}");
                assert_eq!(response.headers()["retry-after"], "1");
                let message = &json(&response)["message"];
                assert_eq!(
                    message,
                    "the database is busy with other writes; retry later"
                );
            }
            if begun.elapsed() >= held {
                break;
            }
        }
    };
    let reads = async {
        while begun.elapsed() < held {
            assert_eq!(
                plane.send_json("admin", "GET /v1/bundles/b", "").await.0,
                200
            );
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::join!(refused, reads);
    let mut held_by_others = before.clone();
    if on == On::Postgres {
        held_by_others.extend(watcher.connections().await.difference(&before));
        assert_eq!(
            held_by_others.len(),
            before.len() + 1,
            "only the holder is new"
        );
    }
    assert!(watcher.connections().await.is_superset(&before), "{on:?}");
    holder.run("ROLLBACK").await;
    plane.done("admin", "PUT /v1/bundles/b", "{}").await;
    if on == On::Sqlite {
        return;
    }
    // a lock of one row fails within the transaction
    holder.run("BEGIN").await;
    holder
        .run("SELECT id FROM items WHERE name = 'b' FOR UPDATE")
        .await;
    let (status, answer) = plane.send_json("admin", "PUT /v1/bundles/b", "{}").await;
    assert_eq!(status, 503, "{on:?}: {answer}");
    holder.run("ROLLBACK").await;
    plane.done("admin", "PUT /v1/bundles/b", "{}").await;
    assert!(watcher.connections().await.is_superset(&before), "{on:?}");
}

async fn join<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut done: Vec<Option<T>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (one, done) in all.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(value) = one.as_mut().poll(context)
            {
                *done = Some(value);
            }
        }
        if done.iter().all(Option::is_some) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
