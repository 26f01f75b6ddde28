//! Files of the repository, and Rust text without comments and strings.

use std::fs;
use std::path::Path;

/// Folders without hand-written files.
const SKIPPED: [&str; 5] = ["target", "node_modules", "__pycache__", "fuzz", "dist"];

/// A text file.
pub struct File {
    /// Path relative to the root of the repository, with `/`.
    pub path: String,
    pub text: String,
}

impl File {
    /// Returns `true` if the name ends in one of `extensions`.
    pub fn has_extension(&self, extensions: &[&str]) -> bool {
        self.path
            .rsplit_once('.')
            .is_some_and(|(_, extension)| extensions.contains(&extension))
    }
}

/// Returns every text file of the repository, ordered by path.
pub fn files() -> Vec<File> {
    files_in("")
}

/// Returns the text files below a folder. The path ends with a slash or is empty; it may be a folder that is otherwise
/// skipped.
pub fn files_in(folder: &str) -> Vec<File> {
    let mut found = Vec::new();
    collect(&crate::root().join(folder), folder, &mut found);
    found.sort_by(|left, right| left.path.cmp(&right.path));
    found
}

fn collect(folder: &Path, prefix: &str, found: &mut Vec<File>) {
    let Ok(entries) = fs::read_dir(folder) else {
        panic!("cannot list {}", folder.display())
    };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
            collect(&entry.path(), &format!("{path}/"), found);
        } else if kind.is_file()
            && name != ".git"
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            found.push(File { path, text });
        }
    }
}

/// Replaces comments, strings and character literals in Rust text by spaces; line breaks stay.
pub fn code(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => block_comment(rest),
            '"' => quoted(rest),
            'r' if !ends_in_word(&code) => raw_string(rest).unwrap_or(0),
            '\'' => character(rest).unwrap_or(0),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
        } else {
            code.extend(rest[..skipped].chars().filter(|&c| c == '\n'));
            code.push(' ');
            rest = &rest[skipped..];
        }
    }
    code
}

/// Returns Rust code up to its unit tests, which may name anything.
pub fn without_tests(code: &str) -> &str {
    code.split_once("#[cfg(test)]\nmod tests")
        .map_or(code, |(before, _)| before)
}

fn ends_in_word(code: &str) -> bool {
    code.ends_with(|c: char| c == '_' || c.is_alphanumeric())
}

fn block_comment(text: &str) -> usize {
    let mut depth = 0_usize;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match &bytes[at..bytes.len().min(at + 2)] {
            b"/*" => depth += 1,
            b"*/" if depth == 1 => return at + 2,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
    }
    bytes.len()
}

fn quoted(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn raw_string(text: &str) -> Option<usize> {
    let hashes = text[1..].bytes().take_while(|&byte| byte == b'#').count();
    let body = text[1 + hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    Some(
        body.find(&end)
            .map_or(text.len(), |at| 2 + hashes + at + end.len()),
    )
}

/// Returns the length of a character literal; `None` for a lifetime.
fn character(text: &str) -> Option<usize> {
    let mut rest = text.char_indices().skip(1);
    let (_, first) = rest.next()?;
    if first == '\\' {
        rest.next()?;
        return rest.find(|&(_, c)| c == '\'').map(|(at, _)| at + 1);
    }
    rest.next()
        .filter(|&(_, c)| c == '\'')
        .map(|(at, _)| at + 1)
}

#[test]
fn code_drops_what_is_not_compiled() {
    let text = "let a = \"x // y\"; // unsafe\nlet b = r#\"q\"z\"#; /* a /* b */ c */ fn f<'a>(c: &'a str) { '\\'' }";
    assert_eq!(
        code(text),
        "let a =  ;  \nlet b =  ;   fn f<'a>(c: &'a str) {   }"
    );
}
