//! `solon.Cancel`: stops evaluations from another thread.

use pyo3::prelude::*;

/// Cancels evaluations from another thread: ``allow(input, cancel=cancel)`` raises ``EvaluationCancelled`` soon after
/// ``cancel.cancel()``. It stays cancelled: later evaluations with it end at once.
#[pyclass(frozen, module = "solon")]
#[derive(Default)]
pub struct Cancel {
    pub handle: ::engine::Cancel,
}

#[pymethods]
impl Cancel {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Cancels all current and future evaluations with this object.
    fn cancel(&self) {
        self.handle.cancel();
    }

    /// ``True`` if it was cancelled.
    #[getter]
    fn cancelled(&self) -> bool {
        self.handle.is_cancelled()
    }

    fn __repr__(&self) -> &'static str {
        if self.handle.is_cancelled() {
            "<solon.Cancel, cancelled>"
        } else {
            "<solon.Cancel>"
        }
    }
}
