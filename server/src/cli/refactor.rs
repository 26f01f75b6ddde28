//! `solon refactor`: moves packages and the references to them.

use std::process::ExitCode;

use clap::Subcommand;
use solon::bundle::LoadErrors;
use solon::{Change, Engine};
use solon_syntax::ast::{Module, TermKind};
use solon_syntax::refactor::{PackageMove, format_moved, move_packages};
use solon_syntax::source::{Diagnostics, Source, SourceId};
use solon_syntax::{ParseOptions, parse_module, parse_term};

use super::FAILED;
use super::fmt::message;
use super::report::Report;
use super::terminal::{complain, print};

/// Refactor policies.
#[derive(clap::Args)]
#[command(hide = true, arg_required_else_help = true)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Move(MoveArgs),
}

/// Rename packages, and the references to them.
///
/// Prints the formatted policies in order of their paths. Files that are not named are not changed.
#[derive(clap::Args)]
struct MoveArgs {
    /// Files and folders with policies
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// A path and its replacement, such as `data.lib.foo:data.baz.bar`. The longest path that contains a reference applies
    /// to it
    #[arg(short, long = "path", value_name = "FROM:TO")]
    path: Vec<String>,
    /// Overwrite the files
    #[arg(short, long)]
    write: bool,
    /// Names of files and folders to pass over
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Read and write Rego v0
    #[arg(long)]
    v0_compatible: bool,
}

/// Runs a command that changes policies. Errors are printed to standard error.
pub fn run(args: &Args) -> ExitCode {
    let Command::Move(args) = &args.command;
    match move_command(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            complain(format!("error: {}\n", problem.trim_end()));
            ExitCode::from(FAILED)
        }
    }
}

fn move_command(args: &MoveArgs) -> Result<(), String> {
    if args.path.is_empty() {
        return Err("specify at least one mapping of the form <from>:<to>".to_owned());
    }
    if args.paths.is_empty() {
        return Err("specify at least one path containing policy files".to_owned());
    }
    let mut moves = Vec::new();
    for mapping in &args.path {
        moves.extend(read_mapping(mapping)?);
    }
    let version = super::version_of(args.v0_compatible);
    let options = ParseOptions::from_version(version);
    let text = |report: Report| report.text(true);
    let loader = super::loader(&args.ignore, None, version).map_err(text)?;
    let loaded = loader
        .load(&args.paths)
        .map_err(|errors| text(Report::of_files(errors)))?;
    let mut modules: Vec<(&str, Module)> = Vec::new();
    let mut load_errors = Vec::new();
    let mut change = Change::default();
    for (index, (name, text)) in loaded.modules.iter().enumerate() {
        let id = SourceId(u32::try_from(index).unwrap_or_default());
        let source = Source::new(id, name.as_str(), text.as_str());
        match parse_module(&source, &options) {
            Ok(module) => modules.push((name, module)),
            Err(errors) => load_errors.extend(errors.0),
        }
    }
    if !load_errors.is_empty() {
        return Err(text(Report::of_files(LoadErrors::from(Diagnostics(
            load_errors,
        )))));
    }
    for (name, module) in &mut modules {
        move_packages(module, &moves)?;
        change.set_parsed_module(name, module.clone().into());
    }
    let engine = Engine::builder().version(version).build();
    engine.apply(change).map_err(|error| error.to_string())?;
    let formatted = modules.iter().map(|(name, module)| {
        let text = format_moved(module, &options);
        let text =
            text.map_err(|error| format!("failed to parse Rego source file: {error} (2)"))?;
        Ok((*name, text))
    });
    for (name, text) in formatted.collect::<Result<Vec<_>, String>>()? {
        if args.write {
            std::fs::write(name, text).map_err(|error| message("open", name, &error))?;
        } else {
            print(text);
        }
    }
    Ok(())
}

/// Reads a mapping: the members of an object without its braces, as in OPA.
fn read_mapping(mapping: &str) -> Result<Vec<PackageMove>, String> {
    // OPA prints a number after these errors
    const EXPECTED: &str = "expected mapping of the form <from>:<to> (2)";
    let source = Source::new(SourceId(0), "", format!("{{{mapping}}}"));
    let term = parse_term(&source, &ParseOptions::default())
        .map_err(|errors| format!("failed to parse mapping: failed to parse term: {errors} (2)"))?;
    let TermKind::Object(pairs) = &term.kind else {
        return Err(EXPECTED.to_owned());
    };
    if pairs.is_empty() {
        return Err(EXPECTED.to_owned());
    }
    let mut moves = Vec::new();
    for (from, to) in pairs {
        let (Some(from), Some(to)) = (names(from)?, names(to)?) else {
            return Err(format!(
                "cannot move {from} to {to}: expected references without variables after the first name"
            ));
        };
        moves.push(PackageMove { from, to });
    }
    Ok(moves)
}

/// Returns the names of a reference, or `None` if it is dynamic.
///
/// # Errors
/// A term of another kind.
fn names(term: &solon_syntax::ast::Term) -> Result<Option<Vec<String>>, String> {
    match &term.kind {
        TermKind::Var(name) => Ok(Some(vec![name.to_string()])),
        TermKind::Ref(terms) => {
            let head = terms.first().and_then(|head| head.as_var());
            let steps = terms.iter().skip(1).map(|step| step.as_string());
            let all = std::iter::once(head).chain(steps);
            Ok(all.map(|name| Some(name?.to_string())).collect())
        }
        _ => Err(format!("expected ref but got {term}")),
    }
}
