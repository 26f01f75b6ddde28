//! Git repositories with tokens of an OpenID provider (`oidc_client_credentials`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use solon_control::model::{Failure, Secret, Status};
use solon_control::sync::Fetcher;
use solon_control::tree::Fetched;

use super::git::{CANARY, Repository, is_in_file};
use super::git_server::serve_accepting;
use super::http_server::{HttpServer, response};
use super::{Folder, all_arguments, fetch_with, secret, source, texts};

/// Returns a token of the provider: the first one, the second one and so on.
fn token(number: usize) -> String {
    format!("{CANARY}-token-{number}")
}

/// Starts a provider whose tokens are valid for that many seconds.
fn provider(expires_in: u64) -> HttpServer {
    let issued = Mutex::new(0);
    HttpServer::start(move |request| {
        let host = request.header("host");
        let body = match request.target.as_str() {
            "/.well-known/openid-configuration" => json!({
                "issuer": format!("http://{host}"), "token_endpoint": format!("http://{host}/token"),
            }),
            "/token" => {
                let mut issued = issued.lock().unwrap();
                *issued += 1;
                json!({"access_token": token(*issued), "token_type": "Bearer", "expires_in": expires_in})
            }
            "/broken" => json!({"access_token": "a\nX-Other: b", "token_type": "Bearer"}),
            "/mac" => json!({"access_token": "t", "token_type": "mac"}),
            _ => {
                let body =
                    json!({"error": "invalid_client", "error_description": format!("no {CANARY}")});
                return response("400 Bad Request", &[], &body.to_string());
            }
        };
        response("200 OK", &[], &body.to_string())
    })
}

/// Returns the number of tokens that a provider was requested for.
fn requested(provider: &HttpServer) -> usize {
    let requests = provider.requests.lock().unwrap();
    let tokens = requests.iter().filter(|one| one.target == "/token");
    tokens.count()
}

fn client(field: &str, address: &str) -> Value {
    json!({
        "type": "oidc_client_credentials", "client_id": "c/1", "client_secret": CANARY,
        "scopes": ["read", "write"], field: address,
    })
}

async fn fetch_git(fetcher: &Fetcher, repo: &str, value: &Value) -> Result<Fetched, Failure> {
    let git = json!({"repo": repo, "reference": "main", "credentials": "k"});
    let secrets: BTreeMap<String, Secret> =
        BTreeMap::from([("k".to_owned(), secret(&json!({ "value": value })))]);
    fetch_with(
        fetcher,
        &source(&json!({"name": "s", "git": git})),
        None,
        &secrets,
    )
    .await
}

/// A server of repositories, and the header that it accepts.
struct GitServer {
    repo: String,
    accepted: Arc<Mutex<String>>,
}

impl GitServer {
    fn start(root: &Path) -> Self {
        let accepted = Arc::new(Mutex::new(String::new()));
        let (address, _) = serve_accepting(root.to_owned(), accepted.clone());
        Self {
            repo: format!("{address}/repo"),
            accepted,
        }
    }

