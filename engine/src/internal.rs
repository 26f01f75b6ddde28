//! Internals for the project's own tests and tools. Not stable, and not for hosts.

pub mod builtins {
    pub use crate::builtins::*;
}

pub mod compile {
    pub use crate::compile::*;
}

pub mod engine {
    pub use crate::engine::*;
}

pub mod eval {
    pub use crate::eval::*;
}

pub mod runtime {
    pub use crate::runtime::*;
}

pub mod explanation {
    pub use crate::explanation::*;
}

#[cfg(feature = "formats")]
pub mod graphql {
    pub use crate::graphql::*;
}

pub mod limits {
    pub use crate::limits::*;
}

pub mod partial {
    pub use crate::partial::*;
}

pub mod program {
    pub use crate::program::*;
}

pub mod query {
    pub use crate::query::*;
}

#[cfg(feature = "sqlite")]
pub mod sqlite {
    pub use crate::store::sqlite::*;
}

pub mod types {
    pub use crate::types::*;
}

pub mod uri {
    pub use crate::uri::*;
}

pub mod value {
    use std::sync::Arc;

    use crate::value::object::ObjectRepr;
    pub use crate::value::*;

    /// Returns the address of the shape of an object, if it has one. Objects with equal addresses share their keys.
    pub fn shape_address(object: &Object) -> Option<usize> {
        let (shape, _) = object.shaped()?;
        Some(Arc::as_ptr(shape).addr())
    }

    /// Returns the number of runs of a large object that another one does not share, or `None` for small objects.
    pub fn unshared_runs(object: &Object, other: &Object) -> Option<usize> {
        let (ObjectRepr::Chunked(object), ObjectRepr::Chunked(other)) =
            (object.repr(), other.repr())
        else {
            return None;
        };
        let is_shared = |run: &&Arc<_>| other.runs().any(|other| Arc::ptr_eq(other, run));
        Some(object.runs().filter(|run| !is_shared(run)).count())
    }
}

pub mod topdown {
    pub use crate::topdown::*;
}
