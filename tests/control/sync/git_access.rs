//! Access to Git repositories: SSH with a real server, GitHub apps, proxies.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use solon_control::model::{Failure, Secret, Status};
use solon_control::sync::{FetchOptions, Fetcher};
use solon_control::tree::Fetched;
use solon_outbound::NetworkRules;
use solon_outbound::proxy::Proxies;

use super::git::Repository;
use super::http_server::{HttpServer, response};
use super::ssh_server::{PASSPHRASE, SshServer, keygen, sshd};
use super::{Folder, fetch_with, secret, source, texts};

const CANARY: &str = PASSPHRASE;

async fn fetch_git(
    fetcher: &Fetcher,
    repo: &str,
    secret_value: Option<&Value>,
) -> Result<Fetched, Failure> {
    let mut git = json!({"repo": repo, "reference": "main"});
    let mut secrets: BTreeMap<String, Secret> = BTreeMap::new();
    if let Some(value) = secret_value {
        git["credentials"] = "k".into();
        secrets.insert("k".to_owned(), secret(&json!({ "value": value })));
    }
    let source = source(&json!({"name": "s", "git": git}));
    fetch_with(fetcher, &source, None, &secrets).await
}

#[tokio::test(flavor = "multi_thread")]
async fn repositories_over_ssh() {
    let Some(program) = sshd() else { return };
    let folder = Folder::new("ssh");
    let repository = Repository::new(&folder);
    repository.write("p.rego", "package p");
    let commit = repository.commit();
    let keys = folder.path().join("server");
    fs::create_dir_all(&keys).unwrap();
    let server = SshServer::start(&program, &keys);
    let other = Folder::new("ssh-other");
    let stranger = keygen(&other.path().join("key"), "");
    let key = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let own = key(&keys, "key");
    let locked = key(&keys, "locked");
    let unknown = key(other.path(), "key");
    let print = &server.fingerprint;
    let options = FetchOptions {
        // names of folders are quoted for the shell
        data: folder.path().join("da'ta $x"),
        ..folder.options()
    };
    let fetcher = Fetcher::new(options).unwrap();
    let (user, port) = (&server.user, server.port);
    let url = format!("ssh://{user}@127.0.0.1:{port}{}", repository.0.display());
    let ok = "";
    for (value, wanted) in [
        (
            json!({"type": "ssh_key", "key": own, "fingerprints": [print]}),
            ok,
        ),
        // a key with the line ends of another system, among several fingerprints
        (
            json!({"type": "ssh_key", "key": own.trim().replace('\n', "\r\n"), "fingerprints": [stranger, print]}),
            ok,
        ),
        (
            json!({"type": "ssh_key", "key": locked, "passphrase": CANARY, "fingerprints": [print]}),
            ok,
        ),
        (
            json!({"type": "ssh_key", "key": locked, "passphrase": format!("{CANARY}-wrong"), "fingerprints": [print]}),
            "USER_ERROR authorization failed",
        ),
        (
            json!({"type": "ssh_key", "key": unknown, "fingerprints": [print]}),
            "USER_ERROR authorization failed",
        ),
        (
            json!({"type": "ssh_key", "key": own, "fingerprints": [stranger]}),
            "SYNC_FAILED ssh: unknown fingerprint (",
        ),
        (
            json!({"type": "ssh_key", "key": own}),
            "SYNC_FAILED ssh: the secret has no `fingerprints` for 127.0.0.1",
        ),
        (
            json!({"type": "token_auth", "token": CANARY}),
            "SYNC_FAILED unsupported authentication type for git: token_auth",
        ),
    ] {
        match fetch_git(&fetcher, &url, Some(&value)).await {
            Ok(fetched) => {
                assert_eq!(wanted, ok, "{value}");
                assert_eq!(fetched.facts.git_commit.as_deref(), Some(commit.as_str()));
                assert_eq!(texts(&fetched.trees[0])[0].1, "package p");
            }
            Err(failure) => {
                let (status, text) = wanted.split_once(' ').unwrap_or(("", "nothing"));
                let message = &failure.message;
                assert!(message.contains(text), "{value}: {message}");
                assert_eq!(failure.status.as_str(), status, "{value}: {message}");
                assert!(!message.contains(CANARY), "{message}");
            }
        }
        // no key stays on the disk
        let mut open = vec![folder.path().join("da'ta $x")];
        while let Some(path) = open.pop() {
            for entry in fs::read_dir(path).unwrap().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                assert!(!name.starts_with("ssh-"), "{name}");
                if entry.file_type().unwrap().is_dir() {
                    open.push(entry.path());
                }
            }
        }
    }
    let failure = fetch_git(&fetcher, &url, None).await.unwrap_err();
    assert!(
        failure.message.ends_with("authentication required"),
        "{failure:?}"
    );
    let value = json!({"type": "ssh_key", "key": own, "fingerprints": [print]});
    let absent = format!("ssh://{user}@127.0.0.1:{port}/absent");
    let failure = fetch_git(&fetcher, &absent, Some(&value))
        .await
        .unwrap_err();
    assert!(
        failure.message.ends_with("repository not found"),
        "{failure:?}"
    );
    let options = FetchOptions {
        networks: NetworkRules::unrestricted().deny_private(),
        ..folder.options()
    };
    let fetcher = Fetcher::new(options).unwrap();
    let failure = fetch_git(&fetcher, &url, Some(&value)).await.unwrap_err();
    let wanted = "connections to 127.0.0.1 are denied (loopback)";
    assert!(failure.message.ends_with(wanted), "{failure:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_of_github_apps() {
    let folder = Folder::new("github-app");
    let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    let token = format!("ghs_{CANARY}");
    let issued = token.clone();
    let server = HttpServer::start(move |request| match request.target.as_str() {
        "/api/v3/app/installations/2/access_tokens" => {
            let body = json!({"token": issued, "expires_at": "2126-01-01T00:00:00Z"});
            response("201 Created", &[], &body.to_string())
        }
        "/api/v3/app/installations/3/access_tokens" => {
            let body = json!({"message": "Not Found", "error": "no installation"});
            response("404 Not Found", &[], &body.to_string())
        }
        _ => response("404 Not Found", &[], ""),
    });
    let fetcher = Fetcher::new(folder.options()).unwrap();
    let url = format!("{}/o/r.git", server.address);
    let value = |installation: i64, key: &str| json!({"type": "github_app_auth", "integration_id": 1, "installation_id": installation, "private_key": key});
    let pem = key.serialize_pem();
    let wrong = [
        (
            value(3, &pem),
            "GitHub: server replied with 404 Not Found: no installation",
        ),
        (
            value(2, "/etc/passwd"),
            "`private_key` is not a key in PEM form",
        ),
        (
            value(
                2,
                "-----BEGIN PRIVATE KEY-----\ncanary-2b7f31\n-----END PRIVATE KEY-----",
            ),
            "`private_key` is not an RSA key in PEM form",
        ),
    ];
    for (value, wanted) in wrong {
        let failure = fetch_git(&fetcher, &url, Some(&value)).await.unwrap_err();
        assert!(failure.message.ends_with(wanted), "{failure:?}");
        assert!(!failure.message.contains(CANARY), "{failure:?}");
    }
    // the token is requested once, and the repository receives it as a password
    for _ in 0..2 {
        let failure = fetch_git(&fetcher, &url, Some(&value(2, &pem))).await;
        assert_eq!(failure.unwrap_err().status, Status::UserError);
    }
    let requests = server.requests.lock().unwrap().clone();
    let of = |path: &str| {
        requests
            .iter()
            .filter(|one| one.target.contains(path))
            .cloned()
            .collect::<Vec<_>>()
    };
    let exchanges = of("/installations/2/");
    assert_eq!(exchanges.len(), 1);
    assert_eq!(exchanges[0].method, "POST");
    assert!(
        exchanges[0]
            .header("authorization")
            .starts_with("Bearer ey")
    );
    let repository = of("/o/r.git/info/refs");
    let wanted = {
        use base64::Engine as _;
        let pair = format!("x-access-token:{token}");
        format!(
            "Basic {}",
            base64::engine::general_purpose::STANDARD.encode(pair)
        )
    };
    assert!(repository.len() >= 2);
    assert!(
        repository
            .iter()
            .all(|one| one.header("authorization") == wanted)
    );
}

