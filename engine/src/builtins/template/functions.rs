//! Functions that templates can call, with their numbers of arguments.

use super::data::{Basic, Data};
use super::{escape, print};
use crate::bug::{Within as _, bug};
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::value::array::ArrayView;
use crate::value::{Kind, RefRepr, ValueRef};

/// Why a call fails: a message, or an error that ends the evaluation.
pub enum CallFailure {
    Message(String),
    Evaluation(BuiltinError),
}

impl From<BuiltinError> for CallFailure {
    fn from(error: BuiltinError) -> Self {
        Self::Evaluation(error)
    }
}

fn fail<T>(message: impl Into<String>) -> Result<T, CallFailure> {
    Err(CallFailure::Message(message.into()))
}

/// Returns the minimum number of arguments of a function, and whether it accepts more. Returns `None` for an unknown
/// function.
pub fn arity(name: &str) -> Option<(usize, bool)> {
    Some(match name {
        "and" | "or" | "call" | "index" | "slice" | "eq" | "printf" => (1, true),
        "html" | "js" | "print" | "println" | "urlquery" => (0, true),
        "len" | "not" => (1, false),
        "ge" | "gt" | "le" | "lt" | "ne" => (2, false),
        _ => return None,
    })
}

/// Returns `true` if templates have a function of this name.
pub fn is_defined(name: &str) -> bool {
    arity(name).is_some()
}

/// Calls a function. The caller implements `and` and `or`, which do not evaluate all arguments.
pub fn call<'e>(
    call: &BuiltinContext<'e>,
    name: &str,
    callee: &str,
    arguments: &[Data<'e>],
) -> Result<Data<'e>, CallFailure> {
    let first = arguments.first().copied().unwrap_or(Data::Missing);
    let rest = arguments.get(1..).unwrap_or_default();
    let second = rest.first().copied().unwrap_or(Data::Missing);
    let truth = |value| Ok(Data::Document(ValueRef(RefRepr::Bool(value))));
    match name {
        "print" => Ok(Data::Document(print::plain(call, arguments, false)?)),
        "println" => Ok(Data::Document(print::plain(call, arguments, true)?)),
        "printf" => {
            let format = first.text();
            let format = format.unwrap_or_else(|| bug!("a format is not a string"));
            Ok(Data::Document(print::format(call, &format, rest)?))
        }
        "html" => escape_arguments(call, arguments, escape::html),
        "js" => escape_arguments(call, arguments, escape::js),
        "urlquery" => escape_arguments(call, arguments, escape::url),
        "len" => length(first),
        "not" => truth(!first.is_truthy()),
        "index" => index(first, rest),
        "slice" => slice(call, first, rest),
        "eq" => truth(equal(call, first, rest)?),
        "ne" => truth(!equal(call, first, rest)?),
        "lt" => truth(is_less(first, second)?),
        "le" => truth(is_less(first, second)? || equal(call, first, rest)?),
        "gt" => truth(!is_less(first, second)? && !equal(call, first, rest)?),
        "ge" => truth(!is_less(first, second)?),
        _ => match first.concrete() {
            Data::Missing => fail("call of nil"),
            value => fail(format!(
                "non-function {callee} of type {}",
                value.type_name()
            )),
        },
    }
}

fn escape_arguments<'e>(
    call: &BuiltinContext<'e>,
    arguments: &[Data<'e>],
    escape: fn(&[u8]) -> Vec<u8>,
) -> Result<Data<'e>, CallFailure> {
    let no_value = Data::Document(call.arena.text(super::NO_VALUE));
    let values: Vec<_> = arguments
        .iter()
        .map(|argument| match argument.concrete() {
            Data::Missing => no_value,
            value => value,
        })
        .collect();
    let text = print::plain(call, &values, false)?;
    let text = escape(text.text_or_empty().as_bytes());
    call.budget.reserve(text.len())?;
    Ok(Data::Document(call.arena.bytes_text(&text)))
}

