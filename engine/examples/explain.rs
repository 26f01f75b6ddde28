//! How a decision was found: the steps, the rows that were covered, and what they took.
//!
//! `cargo run -p solon --example explain`

#![allow(clippy::print_stdout, reason = "an example")]

use solon::trace::{Coverage, Detail};
use solon::{Engine, ExplainOptions, Request, SearchOptions, TraceLines, value};

const POLICY: &str = r#"package authz

default allow := false

allow if input.user in data.admins

allow if {
	input.action == "read"
	input.user in data.readers
}"#;

fn main() -> Result<(), solon::Error> {
    let engine = Engine::new();
    engine.set_module("authz.rego", POLICY)?;
    engine.put("data", value!({"admins": ["alice"], "readers": ["bob"]}))?;
    let allow = engine.prepare_document("data.authz.allow")?;

    let input = value!({"user": "bob", "action": "read"});
    let request = Request::new().input(&input);
    let mut coverage = Coverage::default();
    let search = SearchOptions::default().observer(&mut coverage);
    let explained = allow.explain(&request, ExplainOptions::new(Detail::Full).search(search));
    for line in explained.lines(TraceLines::default().locations(true))? {
        println!("{line}");
    }
    println!("answer: {:?}", explained.result?);
    let modules = engine.modules();
    let report = coverage.report(&[], modules.iter().map(|(_, module)| &**module));
    println!("covered: {} %", report.coverage);
    Ok(())
}
