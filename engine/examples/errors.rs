//! Errors: their kinds, codes and entries.
//!
//! `cargo run -p solon --example errors`

#![allow(clippy::print_stdout, reason = "an example")]

use solon::{Engine, Error, ErrorKind, Request};

const CONFLICT: &str = "package p

level := 1 if input.admin

level := 2 if input.auditor";

/// Prints the kind of an error, and code, location and message of each entry.
fn show(error: &Error) {
    println!("{:?} ({})", error.kind(), error.code());
    for entry in error.entries() {
        let location = entry
            .location
            .map(|(file, row, col)| format!("{file}:{row}:{col}: "));
        println!(
            "  {}{}: {}",
            location.unwrap_or_default(),
            entry.code,
            entry.message
        );
    }
}

fn main() -> Result<(), Error> {
    let engine = Engine::new();

    // a module that does not compile leaves the engine unchanged, and lists everything that is wrong
    if let Err(error) = engine.set_module("p.rego", "package p\n\nallow if user == owner") {
        show(&error);
    }

    engine.set_module("p.rego", CONFLICT)?;
    let level = engine.prepare_document("data.p.level")?;

    // undefined is not an error
    let undefined = level.evaluate(&Request::new().input_json(b"{}"))?;
    println!("undefined: {}", undefined.is_none());

    // two rules with different values are
    let both = Request::new().input_json(br#"{"admin": true, "auditor": true}"#);
    if let Err(error) = level.evaluate(&both) {
        show(&error);
    }

    // kinds that a caller can act on
    for result in [
        engine.read("data.absent").map(drop),
        level.evaluate(&Request::new().input_json(b"{")).map(drop),
        engine.prepare_document("data.p.[").map(drop),
        engine
            .prepare_document("data.p.levle")?
            .must_exist()
            .map(drop),
    ] {
        match result {
            Err(error) if error.kind() == ErrorKind::Input => println!("400: {error}"),
            Err(error) if error.kind() == ErrorKind::Internal => println!("500: {error}"),
            Err(error) => show(&error),
            Ok(()) => {}
        }
    }
    Ok(())
}
