//! Policies of a tree: parsing, and mounts that move their packages.

use bytes::Bytes;
use solon::Version;
use solon::bundle::Manifest;
use solon_syntax::ast::Module;
use solon_syntax::refactor::{PackageMove, format_moved, move_packages};
use solon_syntax::source::{Source, SourceId};
use solon_syntax::{ParseOptions, module_text, parse_module};

use super::reference::Mount;
use crate::model::Glob;

/// A policy at its place in the bundle.
pub struct Policy {
    pub path: String,
    /// The text, formatted if the package was moved.
    pub text: String,
    /// The package path below `data`.
    pub package: Vec<String>,
    pub version: Version,
}

/// Returns `true` for files that contain a policy.
pub fn is_policy(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, extension)| extension == "rego")
}

/// Reads a policy and applies the mounts. Returns `None` if a mount does not select its package.
///
/// # Errors
/// A policy that does not parse, or references that cannot be moved.
pub fn mount(
    folder: &str,
    path: &str,
    bytes: &Bytes,
    version: Version,
    mounts: &[Mount],
) -> Result<Option<Policy>, String> {
    let name = format!("{folder}/{path}");
    let options = ParseOptions::from_version(version);
    let roots_error = |errors: solon_syntax::source::Diagnostics| format!("find roots: {errors}");
    let text = module_text(&name, bytes, &options).map_err(roots_error)?;
    let source = Source::new(SourceId(0), name.as_str(), text);
    let mut module = parse_module(&source, &options).map_err(roots_error)?;
    let mut is_moved = false;
    for mount in mounts {
        if !package_of(&module).starts_with(&mount.path) {
            return Ok(None);
        }
        if mount.path == mount.prefix {
            continue;
        }
        let below_data = |steps: &[String]| {
            let mut path = vec!["data".to_owned()];
            path.extend_from_slice(steps);
            path
        };
        let moves = [PackageMove {
            from: below_data(&mount.path),
            to: below_data(&mount.prefix),
        }];
        move_packages(&mut module, &moves)
            .map_err(|problem| format!("rego: refactor: {problem}"))?;
        is_moved = true;
    }
    let text = if is_moved {
        format_moved(&module, &options).map_err(|problem| format!("rego: refactor: {problem}"))?
    } else {
        source.text.to_string()
    };
    Ok(Some(Policy {
        path: path.to_owned(),
        text,
        package: package_of(&module),
        version,
    }))
}

fn package_of(module: &Module) -> Vec<String> {
    let steps = module.package.path.iter().skip(1);
    let steps = steps.filter_map(|step| step.as_string());
    steps.map(|step| step.to_string()).collect()
}

/// Returns the version that the manifest of a tree sets for one file. The first matching pattern counts.
pub fn file_version(manifest: &Manifest, path: &str) -> Option<i64> {
    let path = format!("/{path}");
    let mut patterns = manifest.file_rego_versions.iter();
    let matches = |pattern: &str| {
        let absolute = format!("/{}", pattern.trim_start_matches('/'));
        absolute == path || Glob::new(&absolute).is_ok_and(|glob| glob.matches(&path))
    };
    let pattern = patterns.find(|(pattern, _)| matches(pattern));
    pattern.map(|(_, version)| *version)
}
