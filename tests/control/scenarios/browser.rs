//! The page in a real browser: the rules of axe-core for WCAG 2.2 AA (`browser/axe.mjs`), and everything by the keyboard alone
//! (`browser/keyboard.mjs`).

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::Folder;
use crate::emulators::program;
use crate::process::Process;
use crate::waiting::wait_until;

/// The key of the operator.
const KEY: &str = "0123456789abcdef0123456789abcdef";

/// The browser and the packages of its driver.
struct Tools {
    chromium: PathBuf,
    /// The folder with `node_modules`.
    packages: PathBuf,
}

fn tools() -> Option<Tools> {
    let chromium = program("Chromium", "SOLON_CHROMIUM", "/usr/bin/chromium")?;
    let packages = program(
        "playwright-core with axe-core",
        "SOLON_BROWSER",
        "browser/node_modules",
    )?;
    Some(Tools {
        chromium,
        packages: packages.parent().unwrap().to_owned(),
    })
}

/// A control plane with bundles that are published, that fail, and that have a history.
struct Plane {
    process: Process,
    folder: Folder,
}

impl Plane {
    fn start() -> Self {
        let folder = Folder::new();
        let plane = Self {
            process: run(&folder.0),
            folder,
        };
        let count = || {
            plane.get("/v1/bundles/app/revisions")["result"]
                .as_array()
                .map_or(0, Vec::len)
        };
        wait_until("the first revision", || count() == 1);
        let (status, text) = plane.send("PUT /v1/sources/people/data/users", r#"["alice"]"#);
        assert_eq!(status, 200, "{text}");
        wait_until("the second revision", || count() == 2);
        wait_until("the failure", || {
            plane.get("/v1/bundles/broken/status/latest")["result"]["status"] == "BUILD_FAILED"
        });
        plane
    }

    fn send(&self, request: &str, body: &str) -> (u16, String) {
        let authorization = format!("Authorization: Bearer {KEY}\r\n");
        self.process
            .send(&self.folder.0, request, &authorization, body)
    }

    fn get(&self, path: &str) -> Value {
        let (_, text) = self.send(&format!("GET {path}"), "");
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// Runs a script of this folder with the page, and returns its output.
    fn script(&self, tools: &Tools, name: &str) -> String {
        let (_, port) = self.process.address.rsplit_once(':').unwrap();
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/control/scenarios/browser");
        let mut node = Command::new("node");
        node.arg(folder.join(name))
            .env("PAGE_TOOLS", &tools.packages)
            .env("PAGE_CHROMIUM", &tools.chromium)
            // browsers send secure cookies to this name only, without TLS
            .env("PAGE_ADDRESS", format!("http://localhost:{port}"))
            .env("PAGE_KEY", KEY);
        let output = node.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {text}\n{errors}");
        text
    }
}

fn run(folder: &Path) -> Process {
    for (path, text) in [
        ("app/app.rego", "package app\n\nallow := true\n"),
        ("broken/broken.rego", "package broken\n\nallow if {"),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let long = format!("z long / <escaped> & no-place-to-break-{}", "x".repeat(60));
    let config = json!({
        "sources": {
            "app": {"directory": "app"},
            "broken": {"directory": "broken"},
            "people": {},
        },
        "bundles": {
            "app": {"requirements": [{"source": "app"}, {"source": "people"}], "revision": "input.bundle.hash"},
            "broken": {"requirements": [{"source": "broken"}]},
            long: {"requirements": [{"source": "app"}]},
        },
        "stacks": {"all": {"selector": {}, "requirements": [{"source": "people"}]}},
        "tokens": {"operator": {"api_key": KEY, "scopes": [{"role": "administrator"}]}},
    });
    std::fs::write(folder.join("c.json"), config.to_string()).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_solon"));
    command
        .current_dir(folder)
        .args(["control", "run", "--config", "c.json"])
        .args(["--addr", "127.0.0.1:0"]);
    Process::start(command, "Control plane initialized.").unwrap()
}

#[test]
fn pages_follow_the_rules_of_axe() {
    let Some(tools) = tools() else { return };
    let passed = Plane::start().script(&tools, "axe.mjs");
    let passed: Vec<&str> = passed.lines().collect();
    // the rules found what they are for
    for rule in [
        "aria-valid-attr-value",
        "button-name",
        "bypass",
        "color-contrast",
        "document-title",
        "html-has-lang",
        "label",
        "link-name",
        "scrollable-region-focusable",
        "target-size",
    ] {
        assert!(passed.contains(&rule), "{rule} is not among {passed:?}");
    }
}

#[test]
fn everything_works_with_the_keyboard() {
    let Some(tools) = tools() else { return };
    let plane = Plane::start();
    let revisions = || {
        let list = plane.get("/v1/bundles/app/revisions")["result"].clone();
        let list: Vec<Value> = serde_json::from_value(list).unwrap();
        let active = list.iter().position(|one| one["active"] == true);
        (list.len(), active)
    };
    assert_eq!(revisions(), (2, Some(0)));
    plane.script(&tools, "keyboard.mjs");
    assert_eq!(revisions(), (2, Some(1)));
    let audit = plane.get("/v1/audit?limit=2");
    for (at, action) in ["rollback", "build"].into_iter().enumerate() {
        let entry = &audit["result"][at];
        assert_eq!(entry["action"], action, "{audit:#}");
        assert_eq!(entry["principal"], "operator", "{audit:#}");
    }
}
