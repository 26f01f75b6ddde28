//! `solon-public-api RUSTDOC.json`: prints each public item of a crate on a line, in the order of their paths.
//!
//! Implementations that the compiler derives or that hold for every type are left out.

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
            for item in api.items() {
                println!("{item}");
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("solon-public-api: {error}");
            ExitCode::FAILURE
        }
    }
}
