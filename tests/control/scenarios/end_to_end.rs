//! From a push to a decision: a control plane fetches a repository with each kind of credentials and a document with a token, publishes
//! to each kind of storage, and a policy server follows.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::emulators::{ACCOUNT, ACCOUNT_KEY, azure, s3};
use crate::process::Process;
use crate::sync::git_server::{APP_TOKEN, serve};
use crate::sync::http_server::{HttpServer, response};
use crate::sync::ssh_server::{PASSPHRASE, SshServer, sshd};
use crate::waiting::wait_until;
use crate::{Folder, commit};

/// The key of the token of the policy server.
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// The token of the data source, and the one of a repository.
const TOKEN: &str = "token-of-the-tests";

/// The keys of the emulator of S3.
const ACCESS_KEY: &str = "AKIAIOSFODNN7EXAMPLE";
const SECRET_KEY: &str = "k";

/// A repository with the policy of one bundle.
struct Repository {
    path: PathBuf,
}

impl Repository {
    fn new(folder: &Path, name: &str) -> Self {
        let path = folder.join("repositories").join(name);
        std::fs::create_dir_all(&path).unwrap();
        let repository = Self { path };
        repository.write(&["alice"]);
        commit(&repository.path);
        repository
    }

    /// Writes the policy. Its decision depends on the document of the data source, too.
    fn write(&self, users: &[&str]) {
        let users = json!(users);
        let text = format!(
            "package app\n\ndefault allow := false\n\nallow if input.user in {users}\n\nallow if input.user in data.users.names\n"
        );
        std::fs::write(self.path.join("app.rego"), text).unwrap();
    }

    /// Commits a change of the policy.
    fn push(&self) {
        let mut git = Command::new("git");
        git.current_dir(&self.path)
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .args(["-c", "user.name=test", "-c", "user.email=test@example.com"])
            .args(["commit", "--quiet", "--all", "--message", "change"]);
        assert!(git.status().unwrap().success());
    }
}

/// A way from a repository to a policy server: credentials and storage.
struct Way {
    name: &'static str,
    repo: String,
    secret: Value,
    storage: Option<Value>,
    /// The service of the policy server, and the resource.
    service: &'static str,
    resource: String,
}

/// Starts the data source: a document for requests with the token.
fn users(names: &Arc<Mutex<Vec<&'static str>>>) -> HttpServer {
    let names = names.clone();
    HttpServer::start(move |request| {
        if request.header("authorization") != format!("Bearer {TOKEN}") {
            return response("401 Unauthorized", &[], "");
        }
        let body = json!({"names": *names.lock().unwrap()}).to_string();
        response("200 OK", &[], &body)
    })
}

fn control_plane(folder: &Path, ways: &[Way], users: &str) {
    let (mut bundles, mut sources) = (json!({}), json!({}));
    let mut secrets = json!({
        "users": {"type": "token_auth", "token": TOKEN},
        "aws": {"type": "aws_auth", "access_key_id": ACCESS_KEY, "secret_access_key": SECRET_KEY},
        "azure": {"type": "azure_auth", "account_name": ACCOUNT, "account_key": ACCOUNT_KEY},
    });
    sources["users"] = json!({"datasources": [{
        "name": "users", "type": "http", "path": "users", "config": {"url": users}, "credentials": "users",
    }]});
    for way in ways {
        let name = way.name;
        secrets[name] = way.secret.clone();
        sources[name] =
            json!({"git": {"repo": way.repo, "reference": "main", "credentials": name}});
        bundles[name] = json!({
            "requirements": [{"source": name, "prefix": name}, {"source": "users", "prefix": name}],
            "revision": format!("input.sources.{name}.git.commit"),
            "rebuild_interval": "1s",
        });
        if let Some(storage) = &way.storage {
            bundles[name]["object_storage"] = storage.clone();
        }
    }
    let config = json!({
        "bundles": bundles,
        "sources": sources,
        "secrets": secrets,
        "tokens": {"server": {"api_key": KEY, "scopes": [{"role": "viewer"}]}},
    });
    std::fs::write(folder.join("control.json"), config.to_string()).unwrap();
}

