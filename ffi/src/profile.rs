//! Time profile of modules.

use std::cell::{RefCell, RefMut};

use ::engine::trace::Profile as EngineProfile;

use crate::argument::{self, argument_error, arguments};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;
use crate::snapshot::Snapshot;

/// Evaluation time by row of the modules, for all evaluations whose requests name it. Only one thread at a time may use it.
pub struct Profile(RefCell<EngineProfile>);

impl Profile {
    /// Borrows it for an evaluation.
    pub(crate) fn borrow_for_use(&self) -> Result<RefMut<'_, EngineProfile>, Error> {
        let borrowed = self.0.try_borrow_mut();
        borrowed.map_err(|_| argument_error("`profile` is in use by an evaluation"))
    }
}

/// Creates an empty profile.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_profile_new(out: *mut *mut Profile) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Profile(RefCell::default()));
        Ok(())
    })
}

/// Returns the rows, slowest first, as JSON in OPA's format, and resets the profile. The snapshot supplies the file names; its
/// modules must be those that were evaluated.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_profile_json(
    profile: *mut Profile,
    snapshot: *const Snapshot,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (profile, snapshot, out) = arguments!(handle(profile), handle(snapshot), output(out));
        let modules = snapshot.0.modules().map(|(_, module)| &**module);
        let rows = std::mem::take(&mut *profile.borrow_for_use()?).finish(modules);
        out.write(Bytes::json(&rows)?);
        Ok(())
    })
}

/// Frees the profile; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_profile_free(profile: *mut Profile) {
    // SAFETY: `solon_profile_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(profile) };
}
