//! Five minutes to a decision: an engine, a policy, data, and a question of yes or no.
//!
//! `cargo run -p solon --example decision`

#![allow(clippy::print_stdout, reason = "an example")]

use solon::{Engine, Request, value};

const POLICY: &str = "package authz

allow if input.user in data.admins

allow if {
	input.action == \"read\"
	input.user in data.readers
}";

fn main() -> Result<(), solon::Error> {
    let engine = Engine::new();
    engine.set_module("authz.rego", POLICY)?;
    engine.put("data.admins", value!(["alice"]))?;
    engine.put("data.readers", value!(["bob"]))?;

    // prepare once, evaluate for each request
    let allow = engine.prepare_document("data.authz.allow")?.must_exist()?;
    for (user, action) in [("alice", "write"), ("bob", "read"), ("bob", "write")] {
        let input = value!({"user": user, "action": action});
        let allowed = allow.allow(&Request::new().input(&input))?;
        println!("{user} may {action}: {allowed}");
    }

    // a service that has JSON text and returns JSON text needs no values
    let authz = engine.prepare_document("data.authz")?;
    let request = Request::new().input_json(br#"{"user": "bob", "action": "read"}"#);
    let text = authz.evaluate_json(&request)?.unwrap_or_default();
    println!("{}", String::from_utf8_lossy(&text));
    Ok(())
}
