//! `solon parse`: prints the syntax tree of a policy.

use std::process::ExitCode;

use clap::ValueEnum;
use solon_syntax::print::outline;
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, json, module_text, parse_module};

use super::FAILED;
use super::report::Report;
use super::terminal::{complain, print};

/// Parse a policy and print its syntax tree.
#[derive(clap::Args)]
pub struct Args {
    /// The policy.
    #[arg(value_name = "FILE")]
    file: String,
    /// Accepted and without effect, as in OPA: one policy is parsed.
    #[arg(hide = true)]
    others: Vec<String>,
    /// Output format.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Additional output: `locations`, `comments`; `-comments` omits comments.
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    json_include: Option<String>,
    /// Read the policy as Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// An outline, one line per node.
    #[default]
    Pretty,
    /// JSON, as OPA prints it.
    Json,
}

pub fn run(args: &Args) -> ExitCode {
    match tree(args) {
        Ok(text) => {
            print(text);
            ExitCode::SUCCESS
        }
        Err(report) => {
            complain(report.json());
            ExitCode::from(FAILED)
        }
    }
}

fn tree(args: &Args) -> Result<String, Report> {
    let text = super::read(&args.file);
    let text = text.map_err(|error| Report::message(error.to_string()))?;
    let options = ParseOptions {
        version: super::version_of(args.v0_compatible),
        ..ParseOptions::default()
    };
    let error_report = |errors: Diagnostics| Report::of_error(&errors.into(), &|_| None);
    let text = module_text(&args.file, &text, &options).map_err(error_report)?;
    let source = Source::new(SourceId(0), args.file.as_str(), text);
    let module = parse_module(&source, &options).map_err(error_report)?;
    let included: Vec<&str> = args
        .json_include
        .as_deref()
        .unwrap_or("")
        .split(',')
        .map(str::trim)
        .collect();
    let comments = !included.contains(&"-comments");
    if args.format == Format::Pretty {
        return Ok(outline(&module, comments));
    }
    let sources = [source];
    let json_options = json::Options {
        locations: included.contains(&"locations").then_some(&sources),
        comments,
        indented: true,
    };
    Ok(json::text(&module, json_options) + "\n")
}
