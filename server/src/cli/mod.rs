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
mod man;
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
use clap::{ArgMatches, Args as _, Command, FromArgMatches};
use solon::bundle::{Files, LoadError, Loader, Schemas};
use solon::{Capabilities, Engine};
use solon_host::SystemFiles;

use solon_syntax::ast::Version;

use self::report::Report;

/// Exit code of a command that failed.
const FAILED: u8 = 1;

struct CommandEntry {
    name: &'static str,
    /// Adds the description, the arguments and the flags.
    define: fn(Command) -> Command,
    run: fn(&mut ArgMatches) -> ExitCode,
}

/// Returns the entry of the command that a module contains as `Args` and `run`.
macro_rules! command {
    ($module:ident) => {
        command!($module, |args| $module::run(&parsed(args)))
    };
    ($module:ident, $run:expr) => {
        CommandEntry {
            name: stringify!($module),
            define: $module::Args::augment_args,
            run: $run,
        }
    };
}

/// All commands, in the order of `solon --help`.
const COMMANDS: &[CommandEntry] = &[
    command!(run),
    command!(eval),
    command!(check),
    command!(build),
    command!(fmt),
    command!(control, |args| control::run(parsed(args))),
    command!(data),
    command!(capabilities),
    command!(parse),
    command!(refactor),
    command!(inspect),
    command!(sign),
    command!(test, |args| test::run(parsed(args))),
    command!(deps),
    command!(exec),
    command!(bench),
    command!(completion),
    command!(oracle),
    command!(man),
    command!(lines),
    command!(logs),
    command!(replay),
    command!(version),
];

/// Returns the arguments of a command, or exits with clap's error.
fn parsed<A: FromArgMatches>(args: &mut ArgMatches) -> A {
    A::from_arg_matches_mut(args).unwrap_or_else(|error| error.exit())
}

/// Returns the definition of the program with some of its commands.
fn program<'e>(commands: impl IntoIterator<Item = &'e CommandEntry>) -> Command {
    let commands = commands.into_iter();
    let commands = commands.map(|entry| (entry.define)(Command::new(entry.name)));
    Command::new("solon")
        .version(env!("CARGO_PKG_VERSION"))
        .about("A policy engine for the Rego language")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .max_term_width(100)
        .subcommands(commands)
}

/// Runs the command that the process was started with.
pub fn main() -> ExitCode {
    let first = std::env::args_os().nth(1).unwrap_or_default();
    // to define all commands takes longer than a small evaluation
    let definition = match COMMANDS.iter().find(|entry| first == entry.name) {
        Some(entry) => program([entry]),
        None => program(COMMANDS),
    };
    let mut matches = forms::with_forms(variables::with_variables(definition)).get_matches();
    let subcommand = matches.remove_subcommand();
    let run = subcommand.and_then(|(name, args)| {
        let entry = COMMANDS.iter().find(|entry| entry.name == name)?;
        Some((entry.run, args))
    });
    match run {
        Some((run, mut args)) => run(&mut args),
        None => program(COMMANDS)
            .error(ErrorKind::MissingSubcommand, "a command is required")
            .exit(),
    }
}

/// Exits with clap's error for flags that cannot be used together.
fn wrong_usage(command: &str, message: &str) -> ! {
    let mut all = forms::with_forms(program(COMMANDS));
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

/// Keeps an engine until the process ends. Freeing large policies one allocation at a time takes a tenth of the time of a command;
/// the system frees the memory of a process at once.
fn keep_to_exit(engine: &Engine) {
    std::mem::forget(engine.clone());
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

#[cfg(test)]
mod tests {
    use clap::Command;

    use super::{COMMANDS, forms, program};

    fn help(program: Command, command: &str) -> String {
        let program = forms::with_forms(program);
        let result = program.try_get_matches_from(["solon", command, "--help"]);
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_single_command_has_the_help_that_it_has_among_all() {
        for entry in COMMANDS {
            let own_help = help(program([entry]), entry.name);
            assert!(
                own_help.contains(&format!("Usage: solon {}", entry.name)),
                "{own_help}"
            );
            assert_eq!(own_help, help(program(COMMANDS), entry.name));
        }
    }
}
