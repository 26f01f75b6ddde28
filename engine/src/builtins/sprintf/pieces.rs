//! Constant formats, parsed before the evaluation.

use std::sync::Arc;

use super::decimal::ShortestDecimal;
use super::directive::{ArgumentSource, FormatDirective, FormatItem, FormatParser, Spec};
use super::integer::DigitBuffer;
use super::printer::Printer;
use crate::bug::Within as _;
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared, runes};
use crate::value::array::{ArrayView, ArrayViewRepr};
use crate::value::{RefRepr, Repr, Value, ValueRef};

/// A format whose directives take one argument each, in order.
#[derive(Clone)]
pub struct Pieces {
    directives: Vec<FormatPiece>,
    /// Text after the last directive.
    tail: String,
    /// Length of all texts in bytes.
    length: usize,
}

/// A directive, with the text before it.
#[derive(Clone)]
struct FormatPiece {
    before: String,
    spec: Spec,
    takes: Takes,
    verb: char,
}

/// Argument types that a directive prints on the fast path, without evaluating its flags.
#[derive(Clone, Copy)]
struct Takes {
    strings: Option<Strings>,
    integers: Option<Integers>,
    decimals: bool,
}

#[derive(Clone, Copy)]
enum Strings {
    Plain,
    /// Padded to a width, on the left or on the right.
    Padded(usize, bool),
    Quoted,
}

#[derive(Clone, Copy)]
enum Integers {
    Plain,
    /// Padded to a width with blanks or zeros.
    Padded(usize, u8),
    Hexadecimal,
}

/// Maximum width on the fast path.
const WIDE: usize = 64;

impl Takes {
    fn new(spec: &Spec, verb: char) -> Self {
        let flags = spec.plus || spec.sharp || spec.space || spec.precision.is_some();
        let padded = spec.width.filter(|width| !flags && *width <= WIDE);
        Self {
            strings: match (verb, padded) {
                ('s' | 'v', _) if spec.is_plain() => Some(Strings::Plain),
                ('q', _) if spec.is_plain() => Some(Strings::Quoted),
                ('s' | 'v', Some(width)) if !spec.zero => Some(Strings::Padded(width, spec.minus)),
                _ => None,
            },
            integers: match (verb, padded) {
                ('d' | 'v', _) if spec.is_plain() => Some(Integers::Plain),
                ('x', _) if spec.is_plain() => Some(Integers::Hexadecimal),
                ('d', Some(width)) if !spec.minus => {
                    let filling = if spec.zero { b'0' } else { b' ' };
                    Some(Integers::Padded(width, filling))
                }
                _ => None,
            },
            decimals: spec.width.is_none_or(|width| width <= WIDE)
                && matches!(verb, 'v' | 'g' | 'f' | 'F' | 'e'),
        }
    }
}

/// Estimated bytes of a printed argument.
const VALUE: usize = 24;

/// Unlimited placeholder arguments, none of which is a valid width.
#[derive(Clone, Copy)]
struct AnyArguments;

impl ArgumentSource for AnyArguments {
    type Value = ();

    fn len(self) -> usize {
        usize::MAX
    }

    fn get(self, _: usize) -> Option<()> {
        Some(())
    }

    fn as_size((): ()) -> Option<i64> {
        None
    }
}

impl Pieces {
    /// Parses a format. Returns `None` if a directive is invalid, or depends on more than its argument.
    fn new(text: &str) -> Option<Self> {
        let mut directives: Vec<FormatPiece> = Vec::new();
        let mut before = String::new();
        let mut format = FormatParser::new(text.as_bytes(), AnyArguments);
        while let Some(step) = format.next() {
            let directive = match step {
                FormatItem::Text(text) => {
                    before.push_str(std::str::from_utf8(text).ok()?);
                    continue;
                }
                FormatItem::Directive(directive) => directive,
            };
            let FormatDirective { spec, verb, .. } = directive;
            if directive.bad_width || directive.bad_precision || directive.bad_index {
                return None;
            }
            match verb? {
                '%' => before.push('%'),
                verb => directives.push(FormatPiece {
                    before: std::mem::take(&mut before),
                    takes: Takes::new(&spec, verb),
                    spec,
                    verb,
                }),
            }
        }
        let in_order = format.unused().is_some();
        if !in_order {
            return None;
        }
        let texts = directives.iter().map(|piece| piece.before.len());
        let length = texts.sum::<usize>() + before.len();
        Some(Self {
            directives,
            tail: before,
            length,
        })
    }
}

