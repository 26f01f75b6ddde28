//! `solon lines`: serves the JSON line protocol of the tests.

use std::io::{self, BufRead as _, BufWriter, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use solon::Host;
use solon_host::SystemHost;

use super::FAILED;
use super::terminal::complain;

/// Answer JSON requests, one a line, on standard output.
///
/// A request has the fields `modules` (texts by file name), `data`, `input`, `query`, `v0`, `strict` and
/// `strict_builtin_errors`. An answer has `bindings` and `values` of each solution, `prints`, or `errors`. With
/// `explain` (`debug`, `full`, `fails` or `notes`) it has the lines of a `trace`, with `explain_json` its `events`. With
/// `filters` (`target`, `dialect`, `mappings`, `mask_rule`) it has the `filter` of rows that the query is, and its `masks`.
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
    let mut requests = io::stdin().lock();
    let host: Arc<dyn Host> = Arc::new(SystemHost);
    let mut line = Vec::new();
    while requests.read_until(b'\n', &mut line)? > 0 {
        if !line.trim_ascii().is_empty() {
            out.write_all(solon_lines::answer_on(&line, Arc::clone(&host)).as_bytes())?;
            out.write_all(b"\n")?;
            out.flush()?;
        }
        line.clear();
    }
    Ok(())
}
