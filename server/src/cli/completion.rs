//! `solon completion`: prints the completions of a shell.

use std::process::ExitCode;

use clap_complete::Shell;

use super::forms::with_forms;
use super::terminal::print;
use super::{COMMANDS, program};

/// Print a script that completes commands and flags in a shell.
#[derive(clap::Args)]
#[command(after_help = "\
Example:
  source <(solon completion bash)")]
pub struct Args {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
    /// Leave the descriptions of commands and flags out; scripts are the same with and without.
    #[arg(long, hide = true)]
    no_descriptions: bool,
}

pub fn run(args: &Args) -> ExitCode {
    let mut command = with_forms(program(COMMANDS));
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "solon", &mut script);
    print(script);
    ExitCode::SUCCESS
}