    /// Accepts one token only.
    fn accept(&self, number: usize) {
        *self.accepted.lock().unwrap() = format!("Bearer {}", token(number));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_token_serves_fetches_until_it_is_rejected() {
    let folder = Folder::new("git-oidc");
    let repository = Repository::new(&folder);
    repository.write("p.rego", "package p");
    let commit = repository.commit();
    let server = GitServer::start(folder.path());
    let provider = provider(3600);
    for (field, address) in [
        ("issuer", provider.address.clone()),
        ("token_endpoint", format!("{}/token", provider.address)),
    ] {
        let value = client(field, &address);
        drop(std::fs::remove_dir_all(folder.path().join("data")));
        let fetcher = Fetcher::new(folder.options()).unwrap();
        let before = requested(&provider);
        server.accept(before + 1);
        let is_sampled = Arc::new(Mutex::new(true));
        let is_sampling = is_sampled.clone();
        let sampler = std::thread::spawn(move || {
            let mut arguments = String::new();
            while *is_sampling.lock().unwrap() {
                arguments.push_str(&all_arguments());
            }
            arguments
        });
        for _ in 0..3 {
            let fetched = fetch_git(&fetcher, &server.repo, &value).await.unwrap();
            assert_eq!(fetched.facts.git_commit.as_ref(), Some(&commit));
            assert_eq!(texts(&fetched.trees[0])[0].1, "package p");
        }
        *is_sampled.lock().unwrap() = false;
        let arguments = sampler.join().unwrap();
        assert!(arguments.contains("ls-remote"));
        assert!(!arguments.contains(CANARY));
        assert!(!is_in_file(&folder.path().join("data")));
        assert_eq!(requested(&provider), before + 1, "{field}");
        let request = provider.last();
        let basic = format!("Basic {}", STANDARD.encode(format!("c%2F1:{CANARY}")));
        assert_eq!(request.header("authorization"), basic);
        assert_eq!(
            request.body,
            b"grant_type=client_credentials&scope=read+write"
        );
        // a token that the server has revoked is replaced within the fetch
        server.accept(before + 2);
        fetch_git(&fetcher, &server.repo, &value).await.unwrap();
        assert_eq!(requested(&provider), before + 2, "{field}");
        // but only once: the client may have lost its access
        server.accept(0);
        let failure = fetch_git(&fetcher, &server.repo, &value).await.unwrap_err();
        let wanted = format!(
            "source \"s\": git synchronizer: {}: authorization failed",
            server.repo
        );
        assert_eq!(
            (failure.status, failure.message),
            (Status::UserError, wanted)
        );
        assert_eq!(requested(&provider), before + 3, "{field}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_end_with_their_validity_and_their_secret() {
    let folder = Folder::new("git-oidc-end");
    Repository::new(&folder).commit();
    let server = GitServer::start(folder.path());
    // without a validity, a token is for one fetch
    let brief = provider(0);
    let fetcher = Fetcher::new(folder.options()).unwrap();
    for number in 1..=2 {
        server.accept(number);
        let value = client("issuer", &brief.address);
        fetch_git(&fetcher, &server.repo, &value).await.unwrap();
        assert_eq!(requested(&brief), number);
    }
    // another client has a token of its own
    let long = provider(3600);
    let mut value = client("issuer", &long.address);
    for (number, id) in [(1, "a"), (2, "b")] {
        value["client_id"] = id.into();
        server.accept(number);
        fetch_git(&fetcher, &server.repo, &value).await.unwrap();
        assert_eq!(requested(&long), number);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_contain_no_credentials() {
    let folder = Folder::new("git-oidc-failures");
    let provider = provider(3600);
    let at = |path: &str| client("token_endpoint", &format!("{}{path}", provider.address));
    // a server that repeats what it received, in the protocol of Git
    let server = HttpServer::start(|request| {
        let text = format!("ERR received {}", request.header("authorization"));
        let lines = format!(
            "001e# service=git-upload-pack\n0000{:04x}{text}",
            text.len() + 4
        );
        let kind = "Content-Type: application/x-git-upload-pack-advertisement";
        response("200 OK", &[kind], &lines)
    });
    let repo = format!("{}/repo", server.address);
    for (repo, value, wanted) in [
        (&*repo, at("/token"), "received Bearer REDACTED"),
        (
            &*repo,
            at("/absent"),
            "400 Bad Request: invalid_client: no REDACTED",
        ),
        (
            &*repo,
            at("/broken"),
            "the credentials contain a control character",
        ),
        (&*repo, at("/mac"), "unknown token type"),
        (
            &*repo,
            client("issuer", &format!("{}/other", provider.address)),
            "400 Bad Request: invalid_client: no REDACTED",
        ),
        (
            &*repo,
            client("token_endpoint", "http://169.254.169.254/token"),
            "metadata services are denied",
        ),
        (
            "ssh://git@127.0.0.1:1/repo",
            at("/token"),
            "unsupported authentication type for git: oidc_client_credentials",
        ),
    ] {
        let fetcher = Fetcher::new(folder.options()).unwrap();
        let failure = fetch_git(&fetcher, repo, &value).await.unwrap_err();
        let message = &failure.message;
        assert!(message.contains(wanted), "{value}: {message}");
        assert!(!message.contains(CANARY), "{value}: {message}");
        assert_eq!(failure.status, Status::SyncFailed, "{message}");
    }
}
