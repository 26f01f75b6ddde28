//! A host function that policies call like a built-in, and the details of the evaluation that callers get with the result.
//!
//! `cargo run -p solon --example functions`

#![allow(clippy::print_stdout, reason = "an example")]

use solon::{
    BuiltinError, Engine, HostFunction, Request, ResponseMetadata, Value, ValueRef, value,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // the signature is checked when policies are compiled
    let mut tiers = HostFunction::new(
        "org.tier",
        "user: string => tier: number",
        |call, operands| {
            let user = operands.first().and_then(|user| user.utf8());
            let user = user.ok_or(BuiltinError::Undefined)?;
            let tenant = call.metadata().and_then(|fields| fields.get("tenant"));
            call.set_response_metadata("org/tenant", tenant.cloned().unwrap_or_default());
            match user {
                "alice" => Ok(ValueRef::from(3)),
                "bob" => Ok(ValueRef::from(1)),
                _ => Err(BuiltinError::error(format!("unknown user {user}"))),
            }
        },
    )?;
    // it does external I/O: decisions that depend on it report that, and each result is requested once
    tiers = tiers.waiting();
    let engine = Engine::builder().function(tiers)?.build();
    engine.set_module(
        "limits.rego",
        "package limits\n\nrequests := 100 * org.tier(input.user)",
    )?;
    let requests = engine.prepare_document("data.limits.requests")?;
    println!("may wait: {}", requests.may_block());

    let metadata = value!({"tenant": "acme"});
    for user in ["alice", "mallory"] {
        let input = value!({"user": user});
        let response = ResponseMetadata::default();
        let request = Request::new()
            .input(&input)
            .metadata(&metadata)
            .response_metadata(&response);
        let found: Option<Value> = requests.evaluate(&request)?;
        println!("{user}: {found:?}, {}", response.to_value());
        // the error of a function leaves its call undefined, unless it is to end the decision
        if let Err(error) = requests.evaluate(&request.strict_builtin_errors(true)) {
            println!("{error}");
        }
    }
    Ok(())
}