/// Prepares a call with a constant format. Returns `None` if the format is not constant, or needs the general printer.
pub fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let format = operands.first().copied().flatten()?.as_text()?;
    Some(Arc::new(Pieces::new(format.as_utf8()?)?))
}

/// An argument of the fast path.
enum PlainArgument<'a> {
    Integer(i64),
    Decimal(ShortestDecimal),
    Text(&'a str),
}

/// An argument in any representation.
trait PrintArgument<'e>: Copy {
    /// Returns `None` for anything except small numbers and valid UTF-8 strings.
    fn plain(&self) -> Option<PlainArgument<'_>>;

    fn value(self) -> ValueRef<'e>;
}

impl<'e> PrintArgument<'e> for &ValueRef<'e> {
    #[inline]
    fn plain(&self) -> Option<PlainArgument<'_>> {
        Some(match self {
            ValueRef(RefRepr::Int(int)) => PlainArgument::Integer(*int),
            ValueRef(RefRepr::Decimal(scale, coefficient)) => {
                PlainArgument::Decimal(ShortestDecimal::new(*scale, *coefficient)?)
            }
            value => PlainArgument::Text(value.utf8()?),
        })
    }

    fn value(self) -> ValueRef<'e> {
        *self
    }
}

impl<'e> PrintArgument<'e> for &'e Value {
    #[inline]
    fn plain(&self) -> Option<PlainArgument<'_>> {
        Some(match self {
            Value(Repr::Int(int)) => PlainArgument::Integer(*int),
            Value(Repr::Decimal(scale, coefficient)) => {
                PlainArgument::Decimal(ShortestDecimal::new(*scale, *coefficient)?)
            }
            value => PlainArgument::Text(value.utf8()?),
        })
    }

    fn value(self) -> ValueRef<'e> {
        self.borrow()
    }
}

type Line<'e> = bumpalo::collections::String<'e>;

fn fill(text: &mut Line<'_>, byte: u8, count: usize) {
    const BLANKS: &str = match std::str::from_utf8(&[b' '; WIDE]) {
        Ok(blanks) => blanks,
        Err(_) => "",
    };
    const ZEROS: &str = match std::str::from_utf8(&[b'0'; WIDE]) {
        Ok(zeros) => zeros,
        Err(_) => "",
    };
    let filling = if byte == b'0' { ZEROS } else { BLANKS };
    text.push_str(filling.within(..count));
}

