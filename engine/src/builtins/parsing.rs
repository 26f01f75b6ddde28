//! Rego as data.

use solon_syntax::ParseOptions;
use solon_syntax::json::{Options, text};
use solon_syntax::parse_module as parse;
use solon_syntax::source::{Source, SourceId};

use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::{ValueRef, json};

pub const TABLE: &[Builtin] = &[Builtin::new(
    "rego.parse_module",
    "filename: string, rego: string => output: object[string: any]",
    "The syntax tree of a module.",
    parse_module,
)];

fn parse_module<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // OPA's message names the first operand, whichever operand is wrong
    let operand = |position| {
        let operand = operands.operand(position);
        operand
            .as_text()
            .ok_or_else(|| BuiltinError::operand(1, &["string"], operand))
    };
    let (name, module) = (operand(0)?, operand(1)?);
    call.budget.spend_len(module.as_bytes().len())?;
    call.budget.reserve(module.as_bytes().len())?;
    let name = name.to_str();
    let source = Source::new(SourceId::default(), &*name, &*module.to_str());
    let options = ParseOptions {
        annotations: false,
        ..ParseOptions::default()
    };
    let module = parse(&source, &options).map_err(|errors| {
        BuiltinError::error(match errors.0.as_slice() {
            // an error of the file as a whole is not a list of errors
            [error] if !error.span.is_somewhere() && name.is_empty() => format!("0:0: {error}"),
            [error] if !error.span.is_somewhere() => error.to_string(),
            _ => errors.to_string(),
        })
    })?;
    let text = call
        .arena
        .bump()
        .alloc_str(&text(&module, Options::default()));
    json::read_into(call.arena, text.as_bytes())
        .map_err(|error| BuiltinError::error(error.to_string()))
}
