//! Paths of the entries of archives.

use crate::limits::BundleLimits;

/// A path within a bundle as its files are named: cleaned, with the leading slash that OPA writes if it has one.
///
/// # Errors
/// A path that leads out of the bundle or is not portable.
pub fn check_path(path: &str, limits: &BundleLimits) -> Result<String, String> {
    if path.len() > limits.path_bytes {
        return Err(format!("a path is longer than {} bytes", limits.path_bytes));
    }
    let refused = |reason: &str| Err(format!("invalid path `{path}`: {reason}"));
    if path.contains(['\\', '\0']) {
        return refused("backslashes and NUL are not allowed");
    }
    let relative = path.strip_prefix('/').unwrap_or(path);
    if relative.starts_with('/') {
        return refused("it begins with two slashes");
    }
    let mut steps = steps(relative);
    if steps.clone().any(|step| step == "..") {
        return refused("`..` is not allowed");
    }
    if steps.next().is_some_and(is_drive) {
        return refused("it names a drive");
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    Ok(format!("{start}{}", cleaned(relative)))
}

/// A path without empty steps and without `.`.
pub fn cleaned(path: &str) -> String {
    steps(path).collect::<Vec<_>>().join("/")
}

fn steps(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|step| !matches!(*step, "" | "."))
}

fn is_drive(step: &str) -> bool {
    matches!(step.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
