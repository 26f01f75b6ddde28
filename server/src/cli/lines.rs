//! `solon lines`

use std::io::{self, BufRead as _, BufWriter, Write as _};
use std::process::ExitCode;

use super::FAILED;
use super::terminal::complain;

/// Answer JSON requests, one a line, on standard output.
///
/// A request has the fields `modules` (texts by file name), `data`, `input`, `query`, `v0`, `strict` and
/// `strict_builtin_errors`. An answer has `bindings` and `values` of each solution, `prints`, or `errors`. With
/// `explain` (`debug`, `full`, `fails` or `notes`) it has the lines of a `trace`, with `explain_json` its `events`.
#[derive(clap::Args)]
pub struct Args {}

/// Answers until the input ends.
pub fn run(_: &Args) -> ExitCode {
    match answer_all() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(format!("error: {error}\n"));
            ExitCode::from(FAILED)
        }
    }
}

fn answer_all() -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    for line in io::stdin().lock().lines() {
        out.write_all(solon::lines::answer(&line?).as_bytes())?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(())
}
