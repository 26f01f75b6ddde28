//! `solon-public-api RUSTDOC.json`: prints each public item of a crate on a line, in the order of their paths.
//!
//! Implementations that the compiler derives or that hold for every type are left out. Fails if a signature names a type of
//! the crate that the crate does not export.

mod leaks;

use std::process::ExitCode;

use public_api::Builder;

fn main() -> ExitCode {
    let Some(path) = std::env::args_os().nth(1) else {
        eprintln!("solon-public-api RUSTDOC.json");
        return ExitCode::from(2);
    };
    let api = Builder::from_rustdoc_json(path)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .omit_auto_derived_impls(true)
        .build();
    match api {
        Ok(api) => {
            let lines: Vec<String> = api.items().map(ToString::to_string).collect();
            for line in &lines {
                println!("{line}");
            }
            let leaks = leaks::find(&lines, "solon");
            for (path, line) in &leaks {
                eprintln!("solon-public-api: `{path}` is not exported: {line}");
            }
            if leaks.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("solon-public-api: {error}");
            ExitCode::FAILURE
        }
    }
}
