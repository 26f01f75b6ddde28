//! `solon man`: writes manual pages.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use super::forms::with_forms;
use super::terminal::complain;
use super::{COMMANDS, FAILED, program};

/// Write a manual page for each command into a folder.
#[derive(clap::Args)]
#[command(hide = true)]
pub struct Args {
    /// The folder.
    #[arg(value_name = "FOLDER")]
    folder: PathBuf,
}

pub fn run(args: &Args) -> ExitCode {
    match write(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format!("error: {}: {error}\n", args.folder.display()));
            ExitCode::from(FAILED)
        }
    }
}

fn write(args: &Args) -> io::Result<()> {
    std::fs::create_dir_all(&args.folder)?;
    clap_mangen::generate_to(with_forms(program(COMMANDS)), &args.folder)
}
