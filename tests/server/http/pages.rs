//! HTML pages.

use std::process::Command;

use crate::client::{Client, Message, get};
use crate::process::Server;

#[test]
fn the_first_page_tells_where_to_go_on() {
    let server = Server::start_with(&["--ui"], &[]);
    let page = get(server.address(), "/");
    assert_eq!(page.status, 200);
    assert_eq!(
        page.header("content-type"),
        Some("text/html; charset=utf-8")
    );
    let text = page.text();
    assert!(
        text.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"))),
        "{text}"
    );
    // its example has the host that the client named
    assert!(
        text.contains("'http://localhost/v1/data/authz/allow?pretty'"),
        "{text}"
    );
    let target = format!("http://{}/", server.address());
    let absolute = Client::connect(server.address()).send(&Message::new("GET", &target));
    let example = format!("'{target}v1/data/authz/allow?pretty'");
    assert!(absolute.text().contains(&example), "{}", absolute.text());
    // each of its links has a target
    let links: Vec<&str> = text
        .split("href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap())
        .collect();
    assert!(links.len() >= 6, "{links:?}");
    for link in links {
        assert_eq!(get(server.address(), link).status, 200, "{link}");
    }
}

#[test]
fn the_page_is_served_where_a_flag_enables_it() {
    let server = Server::start_with(&["--ui"], &[]);
    for path in ["/ui", "/ui/ui.css", "/ui/ui.js"] {
        let page = get(server.address(), path);
        assert_eq!(page.status, 200, "{path}");
        let policy = page.header("content-security-policy").unwrap();
        assert!(
            policy.starts_with("default-src 'none'; script-src 'self'"),
            "{policy}"
        );
        assert!(!policy.contains("unsafe"), "{policy}");
        assert_eq!(page.header("x-content-type-options"), Some("nosniff"));
        // no resource is loaded from elsewhere
        assert!(!page.text().contains("http"), "{path}");
    }
    let mut client = Client::connect(server.address());
    assert_eq!(client.send(&Message::new("GET", "/ui/other")).status, 404);
    assert_eq!(
        client.send(&Message::new("GET", "/ui/")).header("location"),
        Some("/ui")
    );
    assert_eq!(client.send(&Message::new("POST", "/ui")).status, 405);
    let server = Server::start(&[]);
    assert_eq!(get(server.address(), "/ui").status, 404);
    assert!(!get(server.address(), "/").text().contains("/ui"));
    let server = Server::start_with(&["--set", "server.ui=true"], &[]);
    assert_eq!(get(server.address(), "/ui").status, 200);
}

#[test]
fn the_page_works_in_a_browser() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/server/page.py");
    let run = Command::new("python3")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_solon"))
        .output();
    let Ok(run) = run else {
        println!("skipped: the page at /ui needs python3 and chromium");
        return;
    };
    println!("{}", String::from_utf8_lossy(&run.stdout));
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}
