//! Retention of the audit log.

use std::time::Duration;

use solon_control::db::{DatabaseOptions, Mode};
use solon_control::model::read_retention;
use solon_control::{ControlPlane, commands};

use crate::config::described;
use crate::databases::{Folder, On};
use crate::migrations::run;
use crate::plane::{Plane, options, pause};
use crate::waiting::Waiting;

async fn count(plane: &ControlPlane) -> usize {
    let mut transaction = plane.database().begin(Mode::Read).await.unwrap();
    let entries = transaction.audit_before(i64::MAX, 100_000).await.unwrap();
    transaction.roll_back().await;
    entries.len()
}

/// Adds entries of 1970, more than one transaction deletes.
async fn add_old(database: &DatabaseOptions) {
    let values: Vec<String> = (0..1200)
        .map(|at| format!("({at}, 'old', '', 'create', 'bundles', 'b{at}', NULL, '{{}}')"))
        .collect();
    let sql = format!(
        "INSERT INTO audit (at, principal, request, action, kind, name, before_write, after_write) VALUES {}",
        values.join(", ")
    );
    run(database, &sql).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn old_entries_are_removed_only_where_a_retention_is_set() {
    for on in [On::Sqlite, On::Postgres, On::Mariadb] {
        let mut database = None;
        let Some(plane) = Plane::with(on, |options| database.clone_from(&options.database)).await
        else {
            continue;
        };
        let database = database.unwrap();
        let young = count(&plane.plane).await;
        add_old(&database).await;
        assert_eq!(count(&plane.plane).await, young + 1200);
        // off: it ends at once, and nothing is deleted
        plane.plane.prune_audit().await;
        assert_eq!(count(&plane.plane).await, young + 1200, "{on:?}");

        let mut options = options(&plane.folder.0);
        options.database = Some(database.clone());
        let mut exported = Vec::new();
        commands::export_audit(&options, |entry| exported.push(entry))
            .await
            .unwrap();
        assert_eq!(exported.len(), young + 1200);
        let first: serde_json::Value = serde_json::from_str(&exported[0]).unwrap();
        assert_eq!(first["principal"], "the command line", "{first}");

        let day = Duration::from_hours(24);
        assert_eq!(
            commands::prune_audit(&options, day).await.unwrap(),
            1200,
            "{on:?}"
        );
        assert_eq!(commands::prune_audit(&options, day).await.unwrap(), 0);
        assert_eq!(count(&plane.plane).await, young, "{on:?}");

        // a running service deletes them by itself
        add_old(&database).await;
        options.audit_retention = Some(Some(day));
        let service = ControlPlane::open(&options).await.unwrap();
        let pruning = tokio::spawn({
            let service = service.clone();
            async move { service.prune_audit().await }
        });
        let waiting = Waiting::until("old entries are removed");
        while count(&service).await > young {
            pause(&waiting).await;
        }
        assert!(!pruning.is_finished(), "it goes on");
        pruning.abort();
        assert_eq!(count(&service).await, young, "{on:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retention_of_a_file_gives_way_to_that_of_the_command_line() {
    let folder = Folder::new();
    let mut options = described(&folder, &[("a.yaml", "audit: {retention: 90d}")]);
    let database = DatabaseOptions::Sqlite(folder.0.join("data/sqlite.db"));
    let plane = ControlPlane::open(&options).await.unwrap();
    add_old(&database).await;
    let pruning = tokio::spawn(async move { plane.prune_audit().await });
    let reader = ControlPlane::attach(&options).await.unwrap();
    let waiting = Waiting::until("old entries are removed");
    while count(&reader).await > 0 {
        pause(&waiting).await;
    }
    pruning.abort();
    add_old(&database).await;
    options.audit_retention = Some(None);
    let plane = ControlPlane::open(&options).await.unwrap();
    plane.prune_audit().await;
    assert_eq!(count(&plane).await, 1200);
    for (text, wanted) in [
        (
            "audit: {retention: 90}",
            "audit.retention invalid retention `90`",
        ),
        (
            "audit: {retention: '90'}",
            "audit.retention invalid retention `90`",
        ),
        ("audit: {retention: 30m}", "at least `1h`"),
        ("audit: {retain: 1d}", "audit.retain is not a known field"),
    ] {
        let options = described(&folder, &[("a.yaml", text)]);
        let message = commands::validate(&options).await.unwrap_err().to_string();
        let is_told = message.contains(wanted)
            || text.ends_with("90}") && message.contains("must be a string");
        assert!(is_told, "{text}: {message}");
    }
}

#[test]
fn retentions_are_days_or_durations() {
    let hours = |hours: u64| Ok(Some(Duration::from_secs(hours * 3600)));
    for (text, wanted) in [
        ("1d", hours(24)),
        ("90d", hours(2160)),
        ("36h", hours(36)),
        ("1h", hours(1)),
        ("60m", hours(1)),
        ("off", Ok(None)),
    ] {
        assert_eq!(read_retention(text), wanted, "{text}");
    }
    for text in [
        "",
        "d",
        "0d",
        "-1d",
        "+1d",
        "1.5d",
        "1 d",
        "59m",
        "0",
        "-1h",
        "1",
        "999999999d",
        "Off",
        "1w",
    ] {
        assert!(read_retention(text).is_err(), "{text}");
    }
}
