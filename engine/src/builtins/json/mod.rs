//! Functions that filter, remove and change parts of documents by path.

#![allow(
    clippy::mutable_key_type,
    reason = "the cells in values hold an order found late, which neither equality nor hash looks at"
)]

mod edits;
mod filter;
mod patch;
mod paths;
#[cfg(feature = "formats")]
mod schema;
mod selection;
mod tree;

use super::Builtin;

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "json.filter",
        "object: object[any: any], paths: any<array[any<string, array[any]>], set[any<string, array[any]>]> => filtered: object[any: any]",
        "The object with only the values at the paths.",
        filter::filter,
    ).listed(&["object"])
    .specialise(|operands| selection::prepare(operands, true)),
    #[cfg(feature = "formats")]
    Builtin::new(
        "json.match_schema",
        "document: any<string, object[any: any]>, schema: any<string, object[any: any]> => output: array<boolean, array[object<desc: string, error: string, field: string, type: string>]>",
        "The validity of a document for a JSON schema, and the errors.",
        schema::match_schema,
    ).listed(&["object"])
    .nondeterministic()
    .specialise(schema::prepare),
    Builtin::new(
        "json.patch",
        "target: any, patches: array[object<op: string, path: any>[any: any]] => output: any",
        "The document after the operations of a JSON Patch.",
        patch::patch,
    ).listed(&["object"])
    .specialise(edits::prepare),
    Builtin::new(
        "json.remove",
        "object: object[any: any], paths: any<array[any<string, array[any]>], set[any<string, array[any]>]> => output: object[any: any]",
        "The object without the values at the paths.",
        filter::remove,
    ).listed(&["object"])
    .specialise(|operands| selection::prepare(operands, false)),
    #[cfg(feature = "formats")]
    Builtin::new(
        "json.verify_schema",
        "schema: any<string, object[any: any]> => output: array<boolean, any<null, string>>",
        "The validity of a JSON schema, and the error.",
        schema::verify_schema,
    ).listed(&["object"])
    .nondeterministic(),
];
