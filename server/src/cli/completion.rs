//! `solon completion`, and the manual pages.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Command;
use clap_complete::Shell;

use super::FAILED;
use super::terminal::{complain, print};

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

/// Write a manual page for each command into a folder.
#[derive(clap::Args)]
pub struct ManArgs {
    /// The folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

/// Prints the script.
pub fn run(args: &Args, mut command: Command) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "solon", &mut script);
    print(script);
    ExitCode::SUCCESS
}

/// Writes the pages.
pub fn write_manual(args: &ManArgs, command: Command) -> ExitCode {
    match write(args, command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format!("error: {}: {error}\n", args.folder.display()));
            ExitCode::from(FAILED)
        }
    }
}

fn write(args: &ManArgs, command: Command) -> io::Result<()> {
    std::fs::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(command, &args.folder)
}
