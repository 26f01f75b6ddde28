//! `sprintf`: the verbs, flags and error texts of Go's `fmt`.

mod argument;
mod decimal;
mod directive;
mod float;
mod integer;
mod pieces;
mod printer;
mod text;

use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::value::{Kind, RefRepr, ValueRef};
pub use argument::GoArgument;
pub use directive::{ArgumentSource, FormatDirective, FormatItem, FormatParser, Spec};
pub use printer::Printer;

pub const TABLE: &[Builtin] = &[Builtin::new(
    "sprintf",
    "format: string, values: array[any] => output: string",
    "A text with its verbs (`%s`, `%d`, `%v`) replaced by values.",
    sprintf,
)
.listed(&["strings"])
.specialise(pieces::prepare)];

fn sprintf<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let format = operands.text(0)?;
    let values = operands.array(1)?;
    let mut printer = Printer::new(call);
    print(&mut printer, format.as_bytes(), values, show)?;
    let text = printer.finish();
    Ok(call.text(text))
}

/// Prints a value with a verb, or with its type without one.
fn show<'e>(
    printer: &mut Printer<'_, 'e>,
    value: ValueRef<'e>,
    verb: Option<char>,
) -> Result<(), BuiltinError> {
    let is_compound = value.kind() >= Kind::Array;
    if is_compound && matches!(verb, Some('s' | 'v')) && printer.spec.is_plain() {
        return printer.text_form(value);
    }
    if let (ValueRef(RefRepr::Decimal(scale, coefficient)), Some(verb)) = (value, verb)
        && let Some(decimal) = decimal::ShortestDecimal::new(scale, coefficient)
        && let Some(printed) = decimal.printed(&printer.spec, verb)
    {
        let mut text = String::new();
        printed.write(|part| text.push_str(part));
        return printer.padded(text.as_bytes());
    }
    let argument = GoArgument::from_value(printer.call(), value)?;
    match verb {
        Some(verb) => printer.value(&argument, verb),
        None => printer.with_type(&argument),
    }
}

/// Prints values by a format. `show` prints one with a verb, or with its type without one.
pub fn print<'e, A: ArgumentSource>(
    printer: &mut Printer<'_, 'e>,
    format: &[u8],
    values: A,
    mut show: impl FnMut(&mut Printer<'_, 'e>, A::Value, Option<char>) -> Result<(), BuiltinError>,
) -> Result<(), BuiltinError> {
    let mut format = FormatParser::new(format, values);
    while let Some(step) = format.next() {
        let directive = match step {
            FormatItem::Text(text) => {
                printer.raw(text)?;
                continue;
            }
            FormatItem::Directive(directive) => directive,
        };
        if let Some((value, verb)) = complain(printer, &directive)? {
            printer.spec = directive.spec;
            show(printer, value, Some(verb))?;
        }
    }
    if let Some(extra) = format.unused() {
        printer.spec = Spec::default();
        printer.raw(b"%!(EXTRA ")?;
        for (index, value) in extra.enumerate() {
            if index > 0 {
                printer.raw(b", ")?;
            }
            show(printer, value, None)?;
        }
        printer.raw(b")")?;
    }
    Ok(())
}

/// Prints the error of a directive. Returns the value and the verb if there is none.
fn complain<T: Copy>(
    printer: &mut Printer<'_, '_>,
    directive: &FormatDirective<T>,
) -> Result<Option<(T, char)>, BuiltinError> {
    if directive.bad_width {
        printer.raw(b"%!(BADWIDTH)")?;
    }
    if directive.bad_precision {
        printer.raw(b"%!(BADPREC)")?;
    }
    let Some(verb) = directive.verb else {
        printer.raw(b"%!(NOVERB)")?;
        return Ok(None);
    };
    if verb == '%' {
        printer.raw(b"%")?;
        return Ok(None);
    }
    let complaint = match (directive.bad_index, directive.value) {
        (true, _) => "(BADINDEX)",
        (false, None) => "(MISSING)",
        (false, Some(value)) => return Ok(Some((value, verb))),
    };
    printer.raw(format!("%!{verb}{complaint}").as_bytes())?;
    Ok(None)
}
