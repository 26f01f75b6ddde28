//! Built-ins that check and parse URIs.

use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::uri;
use crate::value::{RefRepr, ValueRef};

pub const TABLE: &[Builtin] = &[
    Builtin::new(
        "uri.is_valid",
        "uri: string => result: boolean",
        "Returns `true` if a string is a URI.",
        is_valid,
    ),
    Builtin::new(
        "uri.parse",
        "uri: string => output: object[string: string]",
        "The parts of a URI that are not empty.",
        parse,
    ),
];

fn is_valid<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let valid = operands.operand(0).as_text().is_some_and(|text| {
        let text = text.as_bytes();
        !text.is_empty() && uri::parse(text).is_ok()
    });
    Ok(ValueRef(RefRepr::Bool(valid)))
}

fn parse<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let text = operands.text(0)?;
    call.budget.reserve(4 * text.as_bytes().len())?;
    let uri =
        uri::parse(text.as_bytes()).map_err(|error| BuiltinError::error(error.to_string()))?;
    let raw_path = if uri.raw_path.is_empty() {
        &uri.path
    } else {
        &uri.raw_path
    };
    let parts: [(&str, &[u8]); 7] = [
        ("scheme", uri.scheme.as_bytes()),
        ("hostname", uri.hostname()),
        ("port", uri.port()),
        ("path", &uri.path),
        ("raw_path", raw_path),
        ("raw_query", &uri.query),
        ("fragment", &uri.fragment),
    ];
    let arena = call.arena;
    let parts = parts.into_iter().filter(|(_, part)| !part.is_empty());
    Ok(arena.object_from(parts.map(|(key, part)| (arena.text(key), arena.bytes_text(part)))))
}
