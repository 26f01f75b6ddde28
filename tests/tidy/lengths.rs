//! Maximum length of files: a file holds one concept.

use std::collections::BTreeSet;

use crate::source;

const LONG: usize = 500;
const TOO_LONG: usize = 800;

/// Files that may exceed [`LONG`], one a line with the reason after the path.
const EXCEPTIONS: &str = include_str!("long_files.txt");

#[test]
fn files_stay_short() {
    let mut findings = Vec::new();
    let mut excused = BTreeSet::new();
    for line in EXCEPTIONS
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        match line.split_once(' ') {
            Some((path, reason)) if !reason.trim().is_empty() => drop(excused.insert(path)),
            _ => findings.push(format!("long_files.txt: no reason after `{line}`")),
        }
    }
    for file in source::files()
        .iter()
        .filter(|file| file.has_extension(&["rs", "py", "c"]))
    {
        let length = file.text.lines().count();
        let excuse = excused.remove(file.path.as_str());
        if length > TOO_LONG {
            findings.push(format!("{}: {length} lines, at most {TOO_LONG}", file.path));
        } else if length > LONG && !excuse {
            findings.push(format!(
                "{}: {length} lines, more than {LONG} need a reason in long_files.txt",
                file.path
            ));
        } else if length <= LONG && excuse {
            findings.push(format!(
                "long_files.txt: {} has {length} lines and needs no entry",
                file.path
            ));
        }
    }
    findings.extend(
        excused
            .iter()
            .map(|path| format!("long_files.txt: there is no {path}")),
    );
    crate::report("files are too long", &findings);
}
