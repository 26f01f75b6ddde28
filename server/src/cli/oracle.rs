//! `solon oracle`, for editors.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Subcommand;
use serde_json::json;
use solon::{Capabilities, Definition};
use solon_host::SystemFiles;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{module_text, parse_module};

use super::report::Report;
use super::terminal::{complain, print};
use super::{FAILED, capabilities, version_of};
use crate::json::answer_text;
use crate::wire::{ErrorItem, ErrorLocation};

/// Find definitions in policies, for editors.
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Args {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand)]
enum Question {
    FindDefinition(FindArgs),
}

/// Find where the name at a position of a policy is defined.
#[derive(clap::Args)]
struct FindArgs {
    /// The file and the position in it in bytes, decimal or hexadecimal: `policy.rego:120`, `policy.rego:0x78`.
    #[arg(value_name = "FILE:OFFSET")]
    position: Vec<String>,
    /// The folder with the policies.
    #[arg(short, long, value_name = "PATH")]
    bundle: Vec<String>,
    /// Read the text of the file from standard input.
    #[arg(long)]
    stdin_buffer: bool,
    /// Capabilities of policies: a file in the format of `solon capabilities --current`, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    capabilities: Option<Arc<Capabilities>>,
    /// Read policies as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
}

pub fn run(args: &Args) -> ExitCode {
    let Question::FindDefinition(args) = &args.question;
    let result = match args.position.as_slice() {
        [position] => match parsed(position) {
            Some((file, offset)) => find(args, file, offset),
            None => super::wrong_usage("oracle", "expected <filename>:<offset> argument"),
        },
        _ => super::wrong_usage(
            "oracle",
            "expected exactly one position <filename>:<offset>",
        ),
    };
    match result {
        Ok(text) => {
            print(text);
            ExitCode::SUCCESS
        }
        Err(error) => {
            complain(format!("error: {error}\n"));
            ExitCode::from(FAILED)
        }
    }
}

/// Parses a file and a position.
fn parsed(text: &str) -> Option<(&str, u32)> {
    let text = text.strip_prefix("file://").unwrap_or(text);
    let (file, offset) = text.split_once(':')?;
    let offset = match offset.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => offset.parse(),
    };
    Some((file, offset.ok()?))
}

fn find(args: &FindArgs, file: &str, offset: u32) -> Result<Vec<u8>, String> {
    let texts = texts(args, file)?;
    let version = version_of(args.v0_compatible);
    let options = capabilities::parse_options(args.capabilities.as_deref(), version);
    let options = options.map_err(|report| report.text(false))?;
    let mut modules = Vec::new();
    for (id, (name, text)) in (1..).zip(&texts.all) {
        match parse_module(
            &Source::new(SourceId(id), name.as_str(), text.as_str()),
            &options,
        ) {
            Ok(module) => modules.push(Arc::new(module)),
            Err(errors) if texts.is_edited && name == file => return Ok(format_errors(&errors)),
            Err(errors) => {
                let lines = |_: &str| Some(text.clone());
                let text = Report::of_error(&errors.into(), &lines).text(false);
                let folder = args.bundle.first().map_or("", String::as_str);
                return Err(format!("bundle {folder}: {}", text.trim_end()));
            }
        }
    }
    Ok(match Definition::find(modules, file, offset) {
        Ok(Definition::At(file, row, col)) => answer_text(
            &DefinitionOutput {
                result: ErrorLocation { file, row, col },
            },
            true,
        ),
        Ok(Definition::NoMatch) => coded("oracle_no_match_found"),
        Ok(_) => coded("oracle_no_definition_found"),
        Err(solon::Error::Compile(errors)) => format_errors(&errors),
        Err(error) => return Err(error.to_string()),
    })
}

#[derive(serde::Serialize)]
struct DefinitionOutput {
    result: ErrorLocation,
}

#[derive(serde::Serialize)]
struct ParseErrors {
    error: Vec<ErrorItem>,
}

fn coded(code: &str) -> Vec<u8> {
    answer_text(&json!({"error": {"code": code}}), true)
}

/// Returns the errors of policies that cannot be parsed.
fn format_errors(errors: &Diagnostics) -> Vec<u8> {
    let error = errors.0.iter().map(ErrorItem::from_diagnostic).collect();
    answer_text(&ParseErrors { error }, true)
}

/// Texts of policies by name, and whether one was edited.
struct PolicyTexts {
    all: BTreeMap<String, String>,
    /// `true` if the text of the file is that of standard input.
    is_edited: bool,
}

/// Returns the texts of all policies, with the text of the file from standard input if there is one.
fn texts(args: &FindArgs, file: &str) -> Result<PolicyTexts, String> {
    let version = version_of(args.v0_compatible);
    let options = capabilities::parse_options(args.capabilities.as_deref(), version);
    let options = options.map_err(|report| report.text(false))?;
    let mut is_edited = false;
    let mut all = match args.bundle.as_slice() {
        [] => BTreeMap::new(),
        [folder] => {
            let loader = solon::bundle::Loader::new(&SystemFiles)
                .parse_options(options)
                .with_selection(solon::bundle::FileSelection::Modules);
            let loaded = loader.load(&[folder]);
            loaded.map_err(|error| error.to_string())?.modules
        }
        _ => return Err("not implemented: multiple bundle paths".to_owned()),
    };
    if args.stdin_buffer && !std::io::stdin().is_terminal() {
        let mut text = Vec::new();
        let result = std::io::stdin().read_to_end(&mut text);
        result.map_err(|error| error.to_string())?;
        if !text.is_empty() {
            let text = module_text(file, &text, &options);
            let text = text.map_err(|errors| errors.to_string())?;
            all.insert(file.to_owned(), text.to_string());
            is_edited = true;
        }
    }
    Ok(PolicyTexts { all, is_edited })
}
