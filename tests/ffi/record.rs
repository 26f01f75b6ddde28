//! The record of the ABI in `tests/ffi/abi.txt`: with the same `SOLON_ABI` it only grows.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use solon_ffi::version::SOLON_ABI;

use crate::compiler::{has, installed, libraries, run};
use crate::nulls::functions;
use crate::root;

fn header() -> String {
    fs::read_to_string(root().join("include/solon.h")).expect("there is a header")
}

/// Returns the header without comments and with single spaces.
fn code(header: &str) -> String {
    let mut code = String::new();
    let mut rest = header;
    while let Some((before, after)) = rest.split_once("/*") {
        code.push_str(before);
        rest = after.split_once("*/").expect("comments end").1;
    }
    code.push_str(rest);
    code
}

/// Returns a type as calls pass it: `const` does not change that.
fn passed(of: &str) -> String {
    of.replace("const ", "").replace(' ', "")
}

/// Returns what compiled programs depend on, by name: types of functions, values of constants, fields of structures.
fn items(header: &str) -> BTreeMap<String, String> {
    let mut items = BTreeMap::new();
    for function in functions(header) {
        let types = function.parameters.iter().map(|(of, _)| passed(of));
        let types = types.collect::<Vec<_>>().join(", ");
        items.insert(
            function.name,
            format!("({types}) {}", passed(&function.result)),
        );
    }
    let code = code(header);
    for line in code.lines() {
        let line = line.strip_prefix("#define SOLON_").unwrap_or_default();
        if let Some((name, value)) = line.split_once(' ')
            && value.parse::<i64>().is_ok()
            && !name.starts_with("VERSION_")
            && name != "ABI"
        {
            items.insert(format!("SOLON_{name}"), value.to_owned());
        }
    }
    for declaration in code.split("typedef struct {").skip(1) {
        let (fields, rest) = declaration.split_once('}').expect("structures end");
        let (name, _) = rest.split_once(';').expect("structures have names");
        let fields = fields.split(';').map(str::trim);
        let fields = fields.filter(|field| !field.is_empty()).map(|field| {
            let at = field.rfind([' ', '*']).expect("fields have names") + 1;
            format!("{} {}", passed(&field[..at]), &field[at..])
        });
        items.insert(
            name.trim().to_owned(),
            fields.collect::<Vec<_>>().join(", "),
        );
    }
    items
}

/// Returns `true` if programs that were compiled for the item `before` work with the item `now`.
fn is_compatible(before: &str, now: Option<&String>) -> bool {
    let Some(now) = now else {
        return false;
    };
    // structures that begin with their size may grow
    now == before || before.starts_with("size_t size,") && now.starts_with(&format!("{before}, "))
}

/// `BLESS=1` adds new items, and records all of them again after `SOLON_ABI` was incremented.
#[test]
fn the_abi_only_grows() {
    let path = root().join("tests/ffi/abi.txt");
    let items = items(&header());
    assert!(items.len() > 150, "only {} items", items.len());
    let mut text = format!("abi {SOLON_ABI}\n");
    for (name, item) in &items {
        writeln!(text, "{name}: {item}").expect("text takes text");
    }
    let recorded = fs::read_to_string(&path).unwrap_or_default();
    if recorded.starts_with(&format!("abi {SOLON_ABI}\n")) {
        let broken = recorded
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(": "))
            .filter(|(name, before)| !is_compatible(before, items.get(*name)));
        let broken: Vec<_> = broken.map(|(name, _)| name).collect();
        assert!(
            broken.is_empty(),
            "programs that use {broken:?} break: keep the items, or increment SOLON_ABI"
        );
    }
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, text).expect("the record is writable");
        return;
    }
    assert!(
        recorded == text,
        "tests/ffi/abi.txt is not current: run `BLESS=1 cargo test -p solon-ffi --test ffi`"
    );
}

#[test]
fn structures_may_only_grow_after_their_size() {
    let now = |text: &str| Some(text.to_owned());
    let cases = [
        ("(int) void", now("(int) void"), true),
        ("(int) void", now("(int, int) void"), false),
        ("(int) void", None, false),
        ("1", now("2"), false),
        ("size_t size, int a", now("size_t size, int a, int b"), true),
        (
            "size_t size, int a",
            now("size_t size, int b, int a"),
            false,
        ),
        ("size_t size, int a", now("size_t size"), false),
        ("char* data", now("char* data, size_t length"), false),
    ];
    for (before, now, expected) in cases {
        assert_eq!(
            is_compatible(before, now.as_ref()),
            expected,
            "{before} to {now:?}"
        );
    }
}

/// A `const` handle is unchanged by the call: verbs that change an object take a handle without it, and all others take one with it.
#[test]
fn const_handles_are_those_that_a_call_only_reads() {
    let changing = [
        "activate",
        "add",
        "apply",
        "cancel",
        "deactivate",
        "delete",
        "fail",
        "free",
        "halt",
        "load",
        "next",
        "patch",
        "put",
        "remove",
        "set",
    ];
    let types = ["engine", "change", "cancel", "call", "pairs"];
    let mut checked = 0;
    for function in functions(&header()) {
        let Some((of, name)) = function.parameters.first() else {
            continue;
        };
        let words: Vec<_> = function.name.split('_').collect();
        // `solon_TYPE_VERB…`, and the handle has the name of the type
        let (Some(kind), Some(verb)) = (words.get(1), words.get(2)) else {
            continue;
        };
        if !of.ends_with('*') || kind != name || !types.contains(kind) {
            continue;
        }
        checked += 1;
        assert_eq!(
            of.starts_with("const "),
            !changing.contains(verb),
            "{}: {of} {name}",
            function.name
        );
    }
    assert!(checked > 40, "only {checked} functions were checked");
}

/// The loader finds the library by a name that contains the ABI number. The header, the library and the installed files agree on
/// it, and on the version.
#[test]
#[cfg(target_os = "linux")]
fn the_soname_and_the_version_macros_agree() {
    let header = header();
    let macro_of = |name: &str| {
        let start = format!("#define {name} ");
        let line = header.lines().find_map(|line| line.strip_prefix(&start));
        line.expect("the header has the macro").to_owned()
    };
    assert_eq!(macro_of("SOLON_ABI"), SOLON_ABI.to_string());
    let soname = format!("libsolon.so.{}", macro_of("SOLON_ABI"));
    let version =
        ["MAJOR", "MINOR", "PATCH"].map(|part| macro_of(&format!("SOLON_VERSION_{part}")));
    let version = version.join(".");
    assert_eq!(version, env!("CARGO_PKG_VERSION"));

    let folder = installed().join("lib");
    let target = |name: &str| {
        let target = fs::read_link(folder.join(name));
        let target = target.unwrap_or_else(|error| panic!("{name}: {error}"));
        target.to_string_lossy().into_owned()
    };
    assert_eq!(target("libsolon.so"), soname);
    assert_eq!(target(&soname), format!("libsolon.so.{version}"));
    let read = |name: &str| {
        fs::read_to_string(folder.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert!(
        read("cmake/solon/solon-config.cmake").contains(&format!("IMPORTED_SONAME \"{soname}\""))
    );
    assert!(read("cmake/solon/solon-config-version.cmake").contains(&format!("\"{version}\"")));
    assert!(read("pkgconfig/solon.pc").contains(&format!("Version: {version}\n")));
    if has("readelf") {
        let dynamic = run(Command::new("readelf")
            .arg("-d")
            .arg(libraries().join("libsolon_ffi.so")));
        assert!(
            dynamic.contains(&format!("Library soname: [{soname}]")),
            "{dynamic}"
        );
    }
}
