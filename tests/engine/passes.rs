//! What each pass makes of a module and of a query, as goldens: `tests/cases/passes/NAME.rego` and `NAME.txt`.
//! `BLESS=1` writes them anew.
//!
//! A comment `# query: …` at the head of a module gives the query, `# v0: true` the older language,
//! `# print: false` erases `print`, `# trace_tests: true` names the sides of equalities in tests, and
//! `# skip: PASS` leaves out a pass.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use solon::compile::{Options, Query, compile, compile_query};
use solon_syntax::ast::{Body, Module, Version};
use solon_syntax::print::display_body;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

#[test]
fn passes_leave_what_the_goldens_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/passes");
    let bless = std::env::var_os("BLESS").is_some();
    let mut differing = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rego") {
            continue;
        }
        count += 1;
        let dump = dump(&fs::read_to_string(&path).unwrap());
        let golden = path.with_extension("txt");
        if bless {
            fs::write(&golden, dump).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != dump {
            differing.push(format!("{}:\n{dump}", golden.display()));
        }
    }
    assert!(count > 0, "no modules");
    assert!(
        differing.is_empty(),
        "these differ from their goldens (BLESS=1 writes them anew):\n\n{}",
        differing.join("\n")
    );
}

/// The module and the query after each pass that changed them.
fn dump(text: &str) -> String {
    let mut dump = String::new();
    if let Err(errors) = dump_passes(text, &mut dump) {
        writeln!(dump, "{errors}").unwrap();
    }
    dump
}

fn dump_passes(text: &str, dump: &mut String) -> Result<(), Diagnostics> {
    let setting = |name: &str| {
        let lines = text.lines().take_while(|line| line.starts_with('#'));
        let mut values = lines.filter_map(|line| line.strip_prefix(&format!("# {name}: ")));
        values.next()
    };
    let parsing = ParseOptions {
        version: match setting("v0") {
            Some("true") => Version::V0,
            _ => Version::V1,
        },
        ..ParseOptions::default()
    };
    let options = Options {
        print: setting("print") != Some("false"),
        trace_tests: setting("trace_tests") == Some("true"),
        skipped_passes: setting("skip").into_iter().map(str::to_owned).collect(),
        ..Options::default()
    };
    let module = parse_module(&Source::new(SourceId(0), "a.rego", text), &parsing)?;
    let mut last = print_module(&module);
    writeln!(dump, "== parsed\n{last}").unwrap();
    let compiled = compile(vec![module], &options, None, |pass, compilation| {
        let text: String = compilation.modules.iter().map(print_module).collect();
        note(dump, pass.name, text, &mut last);
    })?;
    let Some(text) = setting("query") else {
        return Ok(());
    };
    let source = Source::new(SourceId(1), "", text);
    let body = parse_body(&source, &parsing)?;
    let mut last = print_query(&body);
    writeln!(dump, "== query\n{last}").unwrap();
    let query = Query::new(source, body);
    compile_query(&compiled, query, &options, |pass, compilation| {
        note(dump, pass.name, print_query(&compilation.body), &mut last);
    })?;
    Ok(())
}

fn note(dump: &mut String, pass: &str, text: String, last: &mut String) {
    if *last != text {
        writeln!(dump, "== {pass}\n{text}").unwrap();
        *last = text;
    }
}

fn print_module(module: &Module) -> String {
    let imports = module.imports.iter().map(|import| format!("{import}\n"));
    let rules = module.rules.iter().map(|rule| format!("{rule}\n"));
    imports.chain(rules).collect()
}

fn print_query(body: &Body) -> String {
    format!("{}\n", display_body(body))
}
