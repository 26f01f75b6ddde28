//! Objects whose values are constructed in place.

use std::sync::Arc;

use triomphe::{HeaderSlice, HeaderWithLength};

use super::{Object, ObjectRepr, Shape};
use crate::bug::bug;
use crate::value::{Repr, Value};

/// An object of a known shape that is not shared yet. Values are `null` until they are set. Writing values to a list
/// and then moving them into an object stalls on store forwarding.
pub struct Unfilled(triomphe::Arc<HeaderSlice<HeaderWithLength<ObjectRepr>, [Value]>>);

impl Unfilled {
    #[inline]
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        let count = shape.keys().len();
        let header = HeaderWithLength::new(ObjectRepr::Shaped(shape), count);
        let nulls = (0..count).map(|_| Value(Repr::Null));
        Self(triomphe::Arc::from_header_and_iter(header, nulls))
    }

    /// Returns the values, in the order of the shape's keys.
    #[inline]
    pub fn values(&mut self) -> &mut [Value] {
        match triomphe::Arc::get_mut(&mut self.0) {
            Some(unshared) => &mut unshared.slice,
            None => bug!("an object is shared before it is filled"),
        }
    }

    /// Returns the object, which can be shared from then on. No value is copied.
    #[inline]
    pub fn filled(self) -> Object {
        Object(triomphe::Arc::into_thin(self.0))
    }
}
