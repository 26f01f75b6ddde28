//! How long the rows of modules took.

use std::cell::{RefCell, RefMut};

use ::engine::trace::Profile as EngineProfile;

use crate::argument::{self, arguments, refused};
use crate::bytes::Bytes;
use crate::error::Error;
use crate::guard::guard;
use crate::moment::Moment;

/// How long the rows of the modules took, over all evaluations whose requests name it. One thread at a time uses it.
pub struct Profile(RefCell<EngineProfile>);

impl Profile {
    /// For an evaluation.
    pub(crate) fn taken(&self) -> Result<RefMut<'_, EngineProfile>, Error> {
        let taken = self.0.try_borrow_mut();
        taken.map_err(|_| refused("`profile` is in use by an evaluation"))
    }
}

/// Makes one without rows.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_profile_new(out: *mut *mut Profile) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Profile(RefCell::default()));
        Ok(())
    })
}

/// Gives the rows, those that took longest first, as JSON in OPA's form, and begins anew. Files have their names from the
/// moment, whose modules must be those that were evaluated.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_profile_json(
    profile: *mut Profile,
    moment: *const Moment,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        let (profile, moment, out) = arguments!(handle(profile), handle(moment), output(out));
        let modules = moment.0.modules().map(|(_, module)| &**module);
        let rows = std::mem::take(&mut *profile.taken()?).finish(modules);
        out.write(Bytes::json(&rows)?);
        Ok(())
    })
}

/// Frees it; nothing happens for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_profile_free(profile: *mut Profile) {
    // SAFETY: `solon_profile_new` made it of a box, and the caller frees it once
    unsafe { argument::free(profile) };
}
