//! Formats that are constant, taken apart before the evaluation.

use std::sync::Arc;

use super::decimal::Decimal;
use super::directive::{Directive, Format, Spec, Step, Values};
use super::integer::Digits;
use super::printer::Printer;
use crate::bug::Within as _;
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared, runes};
use crate::value::array::ArrayView;
use crate::value::{Value, ValueRef};

/// A format all of whose directives take one value each, in order.
#[derive(Clone)]
pub struct Pieces {
    directives: Vec<Piece>,
    /// What stands behind the last directive.
    tail: String,
    /// Bytes of all texts.
    length: usize,
}

/// A directive, with the text before it.
#[derive(Clone)]
struct Piece {
    before: String,
    spec: Spec,
    takes: Takes,
    verb: char,
}

/// Which values a directive prints at once, without a look at its flags.
#[derive(Clone, Copy)]
struct Takes {
    strings: Option<Strings>,
    integers: Option<Integers>,
    decimals: bool,
}

/// How strings are printed.
#[derive(Clone, Copy)]
enum Strings {
    Plain,
    /// In a width, at its start or its end.
    Padded(usize, bool),
    Quoted,
}

/// How integers are printed.
#[derive(Clone, Copy)]
enum Integers {
    Plain,
    /// In a width, at its end or behind zeros.
    Padded(usize, u8),
    Hexadecimal,
}

/// Widest padding that is written at once.
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

/// Room for a value that is printed.
const VALUE: usize = 24;

/// Values of which there are always more, none of which is a width.
#[derive(Clone, Copy)]
struct Any;

impl Values for Any {
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
    /// Takes a format apart; `None` when a directive is wrong, or depends on more than its value.
    fn new(text: &str) -> Option<Self> {
        let mut directives: Vec<Piece> = Vec::new();
        let mut before = String::new();
        let mut format = Format::new(text.as_bytes(), Any);
        while let Some(step) = format.next() {
            let directive = match step {
                Step::Text(text) => {
                    before.push_str(std::str::from_utf8(text).ok()?);
                    continue;
                }
                Step::Directive(directive) => directive,
            };
            let Directive { spec, verb, .. } = directive;
            if directive.bad_width || directive.bad_precision || directive.bad_index {
                return None;
            }
            match verb? {
                '%' => before.push('%'),
                verb => directives.push(Piece {
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

/// Prepares a call whose format is constant.
pub fn prepare(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let format = operands.first().copied().flatten()?.as_text()?;
    Some(Arc::new(Pieces::new(format.as_utf8()?)?))
}

/// A value that may be printed at once.
enum Plain<'a> {
    Integer(i64),
    Decimal(Decimal),
    Text(&'a str),
}

/// A value to print, wherever it lies.
trait Printed<'e>: Copy {
    /// `None` for anything but small numbers and strings that are UTF-8.
    fn plain(&self) -> Option<Plain<'_>>;

    /// The value in flight.
    fn value(self) -> ValueRef<'e>;
}

impl<'e> Printed<'e> for &ValueRef<'e> {
    #[inline]
    fn plain(&self) -> Option<Plain<'_>> {
        Some(match self {
            ValueRef::Int(int) => Plain::Integer(*int),
            ValueRef::Decimal(scale, coefficient) => {
                Plain::Decimal(Decimal::new(*scale, *coefficient)?)
            }
            value => Plain::Text(value.utf8()?),
        })
    }

    fn value(self) -> ValueRef<'e> {
        *self
    }
}

impl<'e> Printed<'e> for &'e Value {
    #[inline]
    fn plain(&self) -> Option<Plain<'_>> {
        Some(match self {
            Value::Int(int) => Plain::Integer(*int),
            Value::Decimal(scale, coefficient) => {
                Plain::Decimal(Decimal::new(*scale, *coefficient)?)
            }
            value => Plain::Text(value.utf8()?),
        })
    }

    fn value(self) -> ValueRef<'e> {
        self.borrow()
    }
}

/// Text that is written in the arena.
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

impl Piece {
    /// Prints a value at once; whether it could be.
    #[inline]
    fn print<'e>(
        &self,
        call: &BuiltinContext<'_>,
        text: &mut Line<'_>,
        value: impl Printed<'e>,
    ) -> Result<bool, BuiltinError> {
        match value.plain() {
            Some(Plain::Integer(int)) => match self.takes.integers {
                Some(Integers::Plain) => text.push_str(itoa::Buffer::new().format(int)),
                Some(Integers::Padded(width, filling)) => {
                    let mut digits = itoa::Buffer::new();
                    let digits = digits.format(int);
                    let missing = width.saturating_sub(digits.len());
                    // the sign stands in front of zeros, and behind blanks
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
                    text.push_str(Digits::new().of(int.unsigned_abs(), 4, b'a'));
                }
                None => return Ok(false),
            },
            Some(Plain::Decimal(decimal)) if self.takes.decimals => {
                // it is read where it was written: moved as a whole, its parts would be waited for
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
            Some(Plain::Text(part)) => {
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

/// Whether a byte is the same in quotes.
fn stands_for_itself(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')
}

impl Pieces {
    /// The result, most of which is printed at once; `None` when it is no UTF-8.
    fn line<'e, T: Printed<'e>>(
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

    /// The result when it is no UTF-8.
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

/// The same for values that no array is around.
struct Spread(Pieces);

impl Prepared for Spread {
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
        let spread = Spread(self.clone());
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
            ArrayView::Arena(items) => self.line(call, items.iter()),
            ArrayView::Stored(items) => self.line(call, items.iter()),
        };
        if let Some(text) = plain? {
            return Ok(call.arena.borrowed_text(text));
        }
        self.each(call, values.iter())
    }
}
