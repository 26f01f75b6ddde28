//! Flags from environment variables: `SOLON_RUN_ADDR`, or `OPA_RUN_ADDR` if it is not set, is the default of `--addr` of `run`, and
//! `SOLON_CONTROL_RUN_ADDR` that of `control run`.

use clap::Command;

/// Adds the environment variables as defaults of the flags. The command line takes precedence.
pub fn with_variables(command: Command) -> Command {
    // most processes have none of these variables, and looking each of them up takes longer than a small evaluation
    let is_prefixed = |name: &std::ffi::OsStr| {
        let name = name.as_encoded_bytes();
        name.starts_with(b"SOLON_") || name.starts_with(b"OPA_")
    };
    if std::env::vars_os().any(|(name, _)| is_prefixed(&name)) {
        with_variables_below(command, "")
    } else {
        command
    }
}

/// Adds the variables of all commands below `command`, whose names begin with `prefix`.
fn with_variables_below(command: Command, prefix: &str) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    names.into_iter().fold(command, |command, name| {
        let path = format!("{prefix}{name}");
        command.mut_subcommand(&name, |sub| {
            let sub = sub.mut_args(|arg| with_variable(&path, arg));
            with_variables_below(sub, &format!("{path}_"))
        })
    })
}

fn with_variable(command: &str, arg: clap::Arg) -> clap::Arg {
    let Some(flag) = arg.get_long() else {
        return arg;
    };
    let name = format!("{command}_{flag}")
        .to_ascii_uppercase()
        .replace('-', "_");
    let set = ["SOLON", "OPA"]
        .map(|prefix| format!("{prefix}_{name}"))
        .into_iter()
        .find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    match set {
        // clap needs static strings; there are few, so they are leaked
        Some(name) => arg.env(&*Box::leak(name.into_boxed_str())),
        None => arg,
    }
}
