//! `solon version`: prints version and build.

use std::process::ExitCode;

use super::terminal::print;
use crate::api::{BUILD_COMMIT, BUILD_HOST, BUILD_TIMESTAMP, VERSION};

/// Print the version.
#[derive(clap::Args)]
pub struct Args {}

/// Prints version, build and platform.
pub fn run(_: &Args) -> ExitCode {
    let platform = format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH);
    print(format!(
        "Version: {VERSION}\nBuild Commit: {BUILD_COMMIT}\nBuild Timestamp: {BUILD_TIMESTAMP}\nBuild Hostname: {BUILD_HOST}\nPlatform: {platform}\nRego Version: v1\n"
    ));
    ExitCode::SUCCESS
}
