//! Paths of the entries of archives: checks that reject entries outside of the bundle.

use crate::limits::BundleLimits;

/// Returns the path of an entry without empty steps and `.`. A leading slash, as OPA writes it, is kept.
///
/// # Errors
/// The path is longer than the limit, leads out of the bundle (`..`), or contains a backslash, NUL or a drive.
pub fn check_path(path: &str, limits: &BundleLimits) -> Result<String, String> {
    if path.len() > limits.path_bytes {
        return Err(format!("a path is longer than {} bytes", limits.path_bytes));
    }
    let invalid = |reason: &str| Err(format!("invalid path `{path}`: {reason}"));
    if path.contains(['\\', '\0']) {
        return invalid("backslashes and NUL are not allowed");
    }
    let relative = path.strip_prefix('/').unwrap_or(path);
    if relative.starts_with('/') {
        return invalid("it begins with two slashes");
    }
    let mut steps = steps(relative);
    if steps.clone().any(|step| step == "..") {
        return invalid("`..` is not allowed");
    }
    if steps.next().is_some_and(is_drive) {
        return invalid("it names a drive");
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    Ok(format!("{start}{}", cleaned(relative)))
}

/// Returns a path without empty steps and `.`, and without a leading slash.
pub fn cleaned(path: &str) -> String {
    steps(path).collect::<Vec<_>>().join("/")
}

fn steps(path: &str) -> impl Iterator<Item = &str> + Clone {
    path.split('/').filter(|step| !matches!(*step, "" | "."))
}

fn is_drive(step: &str) -> bool {
    matches!(step.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}
