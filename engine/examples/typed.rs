//! A decision with a typed input and a typed answer.
//!
//! `cargo run -p solon --example typed`

#![allow(clippy::print_stdout, reason = "an example")]

use serde::{Deserialize, Serialize};
use solon::{Engine, value};

#[derive(Serialize)]
struct Request<'a> {
    user: &'a str,
    action: &'a str,
}

#[derive(Debug, Deserialize)]
struct Decision {
    allow: bool,
    reasons: Vec<String>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::new();
    engine.set_module(
        "authz.rego",
        r#"package authz

decision := {"allow": count(reasons) == 0, "reasons": reasons}

reasons contains sprintf("%s may not %s", [input.user, input.action]) if {
	not input.action in data.grants[input.user]
}"#,
    )?;
    engine.put(
        "data.grants",
        value!({"alice": ["read", "write"], "bob": ["read"]}),
    )?;

    // prepared once, asked often, from any thread
    let decision = engine.prepare::<Request<'_>, Decision>("data.authz.decision")?;
    for user in ["alice", "bob"] {
        let action = "write";
        let Some(Decision { allow, reasons }) = decision.decide(&Request { user, action })? else {
            return Err("the policy does not decide".into());
        };
        println!("{user}: {allow} {reasons:?}");
    }
    Ok(())
}
