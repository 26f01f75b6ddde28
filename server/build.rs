//! Facts of the build: which sources, when, where. `SOURCE_DATE_EPOCH` replaces the time of a build that anyone can
//! repeat, which then names no host either.

use std::env;
use std::fs;
use std::process::Command;

use jiff::Timestamp;

fn main() {
    for name in [
        "SOURCE_DATE_EPOCH",
        "SOLON_BUILD_COMMIT",
        "SOLON_BUILD_HOST",
    ] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    // development builds do not run this script for each commit, and may contain an earlier one
    if env::var("PROFILE").as_deref() == Ok("release")
        && let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
    {
        println!("cargo::rerun-if-changed={log}");
    }
    let epoch = env::var("SOURCE_DATE_EPOCH").ok();
    let epoch = epoch.and_then(|seconds| seconds.parse().ok());
    let time = epoch.and_then(|seconds| Timestamp::from_second(seconds).ok());
    let time = time.unwrap_or_else(|| {
        let now = Timestamp::now().as_second();
        Timestamp::from_second(now).unwrap_or_default()
    });
    let host = || {
        if epoch.is_some() {
            return None;
        }
        let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
        name.or_else(|| output(&mut Command::new("hostname")))
    };
    let commit = env::var("SOLON_BUILD_COMMIT").ok();
    let commit = commit.or_else(|| git(&["rev-parse", "HEAD"]));
    let host = env::var("SOLON_BUILD_HOST").ok().or_else(host);
    for (name, fact) in [
        ("COMMIT", commit.unwrap_or_default()),
        ("TIMESTAMP", time.to_string()),
        ("HOST", host.unwrap_or_default()),
    ] {
        println!("cargo::rustc-env=SOLON_BUILD_{name}={}", fact.trim());
    }
}

fn git(args: &[&str]) -> Option<String> {
    output(Command::new("git").args(args))
}

/// Returns the single line that a command prints, or `None` if it fails.
fn output(command: &mut Command) -> Option<String> {
    let output = command
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}
