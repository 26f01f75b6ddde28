//! `solon.Cancel`: stops evaluations from another thread.

use pyo3::prelude::*;

/// Stops evaluations from another thread: ``allow(input, cancel=cancel)`` ends with ``EvaluationCancelled`` soon after
/// ``cancel.cancel()``. It stays cancelled: each evaluation that is given it later ends at once.
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

    /// Stops every evaluation that was given this object, now and later.
    fn cancel(&self) {
        self.handle.cancel();
    }

    /// Whether it was told to stop.
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
