//! Private copies of repositories: commits that are present are used only with the address and the credentials of the repository.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use solon_control::model::{Failure, Secret};
use solon_control::sync::Fetcher;
use solon_control::tree::Fetched;

use super::git::{CANARY, Repository};
use super::git_server::serve_accepting;
use super::{Folder, fetch_with, secret, source, texts};

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
