//! The program `git`.

use std::path::PathBuf;

/// Returns the program by its absolute path, or by its name if no folder of `PATH` contains it.
///
/// The standard library starts a program with a changed environment by `posix_spawn` only if it has a path. `fork` copies
/// the page tables of this process, which takes longer than a call of `git`.
pub fn path() -> PathBuf {
    let name = PathBuf::from("git");
    if cfg!(windows) {
        return name;
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&folders)
        // the folder that a call runs in contains files of the repository
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|path| is_executable(path))
        .unwrap_or(name)
}

#[cfg(unix)]
fn is_executable(path: &std::path::Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(path: &std::path::Path) -> bool {
    path.is_file()
}
