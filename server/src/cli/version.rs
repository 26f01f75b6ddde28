//! `solon version`

use std::process::ExitCode;

use super::terminal::print;
use crate::api::VERSION;

/// Print the version.
#[derive(clap::Args)]
pub struct Args {}

/// Prints version and platform.
pub fn run(_: &Args) -> ExitCode {
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    print(format!(
        "Version: {VERSION}\nPlatform: {platform}\nRego Version: v1\n"
    ));
    ExitCode::SUCCESS
}
