//! The log: lines on standard error, in the field names that OPA's users know: `level`, `msg`, `time` and the rest.
//!
//! Everything is logged through `tracing`. This module formats events (`lines`), formats times by layouts of Go (`clock`) and hands lines
//! over to a thread that writes them (`queue`).

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

/// How much is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Everything, bodies too.
    Debug,
    /// Each request.
    #[default]
    Info,
    /// What may be wrong, and faults. OPA has no such level.
    #[value(skip)]
    Warn,
    /// Faults only.
    Error,
}

impl Level {
    /// The level of lines that are written from this one on.
    pub fn of_lines(self) -> tracing::Level {
        match self {
            Self::Debug => tracing::Level::DEBUG,
            Self::Info => tracing::Level::INFO,
            Self::Warn => tracing::Level::WARN,
            Self::Error => tracing::Level::ERROR,
        }
    }
}

/// Writes the events of `tracing` to standard error, from a thread of its own. Only the first call of a process has an effect.
///
/// Times have the form of `layout`, a layout of Go; RFC 3339 if there is none. At most `most` bytes of lines wait for a slow reader of
/// standard error. Lines beyond that are dropped and counted. The guard writes the lines that still wait when it is dropped.
pub fn start_log(level: Level, format: Format, layout: Option<&str>, most: usize) -> LogGuard {
    let lines = Lines {
        format,
        clock: Clock::new(layout),
    };
    let (writer, guard) = queue::start(most, lines.clone(), std::io::stderr());
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::TRACE)
        .event_format(lines)
        .with_writer(writer)
        .finish();
    // what a configuration writes to the console does not depend on the level, as in OPA
    let filter = Targets::new()
        .with_default(LevelFilter::from_level(level.of_lines()))
        .with_target(CONSOLE, LevelFilter::INFO);
    let subscriber = subscriber.with(filter);
    // a process has one log
    let _ = tracing::subscriber::set_global_default(subscriber);
    guard
}