fn policy_server(folder: &Path, ways: &[Way], plane: &str, s3: &str, azure: &str) {
    let mut bundles = json!({});
    for way in ways {
        bundles[way.name] = json!({
            "service": way.service,
            "resource": way.resource,
            "polling": {"min_delay_seconds": 1, "max_delay_seconds": 1},
        });
    }
    let credentials = format!(
        "[default]\naws_access_key_id = {ACCESS_KEY}\naws_secret_access_key = {SECRET_KEY}\n"
    );
    std::fs::write(folder.join("aws"), credentials).unwrap();
    let profile = json!({"path": "aws", "aws_region": "eu-west-1"});
    let account = json!({"account_name": ACCOUNT, "account_key": ACCOUNT_KEY});
    let config = json!({
        "services": {
            "plane": {"url": format!("http://{plane}"), "credentials": {"bearer": {"token": KEY}}},
            "s3": {"url": s3, "credentials": {"s3_signing": {"profile_credentials": profile}}},
            "azure": {"url": azure, "credentials": {"azure_shared_key": account}},
        },
        "bundles": bundles,
    });
    std::fs::write(folder.join("server.json"), config.to_string()).unwrap();
}

fn solon(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command.current_dir(folder).args(arguments);
    command
}

/// Returns `true` if the policy of a bundle permits a user.
fn is_allowed(server: &Process, folder: &Path, bundle: &str, user: &str) -> bool {
    let request = format!("POST /v1/data/{bundle}/app/allow");
    let body = json!({"input": {"user": user}}).to_string();
    let (status, text) = server.send(folder, &request, "", &body);
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    status == 200 && body["result"] == true
}

fn basic(user: &str, password: &str) -> String {
    format!("Basic {}", STANDARD.encode(format!("{user}:{password}")))
}

/// Returns every way. `http` are the addresses of the Git servers for a token, a password, and a GitHub app.
fn ways(folder: &Path, http: [&str; 3], ssh: &SshServer, s3: &str, azure: &str) -> Vec<Way> {
    let (user, port) = (&ssh.user, ssh.port);
    let over_ssh = |name: &str| {
        let path = folder.join("repositories").join(name);
        format!("ssh://{user}@127.0.0.1:{port}{}", path.display())
    };
    let ssh_key = |name: &str| {
        let key = std::fs::read_to_string(folder.join("ssh").join(name)).unwrap();
        json!({"type": "ssh_key", "key": key, "fingerprints": [ssh.fingerprint]})
    };
    let mut locked = ssh_key("locked");
    locked["passphrase"] = PASSPHRASE.into();
    let app_key = rcgen::KeyPair::generate_for(&rcgen::PKCS_RSA_SHA256).unwrap();
    let in_s3 = |key: &str| json!({"aws": {"bucket": "bundles", "key": key, "region": "eu-west-1", "url": s3, "credentials": "aws"}});
    let in_azure = |path: &str| json!({"azure": {"account_url": azure, "container": "bundles", "path": path, "credentials": "azure"}});
    let [with_token, with_password, with_app] = http;
    vec![
        Way {
            name: "token",
            repo: format!("{with_token}/token/.git"),
            secret: json!({"type": "token_auth", "token": TOKEN}),
            storage: Some(in_s3("token.tar.gz")),
            service: "s3",
            resource: "s3://bundles/token.tar.gz".to_owned(),
        },
        Way {
            name: "password",
            repo: format!("{with_password}/password/.git"),
            secret: json!({"type": "basic_auth", "username": "alice", "password": "wonderland"}),
            storage: Some(in_azure("password.tar.gz")),
            service: "azure",
            resource: "azblob://bundles/password.tar.gz".to_owned(),
        },
        Way {
            name: "app",
            repo: format!("{with_app}/app/.git"),
            secret: json!({
                "type": "github_app_auth", "integration_id": 1, "installation_id": 2,
                "private_key": app_key.serialize_pem(),
            }),
            storage: None,
            service: "plane",
            resource: "v1/bundles/app/download".to_owned(),
        },
        Way {
            name: "ssh",
            repo: over_ssh("ssh"),
            secret: ssh_key("key"),
            storage: Some(in_s3("ssh.tar.gz")),
            service: "s3",
            resource: "s3://bundles/ssh.tar.gz".to_owned(),
        },
        Way {
            name: "locked",
            repo: over_ssh("locked"),
            secret: locked,
            storage: Some(in_azure("locked.tar.gz")),
            service: "azure",
            resource: "azblob://bundles/locked.tar.gz".to_owned(),
        },
    ]
}

