//! Server, engine and bindings compile on Linux, macOS and Windows: platform-specific code is conditional.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::source;

/// Folders of crates that are built for every supported platform.
const FOLDERS: [&str; 4] = ["engine/", "ffi/", "python/", "server/"];

/// Folders below them that are built on developers' machines only.
const EXCEPT: [&str; 1] = ["engine/benches/"];

/// Paths that exist only on Linux, or only on Unix systems.
const OF_ONE_SYSTEM: [&str; 8] = [
    "std::os::linux",
    "std::os::unix",
    "std::os::fd",
    "tokio::signal::unix",
    "UnixListener",
    "UnixStream",
    "UnixSocket",
    "rustix::",
];

/// Returns the parts of code that an attribute limits to some systems.
fn conditional(code: &str) -> Vec<Range<usize>> {
    let attributes = code.match_indices("#[cfg(").filter_map(|(at, _)| {
        let end = at + code[at..].find(']')?;
        let condition = &code[at..end];
        ["unix", "target_os"]
            .iter()
            .any(|system| condition.contains(system))
            .then_some((at, end + 1))
    });
    attributes
        .map(|(at, end)| at..end + item_length(&code[end..]))
        .collect()
}

/// Length of the item, statement, field or arm at the start of a text, including its further attributes.
fn item_length(code: &str) -> usize {
    let mut rest = code;
    loop {
        rest = rest.trim_start();
        match rest
            .strip_prefix("#[")
            .and_then(|rest| rest.split_once(']'))
        {
            Some((_, after)) => rest = after,
            None => break,
        }
    }
    let start = code.len() - rest.len();
    let is_import = rest.starts_with("use ") || rest.starts_with("pub use ");
    let mut depth = 0_usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => {
                let Some(outer) = depth.checked_sub(1) else {
                    return start + at;
                };
                depth = outer;
                if c == '}' && depth == 0 && !is_import {
                    return start + at + 1;
                }
            }
            ';' if depth == 0 => return start + at + 1,
            // not within the types of a signature
            ',' if depth == 0 && !rest[..at].contains("fn ") && !rest.starts_with("impl") => {
                return start + at + 1;
            }
            _ => {}
        }
    }
    code.len()
}

/// Returns the files that may declare the module of a file, and its name.
fn parents(path: &str) -> Option<(Vec<String>, &str)> {
    let (folder, file) = path.rsplit_once('/')?;
    let name = file.strip_suffix(".rs")?;
    if name == "mod" {
        let (above, name) = folder.rsplit_once('/')?;
        return Some((of_folder(above), name));
    }
    Some((of_folder(folder), name))
}

fn of_folder(folder: &str) -> Vec<String> {
    ["/mod.rs", "/lib.rs", "/main.rs", ".rs"]
        .iter()
        .map(|end| format!("{folder}{end}"))
        .collect()
}

/// Returns `true` if a file belongs to a conditional module, or is nested in one.
fn is_conditional(path: &str, files: &BTreeMap<&str, String>) -> bool {
    let Some((parents, name)) = parents(path) else {
        return false;
    };
    let declaration = format!("mod {name};");
    for parent in parents.iter().filter(|parent| *parent != path) {
        let Some(code) = files.get(parent.as_str()) else {
            continue;
        };
        if let Some(at) = code.find(&declaration) {
            return conditional(code).iter().any(|part| part.contains(&at))
                || is_conditional(parent, files);
        }
    }
    false
}

#[test]
fn what_one_system_has_is_conditional() {
    let files = source::files();
    let files = files.iter().filter(|file| {
        file.has_extension(&["rs"])
            && FOLDERS.iter().any(|folder| file.path.starts_with(folder))
            && !EXCEPT.iter().any(|folder| file.path.starts_with(folder))
    });
    let files: BTreeMap<&str, String> = files
        .map(|file| (file.path.as_str(), source::code(&file.text)))
        .collect();
    let mut findings = Vec::new();
    for (path, code) in &files {
        let parts = conditional(code);
        for name in OF_ONE_SYSTEM {
            for (at, _) in code.match_indices(name) {
                let before = code[..at].chars().next_back().unwrap_or(' ');
                if before.is_alphanumeric() || before == '_' {
                    continue;
                }
                if !parts.iter().any(|part| part.contains(&at)) && !is_conditional(path, &files) {
                    let line = code[..at].matches('\n').count() + 1;
                    findings.push(format!("{path}:{line}: {name}"));
                }
            }
        }
    }
    crate::report("unconditional use of what one system has", &findings);
}

#[test]
fn conditions_extend_to_the_end_of_their_item() {
    let code = "
#[cfg(unix)]
use std::os::unix::fs::{A, B};
use other::C;
enum Socket {
    Tcp(T),
    #[cfg(unix)]
    Unix(A, B),
    Last,
}
#[cfg(target_os = )]
#[inline]
fn one() -> Result<A, B> { std::os::linux::x(); }
fn two() {}
";
    let parts: Vec<&str> = conditional(code)
        .into_iter()
        .map(|part| &code[part])
        .collect();
    assert!(parts[0].ends_with("{A, B};"), "{parts:?}");
    assert!(parts[1].ends_with("Unix(A, B),"), "{parts:?}");
    assert!(parts[2].ends_with("x(); }"), "{parts:?}");
    assert_eq!(parts.len(), 3);
}
