//! Formats that are constant, taken apart before the evaluation.

use std::sync::Arc;

use super::directive::{Directive, Format, Spec, Step, Values};
use super::printer::Printer;
use crate::builtins::{Call, Fault, Operands, Prepared};
use crate::value::{ArrayView, V};

/// A format all of whose directives take one value each, in order.
pub struct Pieces {
    directives: Vec<Piece>,
    /// What stands behind the last directive.
    tail: String,
    /// Bytes of all texts.
    length: usize,
}

/// A directive, with the text before it.
struct Piece {
    before: String,
    spec: Spec,
    /// Whether it prints strings and integers as they are.
    is_plain: bool,
    verb: char,
}

/// Room for a value that is printed.
const VALUE: usize = 24;

/// Bytes of the longest small integer.
const INTEGER: usize = 20;

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
                    is_plain: spec.is_plain(),
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
pub fn prepare(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    let format = operands.first().copied().flatten()?.as_text()?;
    Some(Arc::new(Pieces::new(format.as_utf8()?)?))
}

impl Pieces {
    /// Bytes of the result when all values are printed as they are: strings, and small integers.
    fn plain_length(&self, values: ArrayView<'_>) -> Option<usize> {
        let mut length = self.length;
        for (piece, value) in self.directives.iter().zip(values.iter()) {
            length += match (piece.verb, value) {
                ('d' | 'v', V::Int(_)) if piece.is_plain => INTEGER,
                ('s' | 'v', _) if piece.is_plain => value.as_text()?.as_bytes().len(),
                _ => return None,
            };
        }
        Some(length)
    }

    /// The same result, whose text needs no second look; `None` when a string is no UTF-8.
    fn plain<'e>(&self, call: &Call<'e>, values: ArrayView<'e>, length: usize) -> Option<V<'e>> {
        let mut text = bumpalo::collections::String::with_capacity_in(length, call.arena.bump());
        for (piece, value) in self.directives.iter().zip(values.iter()) {
            text.push_str(&piece.before);
            if let V::Int(int) = value {
                text.push_str(itoa::Buffer::new().format(int));
            } else {
                text.push_str(value.as_text()?.as_utf8()?);
            }
        }
        text.push_str(&self.tail);
        Some(call.arena.borrowed_text(text.into_bump_str()))
    }
}

impl Prepared for Pieces {
    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
        let values = operands.array(1)?;
        if values.len() != self.directives.len() {
            return super::sprintf(call, operands);
        }
        if let Some(length) = self.plain_length(values) {
            call.budget.reserve(length)?;
            if let Some(text) = self.plain(call, values, length) {
                return Ok(text);
            }
        }
        let room = self.length + VALUE * self.directives.len();
        let mut printer = Printer::with_room(call, room)?;
        for (piece, value) in self.directives.iter().zip(values.iter()) {
            printer.raw(piece.before.as_bytes())?;
            printer.spec = piece.spec;
            super::show(&mut printer, value, Some(piece.verb))?;
        }
        printer.raw(self.tail.as_bytes())?;
        let text = printer.finish();
        Ok(call.text(text))
    }
}
