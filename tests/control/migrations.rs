//! Tables: made once, by one of many, shown before they are made, and refused where they are of a later version.

use solon_control::db::{Database, DatabaseOptions, DbError};
use solon_control::model::Role;
use solon_control::{ControlPlane, commands};

use crate::databases::{Folder, On};
use crate::plane::options;

#[tokio::test(flavor = "multi_thread")]
async fn tables_are_made_once() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let folder = Folder::new();
        let Some(database) = on.fresh(&folder.0).await else {
            continue;
        };
        let mut options = options(&folder.0);
        options.database = Some(database.clone());
        options.apply_migrations = false;
        let names: &[&str] = match on {
            On::Mariadb => &["0001_tables"],
            _ => &["0001_tables", "0002_indexes"],
        };

        // shown, and not made
        let sql = commands::migrate(&options, true).await.unwrap();
        for table in [
            "items",
            "item_references",
            "secret_values",
            "source_data",
            "statuses",
            "tokens",
            "audit",
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

        // by one of many
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

        // what the command line does with tokens
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

        // of a later version
        let later = "INSERT INTO solon_migrations (version, applied_at) VALUES (99, 0)";
        run(&database, later).await;
        let known = Database::new(&database).unwrap();
        let newer = DbError::Newer {
            found: 99,
            known: i64::try_from(names.len()).unwrap(),
        };
        assert_eq!(known.check_version().await, Err(newer.clone()), "{on:?}");
        assert_eq!(known.migrate().await, Err(newer), "{on:?}");
        assert!(ControlPlane::open(&options).await.is_err());
    }
}

/// Runs a statement past the control plane.
async fn run(database: &DatabaseOptions, sql: &str) {
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
