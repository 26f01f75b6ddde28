//! `solon control build`: builds the bundles of configuration files once.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use solon_control::commands;
use solon_control::worker::BuildReport;

use super::Common;
use super::building::StageArgs;
use super::level::LevelFlag;
use crate::cli::table::TextTable;
use crate::cli::terminal::complain;
use crate::telemetry::{Format, start_log};

/// Build and publish the bundles of a configuration once, without a database. The exit code is 1 if a bundle was not published.
#[derive(clap::Args)]
pub struct OnceArgs {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    stages: StageArgs,
    /// Bundle to build instead of all; can be repeated or separated by commas.
    #[arg(short, long, value_name = "NAME", value_delimiter = ',')]
    bundle: Vec<String>,
    /// Print nothing but log lines of failures.
    #[arg(long)]
    non_interactive: bool,
    /// Log level.
    #[arg(short, long, value_enum, default_value_t = LevelFlag::Error, value_name = "LEVEL")]
    log_level: LevelFlag,
    /// Accepted as by OPA Control Plane; a build does not keep its database.
    #[arg(long, hide = true)]
    apply_migrations: bool,
    /// Accepted as by OPA Control Plane; a build does not keep its database.
    #[arg(long, hide = true)]
    reset_persistence: bool,
}

/// Builds the bundles.
///
/// # Errors
/// The configuration is invalid. An empty message means that a bundle was not published, which is already reported.
pub async fn build(args: OnceArgs) -> Result<(), String> {
    let max = crate::config::Bounds::default().log;
    let _log = start_log(args.log_level.into(), Format::default(), None, max);
    let bar = (!args.non_interactive).then(progress_bar);
    let mut options = args.stages.options();
    options.bundles = args.bundle;
    let on_begin = |count: usize| {
        if let Some(bar) = &bar {
            bar.set_message("building and publishing bundles");
            bar.set_length(count as u64);
        }
    };
    let on_end = |report: &BuildReport| {
        if let Some(bar) = &bar {
            bar.inc(1);
        }
        tracing::debug!(bundle = report.bundle, "a build ended");
    };
    let reports = commands::build(&args.common.options(), options, on_begin, on_end).await;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    let reports = reports.map_err(|rejection| rejection.to_string())?;
    let failed: Vec<&BuildReport> = reports
        .iter()
        .filter(|report| !report.is_success())
        .collect();
    if args.non_interactive {
        for BuildReport { bundle, record } in &failed {
            let message = &record.error_message;
            let (phase, status) = (record.phase.as_str(), record.status.as_str());
            tracing::error!(
                phase,
                status,
                "failed to build a bundle {bundle:?}: {message}"
            );
        }
    } else {
        let succeeded = reports.len() - failed.len();
        let count = reports.len();
        complain(format!(
            "{succeeded}/{count} bundles built and pushed successfully\n"
        ));
        if !failed.is_empty() {
            complain(table(&failed));
        }
    }
    if failed.is_empty() {
        Ok(())
    } else {
        Err(String::new())
    }
}

/// Returns a bar that is drawn only on a terminal.
fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
    let style = "{msg} {bar:40} {pos}/{len}";
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style);
    }
    bar.set_message("loading configuration");
    bar
}

fn table(failed: &[&BuildReport]) -> String {
    let header = ["BUNDLE", "STATUS", "MESSAGE"].map(str::to_owned);
    let mut table = TextTable::new(header.into());
    for BuildReport { bundle, record } in failed {
        let cells = [
            printable(bundle),
            record.status.as_str().to_owned(),
            printable(record.error_message.trim_end()),
        ];
        table.tall_row(&cells);
    }
    table.render()
}

/// Returns a text whose control characters, which may come from a server, do not change the terminal.
fn printable(text: &str) -> String {
    let show = |c: char| match c {
        '\n' => c,
        _ if c.is_control() => '\u{fffd}',
        _ => c,
    };
    text.chars().map(show).collect()
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn messages_do_not_change_the_terminal() {
        assert_eq!(
            printable("a\nb\u{1b}[31mc\r\u{9b}"),
            "a\nb\u{fffd}[31mc\u{fffd}\u{fffd}"
        );
    }
}
