//! Golden files with the result of each compiler pass for a module and a query: `tests/cases/passes/NAME.rego` and
//! `NAME.txt`. `tests/cases/plans` contains the plans in the same way. `BLESS=1` regenerates both.
//!
//! Comments at the head of a module select options: `# query: …` the query, `# v0: true` the older language, `# print:
//! false` removes `print`, `# strict: true` turns on strict mode, `# trace_tests: true` names the sides of equalities
//! in tests, and `# skip: PASS` leaves out a pass. For plans, `# without: OPTIMISATION` adds the plans without that
//! optimisation.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use solon::internal::compile::{
    Optimisation, Options, PASSES, QUERY_PASSES, Query, compile, compile_query, lower,
};
use solon::internal::program;
use solon_syntax::ast::{Body, Module, Version};
use solon_syntax::print::display_body;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

#[test]
fn passes_match_their_golden_files() {
    let dumps = check_goldens("passes", dump_passes);
    let idle = [
        "InitLocalVarGen",
        "SetModuleTree",
        "SetRuleTree",
        "ParseMetadataBlocks",
    ];
    let idle = idle.into_iter().chain(["SetAnnotationSet", "SetGraph"]);
    let shown = |name: &str| dumps.contains(&format!("== {name}\n"));
    let passes = PASSES.iter().map(|pass| pass.name);
    let passes = passes.chain(QUERY_PASSES.iter().map(|pass| pass.name));
    let unseen: Vec<&str> = passes
        .filter(|name| !idle.clone().any(|idle| idle == *name) && !shown(name))
        .collect();
    assert!(
        unseen.is_empty(),
        "no golden shows what these do: {unseen:?}"
    );
}

#[test]
fn plans_match_their_golden_files() {
    let dumps = check_goldens("plans", dump_plans);
    let unseen: Vec<&str> = Optimisation::ALL
        .iter()
        .map(|optimisation| optimisation.name())
        .filter(|name| !dumps.contains(&format!("== plans without {name}\n")))
        .collect();
    assert!(
        unseen.is_empty(),
        "no golden shows what these do: {unseen:?}"
    );
}

/// Compares the dump of each module in a folder with its golden file. Returns all dumps.
fn check_goldens(folder: &str, dump: fn(&str, &mut String) -> Result<(), Diagnostics>) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases");
    let bless = std::env::var_os("BLESS").is_some();
    let mut differing = Vec::new();
    let mut dumps = String::new();
    for entry in fs::read_dir(root.join(folder)).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "rego") {
            continue;
        }
        let mut text = String::new();
        if let Err(errors) = dump(&fs::read_to_string(&path).unwrap(), &mut text) {
            writeln!(text, "{errors}").unwrap();
        }
        let golden = path.with_extension("txt");
        if bless {
            fs::write(&golden, &text).unwrap();
        } else if fs::read_to_string(&golden).unwrap_or_default() != text {
            differing.push(format!("{}:\n{text}", golden.display()));
        }
        dumps.push_str(&text);
    }
    assert!(!dumps.is_empty(), "no modules");
    assert!(
        differing.is_empty(),
        "these differ from their goldens (BLESS=1 writes them again):\n\n{}",
        differing.join("\n")
    );
    dumps
}

/// Options from the comments at the head of a module.
pub struct Settings {
    pub parsing: ParseOptions,
    pub options: Options,
    query: Option<String>,
    without: Option<String>,
}

impl Settings {
    pub fn read(text: &str) -> Self {
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
        let options = Options::default()
            .strict(setting("strict") == Some("true"))
            .print(setting("print") != Some("false"))
            .trace_tests(setting("trace_tests") == Some("true"))
            .skipped_passes(setting("skip").into_iter().map(str::to_owned).collect())
            .unsafe_builtins(setting("unsafe").into_iter().map(str::to_owned).collect());
        Self {
            parsing,
            options,
            query: setting("query").map(str::to_owned),
            without: setting("without").map(str::to_owned),
        }
    }
}

/// Dumps the plans, preceded by those without one optimisation.
fn dump_plans(text: &str, dump: &mut String) -> Result<(), Diagnostics> {
    let Settings {
        parsing,
        mut options,
        query,
        without,
    } = Settings::read(text);
    let module = parse_module(&Source::new(SourceId(0), "a.rego", text), &parsing)?;
    let compiled = compile(vec![module], &options, None, |_, _| {})?;
    let query = match &query {
        None => None,
        Some(text) => {
            let source = Source::new(SourceId(1), "", text.as_str());
            let query = Query::new(source.clone(), parse_body(&source, &parsing)?);
            Some(compile_query(&compiled, query, &options, |_, _| {})?)
        }
    };
    let mut show = |title: &str, options: &Options| {
        let program = lower::program(&compiled.modules, Vec::new(), options);
        writeln!(dump, "== {title}\n{}", program::dump::program(&program)).unwrap();
        if let Some(query) = &query {
            let lowered = lower::query(&program, &query.body, &query.originals, options);
            let text = program::dump::query(&program, &lowered.plan, &lowered.constants);
            writeln!(dump, "{text}").unwrap();
        }
    };
    if let Some(name) = without {
        options.skipped_passes.push(name.clone());
        show(&format!("plans without {name}"), &options);
        options.skipped_passes.pop();
    }
    show("plans", &options);
    Ok(())
}

/// Dumps the module and the query after each pass that changed them, and the errors of each pass that has any.
fn dump_passes(text: &str, dump: &mut String) -> Result<(), Diagnostics> {
    let Settings {
        parsing,
        options,
        query,
        ..
    } = Settings::read(text);
    let module = parse_module(&Source::new(SourceId(0), "a.rego", text), &parsing)?;
    let mut last = print_module(&module);
    writeln!(dump, "== parsed\n{last}").unwrap();
    let mut refused = false;
    let compiled = compile(vec![module], &options, None, |pass, compilation| {
        let text: String = compilation.modules.open().map(print_module).collect();
        note(dump, pass.name, text, &mut last);
        if !refused && !compilation.report.is_empty() {
            refused = true;
            writeln!(dump, "== {}\nrefused", pass.name).unwrap();
        }
    })?;
    let Some(text) = query else {
        return Ok(());
    };
    let source = Source::new(SourceId(1), "", text);
    let body = parse_body(&source, &parsing)?;
    let mut last = print_query(&body);
    writeln!(dump, "== query\n{last}").unwrap();
    let query = Query::new(source, body);
    compile_query(&compiled, query, &options, |pass, compilation| {
        note(dump, pass.name, print_query(&compilation.body), &mut last);
        if !compilation.report.is_empty() {
            writeln!(dump, "== {}\nrefused", pass.name).unwrap();
        }
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
