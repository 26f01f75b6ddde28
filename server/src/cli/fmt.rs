//! `solon fmt`: formats policies.

mod diff;
mod files;

use std::io::Read as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::ArgAction;
use solon::Capabilities;
use solon_syntax::ast::Version;
use solon_syntax::source::{Code, Diagnostics, Source, SourceId};
use solon_syntax::{FormatOptions, ParseOptions, format, module_text, parallel};

pub use self::files::message;
use self::files::rego_files;
use super::terminal::{complain, print};
use super::{FAILED, capabilities};

/// Exit code if a file could not be formatted, or `--fail` found a difference.
const UNFORMATTED: u8 = 2;

/// Format policies.
///
/// Without a path, formats standard input and prints the result.
#[derive(clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub struct Args {
    /// Files and folders.
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// Overwrite the files that change.
    #[arg(short, long)]
    write: bool,
    /// Print the paths of the files that would change.
    #[arg(short, long)]
    list: bool,
    /// Print what would change, with colors for insertions and deletions.
    #[arg(short, long)]
    diff: bool,
    /// Exit with code 2 at the first file that would change.
    #[arg(long)]
    fail: bool,
    /// Check that the result parses. Results that do not parse or differ in meaning are never printed, with or without this
    /// check.
    #[arg(long, action = ArgAction::SetTrue, default_value = "true")]
    check_result: bool,
    /// Drop imports that Rego v1 does not need: `rego.v1`, `future.keywords.if`.
    #[arg(long)]
    drop_v0_imports: bool,
    /// Read and write Rego v0.
    #[arg(long)]
    v0_compatible: bool,
    /// Read Rego v0 and write what is valid as v0 and as v1.
    #[arg(long, alias = "rego-v1")]
    v0_v1: bool,
    /// Read Rego v1 where `--v0-v1` would read v0. Without effect on its own.
    #[arg(long, hide = true)]
    v1_compatible: bool,
    /// Language features that policies may use: a file in the form that `solon capabilities` prints, or a version of OPA.
    #[arg(long, value_name = "FILE|VERSION", value_parser = capabilities::read)]
    capabilities: Option<Arc<Capabilities>>,
}

/// Formats files in parallel and reports them in order, up to the first that fails.
pub fn run(args: &Args) -> ExitCode {
    let options = match options(args) {
        Ok(options) => options,
        Err(errors) => {
            complain(format!("{errors}\n"));
            return ExitCode::from(FAILED);
        }
    };
    if args.paths.is_empty() {
        return standard_input(&options);
    }
    for path in &args.paths {
        let files = match rego_files(path) {
            Ok(files) => files,
            Err(message) => {
                complain(format!("{message}\n"));
                return ExitCode::from(FAILED);
            }
        };
        for (file, result) in files.iter().zip(format_all(&files, &options)) {
            if let Err(message) = result.and_then(|result| report(args, file, &result)) {
                complain(format!("{message}\n"));
                return ExitCode::from(UNFORMATTED);
            }
        }
    }
    ExitCode::SUCCESS
}

fn options(args: &Args) -> Result<FormatOptions, Diagnostics> {
    let reads_v0 = if args.v0_v1 {
        !args.v1_compatible || args.v0_compatible
    } else {
        args.v0_compatible
    };
    let target = match (args.v0_v1, args.v0_compatible) {
        (true, _) => Version::V0CompatV1,
        (false, true) => Version::V0,
        (false, false) => Version::V1,
    };
    let mut parse = ParseOptions::from_version(super::version_of(reads_v0));
    // as in OPA, capabilities only decide whether keywords are written as names in references
    if let Some(capabilities) = &args.capabilities {
        parse.features = capabilities.parse_options(Version::V0)?.features;
    }
    Ok(FormatOptions {
        parse,
        target,
        drop_v0_imports: args.drop_v0_imports,
    })
}

/// A file before and after formatting.
struct Formatted {
    before: Vec<u8>,
    after: String,
}

impl Formatted {
    fn is_changed(&self) -> bool {
        self.before != self.after.as_bytes()
    }
}

fn standard_input(options: &FormatOptions) -> ExitCode {
    // imports remain, as in OPA
    let options = FormatOptions {
        drop_v0_imports: false,
        ..*options
    };
    let mut text = Vec::new();
    let result = std::io::stdin().lock().read_to_end(&mut text);
    let formatted = result
        .map_err(|error| error.to_string())
        .and_then(|_| text_of("stdin", &text, &options));
    match formatted {
        Ok(text) => {
            print(text);
            ExitCode::SUCCESS
        }
        Err(message) => {
            complain(format!("{message}\n"));
            ExitCode::from(FAILED)
        }
    }
}

/// Formats a text, or returns its errors as OPA shows them.
fn text_of(name: &str, bytes: &[u8], options: &FormatOptions) -> Result<String, String> {
    let formatted = module_text(name, bytes, &options.parse)
        .and_then(|text| format(&Source::new(SourceId(0), name, text), options));
    formatted.map_err(|errors| format_errors(&errors))
}

/// Returns the errors of a file. An empty file is one error, not a list.
fn format_errors(errors: &Diagnostics) -> String {
    match errors.0.as_slice() {
        [error] if error.code == Code::Parse && error.message == "empty module" => {
            error.to_string()
        }
        _ => errors.to_string(),
    }
}

/// Reads and formats files on all processors. The results are in the order of the files.
fn format_all(files: &[String], options: &FormatOptions) -> Vec<Result<Formatted, String>> {
    parallel::map(
        files,
        |_| parallel::FILE_BYTES,
        |file| {
            let before = std::fs::read(file);
            let before = before.map_err(|error| files::message("open", file, &error))?;
            let after = text_of(file, &before, options)
                .map_err(|errors| format!("failed to format Rego source file: {errors}"))?;
            Ok(Formatted { before, after })
        },
    )
}

/// Prints or writes a result as the flags say.
fn report(args: &Args, file: &str, result: &Formatted) -> Result<(), String> {
    let is_changed = result.is_changed();
    if args.list {
        if is_changed {
            print(format!("{file}\n"));
        }
    } else if args.diff {
        if is_changed {
            let before = String::from_utf8_lossy(&result.before);
            print(diff::colored(&before, &result.after) + "\n");
        }
    } else if is_changed && args.fail {
        // neither printed nor written
    } else if !args.write {
        print(&result.after);
    } else if is_changed {
        std::fs::write(file, &result.after)
            .map_err(|error| files::message("open", file, &error))?;
    }
    if is_changed && args.fail {
        return Err("unexpected diff".to_owned());
    }
    Ok(())
}
