//! What policies print, which is logged.

use std::cell::RefCell;

/// Lines that were printed, in order.
#[derive(Default)]
pub struct Prints(RefCell<Vec<String>>);

impl Prints {
    /// Adds a line.
    pub fn add(&self, line: &str) {
        self.0.borrow_mut().push(line.to_owned());
    }

    /// Logs them.
    pub fn log(self) {
        for line in self.0.into_inner() {
            tracing::info!("{line}");
        }
    }
}
