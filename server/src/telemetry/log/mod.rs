//! Log on standard error, with the field names of OPA: `level`, `msg`, `time` and others.
//!
//! Everything is logged through `tracing`. This module formats events (`lines`), formats times by Go layouts (`clock`), and passes
//! lines to a thread that writes them (`queue`).

mod clock;
mod lines;
mod queue;

use clap::ValueEnum;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;

use clock::Clock;
use lines::Lines;

pub use lines::{CONSOLE, Format};
pub use queue::{LogGuard, dropped_lines};

/// Log level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Everything, including bodies.
    Debug,
    /// Each request.
    #[default]
    Info,
    /// Possible problems and errors. OPA does not have this level.
    #[value(skip)]
    Warn,
    /// Errors only.
    Error,
}

impl Level {
    /// Returns the level of lines that are written at this level.
    pub fn of_lines(self) -> tracing::Level {
        match self {
            Self::Debug => tracing::Level::DEBUG,
            Self::Info => tracing::Level::INFO,
            Self::Warn => tracing::Level::WARN,
            Self::Error => tracing::Level::ERROR,
        }
    }
}

/// Writes the events of `tracing` to standard error, on a separate thread. Only the first call of a process has an effect.
///
/// Times are formatted by `layout`, a Go layout, or in RFC 3339 if there is none. At most `max` bytes of lines wait for a slow
/// reader of standard error. Lines beyond that are dropped and counted. When the guard is dropped, it writes the waiting lines.
pub fn start_log(level: Level, format: Format, layout: Option<&str>, max: usize) -> LogGuard {
    let lines = Lines {
        format,
        clock: Clock::new(layout),
    };
    let (writer, guard) = queue::start(max, lines.clone(), std::io::stderr());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .event_format(lines)
        .with_writer(writer)
        .finish();
    // console output that the configuration enables does not depend on the level, as in OPA
    let filter = Targets::new()
        .with_default(LevelFilter::from_level(level.of_lines()))
        .with_target(CONSOLE, LevelFilter::INFO);
    let subscriber = subscriber.with(filter);
    // a process has one log
    let _ = tracing::subscriber::set_global_default(subscriber);
    guard
}
