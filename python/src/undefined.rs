//! `solon.UNDEFINED`: the absence of a value, which differs from the value `null`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The type of `solon.UNDEFINED`, its only object.
///
/// It is falsy, but do not rely on that for a permission: values other than ``True`` are truthy, too, like a dict with ``"allow":
/// False``. Use ``Document.allow``, or compare with ``is True``.
#[pyclass(frozen, module = "solon")]
pub struct UndefinedType;

#[pymethods]
impl UndefinedType {
    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __bool__(&self) -> bool {
        false
    }

    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __repr__(&self) -> &'static str {
        "solon.UNDEFINED"
    }

    /// Copying and unpickling return the same object, because it is pickled by its name.
    #[expect(clippy::unused_self, reason = "Python calls it on the object")]
    fn __reduce__(&self) -> &'static str {
        "UNDEFINED"
    }
}

static UNDEFINED: PyOnceLock<Py<UndefinedType>> = PyOnceLock::new();

/// Returns the only object, which the first call creates.
pub fn get(py: Python<'_>) -> PyResult<Py<UndefinedType>> {
    let object = UNDEFINED.get_or_try_init(py, || Py::new(py, UndefinedType))?;
    Ok(object.clone_ref(py))
}

/// Returns `true` if `object` is `UNDEFINED` itself. Compares identities.
pub fn is_undefined(object: &Bound<'_, PyAny>) -> bool {
    let singleton = UNDEFINED.get(object.py());
    singleton.is_some_and(|singleton| object.is(singleton))
}
