//! The programs in `c/`, linked with the library both ways.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::root;

/// The folder that cargo put the libraries in, which is where it put this test.
fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().expect("it lies in a folder").to_owned()
}

/// An empty folder for what a test makes.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Whether `tool` is there; says so when not.
fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: there is no `{tool}` on this machine");
    }
    there
}

fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{command:?}: {}\n{text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

/// Compiles each program, links it with `link`, and runs it.
fn compile_and_run(folder: &Path, link: impl Fn(&mut Command)) {
    let sources = root().join("tests/ffi/c");
    let mut programs = 0;
    for entry in fs::read_dir(&sources)
        .expect("there are programs")
        .flatten()
    {
        let source = entry.path();
        if source.extension().is_none_or(|extension| extension != "c") {
            continue;
        }
        let program = folder.join(source.file_stem().unwrap_or_default());
        let mut cc = Command::new("cc");
        cc.args([
            "-std=c99",
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-I",
        ])
        .arg(root().join("include"))
        .arg(&source)
        .arg("-o")
        .arg(&program);
        link(&mut cc);
        cc.args(["-lpthread", "-ldl", "-lm"]);
        run(&mut cc);
        run(&mut Command::new(&program));
        programs += 1;
    }
    assert!(programs > 0, "no program in {}", sources.display());
}

#[test]
fn programs_run_with_the_static_library() {
    if has("cc") {
        compile_and_run(&scratch("c-static"), |cc| {
            cc.arg(libraries().join("libsolon_ffi.a"));
        });
    }
}

#[test]
#[cfg(target_os = "linux")]
fn programs_run_with_the_installed_library() {
    if !has("cc") || !has("bash") {
        return;
    }
    let prefix = scratch("c-installed");
    run(Command::new(root().join("ffi/install"))
        .arg(&prefix)
        .arg(libraries()));
    let flags = fs::read_to_string(prefix.join("lib/pkgconfig/solon.pc")).expect("it is installed");
    assert!(flags.contains(concat!("Version: ", env!("CARGO_PKG_VERSION"))));
    let folder = scratch("c-shared");
    compile_and_run(&folder, |cc| {
        cc.arg("-L")
            .arg(prefix.join("lib"))
            .arg(format!("-Wl,-rpath,{}/lib", prefix.display()))
            .arg("-lsolon");
    });
}

#[test]
#[cfg(target_os = "linux")]
fn the_library_exports_what_the_header_declares() {
    if !has("nm") {
        return;
    }
    let symbols = run(Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=posix"])
        .arg(libraries().join("libsolon_ffi.so")));
    let exported: BTreeSet<&str> = symbols
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    let header = fs::read_to_string(root().join("include/solon.h")).expect("there is a header");
    let declared: BTreeSet<&str> = header
        .split(|c: char| c != '_' && c != '(' && !c.is_alphanumeric())
        .filter_map(|word| word.split_once('('))
        .map(|(name, _)| name)
        .filter(|name| name.starts_with("solon_"))
        .collect();
    assert_eq!(exported, declared);
}
