//! Flags from the environment: `SOLON_RUN_ADDR`, or `OPA_RUN_ADDR` where that is not set, stands for `--addr` of `run`.

use clap::Command;

/// The commands with what the environment says of their flags; what is typed counts more.
pub fn with_variables(command: Command) -> Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|sub| sub.get_name().to_owned())
        .collect();
    names.into_iter().fold(command, |command, name| {
        command.mut_subcommand(&name, |sub| sub.mut_args(|arg| with_variable(&name, arg)))
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
        // the few that are set live as long as the process, as names of flags do
        Some(name) => arg.env(&*Box::leak(name.into_boxed_str())),
        None => arg,
    }
}
