//! A control plane that builds a bundle from a Git repository, and a policy server that follows it.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{Client, Message};
use crate::control::{Running, output};
use crate::process::{Folder, Server};
use crate::waiting::wait_for;

fn git(folder: &Path, arguments: &[&str]) {
    let mut git = Command::new("git");
    git.current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .args(["-c", "user.name=test", "-c", "user.email=test@example.com"])
        .args(arguments);
    let output = git.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?}: {text}");
}

/// Commits a policy that allows one user.
fn commit(repository: &Path, user: &str) {
    let policy = format!("package authz\n\nallow if input.user == \"{user}\"\n");
    std::fs::write(repository.join("authz.rego"), policy).unwrap();
    git(repository, &["add", "."]);
    git(repository, &["commit", "--quiet", "--message", user]);
}

fn is_allowed(server: &Server, user: &str) -> bool {
    let body = json!({"input": {"user": user}}).to_string();
    let message = Message::new("POST", "/v1/data/authz/allow").body(body);
    let answer = Client::connect(server.address()).send(&message);
    let answer: Value = serde_json::from_str(&answer.text()).unwrap();
    answer["result"] == true
}

#[test]
fn a_push_changes_the_decisions_of_a_policy_server() {
    let folder = Folder::with(&[]);
    let repository = folder.path().join("policies");
    std::fs::create_dir(&repository).unwrap();
    git(
        &repository,
        &["init", "--quiet", "--initial-branch", "main"],
    );
    commit(&repository, "alice");
    let config = json!({
        "sources": {"policies": {"git": {"repo": repository, "reference": "main"}}},
        "bundles": {"shop": {
            "requirements": [{"source": "policies"}],
            "revision": "input.sources.policies.git.commit",
            "rebuild_interval": "1s",
        }},
    });
    std::fs::write(folder.path().join("c.json"), config.to_string()).unwrap();
    let create = ["token", "create", "--role", "viewer", "server"];
    let (_, key, _) = output(folder.path(), &create);
    let control = Running::start(folder.path(), &["--config", "c.json"]);
    let config = json!({
        "services": {"control": {
            "url": format!("http://{}", control.address()),
            "credentials": {"bearer": {"token": key.trim()}},
        }},
        "bundles": {"shop": {
            "service": "control",
            "resource": "v1/bundles/shop/download",
            "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1},
        }},
    });
    let config = config.to_string();
    let files = [("c.yaml", config.as_str())];
    let server = Server::start_with(&["--config-file", "c.yaml", "--log-format", "json"], &files);
    wait_for("the first bundle decides", || {
        is_allowed(&server, "alice").then_some(())
    });
    assert!(!is_allowed(&server, "bob"));
    commit(&repository, "bob");
    wait_for("the pushed policy decides", || {
        is_allowed(&server, "bob").then_some(())
    });
    assert!(!is_allowed(&server, "alice"));
    // a commit that does not compile changes nothing, and the record says why
    std::fs::write(repository.join("authz.rego"), "package authz\nallow if {").unwrap();
    git(
        &repository,
        &["commit", "--quiet", "--all", "--message", "broken"],
    );
    let bearer = format!("Bearer {}", key.trim());
    let failed = wait_for("the failure is recorded", || {
        let get = Message::new("GET", "/v1/bundles/shop/status").header("Authorization", &bearer);
        let text = Client::connect(control.address()).send(&get).text();
        text.contains("BUILD_FAILED").then_some(text)
    });
    assert!(failed.contains("authz.rego"), "{failed}");
    assert!(is_allowed(&server, "bob"));
}
