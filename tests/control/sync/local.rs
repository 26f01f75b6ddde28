//! Inline files, folders, pushed data and built-in libraries.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde_json::{Value, json};
use solon_control::model::Status;
use solon_control::sync::{FetchOptions, Fetcher, Job};
use solon_control::tree::{Content, Tree};

use super::{Folder, fetch, paths, source, texts};

#[tokio::test]
async fn trees_are_in_order() {
    let folder = Folder::new("order");
    folder.write("libs/lib#b/p.rego", "package lib");
    folder.write("dir/q.rego", "package q");
    folder.write("dir/sub/data.json", "{}");
    folder.write("dir/sub/notes.txt", "");
    folder.write("dir/.git/config", "");
    folder.write("dir/..data/q.rego", "");
    let options = FetchOptions {
        builtins: Some(folder.path().join("libs")),
        ..folder.options()
    };
    let fetcher = Fetcher::new(options).unwrap();
    let source = source(&json!({
        "name": "s", "builtin": "lib:b", "directory": "dir", "paths": ["*.rego", "sub/*.json"],
        "files": {"in/p.rego": "cGFja2FnZSBw"}
    }));
    let mut pushed = Tree::default();
    pushed.insert("x/data.json", Content::Inline(Bytes::from_static(b"1")));
    let job = Job {
        source: &source,
        commit: None,
        secrets: &BTreeMap::new(),
        pushed,
    };
    let fetched = fetcher.fetch(job).await.unwrap();
    assert_eq!(fetched.trees.len(), 2);
    let own = |files: &[(&str, &str)]| {
        let files = files.iter();
        files
            .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
            .collect::<Vec<_>>()
    };
    assert_eq!(texts(&fetched.trees[0]), own(&[("p.rego", "package lib")]));
    let wanted = own(&[
        ("in/p.rego", "package p"),
        ("q.rego", "package q"),
        ("sub/data.json", "{}"),
        ("x/data.json", "1"),
    ]);
    assert_eq!(texts(&fetched.trees[1]), wanted);
    assert_eq!(
        fetched.facts.sql_digest,
        Some(fetched.trees[1].digest().unwrap())
    );
    // what was fetched stays as it was
    folder.write("dir/q.rego", "package changed");
    assert_eq!(texts(&fetched.trees[1]), wanted);
}

#[tokio::test]
async fn sources_without_files_have_no_trees() {
    let folder = Folder::new("empty");
    folder.write("dir/README", "");
    let fetcher = Fetcher::new(folder.options()).unwrap();
    for value in [
        json!({"name": "s"}),
        json!({"name": "s", "directory": "dir", "paths": ["*.rego"]}),
    ] {
        let fetched = fetch(&fetcher, &source(&value)).await.unwrap();
        assert!(fetched.trees.is_empty(), "{value}");
        assert_eq!(fetched.facts.sql_digest, None);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn hostile_folders_are_rejected() {
    let folder = Folder::new("hostile");
    folder.write("secret.txt", "canary");
    folder.write("dir/ok.rego", "package ok");
    folder.write("newline/a\nb.rego", "package a");
    folder.write("backslash/a\\b.rego", "package a");
    folder.write("twice/data.json", "{}");
    let link = |target: &str, path: &str| {
        std::os::unix::fs::symlink(target, folder.path().join(path)).unwrap();
    };
    for name in ["out", "absolute", "to-folder", "dangling", "pipe", "inside"] {
        std::fs::create_dir_all(folder.path().join(name)).unwrap();
    }
    link("../secret.txt", "out/p.rego");
    link("/etc/passwd", "absolute/p.rego");
    link(".", "to-folder/again");
    link("nowhere", "dangling/p.rego");
    folder.write("inside/real.rego", "package real");
    link("real.rego", "inside/link.rego");
    let mut mkfifo = std::process::Command::new("mkfifo");
    assert!(
        mkfifo
            .arg(folder.path().join("pipe/p.rego"))
            .status()
            .unwrap()
            .success()
    );
    let options = FetchOptions {
        max_files: 3,
        max_bytes: 100,
        ..folder.options()
    };
    folder.write("many/a", "");
    folder.write("many/b", "");
    folder.write("many/c", "");
    folder.write("many/d", "");
    folder.write("large/a", &"x".repeat(101));
    let fetcher = Fetcher::new(options).unwrap();
    let rows: [(Value, Status, &str); 13] = [
        (
            json!({"directory": "out"}),
            Status::SyncFailed,
            "source \"s\": directory \"out\": \"p.rego\": symbolic link leads out of the folder",
        ),
        (
            json!({"directory": "absolute"}),
            Status::SyncFailed,
            "source \"s\": directory \"absolute\": \"p.rego\": symbolic link leads out of the folder",
        ),
        (
            json!({"directory": "to-folder"}),
            Status::SyncFailed,
            "source \"s\": directory \"to-folder\": \"again\": symbolic link to a folder",
        ),
        (
            json!({"directory": "dangling"}),
            Status::SyncFailed,
            "source \"s\": directory \"dangling\": \"p.rego\": No such file or directory (os error 2)",
        ),
        (
            json!({"directory": "pipe"}),
            Status::SyncFailed,
            "source \"s\": directory \"pipe\": \"p.rego\": not a regular file",
        ),
        (
            json!({"directory": "newline"}),
            Status::SyncFailed,
            "source \"s\": directory \"newline\": \"a\\nb.rego\": contains a control character",
        ),
        (
            json!({"directory": "backslash"}),
            Status::SyncFailed,
            "source \"s\": directory \"backslash\": \"a\\\\b.rego\": contains a backslash",
        ),
        (
            json!({"directory": "secret.txt"}),
            Status::SyncFailed,
            "source \"s\": directory \"secret.txt\": not a folder",
        ),
        (
            json!({"directory": "many"}),
            Status::SyncFailed,
            "source \"s\": directory \"many\": more than 3 files",
        ),
        (
            json!({"directory": "large"}),
            Status::SyncFailed,
            "source \"s\": directory \"large\": \"a\": files of more than 100 bytes",
        ),
        (
            json!({"directory": "twice", "files": {"data.json": "e30="}}),
            Status::SyncFailed,
            "source \"s\": files: \"data.json\": the directory contains a file of this path",
        ),
        (
            json!({"directory": "missing"}),
            Status::BuildFailed,
            "source \"s\": directory does not exist",
        ),
        (
            json!({"builtin": "missing"}),
            Status::BuildFailed,
            "source \"s\": directory does not exist",
        ),
    ];
    for (mut value, status, message) in rows {
        value["name"] = json!("s");
        let failure = fetch(&fetcher, &source(&value)).await.unwrap_err();
        assert_eq!(
            (failure.status, failure.message.as_str()),
            (status, message)
        );
    }
    let fetched = fetch(
        &fetcher,
        &source(&json!({"name": "s", "directory": "inside"})),
    )
    .await;
    assert_eq!(
        paths(&fetched.unwrap().trees[0]),
        ["link.rego", "real.rego"]
    );
}
