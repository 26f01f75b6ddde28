//! Programs that misuse the library, and programs under load.

use std::path::PathBuf;
use std::process::Command;

use crate::compiler::{Language, Linked, attempt, has, installed, program, run, scratch};
use crate::root;

/// Returns a program of `driven/`, or `None` without a compiler.
pub fn driven(name: &str) -> Option<PathBuf> {
    let compilers = Language::C.compilers();
    let source = root().join(format!("tests/ffi/driven/{name}.c"));
    let made = program(Language::C, compilers.first()?, &source, Linked::Shared);
    Some(made.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
#[cfg(target_os = "linux")]
fn deep_things_fit_a_small_stack() {
    if let Some(program) = driven("stack") {
        run(Command::new(program).arg("256"));
    }
}

/// `SOLON_HAMMER_SECONDS=30` runs it for half a minute.
#[test]
#[cfg(target_os = "linux")]
fn nine_threads_see_whole_changes_only() {
    if let Some(program) = driven("hammer") {
        let seconds = std::env::var("SOLON_HAMMER_SECONDS");
        let told = run(Command::new(program).arg(seconds.as_deref().unwrap_or("3")));
        eprintln!("{told}");
    }
}

/// A million evaluations; a twentieth of that in builds without optimization, unless `SOLON_EVALUATIONS` is set.
#[test]
#[cfg(target_os = "linux")]
fn memory_stays_where_it_was() {
    if let Some(program) = driven("memory") {
        let usual = if cfg!(debug_assertions) {
            "50000"
        } else {
            "1000000"
        };
        let wanted = std::env::var("SOLON_EVALUATIONS");
        let told = run(Command::new(program).arg(wanted.as_deref().unwrap_or(usual)));
        eprintln!("{told}");
    }
}

#[test]
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn yes_and_no_take_no_memory() {
    if let Some(program) = driven("allocations") {
        run(&mut Command::new(program));
    }
}

/// Compiles with AddressSanitizer; returns `None` if the compiler does not support it.
fn sanitized(source: &str, name: &str, folder: &str) -> Option<PathBuf> {
    let compiler = Language::C.compilers().into_iter().next()?;
    let program = scratch(folder).join(name);
    let mut command = Language::C.compile(compiler);
    command.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    command.arg(root().join(source)).arg("-o").arg(&program);
    Linked::Shared.link(&mut command);
    match attempt(&mut command) {
        Ok(_) => Some(program),
        Err(error) if error.contains("lasan") => {
            eprintln!("skipped: {compiler} has no AddressSanitizer");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
#[cfg(target_os = "linux")]
fn programs_are_clean_under_address_sanitizer() {
    let mut failed = Vec::new();
    for source in Language::C.sources("c") {
        let name = source.file_stem().unwrap_or_default().to_string_lossy();
        let source = format!("tests/ffi/c/{name}.c");
        let Some(program) = sanitized(&source, &name, &format!("asan-{name}")) else {
            return;
        };
        failed.extend(attempt(&mut Command::new(program)).err());
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn address_sanitizer_tells_what_is_freed() {
    let Some(program) = sanitized("tests/ffi/driven/misuse.c", "misuse", "asan-misuse") else {
        return;
    };
    for (misuse, report) in [
        ("bytes", "heap-use-after-free"),
        ("part", "heap-use-after-free"),
        ("twice", "attempting double-free"),
        ("leak", "detected memory leaks"),
    ] {
        let mut command = Command::new(&program);
        let told = attempt(command.arg(misuse)).expect_err(misuse);
        assert!(told.contains(report), "{misuse}: {told}");
    }
    run(Command::new(program).arg("nothing"));
}

fn valgrind() -> Command {
    let mut command = Command::new("valgrind");
    // memory that a library keeps for its whole life is reachable, but through a pointer into the middle of an allocation
    let kinds = "definite,indirect";
    // a thread that cancels an evaluation runs concurrently only with fair scheduling
    command.args([
        "-q",
        "--fair-sched=try",
        "--error-exitcode=9",
        "--leak-check=full",
    ]);
    let known = root().join("tests/ffi/valgrind.supp");
    command.arg(format!("--suppressions={}", known.display()));
    command.arg(format!("--show-leak-kinds={kinds}"));
    command.arg(format!("--errors-for-leak-kinds={kinds}"));
    command
}

#[test]
#[cfg(target_os = "linux")]
fn programs_are_clean_under_valgrind() {
    if !has("valgrind") {
        return;
    }
    let mut failed = Vec::new();
    let all = ["c", "cpp"].into_iter().zip([Language::C, Language::Cpp]);
    for (name, language) in all {
        let Some(compiler) = language.compilers().into_iter().next() else {
            continue;
        };
        for source in language.sources(name) {
            // without optimization the others take a minute each; these use every kind of handle
            let quick = ["document", "function", "value", "query", "request"];
            let stem = source.file_stem().unwrap_or_default().to_string_lossy();
            let is_quick = quick.contains(&&*stem) && name == "c";
            // allocates a gigabyte, and has time limits
            if stem == "lengths" || (cfg!(debug_assertions) && !is_quick) {
                continue;
            }
            let made = program(language, compiler, &source, Linked::Shared);
            let ran = made.and_then(|program| attempt(valgrind().arg(program)));
            failed.extend(ran.err());
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

#[test]
#[cfg(target_os = "linux")]
fn valgrind_tells_freed_handles() {
    if !has("valgrind") {
        return;
    }
    let Some(program) = driven("misuse") else {
        return;
    };
    for (misuse, report) in [("handle", "Invalid read"), ("twice", "Invalid ")] {
        let told = attempt(valgrind().arg(&program).arg(misuse)).expect_err(misuse);
        assert!(told.contains(report), "{misuse}: {told}");
    }
    assert!(installed().exists());
}
