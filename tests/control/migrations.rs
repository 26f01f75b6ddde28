//! Migrations: applied once by one of several processes, shown without being applied, rejected for newer tables.

use solon_control::db::{Database, DatabaseOptions, DbError};
use solon_control::model::Role;
use solon_control::{ControlPlane, commands};

use crate::databases::{Folder, On};
use crate::plane::options;

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_created_once() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let mut options = options(&folder.0);
        options.database = Some(database.clone());
        options.apply_migrations = false;
        let names: &[&str] = match on {
            On::Mariadb => &[
                "0001_tables",
                "0003_artifacts",
                "0004_builds",
                "0005_triggers",
                "0006_traces",
            ],
            _ => &[
                "0001_tables",
                "0002_indexes",
                "0003_artifacts",
                "0004_builds",
                "0005_triggers",
                "0006_traces",
            ],
        };

        // shown, but not applied.
        let sql = commands::migrate(&options, true).await.unwrap();
        for table in [
            "items",
            "item_references",
            "secret_values",
            "source_data",
            "statuses",
            "bundle_builds",
            "build_attempts",
            "build_requests",
            "source_triggers",
            "webhook_deliveries",
            "sessions",
            "tokens",
            "audit",
            "artifacts",
            "artifact_pieces",
            "publications",
        ] {
            assert!(
                sql.contains(&format!(" {table} (")),
                "{on:?}: {table} is not in {sql}"
            );
        }
        if on != On::Sqlite {
            let words = ControlPlane::open(&options)
                .await
                .err()
                .unwrap()
                .to_string();
            let told = format!("{} migrations: run `solon control db migrate`", names.len());
            assert!(words.contains(&told), "{words}");
        }

        // applied by one of several processes.
        let makers: Vec<_> = (0..4)
            .map(|_| {
                let options = options.clone();
                tokio::spawn(async move { commands::migrate(&options, false).await })
            })
            .collect();
        let mut made = 0;
        for maker in makers {
            made += usize::from(maker.await.unwrap().unwrap() == names.join("\n"));
        }
        assert_eq!(made, 1, "{on:?}");
        assert_eq!(commands::migrate(&options, true).await.unwrap(), "");
        assert_eq!(commands::migrate(&options, false).await.unwrap(), "");
        ControlPlane::open(&options).await.unwrap();

        // commands for tokens
        let key = commands::create_token(&options, "ops", Role::Administrator, None).await;
        assert!(key.unwrap().starts_with("solon_"));
        assert!(
            commands::create_token(&options, "ops", Role::Viewer, None)
                .await
                .is_err()
        );
        assert!(
            commands::create_token(&options, "", Role::Viewer, None)
                .await
                .is_err()
        );
        let tokens = commands::tokens(&options).await.unwrap();
        assert_eq!(
            tokens
                .iter()
                .map(|token| token["name"].as_str().unwrap())
                .collect::<Vec<_>>(),
            ["ops"]
        );
        commands::revoke_token(&options, "ops").await.unwrap();
        assert!(commands::revoke_token(&options, "ops").await.is_err());

        // a newer version
        let later = "INSERT INTO solon_migrations (version, applied_at) VALUES (99, 0)";
        run(&database, later).await;
        let known = Database::new(&database).unwrap();
        let newer = DbError::Newer {
            found: 99,
            known: names.last().unwrap()[..4].parse().unwrap(),
        };
        assert_eq!(known.check_version().await, Err(newer.clone()), "{on:?}");
        assert_eq!(known.migrate().await, Err(newer), "{on:?}");
        drop(known);
        let before = contents(&database).await;
        assert!(ControlPlane::open(&options).await.is_err());
        assert!(commands::migrate(&options, false).await.is_err());
        assert!(commands::tokens(&options).await.is_err());
        // rejected, and left unchanged
        assert_eq!(contents(&database).await, before, "{on:?}");
    }
}