impl FormatPiece {
    /// Prints an argument on the fast path. Returns `false` if it is not supported.
    #[inline]
    fn print<'e>(
        &self,
        call: &BuiltinContext<'_>,
        text: &mut Line<'_>,
        value: impl PrintArgument<'e>,
    ) -> Result<bool, BuiltinError> {
        match value.plain() {
            Some(PlainArgument::Integer(int)) => match self.takes.integers {
                Some(Integers::Plain) => text.push_str(itoa::Buffer::new().format(int)),
                Some(Integers::Padded(width, filling)) => {
                    let mut digits = itoa::Buffer::new();
                    let digits = digits.format(int);
                    let missing = width.saturating_sub(digits.len());
                    // the sign precedes zeros, and follows blanks
                    match digits.strip_prefix('-').filter(|_| filling == b'0') {
                        Some(digits) => {
                            text.push('-');
                            fill(text, filling, missing);
                            text.push_str(digits);
                        }
                        None => {
                            fill(text, filling, missing);
                            text.push_str(digits);
                        }
                    }
                }
                Some(Integers::Hexadecimal) => {
                    if int < 0 {
                        text.push('-');
                    }
                    text.push_str(DigitBuffer::new().format(int.unsigned_abs(), 4, b'a'));
                }
                None => return Ok(false),
            },
            Some(PlainArgument::Decimal(decimal)) if self.takes.decimals => {
                // passed by reference: a copy right after its fields were stored would stall store forwarding
                let printed = decimal.printed(&self.spec, self.verb);
                let Some(printed) = &printed else {
                    return Ok(false);
                };
                let Some(width) = self.spec.width else {
                    printed.write(|part| text.push_str(part));
                    return Ok(true);
                };
                let missing = width.saturating_sub(printed.length());
                if !self.spec.minus {
                    fill(text, b' ', missing);
                }
                printed.write(|part| text.push_str(part));
                if self.spec.minus {
                    fill(text, b' ', missing);
                }
            }
            Some(PlainArgument::Text(part)) => {
                call.budget.reserve(part.len())?;
                match self.takes.strings {
                    Some(Strings::Plain) => text.push_str(part),
                    Some(Strings::Padded(width, at_start)) => {
                        let missing = width.saturating_sub(runes::count(part.as_bytes()));
                        if !at_start {
                            fill(text, b' ', missing);
                        }
                        text.push_str(part);
                        if at_start {
                            fill(text, b' ', missing);
                        }
                    }
                    Some(Strings::Quoted) if part.bytes().all(stands_for_itself) => {
                        text.push('"');
                        text.push_str(part);
                        text.push('"');
                    }
                    _ => return Ok(false),
                }
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns `true` if a byte is the same in quotes.
fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

impl Pieces {
    /// Returns the result, printed on the fast path as far as possible. Returns `None` if it is not valid UTF-8.
    fn line<'e, T: PrintArgument<'e>>(
        &self,
        call: &BuiltinContext<'e>,
        values: impl Iterator<Item = T>,
    ) -> Result<Option<&'e str>, BuiltinError> {
        let room = self.length + VALUE * self.directives.len();
        call.budget.reserve(room)?;
        let mut text = Line::with_capacity_in(room, call.arena.bump());
        for (piece, value) in self.directives.iter().zip(values) {
            text.push_str(&piece.before);
            if piece.print(call, &mut text, value)? {
                continue;
            }
            let mut printer = Printer::new(call);
            printer.spec = piece.spec;
            super::show(&mut printer, value.value(), Some(piece.verb))?;
            let printed = printer.finish();
            let Ok(printed) = std::str::from_utf8(&printed) else {
                return Ok(None);
            };
            call.budget.reserve(printed.len())?;
            text.push_str(printed);
        }
        text.push_str(&self.tail);
        Ok(Some(text.into_bump_str()))
    }

    /// Returns the result if it is not valid UTF-8.
    fn each<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        values: impl Iterator<Item = ValueRef<'e>>,
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let room = self.length + VALUE * self.directives.len();
        let mut printer = Printer::with_room(call, room)?;
        for (piece, value) in self.directives.iter().zip(values) {
            printer.raw(piece.before.as_bytes())?;
            printer.spec = piece.spec;
            super::show(&mut printer, value, Some(piece.verb))?;
        }
        printer.raw(self.tail.as_bytes())?;
        let text = printer.finish();
        Ok(call.text(text))
    }
}

/// A call whose arguments are passed one by one, without an array.
struct SpreadCall(Pieces);

impl Prepared for SpreadCall {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        values: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        match self.0.line(call, values.iter())? {
            Some(text) => Ok(call.arena.borrowed_text(text)),
            None => self.0.each(call, values.iter().copied()),
        }
    }
}

impl Prepared for Pieces {
    fn with_elements(&self, elements: usize) -> Option<Arc<dyn Prepared>> {
        let spread = SpreadCall(self.clone());
        (elements == self.directives.len()).then(|| Arc::new(spread) as _)
    }

    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let values = operands.array(1)?;
        if values.len() != self.directives.len() {
            return super::sprintf(call, operands);
        }
        let plain = match values {
            ArrayView(ArrayViewRepr::Arena(items)) => self.line(call, items.iter()),
            ArrayView(ArrayViewRepr::Stored(items)) => self.line(call, items.iter()),
        };
        if let Some(text) = plain? {
            return Ok(call.arena.borrowed_text(text));
        }
        self.each(call, values.iter())
    }
}
