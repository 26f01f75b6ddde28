//! The command line: one file per command.

mod amounts;
mod bench;
mod benchmarks;
mod build;
mod capabilities;
mod check;
mod completion;
mod control;
mod data;
mod deps;
mod eval;
mod exec;
mod explanation;
mod filter;
mod fmt;
mod forms;
mod input;
mod inspect;
mod lines;
mod logs;
mod networks;
mod oracle;
mod parse;
mod refactor;
#[cfg(test)]
mod reference;
mod replay;
mod report;
mod run;
mod sign;
mod signing;
mod table;
mod target;
mod terminal;
mod test;
mod variables;
mod verifying;
mod version;

use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use solon::Capabilities;
use solon::bundle::{Files, LoadError, Loader, Schemas};
use solon_host::SystemFiles;

use solon_syntax::ast::Version;

use self::report::Report;

use crate::system::disable_huge_pages;

/// Exit code of a command that failed.
const FAILED: u8 = 1;

/// A policy engine for the Rego language.
#[derive(Parser)]
#[command(
    name = "solon",
    version,
    arg_required_else_help = true,
    max_term_width = 100
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one value in a process")]
enum Command {
    Run(Box<run::Args>),
    Eval(Box<eval::Args>),
    Check(check::Args),
    Build(Box<build::Args>),
    Fmt(fmt::Args),
    Control(control::Args),
    Data(data::Args),
    Capabilities(capabilities::Args),
    Parse(parse::Args),
    #[command(hide = true)]
    Refactor(refactor::Args),
    Inspect(inspect::Args),
    Sign(sign::Args),
    Test(Box<test::Args>),
    Deps(deps::Args),
    Exec(Box<exec::Args>),
    Bench(Box<bench::Args>),
    Completion(completion::Args),
    #[command(hide = true)]
    Oracle(oracle::Args),
    #[command(hide = true)]
    Man(completion::ManArgs),
    Lines(lines::Args),
    Logs(Box<logs::Args>),
    Replay(Box<replay::Args>),
    Version(version::Args),
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let command = forms::with_forms(variables::with_variables(Cli::command()));
    let matches = command.get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    if matches!(cli.command, Command::Run(_) | Command::Control(_)) {
        disable_huge_pages();
    }
    match cli.command {
        Command::Run(args) => run::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Build(args) => build::run(&args),
        Command::Fmt(args) => fmt::run(&args),
        Command::Control(args) => control::run(args),
        Command::Data(args) => data::run(&args),
        Command::Capabilities(args) => capabilities::run(&args),
        Command::Parse(args) => parse::run(&args),
        Command::Refactor(args) => refactor::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Sign(args) => sign::run(&args),
        Command::Test(args) => test::run(args),
        Command::Deps(args) => deps::run(&args),
        Command::Exec(args) => exec::run(&args),
        Command::Bench(args) => bench::run(&args),
        Command::Completion(args) => completion::run(&args, forms::with_forms(Cli::command())),
        Command::Oracle(args) => oracle::run(&args),
        Command::Man(args) => completion::write_manual(&args, forms::with_forms(Cli::command())),
        Command::Lines(args) => lines::run(&args),
        Command::Logs(args) => logs::run(&args),
        Command::Replay(args) => replay::run(&args),
        Command::Version(args) => version::run(&args),
    }
}

/// Exits with clap's error for flags that cannot be used together.
fn wrong_usage(command: &str, message: &str) -> ! {
    let mut all = forms::with_forms(Cli::command());
    all.build();
    let error = match all.find_subcommand_mut(command) {
        Some(command) => command.error(ErrorKind::ArgumentConflict, message),
        None => all.error(ErrorKind::ArgumentConflict, message),
    };
    error.exit()
}

/// Returns the Rego version of the policies.
fn version_of(v0: bool) -> Version {
    if v0 { Version::V0 } else { Version::V1 }
}

/// Returns a loader for a Rego version and capabilities, which skips ignored files.
fn loader(
    ignore: &[String],
    capabilities: Option<&Capabilities>,
    version: Version,
) -> Result<Loader<'static>, Report> {
    let options = capabilities::parse_options(capabilities, version)?;
    Ok(Loader::new(&SystemFiles)
        .ignore(ignore)
        .parse_options(options))
}

/// Reads the file that a flag or an argument names.
fn read(path: &str) -> Result<Vec<u8>, LoadError> {
    let path = &*forms::path(path)?;
    let bytes = SystemFiles.read(Path::new(path));
    bytes.map_err(|error| LoadError::system("open", path, &error))
}

/// Reads the schemas that a flag names.
fn schemas(path: Option<&str>) -> Result<Option<Schemas>, Report> {
    let schemas = forms::given(path).map(|path| Loader::new(&SystemFiles).load_schemas(path));
    schemas.transpose().map_err(Report::of_files)
}
