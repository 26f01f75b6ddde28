//! `solon capabilities`, and the capabilities files.

mod versions;

use std::process::ExitCode;
use std::sync::Arc;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};
use solon::Capabilities;
use solon_syntax::ParseOptions;
use solon_syntax::ast::Version;

use super::FAILED;
use super::report::Report;
use super::terminal::{complain, print};
use crate::json::escape_html;

/// Print capabilities (functions, keywords and features), or the known versions of OPA.
#[derive(clap::Args)]
pub struct Args {
    /// Accepted and without effect, as in OPA.
    #[arg(hide = true)]
    others: Vec<String>,
    /// Print the capabilities of this version.
    #[arg(long)]
    current: bool,
    /// Print the capabilities of a version of OPA, such as `v1.0.0`.
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Print the capabilities in a file.
    #[arg(long, value_name = "FILE", conflicts_with = "version")]
    file: Option<String>,
    /// Print the capabilities of Rego v0.
    #[arg(long)]
    v0_compatible: bool,
}

/// Prints capabilities as JSON, or the names of versions if no flag selects one.
pub fn run(args: &Args) -> ExitCode {
    match output(args) {
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

fn output(args: &Args) -> Result<Vec<u8>, String> {
    if let Some(version) = &args.version {
        let capabilities = versions::capabilities(version);
        let text =
            capabilities.ok_or_else(|| format!("no capabilities version found: {version}"))?;
        let json: Json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        return print_json(&json);
    }
    let Some(path) = &args.file else {
        if !args.current {
            return Ok(versions::names().into_bytes());
        }
        let text = Capabilities::current_json(super::version_of(args.v0_compatible));
        let mut json: Json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
        versions::annotate(&mut json);
        return print_json(&json);
    };
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    Capabilities::from_json(&text).map_err(|error| error.to_string())?;
    let json = serde_json::from_slice(&text).map_err(|error| error.to_string())?;
    print_json(&json)
}

fn print_json(json: &Json) -> Result<Vec<u8>, String> {
    let ordered = OrderedDocument(json);
    let mut text = serde_json::to_vec_pretty(&ordered).map_err(|error| error.to_string())?;
    text.push(b'\n');
    Ok(escape_html(text))
}

/// Members of the document in OPA's order. Other members follow.
const MEMBERS: [&str; 4] = [
    "builtins",
    "future_keywords",
    "wasm_abi_versions",
    "features",
];

/// Members of a function in OPA's order. Other members follow.
const OF_FUNCTIONS: [&str; 8] = [
    "name",
    "description",
    "categories",
    "decl",
    "infix",
    "relation",
    "nondeterministic",
    "deprecated",
];

/// A document with its members in OPA's order, without empty ones.
struct OrderedDocument<'j>(&'j Json);

/// Members of a WebAssembly ABI version in OPA's order.
const OF_VERSIONS: [&str; 2] = ["version", "minor_version"];

/// An array of objects with their members in this order.
struct Listed<'j>(&'j Json, &'static [&'static str]);

/// An object with its members in this order.
struct OrderedObject<'j>(&'j Map<String, Json>, &'static [&'static str]);

/// Returns the members of an object, beginning with these names.
fn in_order<'j>(
    object: &'j Map<String, Json>,
    names: &'static [&'static str],
) -> impl Iterator<Item = (&'j String, &'j Json)> {
    let named = names.iter().filter_map(|name| object.get_key_value(*name));
    let unnamed = object.iter();
    let unnamed = unnamed.filter(|(name, _)| !names.contains(&name.as_str()));
    named.chain(unnamed)
}

impl Serialize for OrderedDocument<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Json::Object(object) = self.0 else {
            return self.0.serialize(serializer);
        };
        let is_empty =
            |value: &Json| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in in_order(object, &MEMBERS).filter(|(_, value)| !is_empty(value)) {
            match name.as_str() {
                "builtins" => map.serialize_entry(name, &Listed(value, &OF_FUNCTIONS))?,
                "wasm_abi_versions" => map.serialize_entry(name, &Listed(value, &OF_VERSIONS))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

impl Serialize for Listed<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Json::Array(objects) if objects.iter().all(Json::is_object) => {
                let objects = objects.iter().filter_map(Json::as_object);
                serializer.collect_seq(objects.map(|object| OrderedObject(object, self.1)))
            }
            other => other.serialize(serializer),
        }
    }
}

impl Serialize for OrderedObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(in_order(self.0, self.1))
    }
}

/// Reads the capabilities that a flag names: a file, or a version of OPA. Fails if there is neither.
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

/// Returns the parse options that a capabilities file implies.
pub fn parse_options(
    capabilities: Option<&Capabilities>,
    version: Version,
) -> Result<ParseOptions, Report> {
    match capabilities {
        None => Ok(ParseOptions::from_version(version)),
        Some(capabilities) => capabilities
            .parse_options(version)
            .map_err(|error| Report::of_error(&error.into(), &|_| None)),
    }
}