/// A proxy that the operator set is used for the hosts that it is set for, and the address of any other host is checked.
#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_chosen_by_the_service() {
    let folder = Folder::new("git-proxy");
    let proxy = HttpServer::start(|_| response("404 Not Found", &[], ""));
    let address = proxy.address.replace("http://", "http://u%40:p%3A@");
    for (exceptions, networks, is_proxied, wanted) in [
        (
            "",
            NetworkRules::unrestricted(),
            true,
            "repository not found",
        ),
        (
            "other.invalid",
            NetworkRules::unrestricted(),
            true,
            "repository not found",
        ),
        (
            "git.invalid",
            NetworkRules::unrestricted(),
            false,
            "no such host: git.invalid",
        ),
        (
            "*",
            NetworkRules::unrestricted().deny_private(),
            false,
            "no such host: git.invalid",
        ),
    ] {
        let read = |name: &str| match name {
            "HTTP_PROXY" => Some(address.clone()),
            "NO_PROXY" => Some(exceptions.to_owned()),
            _ => None,
        };
        let options = FetchOptions {
            proxies: Arc::new(Proxies::read(read)),
            networks,
            ..folder.options()
        };
        let fetcher = Fetcher::new(options).unwrap();
        let before = proxy.count();
        let url = "http://git.invalid/r.git";
        let failure = fetch_git(&fetcher, url, None).await.unwrap_err();
        assert!(
            failure.message.ends_with(wanted),
            "{exceptions}: {failure:?}"
        );
        assert_eq!(proxy.count() > before, is_proxied, "{exceptions}");
    }
    let request = proxy.last();
    assert!(
        request
            .target
            .starts_with("http://git.invalid/r.git/info/refs"),
        "{request:?}"
    );
    // `u@` and `p:`
    assert_eq!(request.header("proxy-authorization"), "Basic dUA6cDo=");
}
