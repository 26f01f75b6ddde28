//! `solon capabilities`, and the files that it prints.

use std::process::ExitCode;
use std::sync::Arc;

use solon::Capabilities;
use solon::builtins::capabilities::current_json;
use solon_syntax::ParseOptions;
use solon_syntax::ast::Version;

use super::report::Report;
use super::terminal::print;

/// Print the functions, keywords and features that policies may use.
#[derive(clap::Args)]
pub struct Args {
    /// Accepted and without effect: those of this version are what is printed
    #[arg(long = "current")]
    _current: bool,
    /// Those that policies of Rego v0 may use
    #[arg(long)]
    v0_compatible: bool,
}

/// Prints them as JSON.
pub fn run(args: &Args) -> ExitCode {
    print(current_json(super::version_of(args.v0_compatible)));
    ExitCode::SUCCESS
}

/// Reads the file of a flag.
pub fn read(path: &str) -> Result<Arc<Capabilities>, String> {
    let text = std::fs::read(path).map_err(|error| format!("cannot read the file: {error}"))?;
    let capabilities = Capabilities::from_json(&text).map_err(|error| error.to_string())?;
    Ok(Arc::new(capabilities))
}

/// How modules are parsed, with what a file allows.
pub fn parse_options(
    capabilities: Option<&Capabilities>,
    version: Version,
) -> Result<ParseOptions, Report> {
    match capabilities {
        None => Ok(ParseOptions::of(version)),
        Some(capabilities) => capabilities
            .parse_options(version)
            .map_err(|error| Report::of(&error.into(), &|_| None)),
    }
}
