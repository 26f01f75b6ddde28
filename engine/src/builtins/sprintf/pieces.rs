//! Formats that are constant, taken apart before the evaluation.

use std::sync::Arc;

use super::decimal::Decimal;
use super::directive::{Directive, Format, Spec, Step, Values};
use super::printer::Printer;
use crate::builtins::{Call, Fault, Operands, Prepared};
use crate::value::array::ArrayView;
use crate::value::{V, Value};

/// A format all of whose directives take one value each, in order.
#[derive(Clone)]
pub struct Pieces {
    directives: Vec<Piece>,
    /// What stands behind the last directive.
    tail: String,
    /// Bytes of all texts.
    length: usize,
    /// Whether there is a directive that prints nothing as it is, but in a width, say.
    elaborate: bool,
}

/// A directive, with the text before it.
#[derive(Clone)]
struct Piece {
    before: String,
    spec: Spec,
    takes: Takes,
    verb: char,
}

/// What a directive prints as it is.
#[derive(Clone, Copy)]
struct Takes {
    strings: bool,
    integers: bool,
    decimals: bool,
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
                    takes: Takes {
                        strings: spec.is_plain() && matches!(verb, 's' | 'v'),
                        integers: spec.is_plain() && matches!(verb, 'd' | 'v'),
                        decimals: spec.width.is_none()
                            && matches!(verb, 'v' | 'g' | 'f' | 'F' | 'e'),
                    },
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
        let elaborate = directives.iter().any(|piece| {
            let Takes {
                strings,
                integers,
                decimals,
            } = piece.takes;
            !strings && !integers && !decimals
        });
        Some(Self {
            directives,
            tail: before,
            length,
            elaborate,
        })
    }
}

/// Prepares a call whose format is constant.
pub fn prepare(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    let format = operands.first().copied().flatten()?.as_text()?;
    Some(Arc::new(Pieces::new(format.as_utf8()?)?))
}

/// A value that is printed as it is.
enum Plain<'a> {
    Integer(i64),
    Decimal(Decimal),
    Text(&'a str),
}

impl<'a> Plain<'a> {
    /// `None` for anything but small numbers and strings that are UTF-8.
    #[inline]
    fn flying(value: &'a V<'_>) -> Option<Self> {
        Some(match value {
            V::Int(int) => Self::Integer(*int),
            V::Decimal(scale, coefficient) => Self::Decimal(Decimal::new(*scale, *coefficient)?),
            value => Self::Text(value.utf8()?),
        })
    }

    #[inline]
    fn stored(value: &'a Value) -> Option<Self> {
        Some(match value {
            Value::Int(int) => Self::Integer(*int),
            Value::Decimal(scale, coefficient) => {
                Self::Decimal(Decimal::new(*scale, *coefficient)?)
            }
            value => Self::Text(value.utf8()?),
        })
    }
}

impl Pieces {
    /// The result when all values are printed as they are, which needs no second look; `None` when others are there.
    fn plain<'e, 'a>(
        &self,
        call: &Call<'e>,
        values: impl Iterator<Item = Option<Plain<'a>>>,
    ) -> Result<Option<V<'e>>, Fault> {
        if self.elaborate {
            return Ok(None);
        }
        let room = self.length + VALUE * self.directives.len();
        call.budget.reserve(room)?;
        let mut text = bumpalo::collections::String::with_capacity_in(room, call.arena.bump());
        for (piece, value) in self.directives.iter().zip(values) {
            text.push_str(&piece.before);
            match value {
                Some(Plain::Integer(int)) if piece.takes.integers => {
                    text.push_str(itoa::Buffer::new().format(int));
                }
                Some(Plain::Decimal(decimal)) if piece.takes.decimals => {
                    let printed = decimal.printed(&piece.spec, piece.verb);
                    let Some(printed) = printed else {
                        return Ok(None);
                    };
                    text.push_str(std::str::from_utf8(&printed).unwrap_or_default());
                }
                Some(Plain::Text(part)) if piece.takes.strings => {
                    call.budget.reserve(part.len())?;
                    text.push_str(part);
                }
                _ => return Ok(None),
            }
        }
        text.push_str(&self.tail);
        Ok(Some(call.arena.borrowed_text(text.into_bump_str())))
    }

    /// The result for values of all kinds, as many as there are directives.
    fn each<'e>(
        &self,
        call: &mut Call<'e>,
        values: impl Iterator<Item = V<'e>>,
    ) -> Result<V<'e>, Fault> {
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
    fn call<'e>(&self, call: &mut Call<'e>, values: &[V<'e>]) -> Result<V<'e>, Fault> {
        match self.0.plain(call, values.iter().map(Plain::flying))? {
            Some(text) => Ok(text),
            None => self.0.each(call, values.iter().copied()),
        }
    }
}

impl Prepared for Pieces {
    fn with_elements(&self, elements: usize) -> Option<Arc<dyn Prepared>> {
        let spread = Spread(self.clone());
        (elements == self.directives.len()).then(|| Arc::new(spread) as _)
    }

    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
        let values = operands.array(1)?;
        if values.len() != self.directives.len() {
            return super::sprintf(call, operands);
        }
        let plain = match values {
            ArrayView::Arena(items) => self.plain(call, items.iter().map(Plain::flying)),
            ArrayView::Stored(items) => self.plain(call, items.iter().map(Plain::stored)),
        };
        if let Some(text) = plain? {
            return Ok(text);
        }
        self.each(call, values.iter())
    }
}
