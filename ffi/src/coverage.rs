//! Coverage of modules.

use std::cell::{RefCell, RefMut};

use ::engine::trace::Coverage as EngineCoverage;

use crate::argument::{self, argument_error, arguments};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;
use crate::snapshot::Snapshot;

/// Lines of the modules that were evaluated, for all evaluations whose requests name it. Only one thread at a time may use it.
pub struct Coverage(RefCell<EngineCoverage>);

impl Coverage {
    /// Borrows it for an evaluation.
    pub(crate) fn borrow_for_use(&self) -> Result<RefMut<'_, EngineCoverage>, Error> {
        let borrowed = self.0.try_borrow_mut();
        borrowed.map_err(|_| argument_error("`coverage` is in use by an evaluation"))
    }
}

/// Creates an empty coverage.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_coverage_new(out: *mut *mut Coverage) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Coverage(RefCell::default()));
        Ok(())
    })
}

/// Returns the coverage report for the modules of a snapshot, as JSON in OPA's format. The modules must be those that were
/// evaluated.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_coverage_json(
    coverage: *const Coverage,
    snapshot: *const Snapshot,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (coverage, snapshot, out) = arguments!(handle(coverage), handle(snapshot), output(out));
        let modules = snapshot.0.modules().map(|(_, module)| &**module);
        let report = coverage.borrow_for_use()?.report(&[], modules);
        out.write(Bytes::json(&report)?);
        Ok(())
    })
}

/// Frees the coverage; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_coverage_free(coverage: *mut Coverage) {
    // SAFETY: `solon_coverage_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(coverage) };
}
