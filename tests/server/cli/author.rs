//! Commands for policy authors whose results cannot be recorded: benchmarks, scripts, pages, and repeated tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value as Json;

use super::{Folder, Killed, run, waiting};

fn solon(folder: &Folder, args: &[&str]) -> super::Want {
    let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
    run(folder, &args, "")
}

fn write(folder: &Folder, name: &str, text: &str) {
    fs::write(folder.0.join(name), text).unwrap();
}

const TESTS: &str = "package a_test\n\ntest_pass if true\n\ntest_fail if false\n";

#[test]
fn benchmarks_measure_what_passes() {
    let folder = Folder::new();
    write(&folder, "bench_test.rego", TESTS);
    let pretty = solon(&folder, &["test", "--bench", "bench_test.rego"]);
    let line = pretty.stdout.lines().next().unwrap();
    assert!(line.starts_with("data.a_test.test_pass\t"), "{line}");
    assert!(line.contains(" ns/op\t"), "{line}");
    assert!(
        pretty.stdout.ends_with("PASS: 1/2\nFAIL: 1/2\n"),
        "{}",
        pretty.stdout
    );
    assert_eq!(pretty.code, Some(2));
    let args = [
        "test",
        "--bench",
        "-f",
        "gobench",
        "-r",
        "pass",
        "bench_test.rego",
    ];
    let gobench = solon(&folder, &args).stdout;
    assert!(
        gobench.starts_with("BenchmarkDataATestTestPass\t"),
        "{gobench}"
    );
    let json = solon(
        &folder,
        &["test", "--bench", "-f", "json", "bench_test.rego"],
    );
    let json: Json = serde_json::from_str(&json.stdout).unwrap();
    assert!(
        json[0]["benchmark_result"]["N"].as_u64() > Some(0),
        "{json}"
    );
    assert_eq!(json[1]["benchmark_result"]["N"], 0);
    assert_eq!(json[1]["fail"], true);
}

#[test]
fn queries_are_measured() {
    let folder = Folder::new();
    let table = solon(&folder, &["bench", "1 + 1"]).stdout;
    for row in [
        "samples",
        "ns/op",
        "histogram_timer_rego_query_eval_ns_99.99%",
    ] {
        assert!(table.contains(&format!("│ {row} ")), "{row} in {table}");
    }
    let json = solon(
        &folder,
        &["bench", "-f", "json", "--metrics=false", "1 + 1"],
    );
    let json: Json = serde_json::from_str(&json.stdout).unwrap();
    assert!(json["N"].as_u64() > Some(0), "{json}");
    assert_eq!(json["Extra"], serde_json::json!({}));
    let gobench = solon(&folder, &["bench", "-f", "gobench", "-p", "input.x"]).stdout;
    assert!(gobench.starts_with("BenchmarkOPAEval\t"), "{gobench}");
}

#[test]
fn requests_to_a_server_are_measured() {
    let folder = Folder::new();
    write(
        &folder,
        "e2e.rego",
        "package e2e\n\nr := input.x\n\nu if input.none\n",
    );
    write(&folder, "e2e.json", "{\"x\": [1]}");
    let bench = |flags: &[&str]| {
        let args = [
            &["bench", "--e2e", "-d", "e2e.rego", "-i", "e2e.json"],
            flags,
        ]
        .concat();
        solon(&folder, &args)
    };
    let table = bench(&["data.e2e.r"]).stdout;
    for row in [
        "samples",
        "ns/op",
        "histogram_timer_rego_query_eval_ns_mean",
        "histogram_timer_server_handler_ns_99.99%",
    ] {
        assert!(table.contains(&format!("│ {row} ")), "{row} in {table}");
    }
    let plain = bench(&["-f", "json", "--metrics=false", "x = data.e2e.r"]);
    let plain: Json = serde_json::from_str(&plain.stdout).unwrap();
    assert!(plain["N"].as_u64() > Some(0), "{plain}");
    assert_eq!(plain["Extra"], serde_json::json!({}));
    let partial = bench(&["-f", "gobench", "-p", "data.e2e.u"]).stdout;
    assert!(
        partial.contains(" histogram_timer_rego_partial_eval_ns_mean"),
        "{partial}"
    );
    let undefined = bench(&["data.e2e.u"]);
    assert_eq!(
        (undefined.code, &*undefined.stderr),
        (Some(1), "1 error occurred: undefined result\n")
    );
    assert_eq!(bench(&["--fail=false", "data.e2e.u"]).code, Some(0));
    let wrong = bench(&["x = "]);
    assert_eq!(wrong.code, Some(1), "{wrong:?}");
}

#[test]
fn scripts_and_pages_name_each_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let script = solon(&folder, &["completion", shell]);
        assert_eq!(script.code, Some(0), "{shell}");
        for name in ["eval", "test", "deps", "exec"] {
            assert!(script.stdout.contains(name), "{name} for {shell}");
        }
    }
    assert_eq!(solon(&folder, &["completion", "csh"]).code, Some(2));
    assert_eq!(solon(&folder, &["man", "pages"]).code, Some(0));
    for name in ["solon", "solon-eval", "solon-test"] {
        let page = folder.0.join("pages").join(format!("{name}.1"));
        let text = fs::read_to_string(page).unwrap();
        assert!(text.contains(".TH"), "{name}");
    }
}

#[test]
fn shuffled_tests_are_reported_in_order() {
    let folder = Folder::new();
    let tests: String = (0..40)
        .map(|number| format!("test_{number} if {}\n\n", number % 3 > 0))
        .collect();
    write(
        &folder,
        "many_test.rego",
        &format!("package m_test\n\n{tests}"),
    );
    let names = |flags: &[&str]| -> Vec<String> {
        let args = [&["test", "-f", "json"], flags, &["many_test.rego"]].concat();
        let results: Json = serde_json::from_str(&solon(&folder, &args).stdout).unwrap();
        let results = results.as_array().unwrap().iter();
        results
            .map(|result| result["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let want: Vec<String> = (0..40).map(|number| format!("test_{number}")).collect();
    for flags in [&[] as &[&str], &["--shuffle"], &["-p", "1"], &["-p", "8"]] {
        assert_eq!(names(flags), want, "{flags:?}");
    }
    assert_eq!(names(&["--shuffle", "-p", "1"]), want);
}

#[test]
fn changed_tests_run_again() {
    let folder = Folder::new();
    let watched = folder.0.join("watched");
    fs::create_dir(&watched).unwrap();
    let test = |text: &str| fs::write(watched.join("w_test.rego"), text).unwrap();
    test("package w_test\n\ntest_a if true\n");
    let output = folder.0.join("output.txt");
    let child = Command::new(env!("CARGO_BIN_EXE_solon"))
        .args(["test", "--watch", "watched"])
        .current_dir(&folder.0)
        .stdin(Stdio::null())
        .stdout(fs::File::create(&output).unwrap())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let _child = Killed(child);
    let ends = |path: &Path, end: &str| {
        let text = fs::read_to_string(path).unwrap();
        text.contains(end)
    };
    let waits = format!("{}\nWatching for changes ...\n", "*".repeat(80));
    let first = format!("PASS: 1/1\n{waits}");
    waiting::wait_until("the tests have run", || ends(&output, &first));
    test("package w_test\n\ntest_a if false\n");
    let second = format!("FAIL: 1/1\n{waits}");
    waiting::wait_until("the tests run again", || ends(&output, &second));
    test("package w_test\n\ntest_a if {\n");
    waiting::wait_until("an error is shown", || ends(&output, "rego_parse_error"));
}
