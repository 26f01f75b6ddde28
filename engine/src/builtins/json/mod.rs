//! Functions that filter, remove and change parts of documents by path.

#![allow(
    clippy::mutable_key_type,
    reason = "the cells in values hold an order found late, which neither equality nor hash looks at"
)]

mod edits;
mod filter;
mod patch;
mod paths;
#[cfg(feature = "jsonschema")]
mod schema;
mod selection;
mod tree;

use super::Builtin;

/// This family's entries.
pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "json.filter",
        "object: object[any: any], paths: any<array[any<string, array[any]>], set[any<string, array[any]>]> => filtered: object[any: any]",
        "The object with what the paths lead to only.",
        filter::filter,
    ).listed(&["object"])
    .specialise(|operands| selection::prepare(operands, true)),
    #[cfg(feature = "jsonschema")]
    Builtin::new(
        "json.match_schema",
        "document: any<string, object[any: any]>, schema: any<string, object[any: any]> => output: array<boolean, array[object<desc: string, error: string, field: string, type: string>]>",
        "Whether a document is what a JSON schema asks for, and what is wrong with it.",
        schema::match_schema,
    ).listed(&["object"])
    .nondeterministic()
    .specialise(schema::prepare),
    Builtin::new(
        "json.patch",
        "target: any, patches: array[object<op: string, path: any>[any: any]] => output: any",
        "The document changed by the operations of a JSON Patch.",
        patch::patch,
    ).listed(&["object"])
    .specialise(edits::prepare),
    Builtin::new(
        "json.remove",
        "object: object[any: any], paths: any<array[any<string, array[any]>], set[any<string, array[any]>]> => output: object[any: any]",
        "The object without what the paths lead to.",
        filter::remove,
    ).listed(&["object"])
    .specialise(|operands| selection::prepare(operands, false)),
    #[cfg(feature = "jsonschema")]
    Builtin::new(
        "json.verify_schema",
        "schema: any<string, object[any: any]> => output: array<boolean, any<null, string>>",
        "Whether a document is a JSON schema, and what is wrong with it.",
        schema::verify_schema,
    ).listed(&["object"])
    .nondeterministic(),
];
