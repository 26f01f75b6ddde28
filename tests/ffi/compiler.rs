//! Compiles C and C++ programs and links them with the library.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock};

use crate::root;

/// Language of a program.
#[derive(Clone, Copy)]
pub enum Language {
    C,
    Cpp,
}

/// Linkage of a program.
#[derive(Clone, Copy)]
pub enum Linked {
    Statically,
    /// With the library that `ffi/install` installed.
    Shared,
}

/// Returns the folder with the libraries that cargo built, which is the folder of this test.
pub fn libraries() -> PathBuf {
    let test = std::env::current_exe().expect("this test has a path");
    test.parent().expect("the path has a parent").to_owned()
}

/// Returns an empty folder for the files of a test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    drop(fs::remove_dir_all(&folder));
    fs::create_dir_all(&folder).expect("a folder can be made");
    folder
}

/// Returns `true` if `tool` is installed; prints a message if not.
pub fn has(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok();
    if !there {
        eprintln!("skipped: `{tool}` is not installed");
    }
    there
}

/// Runs a command, which must succeed, and returns its output.
pub fn run(command: &mut Command) -> String {
    attempt(command).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a command. An error contains its status and its output.
pub fn attempt(command: &mut Command) -> Result<String, String> {
    let output = command.output();
    let output = output.map_err(|error| format!("{command:?}: {error}"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() {
        return Ok(text);
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    Err(format!("{command:?}: {}\n{text}{errors}", output.status))
}

/// Returns the installed library, for programs that are linked with the shared one.
pub fn installed() -> &'static Path {
    static PREFIX: OnceLock<PathBuf> = OnceLock::new();
    PREFIX.get_or_init(|| {
        let prefix = scratch("installed");
        let mut install = Command::new(root().join("ffi/install"));
        run(install.arg(&prefix).arg(libraries()));
        prefix
    })
}

impl Language {
    pub fn extension(self) -> &'static str {
        match self {
            Self::C => "c",
            Self::Cpp => "cpp",
        }
    }

    /// Returns the installed compilers; prints a message for missing ones.
    pub fn compilers(self) -> Vec<&'static str> {
        let known = match self {
            Self::C => ["gcc", "clang"],
            Self::Cpp => ["g++", "clang++"],
        };
        known.into_iter().filter(|name| has(name)).collect()
    }

    /// Returns the sources of a folder of this test.
    pub fn sources(self, folder: &str) -> Vec<PathBuf> {
        let entries = fs::read_dir(root().join("tests/ffi").join(folder));
        let entries = entries.expect("there are programs").flatten();
        let paths = entries.map(|entry| entry.path());
        let mut sources: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|one| one == self.extension()))
            .collect();
        sources.sort();
        assert!(!sources.is_empty(), "no program in {folder}");
        sources
    }

    /// Returns a command that compiles sources with the flags of this project. Callers add arguments.
    pub fn compile(self, compiler: &str) -> Command {
        let mut command = Command::new(compiler);
        command.arg(match self {
            Self::C => "-std=c99",
            Self::Cpp => "-std=c++17",
        });
        command.args([
            "-Wall",
            "-Wextra",
            "-pedantic",
            "-Wshadow",
            "-Werror",
            "-Werror=unused-result",
        ]);
        command.args(["-g", "-I"]);
        command.arg(root().join("include"));
        command
    }
}

impl Linked {
    /// Adds the arguments of the linker.
    pub fn link(self, command: &mut Command) {
        match self {
            Self::Statically => command.arg(libraries().join("libsolon_ffi.a")),
            Self::Shared => {
                let folder = installed().join("lib");
                let search = format!("-Wl,-rpath,{}", folder.display());
                command.arg("-L").arg(folder).args([&search, "-lsolon"])
            }
        };
        command.args(["-lpthread", "-ldl", "-lm"]);
    }
}

/// Compiles a source to a program and returns its path. Each source is compiled once for a compiler and a linkage.
pub fn program(
    language: Language,
    compiler: &'static str,
    source: &Path,
    linked: Linked,
) -> Result<PathBuf, String> {
    type Compiled = Arc<OnceLock<Result<PathBuf, String>>>;
    static PROGRAMS: Mutex<BTreeMap<PathBuf, Compiled>> = Mutex::new(BTreeMap::new());
    let linkage = match linked {
        Linked::Statically => "static",
        Linked::Shared => "shared",
    };
    // `c/value.c` and `cpp/value.cpp` are two programs
    let folder = source
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default();
    let name = source.file_stem().unwrap_or_default();
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("ffi-{compiler}-{linkage}"))
        .join(folder)
        .join(name);
    let programs = PROGRAMS.lock();
    let mut programs = programs.expect("no test panicked while it held the lock");
    let compiled = Arc::clone(programs.entry(path.clone()).or_default());
    drop(programs);
    compiled
        .get_or_init(|| {
            fs::create_dir_all(path.parent().unwrap_or(&path))
                .map_err(|error| error.to_string())?;
            let mut command = language.compile(compiler);
            command.arg(source).arg("-o").arg(&path);
            linked.link(&mut command);
            attempt(&mut command).map(|_| path)
        })
        .clone()
}
