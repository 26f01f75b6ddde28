//! Formats that are constant, taken apart before the evaluation.

use std::sync::Arc;

use super::directive::{Directive, Format, Spec, Step, Values};
use super::printer::Printer;
use crate::builtins::{Call, Fault, Operands, Prepared};
use crate::value::V;

/// A format all of whose directives take one value each, in order.
pub struct Pieces {
    directives: Vec<Piece>,
    /// What stands behind the last directive.
    tail: Vec<u8>,
    /// Room that most results make do with.
    room: usize,
}

/// A directive, with the text before it.
struct Piece {
    before: Vec<u8>,
    spec: Spec,
    verb: char,
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
    fn new(text: &[u8]) -> Option<Self> {
        let mut directives = Vec::new();
        let mut before = Vec::new();
        let mut format = Format::new(text, Any);
        while let Some(step) = format.next() {
            let directive = match step {
                Step::Text(text) => {
                    before.extend_from_slice(text);
                    continue;
                }
                Step::Directive(directive) => directive,
            };
            let Directive { spec, verb, .. } = directive;
            if directive.bad_width || directive.bad_precision || directive.bad_index {
                return None;
            }
            match verb? {
                '%' => before.push(b'%'),
                verb => directives.push(Piece {
                    before: std::mem::take(&mut before),
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
        let room = texts.sum::<usize>() + before.len() + VALUE * directives.len();
        Some(Self {
            directives,
            tail: before,
            room,
        })
    }
}

/// Prepares a call whose format is constant.
pub fn prepare(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    let format = operands.first().copied().flatten()?.as_text()?;
    Some(Arc::new(Pieces::new(format.as_bytes())?))
}

impl Prepared for Pieces {
    fn call<'e>(&self, call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
        let values = operands.array(1)?;
        if values.len() != self.directives.len() {
            return super::sprintf(call, operands);
        }
        let texts = values.iter().filter_map(V::as_text);
        let texts = texts.fold(0_usize, |bytes, text| {
            bytes.saturating_add(text.as_bytes().len())
        });
        let mut printer = Printer::with_room(call, self.room.saturating_add(texts))?;
        for (piece, value) in self.directives.iter().zip(values.iter()) {
            printer.raw(&piece.before)?;
            let plain = piece.spec.is_plain();
            match (piece.verb, value) {
                ('d' | 'v', V::Int(int)) if plain => {
                    printer.raw(itoa::Buffer::new().format(int).as_bytes())?;
                }
                ('s' | 'v', _) if plain && value.is_string() => {
                    if let Some(text) = value.as_text() {
                        printer.raw(text.as_bytes())?;
                    }
                }
                (verb, _) => {
                    printer.spec = piece.spec;
                    super::show(&mut printer, value, Some(verb))?;
                }
            }
        }
        printer.raw(&self.tail)?;
        let text = printer.finish();
        Ok(call.text(text))
    }
}
