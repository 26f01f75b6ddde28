//! Decision logs: an event for each decision, and the sinks that events are written to.
//!
//! - `event`: an event and its JSON text
//! - `id`: ids of decisions
//! - `mask`: removal and replacement of event fields
//! - `logger`: lifecycle of the log
//! - `counts`: numbers of events that were dropped or failed
//! - `upload`: uploading events to a service
//! - `buffer`, `spool`: events that wait for an upload, in memory or on disk
//! - `chunk`: compressing events into the body of an upload
//! - `rate`: rate limit of events
//! - `file`, `sqlite`: files, standard output and a SQLite file
//! - `otlp`: a receiver of OTLP

mod buffer;
mod chunk;
mod counts;
mod event;
mod file;
mod id;
mod logger;
mod mask;
mod otlp;
mod rate;
mod spool;
mod sqlite;
mod upload;

pub use event::{ErrorForm, Event, EventError};
pub use id::new_id;
pub use logger::{DecisionLog, DecisionLogs};
pub use mask::mask;
pub use spool::read_spool;
pub use sqlite::comparable;
