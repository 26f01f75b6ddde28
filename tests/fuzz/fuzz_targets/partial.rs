//! A module made from bytes, partially evaluated: the residuals, evaluated with everything known, have the results of
//! the whole query.

#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use solon::{Engine, Error, PartialOptions, Request, Solution};
use solon_fuzz::{Choices, INPUT, module, with_base};

/// Unknowns, with the known part of the input.
const UNKNOWN: [(&str, &[u8]); 3] = [
    ("input", b"{}"),
    ("input.a", br#"{"b": [[1], {"d": 0.1}], "n": 12}"#),
    (
        "input.b",
        br#"{"a": {"c": [3, 1, 2], "x": "text"}, "n": 12}"#,
    ),
];

fn engine(text: &str, support: &[String]) -> Result<Engine, Error> {
    let engine = with_base();
    engine.set_module("fuzz.rego", text)?;
    for (at, text) in support.iter().enumerate() {
        engine.set_module(&format!("left{at}.rego"), text)?;
    }
    Ok(engine)
}

fn answers(solutions: &[Solution]) -> BTreeSet<String> {
    let shown = |solution: &Solution| {
        let named = solution
            .bindings
            .iter()
            .find(|(name, _)| &**name == "answer");
        named
            .map(|(_, value)| value.to_string())
            .unwrap_or_default()
    };
    solutions.iter().map(shown).collect()
}

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let (unknown, known) = UNKNOWN[choices.less_than(UNKNOWN.len())];
    let query = format!("data.t.r{} = answer", choices.less_than(4));
    let text = module(&mut choices);
    if std::env::var_os("SOLON_SHOW").is_some() {
        eprintln!("{text}\n{query}\nunknown: {unknown}");
    }
    let Ok(whole) = engine(&text, &[]) else {
        return;
    };
    let options = PartialOptions::default().unknowns(vec![unknown.to_owned()]);
    let left = whole.partial(&query, &options, &Request::new().input_json(known));
    let (Ok(prepared), Ok(left)) = (whole.prepare_query(&query), left) else {
        return;
    };
    let asked = Request::new().input_json(INPUT);
    let Ok(wanted) = prepared.solutions(&asked) else {
        return;
    };
    // wildcards have names that are invalid in source text
    let sources = left.query_sources();
    if sources
        .iter()
        .chain(&left.support_sources())
        .any(|text| text.contains('$'))
    {
        return;
    }
    // a body that types rule out never holds
    let Ok(asks) = engine(&text, &left.support_sources()) else {
        return;
    };
    let mut got = BTreeSet::new();
    for source in &sources {
        let source = if source.is_empty() { "true" } else { source };
        let Ok(prepared) = asks.prepare_query(source) else {
            continue;
        };
        match prepared.solutions(&asked) {
            Ok(solutions) => got.extend(answers(&solutions)),
            // the limits of one evaluation
            Err(_) => return,
        }
    }
    let support = left.support_sources().join("\n");
    assert_eq!(
        got,
        answers(&wanted),
        "{}\n{support}",
        sources.join("\n--\n")
    );
});
