//! Canonical bodies equal OPA's, including generated names: `tests/cases/canonical.jsonl` contains for a module and a
//! query the rules that OPA's trace entered and the query's body, as AST JSON without locations.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value as Json;
use solon::internal::compile::{Options, Query, compile, compile_query};
use solon_syntax::ast::Rule;
use solon_syntax::json;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_body, parse_module};

/// A module, a query, and OPA's canonical form of both.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    module: String,
    query: String,
    want_rules: Vec<Json>,
    want_query: Json,
}

#[test]
fn bodies_equal_those_of_opa() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/cases/canonical.jsonl");
    let text = fs::read_to_string(file).unwrap();
    let cases = text.lines().map(|line| serde_json::from_str(line).unwrap());
    let differences: Vec<String> = cases
        .filter_map(|case: Case| match canonical(&case) {
            Ok((rules, query)) => difference(&case, &rules, &query),
            Err(errors) => Some(format!("{}\n  {errors}", case.module)),
        })
        .collect();
    assert!(differences.is_empty(), "{}", differences.join("\n\n"));
}

/// Returns the rules, those after `else` separately, and the query.
fn canonical(case: &Case) -> Result<(Vec<Json>, Json), Diagnostics> {
    let parsing = ParseOptions::default();
    let source = Source::new(SourceId(0), "a.rego", case.module.as_str());
    let module = parse_module(&source, &parsing)?;
    let options = Options::default();
    let compiled = compile(vec![module], &options, None, |_, _| {})?;
    let source = Source::new(SourceId(1), "", case.query.as_str());
    let body = parse_body(&source, &parsing)?;
    let query = compile_query(&compiled, Query::new(source, body), &options, |_, _| {})?;
    let mut rules = Vec::new();
    for rule in compiled.modules.iter().flat_map(|module| &module.rules) {
        let mut next = Some(rule);
        while let Some(rule) = next {
            rules.push(tree(rule));
            next = rule.else_rule.as_deref();
        }
    }
    Ok((rules, json::value(&query.body, json::Options::default())))
}

fn tree(rule: &Rule) -> Json {
    let mut tree = json::value(rule, json::Options::default());
    drop_annotations(&mut tree);
    tree
}

/// Removes METADATA blocks, which rules in traces do not have.
fn drop_annotations(tree: &mut Json) {
    if let Json::Object(members) = tree {
        members.remove("annotations");
        members.values_mut().for_each(drop_annotations);
    }
}

fn difference(case: &Case, rules: &[Json], query: &Json) -> Option<String> {
    let missing = case.want_rules.iter().find(|rule| !rules.contains(rule));
    let (want, got) = match missing {
        Some(rule) => (rule.to_string(), format!("{rules:#?}")),
        None if case.want_query != *query => (case.want_query.to_string(), query.to_string()),
        None => return None,
    };
    Some(format!(
        "{}\n{}\n  want {want}\n  got {got}",
        case.module, case.query
    ))
}
