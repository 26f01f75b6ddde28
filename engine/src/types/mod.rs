//! Static types of Rego expressions.
//!
//! Types are cheap to clone (composites are shared) and limited in size: a composite that would nest deeper than
//! [`limits::TYPE_NESTING`](crate::limits::TYPE_NESTING) or contain more nodes than
//! [`limits::TYPE_NODES`](crate::limits::TYPE_NODES) becomes `any`. Every recursion over a type relies on that.

pub mod brief;
mod composite;
mod display;
mod function;
mod json;
mod merge;
mod order;
mod parse_json;
mod relax;
pub mod schema;
mod select;
mod signature;
mod unify;
mod union;

use std::sync::Arc;

pub use composite::{ArrayType, ObjectType, SetType, UnionType};
pub use function::{FunctionType, Parameter};
pub use json::constant_json;
pub use merge::Merge;
pub use schema::{RecursiveType, SchemaError, ValidSchema};
pub use select::type_of;
pub use signature::{SignatureError, parse_host_signature, try_parse_signature};
pub use unify::{may_unify, unifies};
pub use union::{union, union_all};

/// A static type of a value or a function.
#[derive(Clone, Debug, Default)]
pub enum Type {
    /// Unknown type: a free variable, or a key that does not exist.
    #[default]
    Unknown,
    /// `null`
    Null,
    /// `boolean`
    Boolean,
    /// `number`
    Number,
    /// `string`
    String,
    /// Types of the leading elements, and the type of all further ones.
    Array(Arc<ArrayType>),
    /// Known keys, and the types of all further pairs.
    Object(Arc<ObjectType>),
    /// A set of elements of one type.
    Set(Arc<SetType>),
    /// Any value, but not a function.
    Any,
    /// Union of several types, none of which is a union.
    Union(Arc<UnionType>),
    /// A recursive definition of a schema.
    Recursive(Arc<RecursiveType>),
    /// A function with its parameters and result.
    Function(Arc<FunctionType>),
}

impl Type {
    /// Returns `false` for [`Type::Unknown`]. Components may be unknown.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Unknown)
    }

    /// Returns `true` if the type or a component is unknown. O(1).
    pub fn has_unknown(&self) -> bool {
        match self {
            Self::Unknown => true,
            Self::Null
            | Self::Boolean
            | Self::Number
            | Self::String
            | Self::Any
            | Self::Recursive(_) => false,
            Self::Array(array) => array.extent().unknown,
            Self::Object(object) => object.extent().unknown,
            Self::Set(set) => set.extent().unknown,
            Self::Union(union) => union.extent().unknown,
            Self::Function(function) => function.has_unknown(),
        }
    }

    /// Returns `true` if it is, or contains, the type of an empty collection. Keys of objects count, too.
    pub fn has_empty(&self) -> bool {
        match self {
            Self::Array(array) => array.extent().empty,
            Self::Object(object) => object.extent().empty,
            Self::Set(set) => set.extent().empty,
            Self::Union(union) => union.extent().empty,
            _ => false,
        }
    }

    /// Returns the function type, or `None` for types of values.
    pub fn as_function(&self) -> Option<&FunctionType> {
        match self {
            Self::Function(function) => Some(function),
            _ => None,
        }
    }
}

/// Parses a signature of the table of built-ins. A test parses all of them, because an invalid one would have no type.
pub fn parse_signature(text: &str) -> Type {
    try_parse_signature(text).map_or(Type::Unknown, Type::from)
}
