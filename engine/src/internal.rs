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

#[cfg(feature = "graphql")]
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
    pub use crate::value::*;
}

pub mod topdown {
    pub use crate::topdown::*;
}
