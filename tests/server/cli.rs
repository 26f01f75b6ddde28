//! The commands, as users type them.
//!
//! `tests/cases/cli/files.json` is the folder that commands run in. Every other file there except for `forms.json` is a
//! list of cases with a `note` and `runs`: `args`, an optional `stdin`, and the recorded exit `code`, `stdout` and
//! `stderr`. `BLESS=1` records them again.

#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a panic here is a failing test"
)]

#[path = "cli/author.rs"]
mod author;
#[path = "cli/commands.rs"]
mod commands;
#[path = "cli/forms.rs"]
mod forms;
#[path = "cli/manifests.rs"]
mod manifests;
#[path = "cli/networks.rs"]
mod networks;
#[path = "cli/proxy.rs"]
mod proxy;
#[path = "../time/waiting.rs"]
mod waiting;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::{Deserialize, Serialize};

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    note: String,
    runs: Vec<Run>,
}

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Run {
    args: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stdin: Option<String>,
    #[serde(default)]
    want: Want,
}

#[derive(Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
struct Want {
    code: Option<i32>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    stdout: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    stderr: String,
}

fn cases() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/cli")
}

/// A folder with the files of the cases, removed when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!(
            "solon-cli-{}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        );
        let folder = std::env::temp_dir().join(name);
        let text = std::fs::read_to_string(cases().join("files.json")).unwrap();
        let files: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A process that is killed when the test ends.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn run(folder: &Folder, args: &[String], stdin: impl AsRef<[u8]>) -> Want {
    let mut child = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(args)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // a command that reads no input may have ended before the input is written
    let _ = child.stdin.take().unwrap().write_all(stdin.as_ref());
    let output = child.wait_with_output().unwrap();
    Want {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn recorded_commands_print_what_was_recorded() {
    let bless = std::env::var_os("BLESS").is_some();
    let folder = Folder::new();
    let mut failures = Vec::new();
    let mut count = 0;
    for path in std::fs::read_dir(cases())
        .unwrap()
        .map(|entry| entry.unwrap().path())
    {
        if path.ends_with("files.json") || path.ends_with("forms.json") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let mut cases: Vec<Case> = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for case in &mut cases {
            for one in &mut case.runs {
                count += 1;
                let got = run(&folder, &one.args, one.stdin.as_deref().unwrap_or(""));
                if bless {
                    one.want = got;
                } else if got != one.want {
                    let Run { args, want, .. } = one;
                    failures.push(format!(
                        "{}: {args:?}\n  want {want:?}\n  got  {got:?}",
                        case.note
                    ));
                }
            }
        }
        if bless {
            std::fs::write(&path, serde_json::to_string_pretty(&cases).unwrap() + "\n").unwrap();
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count} runs:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(count >= 60, "only {count} runs");
}

#[test]
fn metrics_name_what_was_timed() {
    let folder = Folder::new();
    let args =
        |format: &str| ["eval", "--metrics", "-f", format, "-d", "p.rego", "1"].map(str::to_owned);
    let json = run(&folder, &args("json"), "");
    let answer: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    let names: Vec<&str> = answer["metrics"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let want = [
        "timer_rego_load_files_ns",
        "timer_rego_module_compile_ns",
        "timer_rego_module_parse_ns",
        "timer_rego_query_compile_ns",
        "timer_rego_query_eval_ns",
        "timer_rego_query_parse_ns",
    ];
    assert_eq!(names, want);
    let read = ["eval", "--metrics", "-d", "users.json", "1"].map(str::to_owned);
    let answer: serde_json::Value = serde_json::from_str(&run(&folder, &read, "").stdout).unwrap();
    assert!(
        answer["metrics"]["timer_rego_data_parse_ns"].is_u64(),
        "{answer}"
    );
    let table = run(&folder, &args("pretty"), "").stdout;
    assert!(table.starts_with("1\n┌─"), "{table}");
    assert!(table.contains("│ timer_rego_query_eval_ns"), "{table}");
}

#[test]
fn instruments_and_profiles_name_what_was_measured() {
    let folder = Folder::new();
    let asked = |flags: &[&str]| {
        let common = ["eval", "-d", "p.rego", "data.p.names"];
        let args = common.iter().chain(flags).map(|&arg| arg.to_owned());
        run(&folder, &args.collect::<Vec<_>>(), "").stdout
    };
    let json = |flags: &[&str]| serde_json::from_str::<serde_json::Value>(&asked(flags)).unwrap();
    let metrics = json(&["--instrument"])["metrics"].clone();
    for name in [
        "counter_eval_op_virtual_cache_miss",
        "timer_compile_stage_check_types_ns",
        "timer_query_compile_stage_check_safety_ns",
        "timer_eval_op_rule_index_ns",
        "timer_eval_op_plug_ns",
    ] {
        assert!(metrics[name].is_u64(), "{name} in {metrics}");
    }
    assert!(
        metrics["histogram_eval_op_plug"]["99.9%"].is_number(),
        "{metrics}"
    );
    let profile = json(&["--profile"]);
    assert!(profile["metrics"]["timer_rego_query_eval_ns"].is_u64());
    let first = &profile["profile"][0];
    assert!(
        first["total_time_ns"].is_u64() && first["num_eval"].is_u64(),
        "{first}"
    );
    let often = json(&["--profile", "--count", "2", "--profile-limit", "1"]);
    let rows = often["aggregated_profile"].as_array().unwrap();
    assert_eq!(
        (rows.len(), &rows[0]["total_time_ns_stats"]["count"]),
        (1, &2.into())
    );
    let timers = &often["aggregated_metrics"]["timer_rego_query_eval_ns"];
    assert!(timers["stddev"].is_number(), "{often}");
    let table = asked(&["--profile", "-f", "pretty"]);
    assert!(
        table.contains("│ Num Eval │ Num Redo │ Num Gen Expr │"),
        "{table}"
    );
    assert!(table.contains("│ data.p.names │"), "{table}");
    let table = asked(&["--profile", "--count", "2", "-f", "pretty"]);
    assert!(
        table.contains("│ Num Eval │ Num Redo │") && table.contains("90%"),
        "{table}"
    );
}

#[test]
fn lines_that_are_not_text_are_rejected_and_others_answered() {
    let lines = b"{\"query\": \"x = \\\"\xff\\\"\"}\n{\"query\": \"x = 1\"}\n";
    let got = run(&Folder::new(), &["lines".to_owned()], lines);
    let answers: Vec<&str> = got.stdout.lines().collect();
    assert_eq!(answers.len(), 2, "{got:?}");
    assert!(answers[0].starts_with("{\"errors\":[{"), "{got:?}");
    assert_eq!(answers[1], "{\"bindings\":[{\"x\":1}],\"values\":[[true]]}");
}

#[test]
fn policies_see_the_environment_and_the_version() {
    let output = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["eval", "--format", "raw", "opa.runtime()"])
        .env_clear()
        .env("MODE", "a=b")
        .output()
        .unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["env"], serde_json::json!({"MODE": "a=b"}));
    assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(told["commit"], "");
}

#[cfg(unix)]
#[test]
fn links_are_followed_until_they_lead_nowhere() {
    use std::os::unix::fs::symlink;

    let folder = Folder::new();
    let at = |path: &str| folder.0.join(path);
    std::fs::create_dir_all(at("linked/deep")).unwrap();
    symlink(at("dir/a"), at("linked/folder")).unwrap();
    symlink(at("p.rego"), at("linked/file.rego")).unwrap();
    let eval = |flags: &[&str]| {
        let args = ["eval", "-f", "raw"].iter().chain(flags).chain(&["data"]);
        let args: Vec<String> = args.map(|&arg| arg.to_owned()).collect();
        run(&folder, &args, "")
    };
    let found: serde_json::Value = serde_json::from_str(&eval(&["-d", "linked"]).stdout).unwrap();
    assert!(
        found["folder"].is_object() && found["p"].is_object(),
        "{found}"
    );
    // links are not followed in bundles, as everywhere
    assert_eq!(eval(&["-b", "linked"]).stdout, "{}\n");

    symlink("nowhere", at("linked/broken.txt")).unwrap();
    let broken = "1 error occurred: stat linked/broken.txt: no such file or directory\n";
    assert_eq!(
        eval(&["-d", "linked", "--ignore", "broken.txt"]).stderr,
        broken
    );
    std::fs::remove_file(at("linked/broken.txt")).unwrap();

    symlink("..", at("linked/deep/up")).unwrap();
    let looped = eval(&["-d", "linked"]).stderr;
    let first = format!(
        "stat linked/{}deep/up: too many levels",
        "deep/up/".repeat(40)
    );
    assert!(looped.contains(&first), "{looped}");
    // two links that form cycles: OPA would follow all possible paths
    symlink("..", at("linked/deep/again")).unwrap();
    let looped = eval(&["-d", "linked"]);
    assert!(looped.stderr.contains("too many levels"), "{looped:?}");
}

#[test]
fn long_evaluations_end_in_time() {
    let list: Vec<String> = (0..5000).map(|number| number.to_string()).collect();
    let list = format!("[{}]", list.join(","));
    let query = format!("some a in {list}; some b in {list}; some c in {list}; a + b + c == -1");
    let folder = Folder::new();
    let output = std::fs::File::create(folder.0.join("output.json")).unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["eval", "--timeout", "50ms", &query])
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stdout(output)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // it would run for hours
    let mut child = Killed(child);
    let ended = waiting::wait_for("the evaluation ends in time", || {
        child.0.try_wait().unwrap()
    });
    let output = std::fs::read_to_string(folder.0.join("output.json")).unwrap();
    assert_eq!(ended.code(), Some(2), "{output}");
    assert!(output.contains("eval_cancel_error"), "{output}");
}

/// S-333, S-338, S-353, S-414
#[test]
fn capabilities_name_the_source_of_functions() {
    let print = |flags: &[&str]| {
        let args: Vec<String> = ["capabilities"]
            .iter()
            .chain(flags)
            .map(|one| (*one).to_owned())
            .collect();
        let got = run(&Folder::new(), &args, "");
        assert_eq!(got.code, Some(0), "{}", got.stderr);
        serde_json::from_str::<serde_json::Value>(&got.stdout).unwrap()
    };
    let names = |document: &serde_json::Value| -> Vec<String> {
        let functions = document["builtins"].as_array().unwrap().iter();
        let names = functions.map(|function| function["name"].as_str().unwrap().to_owned());
        names.filter(|name| name.starts_with("graphql.")).collect()
    };
    let first = [
        "is_valid",
        "parse",
        "parse_and_verify",
        "parse_query",
        "parse_schema",
    ];
    let first: Vec<String> = first.iter().map(|name| format!("graphql.{name}")).collect();
    assert!(names(&print(&["--version", "v0.40.0"])).is_empty());
    assert_eq!(names(&print(&["--version", "v0.41.0"])), first);
    assert_eq!(names(&print(&["--version", "v0.45.0"])), first);
    assert_eq!(names(&print(&["--version", "v0.46.0"])).len(), 6);

    let current = print(&["--current"]);
    assert_eq!(names(&current).len(), 6);
    let functions = current["builtins"].as_array().unwrap();
    let of = |name: &str| {
        functions
            .iter()
            .find(|function| function["name"] == name)
            .unwrap()
    };
    for name in &first {
        assert_eq!(of(name)["introduced"], "v0.41.0");
        assert_eq!(of(name)["sdk_dependent"], true);
    }
    assert_eq!(of("graphql.schema_is_valid")["introduced"], "v0.46.0");
    assert_eq!(of("graphql.schema_is_valid")["sdk_dependent"], true);
    assert_eq!(of("plus")["introduced"], "v0.17.0");
    assert!(of("plus").get("sdk_dependent").is_none());
}

#[test]
fn the_version_names_build_and_platform() {
    let got = run(&Folder::new(), &["version".to_owned()], "");
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    assert_eq!((got.code, got.stderr.as_str()), (Some(0), ""));
    let lines: Vec<(&str, &str)> = got
        .stdout
        .lines()
        .map(|line| {
            line.split_once(": ")
                .unwrap_or((line.trim_end_matches(':'), ""))
        })
        .collect();
    let names: Vec<&str> = lines.iter().map(|(name, _)| *name).collect();
    assert_eq!(
        names,
        [
            "Version",
            "Build Commit",
            "Build Timestamp",
            "Build Hostname",
            "Platform",
            "Rego Version"
        ]
    );
    assert_eq!(lines[0].1, env!("CARGO_PKG_VERSION"));
    assert!(lines[2].1.ends_with('Z'), "{}", got.stdout);
    assert_eq!((lines[4].1, lines[5].1), (platform.as_str(), "v1"));
}
