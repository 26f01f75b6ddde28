//! Documents by paths: parts of them kept, removed, changed.

#![allow(
    clippy::mutable_key_type,
    reason = "the cells in values hold an order found late, which neither equality nor hash looks at"
)]

mod filter;
mod patch;
mod paths;
mod tree;

use super::Builtin;

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "json.filter",
        "object: object[any: any], paths: any<array[any<string, array[any]>], set[any<string, array[any]>]> => filtered: object[any: any]",
        "The object with what the paths lead to only.",
        filter::filter,
    ),
    Builtin::new(
        "json.patch",
        "target: any, patches: array[object<op: string, path: any>[any: any]] => output: any",
        "The document changed by the operations of a JSON Patch.",
        patch::patch,
    ),
    Builtin::new(
        "json.remove",
        "object: object[any: any], paths: any<array[any<string, array[any]>], set[any<string, array[any]>]> => output: object[any: any]",
        "The object without what the paths lead to.",
        filter::remove,
    ),
];
