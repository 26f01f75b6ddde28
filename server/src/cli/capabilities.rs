//! `solon capabilities`, and the files that it prints.

mod versions;

use std::process::ExitCode;
use std::sync::Arc;

use serde_json::Value as Json;
use solon::Capabilities;
use solon_syntax::ParseOptions;
use solon_syntax::ast::Version;

use super::FAILED;
use super::report::Report;
use super::terminal::{complain, print};

/// Print the functions, keywords and features that policies may use.
#[derive(clap::Args)]
pub struct Args {
    /// Those of this version, which is what is printed unless asked otherwise
    #[arg(long = "current")]
    _current: bool,
    /// Those of a version of OPA, such as `v1.0.0`
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Those that a file holds
    #[arg(long, value_name = "FILE", conflicts_with = "version")]
    file: Option<String>,
    /// Those that policies of Rego v0 may use
    #[arg(long)]
    v0_compatible: bool,
}

/// Prints them as JSON.
pub fn run(args: &Args) -> ExitCode {
    match asked_for(args) {
        Ok(text) => {
            print(text);
            ExitCode::SUCCESS
        }
        Err(problem) => {
            complain(format!("error: {problem}\n"));
            ExitCode::from(FAILED)
        }
    }
}

fn asked_for(args: &Args) -> Result<Vec<u8>, String> {
    if let Some(version) = &args.version {
        let known = versions::capabilities(version);
        return known.ok_or_else(|| format!("no capabilities version found: {version}"));
    }
    let Some(path) = &args.file else {
        let text = Capabilities::current_json(super::version_of(args.v0_compatible));
        let mut json: Json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        versions::annotate(&mut json);
        return printed(&json);
    };
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    Capabilities::from_json(&text).map_err(|error| error.to_string())?;
    let json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    printed(&json)
}

fn printed(json: &Json) -> Result<Vec<u8>, String> {
    let mut text = serde_json::to_vec_pretty(json).map_err(|error| error.to_string())?;
    text.push(b'\n');
    Ok(text)
}

/// Reads what a flag names: a file, or a version of OPA.
pub fn read(name: &str) -> Result<Arc<Capabilities>, String> {
    let text = match (std::fs::read(name), versions::capabilities(name)) {
        (Ok(text), _) => text,
        (Err(_), Some(text)) => text,
        (Err(error), None) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(format!(
                "no such file or capabilities version found: {name}"
            ));
        }
        (Err(error), None) => return Err(format!("cannot read the file: {error}")),
    };
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
