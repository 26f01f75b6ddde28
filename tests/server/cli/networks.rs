//! Networks that the policies of each command may connect to.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A proxy whose name has no address: a request that reaches it was not denied.
const PROXY: (&str, &str) = ("HTTP_PROXY", "http://proxy.invalid:1");

const METADATA: &str = "metadata services are denied (metadata service)";
const ALLOWED: &str = "lookup proxy.invalid";

/// Returns what `solon eval` shows for a request.
fn eval(flags: &[&str], url: &str, variables: &[(&str, &str)]) -> String {
    let query = format!(r#"http.send({{"method": "get", "url": "{url}", "raise_error": false}})"#);
    run(
        &[&["eval"], flags, &[&query]].concat(),
        Path::new("."),
        variables,
    )
}

/// Runs a command and returns its output.
fn run(arguments: &[&str], folder: &Path, variables: &[(&str, &str)]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn metadata_services_are_denied_unless_a_flag_allows_them() {
    for host in [
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "169.254.170.2",
        "169.254.170.23",
        "[fd00:ec2::23]",
        "169.254.0.23",
        "100.100.100.200",
        "168.63.129.16",
        "[::ffff:169.254.169.254]",
        "[64:ff9b::a9fe:a9fe]",
        "[2002:a9fe:a9fe::]",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
    ] {
        let url = format!("http://{host}/latest/meta-data/");
        let direct = eval(&[], &url, &[]);
        assert!(
            direct.contains("metadata services are denied"),
            "{host}: {direct}"
        );
        let proxied = eval(&[], &url, &[PROXY]);
        assert!(
            proxied.contains("metadata services are denied"),
            "{host}: {proxied}"
        );
        let allowed = eval(&["--allow-metadata"], &url, &[PROXY]);
        assert!(allowed.contains(ALLOWED), "{host}: {allowed}");
    }
    for name in [
        "metadata.google.internal",
        "METADATA.google.internal.",
        "metadata",
        "instance-data",
        "metadata.tencentyun.com",
    ] {
        let url = format!("http://{name}/");
        let proxied = eval(&[], &url, &[PROXY]);
        assert!(proxied.contains(METADATA), "{name}: {proxied}");
        let allowed = eval(&["--allow-metadata"], &url, &[PROXY]);
        assert!(allowed.contains(ALLOWED), "{name}: {allowed}");
    }
}

#[test]
fn flags_combine() {
    let private = |used: &str| format!("private networks are denied ({used})");
    for (flags, url, want) in [
        (
            &["--deny-private-networks"] as &[&str],
            "http://10.1.2.3/",
            private("private"),
        ),
        (
            &["--deny-private-networks", "--allow-network", "10.1.0.0/16"],
            "http://10.1.2.3/",
            ALLOWED.to_owned(),
        ),
        (
            &["--deny-private-networks", "--allow-network", "10.1.0.0/16"],
            "http://10.2.2.3/",
            private("private"),
        ),
        (
            &[
                "--deny-private-networks",
                "--allow-network",
                "10.1.0.0/16,fd00::/8",
            ],
            "http://[fd00::1]/",
            ALLOWED.to_owned(),
        ),
        (
            &[
                "--deny-private-networks",
                "--allow-network=10.1.0.0/16",
                "--allow-network=10.2.2.3",
            ],
            "http://10.2.2.3/",
            ALLOWED.to_owned(),
        ),
        (
            &[
                "--deny-private-networks",
                "--allow-network",
                "169.254.0.0/16,0.0.0.0/0",
            ],
            "http://169.254.169.254/",
            private("metadata service"),
        ),
        (
            &["--deny-private-networks", "--allow-metadata"],
            "http://169.254.169.254/",
            ALLOWED.to_owned(),
        ),
        (
            &["--deny-private-networks", "--allow-metadata"],
            "http://169.254.1.1/",
            private("link-local"),
        ),
        (
            &["--allow-network", "169.254.0.0/16"],
            "http://169.254.169.254/",
            METADATA.to_owned(),
        ),
        (
            &["--allow-network", "10.0.0.0/33"],
            "http://a.test/",
            "invalid network `10.0.0.0/33`".to_owned(),
        ),
        (
            &["--allow-network", "intern"],
            "http://a.test/",
            "invalid network `intern`".to_owned(),
        ),
        (&[], "http://10.1.2.3/", ALLOWED.to_owned()),
    ] {
        let shown = eval(flags, url, &[PROXY]);
        assert!(shown.contains(&want), "{flags:?} {url}: {shown}");
    }
}

/// Starts a server of this machine, which is reachable without flags.
fn local() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut head = [0; 1024];
            let _ = stream.read(&mut head);
            let answer = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\nConnection: close\r\n\r\nreached";
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    address
}

/// Writes a policy that requests a URL, with a test and an input file.
fn policy(name: &str, url: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("solon-networks-{}-{name}", std::process::id()));
    let policies = folder.join("policies");
    std::fs::create_dir_all(&policies).unwrap();
    let text = format!(
        r#"package p

response := http.send({{"method": "get", "url": "{url}", "raise_error": false}})

text := json.marshal(response)

test_text if {{
	print(text)
	false
}}
"#
    );
    std::fs::write(policies.join("p.rego"), text).unwrap();
    std::fs::write(folder.join("input.json"), "{}").unwrap();
    folder
}

#[test]
fn every_command_that_evaluates_has_the_flags() {
    let address = local();
    let local = format!("http://{address}/");
    for (at, (flags, url, want)) in [
        (&[] as &[&str], "http://169.254.169.254/", METADATA),
        (&["--allow-metadata"], "http://169.254.169.254/", ALLOWED),
        (
            &["--deny-private-networks"],
            &*local,
            "private networks are denied (loopback)",
        ),
        (
            &["--deny-private-networks", "--allow-network", "127.0.0.0/8"],
            &local,
            "reached",
        ),
        (&[], &local, "reached"),
    ]
    .into_iter()
    .enumerate()
    {
        let folder = policy(&at.to_string(), url);
        for command in [
            &["eval", "-d", "policies", "data.p.text"] as &[&str],
            &["test", "-v", "policies"],
            &[
                "exec",
                "-b",
                "policies",
                "--decision",
                "p/text",
                "input.json",
            ],
        ] {
            let shown = run(&[command, flags].concat(), &folder, &[PROXY]);
            assert!(shown.contains(want), "{command:?} {flags:?}: {shown}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
