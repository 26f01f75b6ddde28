//! How long the rows of modules took.

use std::cell::{RefCell, RefMut};

use ::engine::trace::{Profile as EngineProfile, ProfileRow};
use serde::Serialize;

use crate::argument::{self, refused};
use crate::bytes::Bytes;
use crate::error::{Error, Location};
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

/// A row in OPA's form.
#[derive(Serialize)]
struct Row {
    total_time_ns: u64,
    num_eval: u64,
    num_redo: u64,
    num_gen_expr: usize,
    location: Location,
}

impl Row {
    /// Rows of queries have no file.
    fn of(row: &ProfileRow, moment: &Moment) -> Self {
        let mut modules = moment.0.modules();
        let module = modules.find(|(_, module)| module.source.id == row.span.source);
        Self {
            total_time_ns: u64::try_from(row.time.as_nanos()).unwrap_or(u64::MAX),
            num_eval: row.evals,
            num_redo: row.redos,
            num_gen_expr: row.expressions(),
            location: Location {
                file: module.map_or_else(String::new, |(name, _)| name.to_owned()),
                row: row.span.row,
                col: row.span.col,
            },
        }
    }
}

/// Makes one without rows.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_profile_new(out: *mut *mut Profile) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let out = unsafe { argument::output(out, "out") }?;
        out.give(Profile(RefCell::default()));
        Ok(())
    })
}

/// Gives the rows, those that took longest first, as JSON in OPA's form, and begins anew. Files have their names from the
/// moment, whose modules must be those that were evaluated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_profile_json(
    profile: *mut Profile,
    moment: *const Moment,
    out: *mut Bytes,
) -> *mut Error {
    guard(|| {
        // SAFETY: the caller keeps the rules of the header
        let (profile, moment, out) = unsafe {
            (
                argument::handle(profile, "profile")?,
                argument::handle(moment, "moment")?,
                argument::output(out, "out")?,
            )
        };
        let rows = std::mem::take(&mut *profile.taken()?).finish();
        let mut rows: Vec<Row> = rows.iter().map(|row| Row::of(row, moment)).collect();
        rows.sort_by_key(|row| std::cmp::Reverse(row.total_time_ns));
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
