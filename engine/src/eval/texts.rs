//! Tests of texts, which ask no built-in as long as texts are tested.

use crate::limits;
use crate::program::{BuiltinCall, Operand, TextTest};
use crate::value::{V, Value};

use super::frame::{Held, Operands};
use super::machine::Machine;

impl Machine<'_> {
    /// Whether a test holds; `None` when the built-in has to say it: an operand is no text, or a long one, or a
    /// function stands in for the built-in.
    #[inline(never)]
    pub(super) fn test_texts(&self, test: TextTest, call: &BuiltinCall) -> Option<bool> {
        let [text, part] = *call.args else {
            return None;
        };
        let (text, part) = (self.bytes(text)?, self.bytes(part)?);
        if self.mocked || text.len() > limits::LARGE_OPERAND {
            return None;
        }
        Some(match test {
            TextTest::Starts => text.starts_with(part),
            TextTest::Ends => text.ends_with(part),
            TextTest::Contains => memchr::memmem::find(text, part).is_some(),
        })
    }

    /// The bytes of a text, read in place.
    #[inline]
    fn bytes(&self, operand: Operand) -> Option<&[u8]> {
        let stored = match operand {
            Operand::Slot(slot) => match self.slot(slot)? {
                Held::Stored(value) => value,
                Held::Flying(V::Short(short)) => return Some(short.as_bytes()),
                Held::Flying(V::Text(text)) => return Some(text.as_bytes()),
                Held::Flying(V::NewText(text)) => return Some(text.as_bytes()),
                Held::Flying(_) => return None,
            },
            Operand::Const(id) => self.stored_constant(id)?,
        };
        match stored {
            Value::Short(short) => Some(short.as_bytes()),
            Value::Text(text) => Some(text.as_bytes()),
            _ => None,
        }
    }
}
