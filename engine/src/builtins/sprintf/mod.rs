//! `sprintf`: the verbs, flags and complaints of Go's `fmt`.

mod argument;
mod directive;
mod float;
mod integer;
mod printer;
mod text;

use super::{Builtin, Call, Fault, Operands};
use crate::value::V;
use argument::Argument;
use directive::{Directive, Spec, Step};
use printer::Printer;

/// This family's entries.
pub const TABLE: &[Builtin] = &[Builtin::new(
    "sprintf",
    "format: string, values: array[any] => output: string",
    "A text with values in the places of its verbs (`%s`, `%d`, `%v`).",
    sprintf,
)];

fn sprintf<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let format = operands.text(0)?;
    let values = operands.array(1)?;
    let mut format = directive::Format::new(format.as_bytes(), values);
    let mut printer = Printer::new(call);
    while let Some(step) = format.next() {
        match step {
            Step::Text(text) => printer.raw(text)?,
            Step::Directive(directive) => run(&mut printer, &directive)?,
        }
    }
    if let Some(extra) = format.unused() {
        printer.spec = Spec::default();
        printer.raw(b"%!(EXTRA ")?;
        for (index, value) in extra.enumerate() {
            if index > 0 {
                printer.raw(b", ")?;
            }
            printer.typed(&Argument::of(value))?;
        }
        printer.raw(b")")?;
    }
    let text = printer.finish();
    Ok(call.text(text))
}

fn run<'e>(printer: &mut Printer<'_, 'e>, directive: &Directive<'e>) -> Result<(), Fault> {
    if directive.bad_width {
        printer.raw(b"%!(BADWIDTH)")?;
    }
    if directive.bad_precision {
        printer.raw(b"%!(BADPREC)")?;
    }
    let Some(verb) = directive.verb else {
        return printer.raw(b"%!(NOVERB)");
    };
    if verb == '%' {
        return printer.raw(b"%");
    }
    let complaint = match (directive.bad_index, directive.value) {
        (true, _) => "(BADINDEX)",
        (false, None) => "(MISSING)",
        (false, Some(value)) => {
            printer.spec = directive.spec;
            return printer.value(&Argument::of(value), verb);
        }
    };
    printer.raw(format!("%!{verb}{complaint}").as_bytes())
}