fn int<'e>(length: usize) -> Data<'e> {
    Data::Int(i64::try_from(length).unwrap_or(i64::MAX))
}

fn length(value: Data<'_>) -> Result<Data<'_>, CallFailure> {
    match value {
        Data::Element(ValueRef(RefRepr::Null)) => return fail("len of nil pointer"),
        Data::Missing => return fail("reflect: call of reflect.Value.Type on zero Value"),
        _ => {}
    }
    if let Some(text) = value.text() {
        return Ok(int(text.len()));
    }
    let document = value.document();
    if let Some(items) = document.and_then(|value| value.as_array()) {
        return Ok(int(items.len()));
    }
    if let Some(members) = document.and_then(|value| value.as_object()) {
        return Ok(int(members.len()));
    }
    fail(format!("len of type {}", value.concrete().type_name()))
}

/// Converts an index. The end is a valid index, as in Go.
fn position(value: Data<'_>, length: usize) -> Result<usize, CallFailure> {
    let index = match value.concrete() {
        Data::Int(index) => index,
        Data::Byte(index) => i64::from(index),
        Data::Missing => return fail("cannot index slice/array with nil"),
        value => {
            return fail(format!(
                "cannot index slice/array with type {}",
                value.type_name()
            ));
        }
    };
    match usize::try_from(index) {
        Ok(position) if position <= length => Ok(position),
        _ => fail(format!("index out of range: {index}")),
    }
}

fn index<'e>(value: Data<'e>, indexes: &[Data<'e>]) -> Result<Data<'e>, CallFailure> {
    let mut current = value.concrete();
    if current.is_missing() {
        return fail("index of untyped nil");
    }
    for index in indexes {
        if let Data::Element(ValueRef(RefRepr::Null)) = current {
            return fail("index of nil pointer");
        }
        let document = current.document();
        if let Some(items) = document.and_then(|value| value.as_array()) {
            let item_position = position(*index, items.len())?;
            let Some(item) = items.get(item_position) else {
                return fail("reflect: slice index out of range");
            };
            current = Data::Element(item);
        } else if let Some(members) = document.and_then(|value| value.as_object()) {
            let key = match index.concrete() {
                Data::Missing => return fail("value is nil; should be of type string"),
                Data::Document(key) if key.kind() == Kind::String => key,
                key => {
                    return fail(format!(
                        "value has type {}; should be string",
                        key.type_name()
                    ));
                }
            };
            current = Data::Element(members.get(key).unwrap_or_default());
        } else if let Some(text) = current.text() {
            let byte_position = position(*index, text.len())?;
            match text.get(byte_position) {
                Some(byte) => current = Data::Byte(*byte),
                None => return fail("reflect: string index out of range"),
            }
        } else {
            let name = current.concrete().type_name();
            return fail(format!("can't index item of type {name}"));
        }
    }
    Ok(current)
}

fn slice<'e>(
    call: &BuiltinContext<'e>,
    value: Data<'e>,
    indexes: &[Data<'e>],
) -> Result<Data<'e>, CallFailure> {
    let value = value.concrete();
    if value.is_missing() {
        return fail("slice of untyped nil");
    }
    if indexes.len() > 3 {
        return fail(format!("too many slice indexes: {}", indexes.len()));
    }
    let items = value.document().and_then(|value| value.as_array());
    let text = value.text();
    let length = match (&items, &text) {
        (Some(items), _) => items.len(),
        (None, Some(_)) if indexes.len() == 3 => return fail("cannot 3-index slice a string"),
        (None, Some(text)) => text.len(),
        (None, None) => {
            return fail(format!("can't slice item of type {}", value.type_name()));
        }
    };
    let mut bounds = [0, length, length];
    for (limit, index) in bounds.iter_mut().zip(indexes) {
        *limit = position(*index, length)?;
    }
    let [start, end, capacity] = bounds;
    for (low, high) in [(start, end), (end, capacity)] {
        if low > high {
            return fail(format!("invalid slice index: {low} > {high}"));
        }
    }
    if let Some(items) = items {
        return Ok(Data::Document(part(call, items, start, end)));
    }
    let text = text.unwrap_or_else(|| bug!("neither a list nor a text is cut"));
    let text = text.within(start..end);
    Ok(Data::Document(call.arena.bytes_text(text)))
}

fn part<'e>(
    call: &BuiltinContext<'e>,
    items: ArrayView<'e>,
    start: usize,
    end: usize,
) -> ValueRef<'e> {
    call.arena
        .array_from(items.iter().skip(start).take(end - start))
}

