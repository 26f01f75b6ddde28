//! `docs/c-api.md` is generated from `include/solon.h`, in the sections of `ffi/src`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use crate::header::public_modules;
use crate::nulls::functions;
use crate::root;

/// A declaration of the header and its comment.
struct Item {
    name: String,
    comment: String,
    code: String,
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Returns the name that a declaration declares.
fn declared(code: &str) -> Option<String> {
    let is_word = |c: char| c == '_' || c.is_alphanumeric();
    if let Some(rest) = code.strip_prefix("#define ") {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        return Some(rest[..end].to_owned());
    }
    if code.starts_with("typedef") && !code.contains("(*") {
        let code = code.strip_suffix(';')?;
        let start = code.rfind(|c| !is_word(c))? + 1;
        return Some(code[start..].to_owned());
    }
    // a function, or the type of a callback
    if let Some((_, rest)) = code.split_once("(*solon_") {
        return Some(format!("solon_{}", rest.split_once(')')?.0));
    }
    let at = code.find('(')?;
    let start = code[..at].rfind(|c| !is_word(c))? + 1;
    Some(code[start..at].to_owned())
}

/// Returns the documented declarations of the header.
fn items(header: &str) -> Vec<Item> {
    let mut items = Vec::new();
    let mut rest = header;
    while let Some((_, after)) = rest.split_once("\n/**\n") {
        let (comment, after) = after.split_once("*/\n").expect("comments end");
        if after.starts_with("#if") {
            // a macro with a definition for each compiler
            rest = after;
            continue;
        }
        let comment = comment.lines().map(|line| {
            let line = line.trim_start().trim_start_matches('*');
            line.strip_prefix(' ').unwrap_or(line)
        });
        let comment = comment.collect::<Vec<_>>().join("\n").trim().to_owned();
        let end = if after.starts_with("#define") {
            after.find('\n')
        } else {
            let start = after
                .find('{')
                .filter(|start| after.find(';').is_some_and(|end| *start < end));
            let from = start.map_or(0, |start| {
                start + after[start..].find("\n}").expect("structures end")
            });
            after[from..].find(';').map(|end| from + end + 1)
        };
        let (code, after) = after.split_at(end.expect("declarations end"));
        if let Some(name) = declared(code) {
            items.push(Item {
                name,
                comment,
                code: code.to_owned(),
            });
        }
        rest = after;
    }
    items
}

/// Returns the C names of the Rust types in `ffi/cbindgen.toml`.
fn renamed() -> BTreeMap<String, String> {
    let config = read("ffi/cbindgen.toml");
    let (_, table) = config.split_once("[export.rename]").expect("it has names");
    let pairs = table.lines().filter_map(|line| line.split_once(" = "));
    pairs
        .map(|(rust, c)| {
            (
                rust.trim_matches('"').to_owned(),
                c.trim_matches('"').to_owned(),
            )
        })
        .collect()
}

/// Returns `true` if a file of `ffi/src` defines an item.
fn defines(source: &str, rust: &str, name: &str) -> bool {
    let starts = [
        "pub unsafe extern \"C\" fn ",
        "pub extern \"C\" fn ",
        "pub const ",
    ];
    let types = ["pub struct ", "pub type "];
    let found = |starts: &[&str], name: &str| {
        source.lines().any(|line| {
            let rest = starts.iter().find_map(|start| line.strip_prefix(start));
            rest.and_then(|rest| rest.strip_prefix(name))
                .is_some_and(|rest| rest.starts_with([' ', '(', ':', ';', '<']))
        })
    };
    found(&starts, name) || !rust.is_empty() && found(&types, rust)
}

fn generate() -> String {
    let header = read("include/solon.h");
    let (rules, _) = header.split_once("*/").expect("it begins with rules");
    let (_, rules) = rules.split_once("Rules\n").expect("it has rules");
    let mut page = String::from(
        "# C API\n\nGenerated from `include/solon.h`. [C](c.md) is the guide.\n\n## Rules\n",
    );
    for line in rules.lines() {
        let line = line.strip_prefix(" *").unwrap_or(line);
        page += line.strip_prefix(' ').unwrap_or(line).trim_end();
        page.push('\n');
    }
    let mut left = items(&header);
    let renamed = renamed();
    let rust_of = |c: &str| {
        let found = renamed.iter().find(|(_, name)| *name == c);
        found.map_or("", |(rust, _)| rust.as_str()).to_owned()
    };
    for module in public_modules(&read("ffi/src/lib.rs")) {
        let source = read(&format!("ffi/src/{module}.rs"));
        let (own, others) = left
            .into_iter()
            .partition::<Vec<_>, _>(|item| defines(&source, &rust_of(&item.name), &item.name));
        left = others;
        if own.is_empty() {
            continue;
        }
        section(&mut page, &module.replace('_', " "), &own);
    }
    section(&mut page, "macros", &left);
    page.trim_end().to_owned() + "\n"
}

fn section(page: &mut String, title: &str, items: &[Item]) {
    let mut title = title.to_owned();
    title[..1].make_ascii_uppercase();
    write!(page, "\n## {title}\n").expect("text takes text");
    for item in items {
        write!(
            page,
            "\n### {}\n\n{}\n\n```text\n{}\n```\n",
            item.name,
            item.comment,
            item.code
                .replace("SOLON_MUST_USE\n", "")
                .replace("SOLON_MUST_USE ", "")
        )
        .expect("text takes text");
    }
}

#[test]
fn the_page_of_the_c_api_is_current() {
    let path = root().join("docs/c-api.md");
    let expected = generate();
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expected).expect("the page is writable");
        return;
    }
    assert!(
        read("docs/c-api.md") == expected,
        "docs/c-api.md is not current: run `BLESS=1 cargo test -p solon-ffi --test ffi`"
    );
}

#[test]
fn the_page_has_every_function_constant_and_type() {
    let header = read("include/solon.h");
    let page = generate();
    let has = |name: &str| page.contains(&format!("\n### {name}\n"));
    let functions = functions(&header);
    assert!(functions.len() > 100, "only {} functions", functions.len());
    for function in functions {
        assert!(has(&function.name), "{}", function.name);
    }
    for name in renamed().values() {
        assert!(has(name), "{name}");
    }
    for line in header.lines() {
        let name = line
            .strip_prefix("#define ")
            .and_then(|line| line.split([' ', '(']).next());
        if let Some(name) = name.filter(|name| !name.ends_with("_H")) {
            assert!(has(name) || name == "SOLON_MUST_USE", "{name}");
        }
    }
}
