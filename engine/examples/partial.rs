//! The conditions that a decision depends on while some documents are unknown.
//!
//! `cargo run -p solon --example partial`

#![allow(clippy::print_stdout, reason = "an example")]

use solon::{Engine, PartialOptions, Request, value};

const POLICY: &str = r#"package filters

include if data.rows.owner == input.user

include if {
	input.role == "editor"
	data.rows.state != "draft"
}"#;

fn main() -> Result<(), solon::Error> {
    let engine = Engine::new();
    engine.set_module("posts.rego", POLICY)?;
    let options = PartialOptions::default().unknowns(vec!["data.rows".to_owned()]);
    let include = engine.prepare_partial("data.filters.include", &options)?;
    for input in [
        value!({"user": "alice", "role": "editor"}),
        value!({"user": "bob", "role": "author"}),
    ] {
        let left = include.evaluate(&Request::new().input(&input))?;
        println!("{input} may see posts for which one of these holds:");
        for query in left.query_texts() {
            println!("  {query}");
        }
    }
    Ok(())
}
