//! `solon replay`: evaluates logged decisions again and compares the results.

mod changes;
mod event;
mod host;
mod log;
mod outcome;
mod worker;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use parking_lot::Mutex;
use serde_json::{Value as Json, json};
use solon::bundle::Verification;
use solon::{Change, Engine};

use self::changes::{Change as Difference, Tally};
use self::host::LoggedHost;
use self::worker::Worker;
use super::report::Report;
use super::table::TextTable;
use super::terminal::complain;
use super::verifying::VerifyArgs;

/// Evaluate logged decisions again on another bundle, and show which results change.
///
/// A log is a file of events as lines of JSON or as JSON arrays, also compressed with gzip, a SQLite file, or a spool.
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes: 0 if no decision changes, 1 if some do, 2 on errors.

Example:
  solon replay decisions.log -b bundle.tar.gz --path authz/allow")]
pub struct Args {
    /// Files of logged decisions, or folders of a spool; `-` is standard input
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// A bundle that decisions are evaluated on: an archive, or a folder
    #[arg(short, long, required = true, value_name = "PATH")]
    bundle: Vec<String>,
    /// Decisions of this document, like `authz/allow`, and of documents below it
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Most groups of changes to show, the largest ones; 0 shows all
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Most decision ids to show for each group of changes
    #[arg(long, value_name = "N", default_value_t = 3)]
    examples: usize,
    /// How changes are shown
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    #[command(flatten)]
    verify: VerifyArgs,
    /// Read policies as Rego v0
    #[arg(long)]
    v0_compatible: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// A table and totals
    #[default]
    Pretty,
    /// One JSON object
    Json,
}

/// Exit code if results of decisions change.
const CHANGED: u8 = 1;
/// Exit code if not every decision could be read and evaluated.
const FAILED: u8 = 2;

/// Stack size of a thread that evaluates, in bytes.
const STACK: usize = 8 << 20;

/// Evaluates logged decisions again.
pub fn run(args: &Args) -> ExitCode {
    let engine = match engine(args) {
        Ok(engine) => engine,
        Err(report) => {
            complain(report.text(false));
            return ExitCode::from(FAILED);
        }
    };
    let (tally, failure) = replay(args, &engine);
    if let Err(error) = show(args, &tally) {
        complain(format!("error: {error}\n"));
        return ExitCode::from(FAILED);
    }
    let failure = failure.or_else(|| {
        if tally.unreadable > 0 {
            return Some(format!("{} events cannot be read", tally.unreadable));
        }
        (tally.replayed() == 0).then(|| "no decision was replayed".to_owned())
    });
    if let Some(failure) = failure {
        complain(format!("error: {failure}\n"));
        return ExitCode::from(FAILED);
    }
    if tally.changed() > 0 {
        return ExitCode::from(CHANGED);
    }
    ExitCode::SUCCESS
}

/// Creates an engine with the bundles.
fn engine(args: &Args) -> Result<Engine, Report> {
    let version = super::version_of(args.v0_compatible);
    let engine = Engine::builder()
        .version(version)
        .host(Arc::new(LoggedHost))
        .build();
    let verification = args.verify.verification(Verification::default());
    let loader =
        super::loader(&[], None, version)?.verification(verification.map_err(Report::message)?);
    let loaded = loader.load_bundles(&args.bundle);
    let loaded = loaded.map_err(|error| Report::message(error.to_string()))?;
    let mut change = Change::default();
    change.load(&loaded);
    let text_of = |file: &str| loaded.modules.get(file).cloned();
    let applied = engine.apply(change);
    applied.map_err(|error| Report::of_error(&error, &text_of))?;
    Ok(engine)
}

/// Reads the logs on this thread and evaluates their decisions on the others. The second result is the error of a log that cannot
/// be read to its end.
fn replay(args: &Args, engine: &Engine) -> (Tally, Option<String>) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let (sender, blocks) = sync_channel(2 * threads);
    let blocks = Mutex::new(blocks);
    let tally = Mutex::new(Tally::default());
    let path = args.path.as_deref().map(|path| path.trim_matches('/'));
    let bar = progress_bar();
    let failure = thread::scope(|scope| {
        let work = || {
            let mut worker = Worker::new(engine, path, args.examples);
            loop {
                let block = blocks.lock().recv();
                let Ok(block) = block else { break };
                worker.replay(&block);
            }
            tally.lock().merge(worker.finish(), args.examples);
        };
        for _ in 0..threads {
            let thread = thread::Builder::new().stack_size(STACK);
            if let Err(error) = thread.spawn_scoped(scope, work) {
                return Some(format!("cannot start a thread: {error}"));
            }
        }
        let result = log::read_all(&args.logs, &bar, &mut |block| sender.send(block).is_ok());
        drop(sender);
        result.err()
    });
    bar.finish_and_clear();
    (tally.into_inner(), failure)
}

/// Returns a bar that is drawn only on a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = "{bar:40} {percent:>3}%  {elapsed} elapsed, {eta} left";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar
}

fn show(args: &Args, tally: &Tally) -> io::Result<()> {
    let mut changes = tally.changes();
    let hidden_count = match args.limit {
        0 => 0,
        limit => {
            let hidden_count = changes.len().saturating_sub(limit);
            changes.truncate(limit);
            hidden_count
        }
    };
    let mut out = io::stdout().lock();
    match args.format {
        Format::Json => writeln!(out, "{:#}", document(tally, &changes)),
        Format::Pretty => out.write_all(text(tally, &changes, hidden_count).as_bytes()),
    }
}

fn document(tally: &Tally, changes: &[Difference<'_>]) -> Json {
    let changes = changes.iter().map(|change| {
        json!({
            change.group.kind.name(): change.group.name,
            "old": change.group.old,
            "new": change.group.new,
            "count": change.count,
            "decision_ids": change.examples,
        })
    });
    json!({
        "changes": changes.collect::<Json>(),
        "decisions": tally.replayed() + tally.not_replayable(),
        "unchanged": tally.unchanged,
        "changed": tally.changed(),
        "not_replayable": tally.reasons(),
        "unreadable": tally.unreadable,
        "skipped_lines": tally.skipped,
    })
}

fn text(tally: &Tally, changes: &[Difference<'_>], hidden_count: usize) -> String {
    let mut out = String::new();
    if !changes.is_empty() {
        let names = ["decision", "old result", "new result", "count", "examples"];
        let mut table = TextTable::new(names.map(str::to_owned).to_vec());
        for change in changes {
            let examples = change.examples.join("\n");
            let group = change.group;
            table.tall_row(&[
                group.name.clone(),
                group.old.clone(),
                group.new.clone(),
                change.count.to_string(),
                examples,
            ]);
        }
        out.push_str(&table.render());
        if hidden_count > 0 {
            out.push_str(&format!(
                "{hidden_count} more groups (--limit 0 shows all)\n"
            ));
        }
    }
    out.push_str(&format!(
        "{} decisions: {} unchanged, {} changed, {} not replayable\n",
        tally.replayed() + tally.not_replayable(),
        tally.unchanged,
        tally.changed(),
        tally.not_replayable()
    ));
    for (reason, count) in tally.reasons() {
        out.push_str(&format!("not replayable, {reason}: {count}\n"));
    }
    if tally.skipped > 0 {
        out.push_str(&format!(
            "lines that are not decisions: {}\n",
            tally.skipped
        ));
    }
    out
}
