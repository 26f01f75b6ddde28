//! `docs/command-line-reference.md`: every command with its arguments, flags and environment variables, generated from clap.
//!
//! `BLESS=1` regenerates the page.

use std::fmt::Write as _;
use std::path::Path;

use clap::builder::PossibleValue;
use clap::{Arg, ArgAction, Command};

use super::{COMMANDS, program};

/// Text before the first command.
const HEAD: &str = "# Command line reference

This page is generated from the declarations of the commands. `solon COMMAND --help` prints the same.
[Command line](command-line.md) describes how to use the commands.

- A flag `--flag-name` of a command can also be set by an environment variable: `SOLON_COMMAND_FLAG_NAME` or, as for OPA,
  `OPA_COMMAND_FLAG_NAME`, such as `SOLON_RUN_ADDR` and `SOLON_CONTROL_RUN_ADDR`. A flag on the command line takes precedence.
- A flag without a value is a boolean. It accepts `--flag=false`, too.
- `...` marks arguments and flags that can be repeated.
";

/// Text after the last command.
const TAIL: &str = "
## Environment variables

| variable | meaning |
|---|---|
| `SOLON_COMMAND_FLAG`, `OPA_COMMAND_FLAG` | default of a flag of a command |
| `SOLON_SECRETS_KEY` | keys of the control plane's secrets, instead of `--secrets-key-file` |
| `OPA_LOG_TIMESTAMP_FORMAT` | default of `solon run --log-timestamp-format` |
| `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` | proxies of `http.send` and of services |
";

/// Returns text for a cell of a table: lines are joined, and the separator of cells is escaped.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Returns `true` if the argument can be repeated or has several values.
fn is_repeated(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Append)
        || arg
            .get_num_args()
            .is_some_and(|count| count.max_values() > 1)
}

/// Returns the notation of an argument, such as `` `-f`, `--format <FORMAT>` ``.
fn notation(arg: &Arg) -> String {
    let is_switch = matches!(
        arg.get_action(),
        ArgAction::SetTrue | ArgAction::SetFalse | ArgAction::Help | ArgAction::Version
    );
    let value = arg.get_value_names().and_then(|names| names.first());
    let value = value.map_or_else(|| arg.get_id().as_str().to_uppercase(), ToString::to_string);
    let dots = if is_repeated(arg) { "..." } else { "" };
    if arg.is_positional() {
        return if arg.is_required_set() {
            format!("`<{value}>{dots}`")
        } else {
            format!("`[{value}]{dots}`")
        };
    }
    let value = if is_switch {
        String::new()
    } else {
        format!(" <{value}>{dots}")
    };
    let short = arg.get_short().map(|short| format!("`-{short}`"));
    let long = arg.get_long().map(|long| format!("`--{long}{value}`"));
    let names: Vec<String> = short.into_iter().chain(long).collect();
    names.join(", ")
}

/// Returns the description of an argument with its values and its default.
fn description(arg: &Arg) -> String {
    let mut text = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let is_switch = matches!(arg.get_action(), ArgAction::SetTrue | ArgAction::SetFalse);
    let values = arg.get_possible_values();
    let values: Vec<&PossibleValue> = values.iter().filter(|value| !value.is_hide_set()).collect();
    if !is_switch && !values.is_empty() {
        let values = values.iter().map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({help})", value.get_name()),
            None => format!("`{}`", value.get_name()),
        });
        let values: Vec<String> = values.collect();
        write!(text, ". Values: {}", values.join(", ")).unwrap();
    }
    let defaults = arg.get_default_values().iter();
    let defaults: Vec<_> = defaults.map(|value| value.to_string_lossy()).collect();
    if !is_switch && !defaults.is_empty() && !arg.is_hide_default_value_set() {
        write!(text, ". Default: `{}`", defaults.join(",")).unwrap();
    }
    cell(&text)
}

/// Writes the section of a command and those of its subcommands.
fn section(command: &Command, path: &str, page: &mut String) {
    let path = format!("{path} {}", command.get_name());
    let summary = command.get_about().map(ToString::to_string);
    writeln!(
        page,
        "\n## `{path}`\n\n{}.",
        summary.unwrap_or_default().trim_end_matches('.')
    )
    .unwrap();
    let args = command.get_arguments().filter(|arg| !arg.is_hide_set());
    let args: Vec<&Arg> = args
        .filter(|arg| !matches!(arg.get_id().as_str(), "help" | "version"))
        .collect();
    if !args.is_empty() {
        page.push_str("\n| argument | description |\n|---|---|\n");
    }
    for arg in args {
        writeln!(page, "| {} | {} |", cell(&notation(arg)), description(arg)).unwrap();
    }
    for subcommand in command.get_subcommands() {
        if !subcommand.is_hide_set() && subcommand.get_name() != "help" {
            section(subcommand, &path, page);
        }
    }
}

#[test]
fn the_page_lists_every_command() {
    let cli = program(COMMANDS);
    let mut page = HEAD.to_owned();
    for command in cli
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
    {
        section(command, "solon", &mut page);
    }
    page.push_str(TAIL);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command-line-reference.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        current == page,
        "docs/command-line-reference.md is outdated; BLESS=1 writes it again"
    );
}
