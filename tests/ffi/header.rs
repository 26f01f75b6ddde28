//! `include/solon.h` is generated from `ffi/src`.

use std::fs;
use std::path::Path;

use crate::root;

/// Returns the comment above the declarations: the rules at the start of `ffi/src/lib.rs`.
fn rules(library: &str) -> String {
    let mut rules = String::from("/*\n");
    for line in library.lines().map_while(|line| line.strip_prefix("//!")) {
        let line = line.replace("# Rules", "Rules").replace("**", "");
        rules.push_str(format!(" * {}", line.trim_start()).trim_end());
        rules.push('\n');
    }
    rules + " */"
}

/// Returns the files whose items C sees, in the order in which the library declares them.
pub fn public_modules(library: &str) -> Vec<String> {
    library
        .lines()
        .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
        .map(str::to_owned)
        .collect()
}

fn generate(crate_folder: &Path) -> String {
    let library =
        fs::read_to_string(crate_folder.join("src/lib.rs")).expect("the library is readable");
    let config = cbindgen::Config::from_file(crate_folder.join("cbindgen.toml"))
        .expect("cbindgen.toml is readable");
    let mut builder = cbindgen::Builder::new()
        .with_config(config)
        .with_header(rules(&library));
    for module in public_modules(&library) {
        builder = builder.with_src(crate_folder.join(format!("src/{module}.rs")));
    }
    let mut text = Vec::new();
    builder
        .generate()
        .expect("every item has a C form")
        .write(&mut text);
    String::from_utf8(text).expect("the header is text")
}

#[test]
fn the_header_is_what_the_code_says() {
    let path = root().join("include/solon.h");
    let expected = generate(Path::new(env!("CARGO_MANIFEST_DIR")));
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, expected).expect("the header is writable");
        return;
    }
    let committed = fs::read_to_string(&path).expect("include/solon.h is there");
    assert!(
        committed == expected,
        "include/solon.h is not what ffi/src says: run `BLESS=1 cargo test -p solon-ffi --test ffi`"
    );
}

#[test]
fn version_macros_are_the_crate_s() {
    use solon_ffi::version::{SOLON_VERSION_MAJOR, SOLON_VERSION_MINOR, SOLON_VERSION_PATCH};
    assert_eq!(
        format!("{SOLON_VERSION_MAJOR}.{SOLON_VERSION_MINOR}.{SOLON_VERSION_PATCH}"),
        env!("CARGO_PKG_VERSION")
    );
}
