//! What the project's own tests need of the inside. Nothing here is kept stable.

use crate::engine::{Change, Engine};
use crate::error::Error;
use crate::program::Program;
use crate::trace::Timer;

/// Applies a change with a compiled program that `tamper` made impossible.
///
/// # Errors
/// As for [`Engine::apply`].
pub fn apply_tampered(
    engine: &Engine,
    change: Change,
    tamper: &dyn Fn(&mut Program),
) -> Result<(), Error> {
    engine.apply_tampered(change, Timer::default(), tamper)
}
