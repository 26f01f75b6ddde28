//! `solon deps`: prints the documents that a query depends on.

use std::process::ExitCode;

use clap::ValueEnum;
use solon::bundle::{FileSelection, Loaded};
use solon::{Change, CompilerOptions, Dependencies, Engine};
use solon_syntax::ast::{Term, TermKind};
use solon_syntax::json::{Options, lay_out, text};

use super::FAILED;
use super::report::Report;
use super::table::TextTable;
use super::terminal::{complain, print};

/// Print the documents that a query depends on.
#[derive(clap::Args)]
#[command(after_help = "\
Base documents are data and parts of the input; virtual documents are made by rules.

Example:
  solon deps -d policies data.authz.allow")]
pub struct Args {
    /// The query.
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Policies: a file, or a folder.
    #[arg(short, long, value_name = "PATH")]
    data: Vec<String>,
    /// A bundle: policies of a folder with a manifest.
    #[arg(short, long, value_name = "PATH")]
    bundle: Vec<String>,
    /// How they are shown.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Names of files and folders to ignore.
    #[arg(long, value_name = "PATTERN")]
    ignore: Vec<String>,
    /// Accepted and without effect: v1 is the default.
    #[arg(long, hide = true)]
    v1_compatible: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table.
    #[default]
    Pretty,
    /// References as syntax trees.
    Json,
}

pub fn run(args: &Args) -> ExitCode {
    let [query] = args.query.as_slice() else {
        super::wrong_usage("deps", "specify exactly one query argument");
    };
    match dependencies(args, query) {
        Ok(dependencies) => {
            match args.format {
                Format::Pretty => print(table(&dependencies)),
                Format::Json => print(json(&dependencies)),
            }
            ExitCode::SUCCESS
        }
        Err(report) => {
            let text = match report.bare() {
                Some(message) => format!("{message}\n"),
                None => report.text(report.is_of_files()),
            };
            complain(text);
            ExitCode::from(FAILED)
        }
    }
}

fn dependencies(args: &Args, query: &str) -> Result<Dependencies, Report> {
    let options = CompilerOptions::default().print(false);
    let engine = Engine::builder().compiler(options).build();
    let text_of = |file: &str| file.is_empty().then(|| query.to_owned());
    // syntax errors of the query are reported before anything is loaded
    engine
        .dependencies(query)
        .map_err(|error| Report::of_error(&error, &text_of))?;
    let loaded = load(args)?;
    let mut change = Change::default();
    for (name, text) in &loaded.modules {
        change.set_module(name, text);
    }
    let text_of = |file: &str| loaded.modules.get(file).cloned();
    engine.apply(change).map_err(|error| {
        let report = Report::of_error(&error, &text_of);
        // loading parses the files
        let is_of_loading = report.is_of_loading();
        report.during_loading(is_of_loading)
    })?;
    engine
        .dependencies(query)
        .map_err(|error| Report::of_error(&error, &text_of))
}

/// Loads the policies. If there are bundles, files are ignored, as in OPA.
fn load(args: &Args) -> Result<Loaded, Report> {
    let loader = super::loader(&args.ignore, None, super::version_of(false))?;
    if !args.bundle.is_empty() {
        let loaded = loader.load_bundles(&args.bundle);
        return loaded.map_err(|error| Report::message(error.to_string()));
    }
    let loader = loader.with_selection(FileSelection::All);
    loader.load(&args.data).map_err(Report::of_files)
}

/// Returns a table with a column for each kind of dependency that exists.
fn table(dependencies: &Dependencies) -> String {
    let columns = [
        ("BASE DOCUMENTS", dependencies.base_texts()),
        ("VIRTUAL DOCUMENTS", dependencies.rule_texts()),
    ];
    let columns: Vec<_> = columns
        .into_iter()
        .filter(|(_, texts)| !texts.is_empty())
        .collect();
    if columns.is_empty() {
        return String::new();
    }
    let header = columns.iter().map(|(title, _)| (*title).to_owned());
    let mut table = TextTable::new(header.collect());
    let rows = columns.iter().map(|(_, texts)| texts.len()).max();
    for row in 0..rows.unwrap_or(0) {
        let cells = columns.iter();
        let cells = cells.map(|(_, texts)| texts.get(row).cloned().unwrap_or_default());
        table.row(cells.collect());
    }
    table.render()
}

fn json(dependencies: &Dependencies) -> Vec<u8> {
    let references = |terms: &[Term]| {
        let references = terms.iter().map(|term| match &term.kind {
            TermKind::Ref(parts) => {
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| text(part, Options::default()))
                    .collect();
                format!("[{}]", parts.join(","))
            }
            _ => format!("[{}]", text(term, Options::default())),
        });
        references.collect::<Vec<String>>().join(",")
    };
    let members = [
        ("base", &dependencies.base),
        ("virtual", &dependencies.rules),
    ];
    let members = members.iter().filter(|(_, terms)| !terms.is_empty());
    let members: Vec<String> = members
        .map(|(name, terms)| format!("\"{name}\":[{}]", references(terms)))
        .collect();
    let compact = format!("{{{}}}", members.join(","));
    let mut out = Vec::new();
    let compact = crate::json::escape_html(compact.into_bytes());
    lay_out(&compact, 0, &mut out, usize::MAX, |byte, out| {
        out.push(byte);
    });
    out.push(b'\n');
    out
}
