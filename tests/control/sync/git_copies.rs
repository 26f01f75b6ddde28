//! Private copies of repositories: commits that are present are used only with the address and the credentials of the repository.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use solon_control::model::{Failure, Secret};
use solon_control::sync::Fetcher;
use solon_control::tree::Fetched;

use super::git::{CANARY, Repository};
use super::git_server::serve_accepting;
use super::{Folder, fetch_with, paths, secret, source, texts};

/// Fetches the commit of a repository for the source `s`.
async fn fetch_commit(
    fetcher: &Fetcher,
    repo: &str,
    commit: &str,
    token: Option<&str>,
) -> Result<Fetched, Failure> {
    let mut git = json!({"repo": repo, "commit": commit});
    let mut secrets: BTreeMap<String, Secret> = BTreeMap::new();
    if let Some(token) = token {
        let value: Value = json!({"type": "token_auth", "token": token});
        git["credentials"] = "k".into();
        secrets.insert("k".to_owned(), secret(&json!({ "value": value })));
    }
    let source = source(&json!({"name": "s", "git": git}));
    fetch_with(fetcher, &source, None, &secrets).await
}

#[tokio::test(flavor = "multi_thread")]
async fn pinned_commits_need_the_credentials_of_their_repository() {
    let folder = Folder::new("git-copies");
    let repository = Repository::new(&folder);
    repository.write("p.rego", "package p");
    let commit = repository.commit();
    let accepted = Arc::new(Mutex::new(format!("Bearer {CANARY}")));
    let (address, _) = serve_accepting(folder.path().to_owned(), accepted.clone());
    let private = format!("{address}/repo");
    let elsewhere = Folder::new("git-copies-other");
    Repository::new(&elsewhere).commit();
    let open = Arc::new(Mutex::new(String::new()));
    let (address, _) = serve_accepting(elsewhere.path().to_owned(), open);
    let public = format!("{address}/repo");
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let right = Some(CANARY);
    fetch_commit(&fetcher, &private, &commit, right)
        .await
        .unwrap();

    // The server is not needed any more.
    "nothing".clone_into(&mut accepted.lock().unwrap());
    let upper = commit.to_uppercase();
    for id in [&commit, &upper] {
        let fetched = fetch_commit(&fetcher, &private, id, right).await.unwrap();
        assert_eq!(texts(&fetched.trees[0])[0].1, "package p");
    }
    // a source of the same name without the credentials, also after a restart
    let restarted = Fetcher::new(folder.options()).unwrap();
    for (fetcher, token, wanted) in [
        (&fetcher, None, "authentication required"),
        (&fetcher, Some("other-token"), "authorization failed"),
        (&restarted, None, "authentication required"),
        (&restarted, right, "authorization failed"),
    ] {
        let failure = fetch_commit(fetcher, &private, &commit, token).await;
        let message = failure.unwrap_err().message;
        assert!(message.ends_with(wanted), "{token:?}: {message}");
    }
    // a restarted service connects once
    *accepted.lock().unwrap() = format!("Bearer {CANARY}");
    fetch_commit(&restarted, &private, &commit, right)
        .await
        .unwrap();
    "nothing".clone_into(&mut accepted.lock().unwrap());
    fetch_commit(&restarted, &private, &commit, right)
        .await
        .unwrap();
    // another repository of the source does not have the commit
    let failure = fetch_commit(&restarted, &public, &commit, None).await;
    let message = failure.unwrap_err().message;
    assert!(message.ends_with("object not found"), "{message}");
    // and its copy has replaced the first one
    *accepted.lock().unwrap() = String::new();
    let head = fetch_commit(&restarted, &private, &commit, None).await;
    assert_eq!(texts(&head.unwrap().trees[0])[0].1, "package p");
}

/// Removes what `git` needs of each private copy, or the files that were read from it.
fn damage(folder: &Folder, removed: &[&str]) {
    for source in std::fs::read_dir(folder.path().join("data/sources")).unwrap() {
        for name in removed {
            let path = source.as_ref().unwrap().path().join(name);
            if path.is_dir() {
                std::fs::remove_dir_all(path).unwrap();
            } else {
                std::fs::remove_file(path).unwrap();
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_copy_is_repaired_when_it_is_needed() {
    let folder = Folder::new("git-damaged");
    let repository = Repository::new(&folder);
    repository.write("p.rego", "package p0");
    repository.commit();
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let git = json!({"repo": "./repo", "reference": "main"});
    let source = source(&json!({"name": "s", "git": git}));
    let text = async || {
        let fetched = fetch_with(&fetcher, &source, None, &BTreeMap::new()).await;
        texts(&fetched.unwrap().trees[0])[0].1.clone()
    };
    assert_eq!(text().await, "package p0");
    let copy = ["repository/HEAD", "repository/objects"];
    let files = ["objects"];
    // the files of an unchanged commit are read once, so nothing needs the copy
    damage(&folder, &copy);
    assert_eq!(text().await, "package p0");
    damage(&folder, &files);
    assert_eq!(text().await, "package p0");
    damage(&folder, &[copy.as_slice(), &files].concat());
    assert_eq!(text().await, "package p0");
    damage(&folder, &copy);
    repository.write("p.rego", "package p1");
    repository.commit();
    assert_eq!(text().await, "package p1");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_commit_is_read_again_for_another_selection() {
    let folder = Folder::new("git-selections");
    let repository = Repository::new(&folder);
    for name in ["a/p.rego", "b/p.rego", "b/q.rego"] {
        repository.write(name, &format!("package p # {name}"));
    }
    let commit = repository.commit();
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let selections: [(Value, &[&str]); 5] = [
        (
            json!({"reference": "main"}),
            &["a/p.rego", "b/p.rego", "b/q.rego"],
        ),
        (
            json!({"reference": "main", "path": "b"}),
            &["p.rego", "q.rego"],
        ),
        (
            json!({"reference": "main", "excluded_files": ["a/**"]}),
            &["b/p.rego", "b/q.rego"],
        ),
        (
            json!({"commit": commit, "included_files": ["**/q.rego"]}),
            &["b/q.rego"],
        ),
        (json!({"reference": "main", "path": "a"}), &["p.rego"]),
    ];
    for _ in 0..2 {
        for (selection, wanted) in &selections {
            let mut git = selection.clone();
            git["repo"] = "./repo".into();
            let source = source(&json!({"name": "s", "git": git}));
            for _ in 0..2 {
                let fetched = fetch_with(&fetcher, &source, None, &BTreeMap::new()).await;
                assert_eq!(paths(&fetched.unwrap().trees[0]), *wanted, "{selection}");
            }
        }
    }
}