/// Returns the tables of a database with their numbers of rows.
async fn contents(database: &DatabaseOptions) -> Vec<String> {
    let mut found = Vec::new();
    match database {
        DatabaseOptions::Sqlite(path) => {
            let connection = rusqlite::Connection::open(path).unwrap();
            let mut query = connection
                .prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql")
                .unwrap();
            let rows = query.query_map([], |row| row.get(0)).unwrap();
            found.extend(rows.map(Result::unwrap));
            let version = "SELECT group_concat(version) FROM solon_migrations";
            found.push(connection.query_row(version, [], |row| row.get(0)).unwrap());
        }
        DatabaseOptions::Postgres(dsn, _) => {
            let (client, connection) = tokio_postgres::connect(dsn, tokio_postgres::NoTls)
                .await
                .unwrap();
            tokio::spawn(connection);
            for sql in [
                "SELECT table_name || '.' || column_name || ' ' || data_type FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1",
                "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
                "SELECT version::text FROM solon_migrations ORDER BY 1",
            ] {
                let rows = client.query(sql, &[]).await.unwrap();
                found.extend(rows.iter().map(|row| row.get::<_, String>(0)));
            }
        }
        DatabaseOptions::Mysql(dsn, _) => {
            use mysql_async::prelude::Queryable as _;
            let address = dsn.replace("root@tcp(", "mysql://root@").replace(')', "");
            let url = format!("{address}?prefer_socket=false");
            let mut connection = mysql_async::Conn::from_url(url).await.unwrap();
            for sql in [
                "SELECT CONCAT(table_name, '.', column_name, ' ', column_type) FROM information_schema.columns WHERE table_schema = DATABASE() ORDER BY 1",
                "SELECT CAST(version AS CHAR) FROM solon_migrations ORDER BY 1",
            ] {
                let rows: Vec<String> = connection.query(sql).await.unwrap();
                found.extend(rows);
            }
        }
        DatabaseOptions::Memory => panic!("it is not reached from outside"),
    }
    found
}

/// Only a missing table means that migrations are pending. Other errors are reported unchanged.
#[tokio::test(flavor = "multi_thread")]
async fn errors_are_not_taken_for_pending_migrations() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let at_first = Database::new(&database).unwrap();
        assert!(
            matches!(at_first.check_version().await, Err(DbError::Pending(_))),
            "{on:?}"
        );
        at_first.migrate().await.unwrap();
        let mut cases = Vec::new();
        match &database {
            DatabaseOptions::Sqlite(path) => {
                let text = path.with_extension("text");
                std::fs::write(&text, "no database, but a text of some length".repeat(9)).unwrap();
                cases.push((DatabaseOptions::Sqlite(text), "not a database"));
                let folder = path.with_extension("folder");
                std::fs::create_dir(&folder).unwrap();
                cases.push((
                    DatabaseOptions::Sqlite(folder),
                    "unable to open database file",
                ));
            }
            DatabaseOptions::Postgres(dsn, tls) => {
                run(&database, "CREATE ROLE limited LOGIN").await;
                let limited = dsn.replace("solon@", "limited@");
                let with = |dsn: String| DatabaseOptions::Postgres(dsn, tls.clone());
                cases.push((with(limited), "permission denied for"));
                let other = dsn.replace("/plane", "/absent");
                cases.push((with(other), "does not exist"));
                let brief = format!("{dsn}&options=-c%20statement_timeout%3D1");
                run(&database, "ALTER TABLE solon_migrations RENAME TO kept; CREATE VIEW solon_migrations AS SELECT version FROM kept WHERE pg_sleep(2) IS NOT NULL").await;
                cases.push((with(brief), "statement timeout"));
            }
            DatabaseOptions::Mysql(dsn, tls) => {
                run(&database, "CREATE USER limited@'%'").await;
                let name = dsn.rsplit('/').next().unwrap();
                run(
                    &database,
                    &format!("GRANT SELECT ON {name}.items TO limited@'%'"),
                )
                .await;
                let with = |dsn: String| DatabaseOptions::Mysql(dsn, tls.clone());
                cases.push((
                    with(dsn.replace("root@", "limited@")),
                    "SELECT command denied",
                ));
                cases.push((with(dsn.replace("/plane", "/absent")), "Unknown database"));
            }
            DatabaseOptions::Memory => {}
        }
        for (options, told) in cases {
            let failing = Database::new(&options).unwrap();
            let message = failing.check_version().await.unwrap_err().to_string();
            assert!(message.contains(told), "{on:?}: {message}");
            let shown = solon_control::db::pending_sql(&failing).await;
            assert!(shown.unwrap_err().to_string().contains(told), "{on:?}");
        }
    }
}

/// Runs a statement directly on the database.
pub async fn run(database: &DatabaseOptions, sql: &str) {
    match database {
        DatabaseOptions::Sqlite(path) => {
            rusqlite::Connection::open(path)
                .unwrap()
                .execute_batch(sql)
                .unwrap();
        }
        DatabaseOptions::Postgres(dsn, _) => {
            let (client, connection) = tokio_postgres::connect(dsn, tokio_postgres::NoTls)
                .await
                .unwrap();
            tokio::spawn(connection);
            client.batch_execute(sql).await.unwrap();
        }
        DatabaseOptions::Mysql(dsn, _) => {
            use mysql_async::prelude::Queryable as _;
            let address = dsn.replace("root@tcp(", "mysql://root@").replace(')', "");
            let url = format!("{address}?prefer_socket=false");
            let mut connection = mysql_async::Conn::from_url(url).await.unwrap();
            connection.query_drop(sql).await.unwrap();
        }
        DatabaseOptions::Memory => panic!("it is not reached from outside"),
    }
}
