//! TLS: certificates of both sides, versions, ciphers, files that change. Clients are `curl` and `openssl`. Without them,
//! these tests are skipped.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::authority::Authority;
use crate::process::{Folder, Server};
use crate::waiting::{HANG, Waiting, wait_until};

const TLS: [&str; 4] = [
    "--tls-cert-file",
    "server.pem",
    "--tls-private-key-file",
    "server-key.pem",
];

fn start(flags: &[&str], files: &[(&'static str, String)], more: &[(&str, &str)]) -> Server {
    let mut all: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    all.extend(more);
    Server::start_with(&[&TLS[..], flags].concat(), &all)
}

fn has(program: &str) -> bool {
    let tried = Command::new(program)
        .arg("version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok()
}

/// Returns the output of `curl` for an address, with flags.
fn curl(server: &Server, flags: &[&str], target: &str) -> String {
    curl_at(server.folder(), server.address(), flags, target)
}

fn curl_at(folder: &Path, address: &str, flags: &[&str], target: &str) -> String {
    let output = Command::new("curl")
        .current_dir(folder)
        .args([
            "-sS",
            "--max-time",
            &HANG.as_secs().to_string(),
            "--cacert",
            "ca.pem",
            "-w",
            " %{http_code} %{http_version}",
        ])
        .args(flags)
        .arg(format!("https://{address}{target}"))
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn both_versions_of_http_are_spoken() {
    if !has("curl") {
        return;
    }
    let server = start(&[], &Authority::new().files(), &[]);
    assert_eq!(curl(&server, &["--http2"], "/health"), "{}\n 200 2");
    assert_eq!(curl(&server, &["--http1.1"], "/health"), "{}\n 200 1.1");
    let put = ["--http2", "-X", "PUT", "-d", "[1]"];
    assert_eq!(curl(&server, &put, "/v1/data/a"), " 204 2");
    assert_eq!(
        curl(&server, &["--http2", "-I"], "/health")
            .split_whitespace()
            .next(),
        Some("HTTP/2")
    );
}

#[test]
fn clients_show_who_they_are() {
    if !has("curl") {
        return;
    }
    let policy = "package system.authz\n\nallow := {\"allowed\": input.identity == \"CN=client,O=Solon\\\\, Inc\", \"reason\": json.marshal([input.identity, input.client_certificates[0].Subject.CommonName, input.client_certificates[0].SerialNumber > 0])}\n";
    let authority = Authority::new();
    let flags = [
        "--authentication=tls",
        "--authorization=basic",
        "--tls-ca-cert-file",
        "ca.pem",
    ];
    let server = start(&flags, &authority.files(), &[("authz.rego", policy)]);
    let known = ["--cert", "client.pem", "--key", "client-key.pem"];
    assert_eq!(curl(&server, &known, "/health"), "{}\n 200 2");
    let other = ["--cert", "server.pem", "--key", "server-key.pem"];
    let refused = curl(&server, &other, "/health");
    assert!(
        refused.contains(r#"[\"CN=server,O=Solon\\\\, Inc\",\"server\",true]"#),
        "{refused}"
    );
    assert!(refused.ends_with(" 401 2"), "{refused}");
    // without a certificate
    let none = curl(&server, &[], "/health");
    assert!(none.contains(" 000 "), "{none}");
    // a certificate of another authority
    let (stranger, key) = Authority::new().sign("client");
    std::fs::write(server.folder().join("stranger.pem"), stranger).unwrap();
    std::fs::write(server.folder().join("stranger-key.pem"), key).unwrap();
    let stranger = curl(
        &server,
        &["--cert", "stranger.pem", "--key", "stranger-key.pem"],
        "/health",
    );
    assert!(stranger.contains(" 000 "), "{stranger}");
}

#[test]
fn versions_and_ciphers_are_chosen() {
    if !has("openssl") {
        return;
    }
    let shakes = |server: &Server, flags: &[&str]| {
        let output = Command::new("openssl")
            .args(["s_client", "-connect", server.address(), "-brief"])
            .args(flags)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stderr).contains("CONNECTION ESTABLISHED")
    };
    let files = Authority::new().files();
    let usual = start(&[], &files, &[]);
    assert!(shakes(&usual, &["-tls1_2"]));
    assert!(shakes(&usual, &["-tls1_3"]));
    assert!(!shakes(&usual, &["-tls1_1"]));
    let new = start(&["--min-tls-version", "1.3"], &files, &[]);
    assert!(!shakes(&new, &["-tls1_2"]));
    assert!(shakes(&new, &["-tls1_3"]));
    let one = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384";
    let one = start(&["--tls-cipher-suites", one], &files, &[]);
    assert!(shakes(
        &one,
        &["-tls1_2", "-cipher", "ECDHE-ECDSA-AES256-GCM-SHA384"]
    ));
    assert!(!shakes(
        &one,
        &["-tls1_2", "-cipher", "ECDHE-ECDSA-AES128-GCM-SHA256"]
    ));
    assert!(shakes(&one, &["-tls1_3"]));
}

#[test]
fn certificates_change_without_a_failed_request() {
    if !has("curl") {
        return;
    }
    let authority = Authority::new();
    let flags = ["--tls-cert-refresh-period", "50ms"];
    let mut server = start(&flags, &authority.files(), &[]);
    let stop = AtomicBool::new(false);
    let asked = AtomicUsize::new(0);
    let folder = server.folder().to_owned();
    let address = server.address().to_owned();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let shown = curl_at(&folder, &address, &["--http2"], "/health");
                    assert_eq!(shown, "{}\n 200 2");
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        let waiting = Waiting::until("certificates have changed while requests were made");
        for turn in 1.. {
            swap(&folder, &authority, turn);
            server.logged("new certificates are read", turn, |line| {
                line["msg"] == "Certificates were read anew."
            });
            if turn >= 10 && asked.load(Ordering::Relaxed) > 10 {
                break;
            }
            waiting.check();
        }
        stop.store(true, Ordering::Relaxed);
    });
    // invalid files have no effect
    let kept = |line: &serde_json::Value| line["msg"] == "Certificates stay as they are.";
    let log = server.logged("", 0, kept);
    let count = log.iter().filter(|line| kept(line)).count();
    std::fs::write(folder.join("server.pem"), "nothing").unwrap();
    server.logged("broken certificates are found", count + 1, kept);
    assert_eq!(curl(&server, &[], "/health"), "{}\n 200 2");
}

fn swap(folder: &Path, authority: &Authority, turn: usize) {
    let (certificate, key) = authority.sign(&format!("server-{turn}"));
    // a mismatched pair, during the replacement of both files, is not loaded
    std::fs::write(folder.join("server.pem"), certificate).unwrap();
    std::fs::write(folder.join("server-key.pem"), key).unwrap();
}

#[test]
fn a_signal_has_certificates_read_at_once() {
    if !has("curl") {
        return;
    }
    let authority = Authority::new();
    let server = start(
        &["--tls-cert-refresh-period", "1h"],
        &authority.files(),
        &[],
    );
    swap(server.folder(), &authority, 7);
    server.signal("HUP");
    wait_until("the new certificate is shown", || {
        curl(&server, &["-v"], "/health").contains("server-7")
    });
}

#[test]
fn what_cannot_be_protected_does_not_start() {
    let folder = Folder::with(&[("none.pem", "none")]);
    let none = folder.path().join("none.pem").display().to_string();
    for (flags, words) in [
        (
            vec!["--authentication=tls"],
            "--authentication=tls needs --tls-cert-file",
        ),
        (
            vec!["--addr", "https://127.0.0.1:0"],
            "TLS needs --tls-cert-file",
        ),
        (
            vec!["--tls-cert-file", &none, "--tls-private-key-file", &none],
            "no certificate found in it",
        ),
        (
            vec![
                "--tls-cert-file",
                "/no/such",
                "--tls-private-key-file",
                &none,
            ],
            "/no/such",
        ),
        (vec!["--tls-cert-file", &none], "--tls-private-key-file"),
    ] {
        let (code, text) = Server::fail(&flags);
        assert_ne!(code, Some(0), "{flags:?}");
        assert!(text.contains(words), "{flags:?}: {text}");
    }
}

/// Runs a program that must end, within the folder of some files.
fn fail_in(folder: &Folder, flags: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .current_dir(folder.path())
        .args(["run", "--server", "--addr", "127.0.0.1:0"])
        .args(TLS)
        .args(flags)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{flags:?}: {text}");
    text
}

fn folder(files: &[(&'static str, String)]) -> Folder {
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, &**text)).collect();
    Folder::with(&files)
}

/// S-360
#[test]
fn certificates_of_clients_need_named_authorities() {
    let authority = Authority::new();
    let folder = folder(&authority.files());
    for flags in [
        &["--authentication=tls"][..],
        &["--authentication=tls", "--tls-ca-cert-file", ""],
        &["--authentication=tls", "--authorization=basic"],
        &["--authentication=tls", "--compat", "opa"],
    ] {
        let text = fail_in(&folder, flags);
        assert!(
            text.contains("--authentication=tls needs --tls-ca-cert-file"),
            "{flags:?}: {text}"
        );
    }
    if !has("curl") {
        return;
    }
    // the listener itself rejects clients without a certificate
    let flags = ["--authentication=tls", "--tls-ca-cert-file", "ca.pem"];
    let server = start(&flags, &authority.files(), &[]);
    let known = ["--cert", "client.pem", "--key", "client-key.pem"];
    assert_eq!(curl(&server, &known, "/health"), "{}\n 200 2");
    assert!(curl(&server, &[], "/health").contains(" 000 "));
}

#[test]
fn authorities_that_cannot_be_read_are_named() {
    let authority = Authority::new();
    let mut files = authority.files();
    let good = &authority.pem;
    let (begin, end) = (
        "-----BEGIN CERTIFICATE-----\n",
        "-----END CERTIFICATE-----\n",
    );
    let not_one = format!("{begin}bm90aGluZw==\n{end}");
    let broken = format!("{begin}no base64!\n{end}");
    let cut = &good[..good.len() - end.len()];
    let key = &files
        .iter()
        .find(|(name, _)| *name == "client-key.pem")
        .unwrap()
        .1;
    let cases = [
        (String::new(), "no certificate found in it"),
        ("nothing".to_owned(), "no certificate found in it"),
        (key.clone(), "no certificate found in it"),
        (broken.clone(), "block 1 cannot be read: invalid base64"),
        (
            format!("{good}{broken}"),
            "block 2 cannot be read: invalid base64",
        ),
        (
            format!("{broken}{good}"),
            "block 1 cannot be read: invalid base64",
        ),
        (
            format!("{good}{good}{broken}{good}"),
            "block 3 cannot be read",
        ),
        (
            cut.to_owned(),
            "block 1 cannot be read: its END line is missing",
        ),
        (
            format!("{good}{cut}"),
            "block 2 cannot be read: its END line is missing",
        ),
        (not_one.clone(), "certificate 1 cannot be an authority"),
        (
            format!("{good}{not_one}"),
            "certificate 2 cannot be an authority",
        ),
        (
            format!("{key}{good}{not_one}"),
            "certificate 2 cannot be an authority",
        ),
    ];
    files.retain(|(name, _)| *name != "ca.pem");
    for (text, want) in cases {
        files.push(("ca.pem", text.clone()));
        let folder = folder(&files);
        files.pop();
        let flags = ["--authentication=tls", "--tls-ca-cert-file", "ca.pem"];
        let error = fail_in(&folder, &flags);
        assert!(
            error.contains(&format!("ca.pem: {want}")),
            "{text}: {error}"
        );
    }
    // also for the server's own chain
    for (text, want) in [
        (broken.clone(), "block 1 cannot be read"),
        (format!("{good}{broken}"), "block 2 cannot be read"),
    ] {
        let mut files = authority.files();
        files.retain(|(name, _)| *name != "server.pem");
        files.push(("server.pem", text));
        let error = fail_in(&folder(&files), &[]);
        assert!(error.contains(&format!("server.pem: {want}")), "{error}");
    }
}
