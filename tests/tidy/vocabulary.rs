//! Words that must not occur in the repository.

use crate::source;

/// Marks of unfinished work, split so that this file passes its own test.
const UNFINISHED: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X"),
    concat!("to", "do!"),
    concat!("unimple", "mented!"),
];

/// Folders that exist on one machine only.
const PRIVATE: [&str; 2] = [concat!("/wo", "rk/"), concat!("/ro", "ot/")];

/// Returns the line numbers of `word` in `text` where it is not part of a longer word.
fn lines_with(text: &str, word: &str) -> Vec<usize> {
    let in_word = |c: char| c == '_' || c.is_alphanumeric();
    let has = |line: &str| {
        line.match_indices(word).any(|(at, _)| {
            !line[..at].ends_with(in_word) && !line[at + word.len()..].starts_with(in_word)
        })
    };
    text.lines()
        .enumerate()
        .filter(|(_, line)| has(line))
        .map(|(index, _)| index + 1)
        .collect()
}

#[test]
fn nothing_is_left_unfinished() {
    let mut findings = Vec::new();
    for file in source::files()
        .iter()
        .filter(|file| !file.has_extension(&["json", "jsonl"]))
    {
        for word in UNFINISHED {
            findings.extend(
                lines_with(&file.text, word)
                    .iter()
                    .map(|line| format!("{}:{line}: {word}", file.path)),
            );
        }
    }
    crate::report("unfinished work", &findings);
}

#[test]
fn no_text_names_a_folder_of_one_machine() {
    let mut findings = Vec::new();
    for file in source::files() {
        for (index, line) in file.text.lines().enumerate() {
            let starts_path = |at: usize| {
                !line[..at].ends_with(|c: char| c.is_alphanumeric() || "._-*".contains(c))
            };
            for folder in PRIVATE {
                if line.match_indices(folder).any(|(at, _)| starts_path(at)) {
                    findings.push(format!("{}:{}: {folder}", file.path, index + 1));
                }
            }
        }
    }
    crate::report("absolute paths", &findings);
}

#[test]
fn only_the_c_and_python_faces_are_unsafe() {
    let mut findings = Vec::new();
    for file in source::files()
        .iter()
        .filter(|file| file.has_extension(&["rs"]))
    {
        let may = ["ffi/", "python/", "tests/ffi/"];
        if !may.iter().any(|folder| file.path.starts_with(folder)) {
            let lines = lines_with(&source::code(&file.text), "unsafe");
            findings.extend(lines.iter().map(|line| format!("{}:{line}", file.path)));
        }
    }
    crate::report("`unsafe` outside ffi, its tests and python", &findings);
}

#[test]
fn terms_are_entire() {
    assert_eq!(
        lines_with("a\nunsafe {}\n#![deny(unsafe_code)]", "unsafe"),
        [2]
    );
}
