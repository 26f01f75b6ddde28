//! Builds the programs that time the language bindings, with the profile of the running executable.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::Texts;

/// Built libraries and programs.
pub struct Built {
    /// Folder of the built files.
    pub folder: PathBuf,
    sources: PathBuf,
    python: PathBuf,
    /// Folder with OPA's Python package, if one is configured.
    reference: Option<PathBuf>,
}

/// A timing program of one language binding.
pub struct BindingCommand<'b> {
    /// Name in the table.
    pub name: &'static str,
    /// `true` for Solon's bindings.
    pub is_own: bool,
    built: &'b Built,
}

fn run(command: &mut Command) -> Result<(), String> {
    let status = command
        .status()
        .map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{command:?}: {status}"))
    }
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let copied = std::fs::copy(from, to).map(drop);
    copied.map_err(|error| format!("{}: {error}", from.display()))
}

impl Built {
    /// Builds the libraries, the C program and the Python packages.
    pub fn new() -> Result<Self, String> {
        let failed = |error: std::io::Error| error.to_string();
        let own = std::env::current_exe().map_err(failed)?;
        let profile = own.parent().ok_or("the program lies nowhere")?;
        let name = profile.file_name().and_then(|name| name.to_str());
        let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = crate_root.join("../..").canonicalize().map_err(failed)?;
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--quiet", "--profile", name.unwrap_or("release")]);
        cargo.args([
            "-p",
            "solon-ffi",
            "-p",
            "solon-python",
            "-p",
            "solon-bench-regorus",
        ]);
        run(cargo.current_dir(&root))?;

        let folder = profile.join("bindings");
        let packages = folder.join("python/solon");
        std::fs::create_dir_all(&packages).map_err(failed)?;
        for entry in std::fs::read_dir(root.join("python/solon")).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if let Some(name) = path.file_name().filter(|_| path.is_file()) {
                copy(&path, &packages.join(name))?;
            }
        }
        let native = packages.join("_native.abi3.so");
        copy(&profile.join("lib_native.so"), &native)?;
        let wrapper = folder.join("python/regorus_wrapper.abi3.so");
        copy(&profile.join("libregorus_wrapper.so"), &wrapper)?;

        let sources = crate_root.join("bindings");
        let mut compiler = Command::new(std::env::var("CC").unwrap_or_else(|_| "cc".to_owned()));
        compiler.args(["-std=c99", "-D_POSIX_C_SOURCE=200809L", "-O2", "-I"]);
        compiler
            .arg(root.join("include"))
            .arg(sources.join("bindings.c"));
        compiler.arg("-o").arg(folder.join("bindings"));
        // programs load the library by this name
        let library = folder.join("libsolon.so.0");
        copy(&profile.join("libsolon_ffi.so"), &library)?;
        compiler.arg(library);
        run(compiler.arg(format!("-Wl,-rpath,{}", folder.display())))?;

        let environment = folder.join("environment");
        let python = environment.join("bin/python");
        if !python.is_file() {
            let base = std::env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
            run(Command::new(base).args(["-m", "venv"]).arg(&environment))?;
        }
        // the peer's own package, left out without a network
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet", "regopy>=1.5,<2"]);
        if let Err(message) = run(&mut pip) {
            eprintln!("bench: {message}");
        }
        Ok(Self {
            folder,
            sources,
            python,
            reference: std::env::var_os("SOLON_ORACLE_PYTHON").map(PathBuf::from),
        })
    }

    /// Returns the timing programs.
    pub fn commands(&self) -> Vec<BindingCommand<'_>> {
        let binding = |name, is_own| BindingCommand {
            name,
            is_own,
            built: self,
        };
        let mut all = vec![
            binding("c", true),
            binding("python", true),
            binding("python regorus", false),
            binding("python regopy", false),
        ];
        if self.reference.is_some() {
            all.push(binding("python opa", false));
        }
        all
    }
}

impl BindingCommand<'_> {
    /// Returns the command that starts the program on some texts.
    pub(super) fn command(&self, texts: &Texts) -> Command {
        let built = self.built;
        let mut command;
        if self.name == "c" {
            command = Command::new(built.folder.join("bindings"));
        } else {
            command = Command::new(&built.python);
            command.arg(built.sources.join("bindings.py"));
            command.arg(self.name.split(' ').nth(1).unwrap_or("solon"));
            let packages = [built.folder.join("python")].into_iter();
            let packages = packages.chain(built.reference.clone());
            if let Ok(path) = std::env::join_paths(packages) {
                command.env("PYTHONPATH", path);
            }
        }
        texts.add_to(&mut command);
        command
    }
}
