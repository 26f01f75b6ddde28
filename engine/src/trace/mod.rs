//! Observers of a search, and the presentation of their results.

mod coverage;
mod event;
mod failure;
mod filter;
mod instruments;
mod json;
mod locations;
mod metrics;
mod pretty;
mod profile;
mod statistics;
mod succeeded;
mod timer;

pub use coverage::{Coverage, CoverageReport, FileCoverage, LineRange, Position, UncoveredReason};
pub use event::{Event, EventNode, Local, Observer, Observers, Op};
pub use failure::{FailedExpression, FailureSources, FailureVariable};
pub use filter::{Detail, Recorder};
pub use instruments::{Count, Instruments, MeasuredOperation};
pub use json::{EventNames, Spelling, detailed, json};
pub use metrics::Metrics;
pub use pretty::{Names, Pretty, pretty};
pub use profile::{Profile, ProfileRow};
pub use statistics::Statistics;
pub use succeeded::Succeeded;
pub use timer::Timer;
