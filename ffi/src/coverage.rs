//! What evaluations came by.

use std::cell::{RefCell, RefMut};

use ::engine::trace::Coverage as EngineCoverage;

use crate::argument::{self, arguments, refused};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;
use crate::moment::Moment;

/// Which lines of the modules evaluations came by, over all whose requests name it. One thread at a time uses it.
pub struct Coverage(RefCell<EngineCoverage>);

impl Coverage {
    /// For an evaluation.
    pub(crate) fn taken(&self) -> Result<RefMut<'_, EngineCoverage>, Error> {
        let taken = self.0.try_borrow_mut();
        taken.map_err(|_| refused("`coverage` is in use by an evaluation"))
    }
}

/// Makes one that has seen nothing.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_coverage_new(out: *mut *mut Coverage) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Coverage(RefCell::default()));
        Ok(())
    })
}

/// The report on the modules of a moment, as JSON in OPA's form. The modules must be those that were evaluated.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_coverage_json(
    coverage: *mut Coverage,
    moment: *const Moment,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (coverage, moment, out) = arguments!(handle(coverage), handle(moment), output(out));
        let modules = moment.0.modules().map(|(_, module)| &**module);
        let report = coverage.taken()?.report(&[], modules);
        out.write(Bytes::json(&report)?);
        Ok(())
    })
}

/// Frees it; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_coverage_free(coverage: *mut Coverage) {
    // SAFETY: `solon_coverage_new` made it of a box, and the caller frees it once
    unsafe { argument::free(coverage) };
}
