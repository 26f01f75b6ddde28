//! Prints values as Go's `fmt` does.

use super::data::{Basic, Data};
use crate::builtins::sprintf::{self, ArgumentSource, GoArgument, Printer, Spec};
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::value::{RefRepr, TextView, ValueRef};

#[derive(Clone, Copy)]
pub struct DataValues<'v, 'e>(pub &'v [Data<'e>]);

impl<'e> ArgumentSource for DataValues<'_, 'e> {
    type Value = Data<'e>;

    fn len(self) -> usize {
        self.0.len()
    }

    fn get(self, index: usize) -> Option<Data<'e>> {
        self.0.get(index).copied()
    }

    fn as_size(value: Data<'e>) -> Option<i64> {
        match value {
            Data::Int(size) => Some(size),
            Data::Byte(size) => Some(i64::from(size)),
            _ => None,
        }
    }
}

/// `fmt.Sprintf`
pub fn format<'e>(
    call: &BuiltinContext<'e>,
    format: &[u8],
    values: &[Data<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut printer = Printer::new(call);
    sprintf::print(
        &mut printer,
        format,
        DataValues(values),
        |printer, value, verb| match verb {
            Some(verb) => by_verb(printer, value.concrete(), verb, false),
            None => {
                let value = value.concrete();
                if value.is_missing() {
                    return printer.raw(b"<nil>");
                }
                printer.raw(value.type_name().as_bytes())?;
                printer.raw(b"=")?;
                by_verb(printer, value, 'v', false)
            }
        },
    )?;
    let text = printer.finish();
    Ok(call.text(text))
}

/// `fmt.Sprint`, with blanks between values that are not strings. With `line`: `fmt.Sprintln`.
pub fn plain<'e>(
    call: &BuiltinContext<'e>,
    values: &[Data<'e>],
    line: bool,
) -> Result<ValueRef<'e>, BuiltinError> {
    let mut printer = Printer::new(call);
    let mut text_before = true;
    for (index, value) in values.iter().enumerate() {
        let is_text = value.basic() == Basic::Text;
        if index > 0 && (line || !is_text && !text_before) {
            printer.raw(b" ")?;
        }
        text_before = is_text;
        by_verb(&mut printer, value.concrete(), 'v', false)?;
    }
    if line {
        printer.raw(b"\n")?;
    }
    let text = printer.finish();
    Ok(call.text(text))
}

/// Formats a value for messages, with `%v` or `%s`.
pub fn format_value(
    call: &BuiltinContext<'_>,
    value: Data<'_>,
    verb: char,
) -> Result<String, BuiltinError> {
    let mut printer = Printer::new(call);
    by_verb(&mut printer, value.concrete(), verb, false)?;
    Ok(String::from_utf8_lossy(&printer.finish()).into_owned())
}

/// Prints a value. `in_collection` is `true` for elements of a collection.
fn by_verb(
    printer: &mut Printer<'_, '_>,
    value: Data<'_>,
    verb: char,
    in_collection: bool,
) -> Result<(), BuiltinError> {
    if verb == 'T' && !value.is_missing() {
        return printer.padded_text(value.type_name().as_bytes());
    }
    let argument = match value {
        Data::Missing => return print_nil(printer, verb, in_collection),
        Data::Complex(re, im) => return complex(printer, re, im, verb),
        Data::Int(i) => GoArgument::PlainInt(i),
        Data::Byte(byte) => GoArgument::Byte(byte),
        Data::Float(float) => GoArgument::Float(float),
        Data::Document(value) | Data::Element(value) => {
            if value.as_array().is_some() || value.as_object().is_some() {
                return collection(printer, value, verb);
            }
            match value {
                ValueRef(RefRepr::Bool(value)) => GoArgument::Bool(value),
                _ => match value.as_text() {
                    Some(text) => return text_by_verb(printer, text, verb),
                    None => match value.as_number() {
                        Some(number) => GoArgument::JsonNumber(number.to_string()),
                        None => return print_nil(printer, verb, in_collection),
                    },
                },
            }
        }
    };
    printer.value(&argument, verb)
}

fn text_by_verb(
    printer: &mut Printer<'_, '_>,
    text: TextView<'_>,
    verb: char,
) -> Result<(), BuiltinError> {
    printer.value(&GoArgument::Text(text), verb)
}

/// Prints `nil`. It supports only display verbs, but inside of collections all verbs.
fn print_nil(
    printer: &mut Printer<'_, '_>,
    verb: char,
    in_collection: bool,
) -> Result<(), BuiltinError> {
    match verb {
        'v' if printer.spec.sharp && in_collection => printer.raw(b"interface {}(nil)"),
        _ if in_collection => printer.raw(b"<nil>"),
        'v' | 'T' => printer.padded(b"<nil>"),
        _ => printer.value(&GoArgument::Nil, verb),
    }
}

fn collection(
    printer: &mut Printer<'_, '_>,
    value: ValueRef<'_>,
    verb: char,
) -> Result<(), BuiltinError> {
    let spec = printer.spec;
    let with_types = verb == 'v' && spec.sharp;
    let mut first = true;
    let mut separate = |printer: &mut Printer<'_, '_>| {
        if std::mem::take(&mut first) {
            return Ok(());
        }
        printer.raw(if with_types { b", " } else { b" " })
    };
    let element = |printer: &mut Printer<'_, '_>, value: ValueRef<'_>| {
        printer.spec = spec;
        by_verb(printer, Data::Element(value).concrete(), verb, true)
    };
    if let Some(items) = value.as_array() {
        printer.raw(if with_types { b"[]interface {}{" } else { b"[" })?;
        for item in items.iter() {
            separate(printer)?;
            element(printer, item)?;
        }
        return printer.raw(if with_types { b"}" } else { b"]" });
    }
    let Some(members) = value.as_object() else {
        return Ok(());
    };
    printer.raw(if with_types {
        b"map[string]interface {}{"
    } else {
        b"map["
    })?;
    for (key, value) in members.iter() {
        separate(printer)?;
        element(printer, key)?;
        printer.raw(b":")?;
        element(printer, value)?;
    }
    printer.raw(if with_types { b"}" } else { b"]" })
}

fn complex(
    printer: &mut Printer<'_, '_>,
    re: f64,
    im: f64,
    verb: char,
) -> Result<(), BuiltinError> {
    let is_supported = matches!(
        verb,
        'v' | 'b' | 'g' | 'G' | 'x' | 'X' | 'f' | 'F' | 'e' | 'E'
    );
    let spec = printer.spec;
    if !is_supported {
        printer.raw(format!("%!{verb}(complex128=").as_bytes())?;
        printer.spec = Spec::default();
        complex(printer, re, im, 'v')?;
        printer.spec = spec;
        return printer.raw(b")");
    }
    if verb == 'v' {
        printer.spec.sharp = false;
        printer.spec.plus = false;
    }
    let verb = if verb == 'v' { 'g' } else { verb };
    printer.raw(b"(")?;
    printer.value(&GoArgument::Float(re), verb)?;
    printer.spec.plus = true;
    printer.value(&GoArgument::Float(im), verb)?;
    printer.spec = spec;
    printer.raw(b"i)")
}
