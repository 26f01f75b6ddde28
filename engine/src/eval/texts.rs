//! Tests of texts without calling built-ins.

use crate::builtins::{IntrinsicFunction, IntrinsicResult, TextRelation};
use crate::limits;
use crate::program::{BuiltinCall, Intrinsic, Operand, TextTest};

use super::frame::{OperandSource, Register};
use super::machine::Machine;

impl Machine<'_> {
    /// Returns `true` if a test holds; `None` if the built-in must be called: an operand is not a text, or too long, or
    /// a function replaces the built-in.
    #[inline(never)]
    pub(super) fn test_texts(&self, test: TextTest, call: &BuiltinCall) -> Option<bool> {
        if self.mocked {
            None
        } else {
            self.test(test, call)
        }
    }
}

impl<'e, O: OperandSource<'e>> Texts<'e> for O {}

/// Tests of strings that read their operands without copying them.
pub(super) trait Texts<'e>: OperandSource<'e> {
    /// Returns `true` if a test holds; `None` if an operand is not a text, or too long.
    #[inline]
    fn test(&self, test: TextTest, call: &BuiltinCall) -> Option<bool> {
        let relation = match test {
            TextTest::Prepared => return self.test_prepared(call),
            TextTest::Intrinsic => {
                return self
                    .intrinsic(call.intrinsic.as_ref()?, call)
                    .map(|(_, answer)| answer != 0);
            }
            TextTest::Related(relation) => relation,
        };
        let [text, part] = *call.args else {
            return None;
        };
        let (text, part) = (self.bytes(text)?, self.bytes(part)?);
        if text.len() > limits::LARGE_OPERAND {
            return None;
        }
        Some(match relation {
            TextRelation::Starts => text.starts_with(part),
            TextRelation::Ends => text.ends_with(part),
            TextRelation::Contains => memchr::memmem::find(text, part).is_some(),
        })
    }

    #[inline]
    fn test_prepared(&self, call: &BuiltinCall) -> Option<bool> {
        let prepared = call.prepared.as_deref()?;
        let text = self.get(*call.args.get(prepared.tested()?)?).as_text()?;
        let is_short = text.as_bytes().len() <= limits::LARGE_OPERAND;
        is_short.then(|| prepared.test(&text))
    }

    /// Evaluates an intrinsic on strings; `None` if the built-in must be called: an operand is not a string, too long,
    /// or in an unusual representation.
    #[inline]
    fn intrinsic(
        &self,
        intrinsic: &Intrinsic,
        call: &BuiltinCall,
    ) -> Option<(IntrinsicResult, i64)> {
        let short = |text: &[u8]| text.len() <= limits::LARGE_OPERAND;
        let (answer, found) = match (intrinsic, &*call.args) {
            (Intrinsic::Function(IntrinsicFunction::One(answer, run)), [text]) => {
                let text = self.bytes(*text)?;
                (*answer, short(text).then(|| run(text))?)
            }
            (Intrinsic::Function(IntrinsicFunction::Two(answer, run)), [left, right]) => {
                let (left, right) = (self.bytes(*left)?, self.bytes(*right)?);
                (
                    *answer,
                    (short(left) && short(right)).then(|| run(left, right))?,
                )
            }
            (Intrinsic::Prepared(at, answer), args) => {
                let text = self.bytes(*args.get(*at)?)?;
                let prepared = call.prepared.as_deref()?;
                (
                    *answer,
                    short(text).then(|| prepared.intrinsic_result(text))?,
                )
            }
            _ => return None,
        };
        Some((answer, found?))
    }

    /// Returns the bytes of a text in place.
    #[inline]
    fn bytes<'a>(&'a self, operand: Operand) -> Option<&'a [u8]>
    where
        'e: 'a,
    {
        let stored = match operand {
            Operand::Slot(slot) => match self.slot(slot)? {
                Register::Stored(value) => value,
                Register::Value(value) => return value.string_bytes(),
            },
            Operand::Const(id) => self.stored_constant(id)?,
        };
        stored.string_bytes()
    }
}