#[test]
fn a_push_changes_the_decisions_of_a_policy_server() {
    let (Some(sshd), Some(s3), Some(azure)) = (sshd(), s3(), azure()) else {
        return;
    };
    let folder = Folder::new();
    let folder = folder.0.as_path();
    let keys = folder.join("ssh");
    std::fs::create_dir_all(&keys).unwrap();
    let ssh = SshServer::start(&sshd, &keys);
    let root = folder.join("repositories");
    let authorizations = [
        format!("Bearer {TOKEN}"),
        basic("alice", "wonderland"),
        basic("x-access-token", APP_TOKEN),
    ];
    let http = authorizations.map(|wanted| serve(root.clone(), &wanted).0);
    let http = http.each_ref().map(String::as_str);
    let account = format!("{}/{ACCOUNT}", azure.address);
    let ways = ways(folder, http, &ssh, &s3.address, &account);
    let repositories: Vec<Repository> = ways
        .iter()
        .map(|way| Repository::new(folder, way.name))
        .collect();
    let names = Arc::new(Mutex::new(vec!["dora"]));
    let users = users(&names);
    control_plane(folder, &ways, &users.address);
    let arguments = [
        "control",
        "run",
        "--config",
        "control.json",
        "--addr",
        "127.0.0.1:0",
    ];
    let plane = Process::start(solon(folder, &arguments), "Control plane initialized.").unwrap();
    policy_server(folder, &ways, &plane.address, &s3.address, &account);
    let arguments = [
        "run",
        "--server",
        "--config-file",
        "server.json",
        "--addr",
        "127.0.0.1:0",
    ];
    let server = Process::start(solon(folder, &arguments), "Server initialized.").unwrap();
    let wait = |user: &str, wanted: bool| {
        let begun = Instant::now();
        for way in &ways {
            let name = way.name;
            wait_until(&format!("{name}: {user} is allowed: {wanted}"), || {
                is_allowed(&server, folder, name, user) == wanted
            });
        }
        // the time depends on the load of the machine, so it is printed only
        println!("{user}: {wanted} after {} ms", begun.elapsed().as_millis());
    };
    wait("alice", true);
    wait("dora", true);
    for way in &ways {
        assert!(!is_allowed(&server, folder, way.name, "bob"));
    }
    for repository in &repositories {
        repository.write(&["bob"]);
        repository.push();
    }
    wait("bob", true);
    wait("alice", false);
    names.lock().unwrap().push("erin");
    wait("erin", true);
    // a push that does not compile leaves the decisions as they are
    for repository in &repositories {
        std::fs::write(
            repository.path.join("app.rego"),
            "package app\n\nallow if {",
        )
        .unwrap();
        repository.push();
    }
    let authorization = format!("Authorization: Bearer {KEY}\r\n");
    for way in &ways {
        let latest = format!("GET /v1/bundles/{}/status/latest", way.name);
        wait_until("the failure is recorded", || {
            let (_, text) = plane.send(folder, &latest, &authorization, "");
            text.contains("BUILD_FAILED")
        });
        assert!(is_allowed(&server, folder, way.name, "bob"));
        assert!(!is_allowed(&server, folder, way.name, "alice"));
    }
}
