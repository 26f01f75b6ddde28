//! Response metadata of host functions.

use ::engine::ResponseMetadata;

use crate::argument::{self, arguments};
use crate::error::Error;
use crate::guard::guard;
use crate::value::Value;

/// Fields that host functions add to the response of a decision. Only one thread at a time may use it.
pub struct Metadata(pub(crate) ResponseMetadata);

/// Creates response metadata without fields.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_metadata_new(out: *mut *mut Metadata) -> *mut Error {
    guard(|| {
        let out = arguments!(output(out));
        out.give(Metadata(ResponseMetadata::default()));
        Ok(())
    })
}

/// Returns the fields, an object.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn solon_metadata_value(
    metadata: *const Metadata,
    out: *mut *mut Value,
) -> *mut Error {
    guard(|| {
        let (metadata, out) = arguments!(handle(metadata), output(out));
        out.give(Value(metadata.0.to_value()));
        Ok(())
    })
}

/// Frees the metadata; does nothing for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn solon_metadata_free(metadata: *mut Metadata) {
    // SAFETY: `solon_metadata_new` created it from a `Box`, and the caller frees it once
    unsafe { argument::free(metadata) };
}