fn types_differ<T>(left: Data<'_>, right: Data<'_>) -> Result<T, CallFailure> {
    fail(format!(
        "incompatible types for comparison: {} and {}",
        left.type_name(),
        right.type_name()
    ))
}

/// Converts integers of both kinds.
fn as_int(value: Data<'_>) -> Option<i64> {
    match value {
        Data::Int(value) => Some(value),
        Data::Byte(value) => Some(i64::from(value)),
        _ => None,
    }
}

fn equal<'e>(
    call: &BuiltinContext<'e>,
    left: Data<'e>,
    candidates: &[Data<'e>],
) -> Result<bool, CallFailure> {
    let left = left.concrete();
    if candidates.is_empty() {
        return fail("missing argument for comparison");
    }
    for right in candidates {
        if are_equal(call, left, right.concrete())? {
            return Ok(true);
        }
    }
    Ok(false)
}

#[expect(clippy::float_cmp, reason = "what is asked for")]
fn are_equal<'e>(
    call: &BuiltinContext<'e>,
    left: Data<'e>,
    right: Data<'e>,
) -> Result<bool, CallFailure> {
    if let (Some(left), Some(right)) = (as_int(left), as_int(right)) {
        return Ok(left == right);
    }
    if left.basic() != right.basic() {
        if !left.is_missing() && !right.is_missing() {
            return types_differ(left, right);
        }
        return Ok(false);
    }
    match (left, right) {
        (Data::Float(left), Data::Float(right)) => Ok(left == right),
        (Data::Complex(a, b), Data::Complex(c, d)) => Ok(a == c && b == d),
        (Data::Missing, right) => Ok(right.is_missing()),
        (_, Data::Missing) => Ok(false),
        _ if left.basic() == Basic::Text => Ok(left.text() == right.text()),
        _ if left.basic() == Basic::Other => {
            let (left_type, right_type) = (left.type_name(), right.type_name());
            let format_one = |value, verb| print::format_value(call, value, verb);
            if left_type == right_type {
                fail(format!(
                    "non-comparable type {}: {right_type}",
                    format_one(right, 's')?
                ))
            } else {
                fail(format!(
                    "non-comparable types {}: {left_type}, {right_type}: {}",
                    format_one(left, 's')?,
                    format_one(right, 'v')?
                ))
            }
        }
        _ => Ok(
            matches!((left, right), (Data::Document(ValueRef(RefRepr::Bool(a))), Data::Document(ValueRef(RefRepr::Bool(b)))) if a == b),
        ),
    }
}

fn is_less(left: Data<'_>, right: Data<'_>) -> Result<bool, CallFailure> {
    let (left, right) = (left.concrete(), right.concrete());
    if left.basic() == Basic::Other || right.basic() == Basic::Other {
        return fail("invalid type for comparison");
    }
    if let (Some(left), Some(right)) = (as_int(left), as_int(right)) {
        return Ok(left < right);
    }
    if left.basic() != right.basic() {
        return types_differ(left, right);
    }
    match (left, right) {
        (Data::Float(left), Data::Float(right)) => Ok(left < right),
        _ if left.basic() == Basic::Text => Ok(left.text() < right.text()),
        _ => fail("invalid type for comparison"),
    }
}
