//! Lists the files of the built-in libraries, so that the program contains them.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new("builtins");
    println!("cargo::rerun-if-changed=builtins");
    let mut files = Vec::new();
    if root.is_dir() {
        collect(root, &mut files)?;
    }
    files.sort();
    let folder = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    let mut out = fs::File::create(Path::new(&folder).join("builtins.rs"))?;
    writeln!(out, "&[")?;
    for file in files {
        let name = file.strip_prefix(root).map_err(io::Error::other)?;
        let name = name.to_string_lossy().replace('\\', "/");
        let path = fs::canonicalize(&file)?;
        let path = path.to_string_lossy();
        writeln!(out, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    writeln!(out, "]")
}

/// Adds the policies and documents below a folder. Tests of the libraries are not part of bundles.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_content = [".rego", ".json", ".yaml", ".yml", ".manifest"]
            .iter()
            .any(|end| name.ends_with(end));
        if is_content && !name.ends_with("_test.rego") {
            files.push(path);
        }
    }
    Ok(())
}
