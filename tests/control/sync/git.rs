//! Git repositories: references, commits, hostile contents, credentials over HTTP.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use solon_control::model::{Failure, Status};
use solon_control::sync::{FetchOptions, Fetcher};
use solon_control::tree::Fetched;
use solon_outbound::NetworkRules;

use super::git_server::serve;
use super::{Folder, all_arguments, fetch, fetch_with, paths, secret, source, texts};

/// The secret of tests.
pub const CANARY: &str = "canary-7f3a9c";

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.com"]);
    command.args([
        "-c",
        "commit.gpgSign=false",
        "-c",
        "protocol.file.allow=always",
    ]);
    let output = command
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A repository with the branch `main`.
pub struct Repository(pub PathBuf);

impl Repository {
    pub fn new(folder: &Folder) -> Self {
        let path = folder.path().join("repo");
        fs::create_dir_all(&path).unwrap();
        git(&path, &["init", "--quiet", "--initial-branch=main", "."]);
        Self(path)
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn commit(&self) -> String {
        git(&self.0, &["add", "--all"]);
        git(&self.0, &["commit", "--quiet", "--allow-empty", "-m", "m"]);
        git(&self.0, &["rev-parse", "HEAD"])
    }
}

async fn fetch_git(fetcher: &Fetcher, mut git: Value) -> Result<Fetched, Failure> {
    if git.get("repo").is_none() {
        git["repo"] = json!("./repo");
    }
    fetch(fetcher, &source(&json!({"name": "s", "git": git}))).await
}

fn commit_of(fetched: &Fetched) -> &str {
    fetched.facts.git_commit.as_deref().unwrap()
}

#[tokio::test]
async fn references_follow_moves() {
    let folder = Folder::new("moves");
    let repository = Repository::new(&folder);
    repository.write("a/p.rego", "package a");
    repository.write("README", "text");
    let first = repository.commit();
    git(&repository.0, &["tag", "-a", "v1", "-m", "v1"]);
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let names = ["main", "refs/heads/main", "v1", "refs/tags/v1"];
    for name in names {
        let fetched = fetch_git(&fetcher, json!({"reference": name}))
            .await
            .unwrap();
        assert_eq!(commit_of(&fetched), first, "{name}");
        assert_eq!(paths(&fetched.trees[0]), ["README", "a/p.rego"]);
    }
    // a new commit, and then a commit that replaces history
    repository.write("a/p.rego", "package b");
    let second = repository.commit();
    git(&repository.0, &["tag", "--force", "-a", "v1", "-m", "v1"]);
    for name in names {
        let fetched = fetch_git(&fetcher, json!({"reference": name}))
            .await
            .unwrap();
        assert_eq!(commit_of(&fetched), second, "{name}");
        assert_eq!(texts(&fetched.trees[0])[1].1, "package b");
    }
    git(&repository.0, &["reset", "--quiet", "--hard", &first]);
    repository.write("a/p.rego", "package c");
    let third = repository.commit();
    let fetched = fetch_git(&fetcher, json!({"reference": "main"}))
        .await
        .unwrap();
    assert_eq!(commit_of(&fetched), third);
    // the first commit is still present: its reference may be gone, and so may the repository
    fs::rename(&repository.0, folder.path().join("gone")).unwrap();
    fs::create_dir(&repository.0).unwrap();
    let source = source(&json!({"name": "s", "git": {"repo": "./repo", "reference": "main"}}));
    let pinned = fetch_with(&fetcher, &source, Some(&first), &BTreeMap::new()).await;
    let pinned = pinned.unwrap();
    assert_eq!(commit_of(&pinned), first);
    assert_eq!(texts(&pinned.trees[0])[1].1, "package a");
    let failure = fetch(&fetcher, &source).await.unwrap_err();
    let wanted = "source \"s\": git synchronizer: ./repo: repository not found";
    assert_eq!(
        (failure.status, failure.message.as_str()),
        (Status::UserError, wanted)
    );
}

#[tokio::test]
async fn commits_and_selections() {
    let folder = Folder::new("commits");
    let repository = Repository::new(&folder);
    repository.write("policies/p.rego", "package p");
    repository.write("policies/p_test.rego", "package p_test");
    repository.write("policies/.manifest", "{}");
    repository.write("other/q.rego", "package q");
    let first = repository.commit();
    repository.write("other/q.rego", "package r");
    repository.commit();
    let fetcher = Fetcher::new(folder.options()).unwrap();
    // not the tip of a branch
    let fetched = fetch_git(&fetcher, json!({"commit": first})).await.unwrap();
    assert_eq!(texts(&fetched.trees[0])[0].1, "package q");
    // a commit wins over a reference
    let both = json!({"commit": first, "reference": "main"});
    assert_eq!(commit_of(&fetch_git(&fetcher, both).await.unwrap()), first);
    for (mut value, wanted) in [
        (
            json!({"path": "policies"}),
            &[".manifest", "p.rego", "p_test.rego"][..],
        ),
        (
            json!({"path": "./policies/"}),
            &[".manifest", "p.rego", "p_test.rego"],
        ),
        (
            json!({"path": "policies", "included_files": ["*.rego"]}),
            &["p.rego", "p_test.rego"],
        ),
        (
            json!({"path": "policies", "excluded_files": ["*_test.rego", ".*"]}),
            &["p.rego"],
        ),
        (json!({"excluded_files": ["policies"]}), &["other/q.rego"]),
        (
            json!({"included_files": ["policies/*"], "excluded_files": ["*_test.rego"]}),
            &["policies/.manifest", "policies/p.rego"],
        ),
        (json!({"included_files": ["none"]}), &[]),
    ] {
        value["reference"] = json!("main");
        let fetched = fetch_git(&fetcher, value).await.unwrap();
        let found = fetched.trees.first().map(paths).unwrap_or_default();
        assert_eq!(found, wanted);
    }
    let missing = "0".repeat(40);
    let empty = folder.path().join("empty");
    fs::create_dir_all(&empty).unwrap();
    git(&empty, &["init", "--quiet", "--initial-branch=main", "."]);
    for (value, status, message) in [
        (
            json!({}),
            Status::SyncFailed,
            "source \"s\": git synchronizer: ./repo: either reference or commit must be set in git configuration",
        ),
        (
            json!({"reference": "nope"}),
            Status::SyncFailed,
            "source \"s\": git synchronizer: ./repo: couldn't find remote ref \"refs/heads/nope\"",
        ),
        (
            json!({"repo": "./empty", "reference": "main"}),
            Status::SyncFailed,
            "source \"s\": git synchronizer: ./empty: couldn't find remote ref \"refs/heads/main\"",
        ),
        (
            json!({"reference": "refs/tags/x"}),
            Status::SyncFailed,
            "source \"s\": git synchronizer: ./repo: couldn't find remote ref \"refs/tags/x\"",
        ),
        (
            json!({"commit": missing}),
            Status::SyncFailed,
            "source \"s\": git synchronizer: ./repo: object not found",
        ),
        (
            json!({"commit": &first[..8]}),
            Status::SyncFailed,
            "source \"s\": git synchronizer: ./repo: object not found",
        ),
        (
            json!({"reference": "main", "path": "nope"}),
            Status::BuildFailed,
            "source \"s\": directory does not exist",
        ),
        (
            json!({"reference": "main", "path": "other/q.rego"}),
            Status::BuildFailed,
            "source \"s\": directory does not exist",
        ),
        (
            json!({"repo": "./nope", "reference": "main"}),
            Status::UserError,
            "source \"s\": git synchronizer: ./nope: repository not found",
        ),
    ] {
        let failure = fetch_git(&fetcher, value).await.unwrap_err();
        assert_eq!(
            (failure.status, failure.message.as_str()),
            (status, message)
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn hostile_repositories() {
    let folder = Folder::new("hostile-git");
    let repository = Repository::new(&folder);
    let proof = folder.path().join("proof");
    let touch = format!("touch {}", proof.display());
    // programs that a checkout with the repository's configuration would run
    repository.write(
        ".gitattributes",
        "* filter=evil diff=evil text eol=crlf ident\n",
    );
    git(
        &repository.0,
        &["config", "uploadpack.packObjectsHook", &touch],
    );
    repository.write("a.rego", "package a # $Id$\n");
    repository.write("A.rego", "package A\n");
    repository.commit();
    git(&repository.0, &["config", "filter.evil.smudge", &touch]);
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let main = json!({"reference": "main"});
    let fetched = fetch_git(&fetcher, main.clone()).await.unwrap();
    assert_eq!(
        paths(&fetched.trees[0]),
        [".gitattributes", "A.rego", "a.rego"]
    );
    assert_eq!(texts(&fetched.trees[0])[2].1, "package a # $Id$\n");
    assert!(!proof.exists());
    git(&repository.0, &["config", "--unset", "filter.evil.smudge"]);
    fs::remove_file(repository.0.join(".gitattributes")).unwrap();
    let start = repository.commit();
    let lfs = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    std::os::unix::fs::symlink("/etc/passwd", folder.path().join("link")).unwrap();
    for (path, kind, problem) in [
        (
            "link.rego",
            "link",
            "\"link.rego\": is a symbolic link, which is not followed; list it in `excluded_files`",
        ),
        (
            "large.json",
            "lfs",
            "\"large.json\": content is in Git LFS, which is not fetched; list it in `excluded_files`",
        ),
        (
            "sub",
            "submodule",
            "\"sub\": is a submodule, which is not followed; list it in `excluded_files`",
        ),
        (
            "new\nline.rego",
            "text",
            "\"new\\nline.rego\": contains a control character",
        ),
        (
            "back\\slash.rego",
            "text",
            "\"back\\\\slash.rego\": contains a backslash",
        ),
    ] {
        match kind {
            "link" => std::os::unix::fs::symlink("/etc/passwd", repository.0.join(path)).unwrap(),
            "lfs" => repository.write(path, lfs),
            "submodule" => {
                let entry = format!("160000,{start},{path}");
                git(
                    &repository.0,
                    &["update-index", "--add", "--cacheinfo", &entry],
                );
                fs::create_dir(repository.0.join(path)).unwrap();
            }
            _ => repository.write(path, "package x"),
        }
        if kind == "submodule" {
            git(&repository.0, &["commit", "--quiet", "-m", "m"]);
        } else {
            repository.commit();
        }
        let failure = fetch_git(&fetcher, main.clone()).await.unwrap_err();
        let wanted = format!("source \"s\": git synchronizer: ./repo: {problem}");
        assert_eq!(
            (failure.status, failure.message),
            (Status::SyncFailed, wanted)
        );
        // an excluded file is not read
        let excluded = json!({"reference": "main", "excluded_files": [path.replace('\\', "\\\\")]});
        let fetched = fetch_git(&fetcher, excluded).await.unwrap();
        assert_eq!(paths(&fetched.trees[0]), ["A.rego", "a.rego"]);
        git(&repository.0, &["reset", "--quiet", "--hard", &start]);
    }
    let limits = [
        (
            FetchOptions {
                max_files: 1,
                ..folder.options()
            },
            "more than 1 files",
        ),
        (
            FetchOptions {
                max_bytes: 5,
                ..folder.options()
            },
            "\"A.rego\": files of more than 5 bytes",
        ),
    ];
    for (options, problem) in limits {
        let failure = fetch_git(&Fetcher::new(options).unwrap(), main.clone())
            .await
            .unwrap_err();
        assert_eq!(
            failure.message,
            format!("source \"s\": git synchronizer: ./repo: {problem}")
        );
    }
    assert!(!proof.exists());
}

/// Returns `true` if a file below a folder contains the canary.
pub fn is_in_file(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().flatten().any(|entry| {
        let path = entry.path();
        if path.is_dir() {
            return is_in_file(&path);
        }
        fs::read(path).is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(CANARY))
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn credentials_over_http() {
    let folder = Folder::new("http");
    let repository = Repository::new(&folder);
    repository.write("p.rego", "package p");
    let commit = repository.commit();
    let token = json!({"name": "c", "type": "token_auth", "token": CANARY});
    let basic = json!({"name": "c", "type": "basic_auth", "username": "u", "password": CANARY});
    // `u:canary-7f3a9c` in base64
    let rows = [
        ("Bearer canary-7f3a9c", token),
        ("Basic dTpjYW5hcnktN2YzYTljOQ==", Value::Null),
        ("Basic dTpjYW5hcnktN2YzYTlj", basic),
    ];
    for (header, value) in rows {
        let (address, posts) = serve(folder.path().to_owned(), header);
        drop(fs::remove_dir_all(folder.path().join("data")));
        let fetcher = Fetcher::new(folder.options()).unwrap();
        let mut git = json!({"repo": format!("{address}/repo"), "reference": "main"});
        let mut secrets = BTreeMap::new();
        if value.is_null() {
            let failure = fetch_git(&fetcher, git).await.unwrap_err();
            let wanted =
                format!("source \"s\": git synchronizer: {address}/repo: authentication required");
            assert_eq!(
                (failure.status, failure.message),
                (Status::UserError, wanted)
            );
            continue;
        }
        git["credentials"] = json!("c");
        secrets.insert("c".to_owned(), secret(&value));
        let source = source(&json!({"name": "s", "git": git}));
        let sampling = Arc::new(Mutex::new(true));
        let is_sampled = sampling.clone();
        let sampler = std::thread::spawn(move || {
            let mut seen = String::new();
            while *is_sampled.lock().unwrap() {
                seen.push_str(&all_arguments());
            }
            seen
        });
        for _ in 0..3 {
            let fetched = fetch_with(&fetcher, &source, None, &secrets).await.unwrap();
            assert_eq!(commit_of(&fetched), commit);
        }
        *sampling.lock().unwrap() = false;
        let seen = sampler.join().unwrap();
        assert!(seen.contains("ls-remote"));
        assert!(!seen.contains(CANARY) && !seen.contains("dTpjYW5"));
        assert!(!is_in_file(&folder.path().join("data")));
        // an unchanged commit is not fetched again
        assert_eq!(*posts.lock().unwrap(), 1);
        // the same credentials, rejected
        let (other, _) = serve(folder.path().to_owned(), "Bearer other");
        let git = json!({"repo": format!("{other}/repo"), "reference": "main", "credentials": "c"});
        let source = super::source(&json!({"name": "s", "git": git}));
        let failure = fetch_with(&fetcher, &source, None, &secrets)
            .await
            .unwrap_err();
        let wanted = format!("source \"s\": git synchronizer: {other}/repo: authorization failed");
        assert_eq!(
            (failure.status, failure.message),
            (Status::UserError, wanted)
        );
        let failure = fetch(&fetcher, &source).await.unwrap_err();
        let wanted =
            format!("source \"s\": git synchronizer: {other}/repo: secret \"c\" is not configured");
        assert_eq!(
            (failure.status, failure.message),
            (Status::SyncFailed, wanted)
        );
    }
    let (address, _) = serve(folder.path().to_owned(), "");
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let git = json!({"repo": format!("{address}/nope"), "reference": "main"});
    let failure = fetch_git(&fetcher, git).await.unwrap_err();
    let wanted = format!("source \"s\": git synchronizer: {address}/nope: repository not found");
    assert_eq!(
        (failure.status, failure.message),
        (Status::UserError, wanted)
    );
    // the rules for networks
    let options = FetchOptions {
        networks: NetworkRules::unrestricted().deny_metadata().deny_private(),
        ..folder.options()
    };
    let git = json!({"repo": format!("{address}/repo"), "reference": "main"});
    let failure = fetch_git(&Fetcher::new(options).unwrap(), git)
        .await
        .unwrap_err();
    let wanted = format!(
        "source \"s\": git synchronizer: {address}/repo: connections to 127.0.0.1 are denied (loopback)"
    );
    assert_eq!(
        (failure.status, failure.message),
        (Status::SyncFailed, wanted)
    );
    let git = json!({"repo": "http://169.254.169.254/repo", "reference": "main"});
    let failure = fetch_git(&fetcher, git).await.unwrap_err();
    assert!(
        failure.message.ends_with("are denied (metadata service)"),
        "{failure:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_servers_time_out_and_are_ended() {
    let folder = Folder::new("slow");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/repo", listener.local_addr().unwrap());
    let options = FetchOptions {
        git_timeout: std::time::Duration::from_secs(1),
        ..folder.options()
    };
    let fetcher = Fetcher::new(options).unwrap();
    let git = json!({"repo": address, "reference": "main"});
    let failure = fetch_git(&fetcher, git).await.unwrap_err();
    let wanted = format!(
        "source \"s\": git synchronizer: {address}: timeout: git did not end within 1 seconds"
    );
    assert_eq!(
        (failure.status, failure.message),
        (Status::SyncFailed, wanted)
    );
    // all processes of the call are gone, so its connection is closed
    let (mut stream, _) = listener.accept().unwrap();
    let mut request = Vec::new();
    stream.read_to_end(&mut request).unwrap();
    assert!(request.starts_with(b"GET "));
}
