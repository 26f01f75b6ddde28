//! Decision logs: an event for each decision, and where events are written.
//!
//! | file | holds |
//! |---|---|
//! | `event` | an event and its JSON text |
//! | `id` | ids of decisions |
//! | `mask` | removing and replacing fields of an event |
//! | `logger` | the log itself, from start to stop |
//! | `counts` | numbers of events that were dropped or failed |

mod counts;
mod event;
mod id;
mod logger;
mod mask;

pub use event::{ErrorForm, Event, EventError};
pub use id::new_id;
pub use logger::{DecisionLog, DecisionLogs};
pub use mask::mask;
