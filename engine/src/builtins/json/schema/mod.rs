//! JSON Schema, drafts 4, 6 and 7, with OPA's error messages.

mod compile;
mod email;
mod format;
mod keywords;
mod problem;
mod validate;

use std::sync::Arc;

use solon_syntax::stack;

use crate::builtins::patterns::{CompiledPattern, Family};
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared};
use crate::limits;
use crate::value::{RefRepr, ValueRef, json};
use keywords::SchemaProgram;
use problem::SchemaViolation;

impl CompiledPattern for SchemaProgram {
    fn bytes(&self) -> usize {
        self.bytes
    }
}

/// A call with a constant schema.
struct ConstantJsonSchema(SchemaProgram);

impl Prepared for ConstantJsonSchema {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let document = document(call, operands.operand(0))?;
        outcome(call, &self.0, document)
    }
}

/// Compiles a constant schema. Returns `None` if it is not constant or not valid.
pub fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let schema = operands.get(1).copied()??;
    let schema = compile(&text(schema).ok()?).ok()?;
    Some(Arc::new(ConstantJsonSchema(schema)))
}

pub fn match_schema<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let document = document(call, operands.operand(0))?;
    let schema = cached(call, operands.operand(1)).map_err(BuiltinError::error)?;
    outcome(call, &schema, document)
}

pub fn verify_schema<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let verdict = match cached(call, operands.operand(0)) {
        Ok(_) => [ValueRef(RefRepr::Bool(true)), ValueRef(RefRepr::Null)],
        Err(reason) => {
            let reason = call.arena.text(&format!("jsonschema: {reason}"));
            [ValueRef(RefRepr::Bool(false)), reason]
        }
    };
    Ok(call.arena.array(&verdict))
}

/// Returns a document or schema as JSON text. A string operand must contain JSON text.
fn text(operand: ValueRef<'_>) -> Result<Vec<u8>, String> {
    match operand {
        ValueRef(
            RefRepr::Object(_)
            | RefRepr::ArenaObject(_)
            | RefRepr::Array(_)
            | RefRepr::ArenaArray(_),
        ) => {
            let mut text = Vec::new();
            json::write(operand, &mut text);
            Ok(text)
        }
        _ => match operand.as_text() {
            Some(text) if json::is_valid(text.as_bytes()) => Ok(text.as_bytes().to_vec()),
            Some(_) => Err("invalid JSON string".to_owned()),
            None => Err("wrong type, expected string or object".to_owned()),
        },
    }
}

/// Returns the document to validate: strings are parsed, other values are used unchanged if JSON can represent them.
fn document<'e>(
    call: &mut BuiltinContext<'e>,
    operand: ValueRef<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    if operand.as_text().is_none() && is_json(operand) {
        return match operand {
            ValueRef(
                RefRepr::Object(_)
                | RefRepr::ArenaObject(_)
                | RefRepr::Array(_)
                | RefRepr::ArenaArray(_),
            ) => Ok(operand),
            _ => Err(BuiltinError::error("wrong type, expected string or object")),
        };
    }
    let text = text(operand).map_err(BuiltinError::error)?;
    call.budget.spend_len(text.len() / 16)?;
    call.budget.reserve(text.len())?;
    let text = call.arena.bump().alloc_slice_copy(&text);
    json::read_into(call.arena, text).map_err(|error| BuiltinError::error(error.to_string()))
}

/// Returns `true` if JSON can represent a value: it contains no sets, all keys are strings, and all strings are valid
/// UTF-8.
fn is_json(value: ValueRef<'_>) -> bool {
    stack::level(|| match value {
        ValueRef(
            RefRepr::Null
            | RefRepr::Bool(_)
            | RefRepr::Int(_)
            | RefRepr::Decimal(..)
            | RefRepr::Number(_)
            | RefRepr::ArenaNumber(_),
        ) => true,
        ValueRef(RefRepr::Object(_) | RefRepr::ArenaObject(_)) => {
            value.as_object().is_none_or(|members| {
                let is_text = |key: ValueRef<'_>| key.as_text().is_some() && is_json(key);
                members
                    .iter()
                    .all(|(key, value)| is_text(key) && is_json(value))
            })
        }
        ValueRef(RefRepr::Array(_) | RefRepr::ArenaArray(_)) => {
            let items = value.as_array();
            items.is_none_or(|items| items.iter().all(is_json))
        }
        ValueRef(RefRepr::Set(_) | RefRepr::ArenaSet(_)) => false,
        ValueRef(
            RefRepr::Short(_) | RefRepr::Text(_) | RefRepr::Bytes(_) | RefRepr::ArenaText(_),
        ) => {
            let text = value.as_text();
            text.is_none_or(|text| text.as_utf8().is_some())
        }
    })
}

/// Returns the cached compiled form of a schema that is not constant.
fn cached(
    call: &mut BuiltinContext<'_>,
    operand: ValueRef<'_>,
) -> Result<Arc<SchemaProgram>, String> {
    let text = text(operand)?;
    call.patterns
        .get(Family::JsonSchema, &text, || compile(&text))
}

fn compile(text: &[u8]) -> Result<SchemaProgram, String> {
    let document = json::read(text).map_err(|error| error.to_string())?;
    stacker::maybe_grow(limits::COMPILE_STACK, limits::COMPILE_STACK, || {
        compile::compile(&document, text.len())
    })
}

/// Returns the result of a validation: `true` if the document is valid, and the errors.
fn outcome<'e>(
    call: &mut BuiltinContext<'e>,
    schema: &SchemaProgram,
    document: ValueRef<'e>,
) -> Result<ValueRef<'e>, BuiltinError> {
    let problems = validate::validate(call, schema, document)?;
    let valid = ValueRef(RefRepr::Bool(problems.is_empty()));
    let arena = call.arena;
    let mut violations = arena.list();
    for problem in problems {
        call.budget.step()?;
        call.budget.reserve(0)?;
        violations.push(violation_value(call, &problem));
    }
    let list = arena.array_of(violations.into_bump_slice());
    Ok(arena.array(&[valid, list]))
}

fn violation_value<'e>(call: &BuiltinContext<'e>, problem: &SchemaViolation<'_>) -> ValueRef<'e> {
    let arena = call.arena;
    let description = problem.description();
    let error = format!("{}: {description}", problem.field);
    arena.object_from(
        [
            ("desc", description.as_str()),
            ("error", error.as_str()),
            ("field", problem.field.as_str()),
            ("type", problem.kind.name()),
        ]
        .map(|(key, text)| (arena.text(key), arena.text(text))),
    )
}
