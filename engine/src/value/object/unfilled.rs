//! Objects whose values are made where they stay.

use std::sync::Arc;

use triomphe::{HeaderSlice, HeaderWithLength};

use super::{Object, ObjectRepr, Shape};
use crate::bug::bug;
use crate::value::Value;

/// An object of a known shape that nobody shares yet, each of whose values is `null` before it is put to its place. What is
/// written to a list and moved to its object at once is waited for.
pub struct Unfilled(triomphe::Arc<HeaderSlice<HeaderWithLength<ObjectRepr>, [Value]>>);

impl Unfilled {
    #[inline]
    pub(super) fn new(shape: Arc<Shape>) -> Self {
        let count = shape.keys().len();
        let header = HeaderWithLength::new(ObjectRepr::Shaped(shape), count);
        let nulls = (0..count).map(|_| Value::Null);
        Self(triomphe::Arc::from_header_and_iter(header, nulls))
    }

    /// The values, in the order of the shape's keys.
    #[inline]
    pub fn values(&mut self) -> &mut [Value] {
        match triomphe::Arc::get_mut(&mut self.0) {
            Some(own) => &mut own.slice,
            None => bug!("an object is shared before it is filled"),
        }
    }

    /// The object, from then on shared.
    #[inline]
    pub fn filled(self) -> Object {
        Object(triomphe::Arc::into_thin(self.0))
    }
}
