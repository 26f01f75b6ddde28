//! Output with padding, and dispatch by argument type.

use std::fmt::Display;

use super::argument::GoArgument;
use super::directive::Spec;
use super::{float, integer, text};
use crate::builtins::buffer::{Buffer, Writer, push};
use crate::builtins::{BuiltinContext, BuiltinError, runes};
use crate::limits;
use crate::value::ValueRef;

/// Prints values into a buffer.
pub struct Printer<'c, 'e> {
    call: &'c BuiltinContext<'e>,
    out: Buffer<'e>,
    /// Flags of the current directive.
    pub spec: Spec,
}

impl<'c, 'e> Printer<'c, 'e> {
    pub fn new(call: &'c BuiltinContext<'e>) -> Self {
        Self {
            call,
            out: call.buffer(),
            spec: Spec::default(),
        }
    }

    /// Returns a printer with the given capacity in bytes. Fails if the capacity exceeds the memory limit.
    pub fn with_room(call: &'c BuiltinContext<'e>, bytes: usize) -> Result<Self, BuiltinError> {
        call.budget.reserve(bytes)?;
        Ok(Self {
            call,
            out: Buffer::with_capacity_in(bytes, call.arena.bump()),
            spec: Spec::default(),
        })
    }

    pub fn call(&self) -> &'c BuiltinContext<'e> {
        self.call
    }

    pub fn finish(self) -> Buffer<'e> {
        self.out
    }

    /// Appends bytes to the output. Fails if the output exceeds the memory limit of the evaluation.
    #[inline]
    pub fn raw(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        push(self.call, &mut self.out, bytes)
    }

    /// Appends a value whose text may be long. Fails at a limit of the evaluation.
    pub fn show(&mut self, value: impl Display) -> Result<(), BuiltinError> {
        Writer::new(self.call, &mut self.out).show(value)
    }

    pub fn text_form(&mut self, value: ValueRef<'_>) -> Result<(), BuiltinError> {
        Writer::new(self.call, &mut self.out).value(value)
    }

    /// Appends bytes, padded to the width. Fails at a limit of the evaluation.
    #[inline]
    pub fn padded(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let Some(width) = self.spec.width else {
            return self.raw(bytes);
        };
        let missing = width.saturating_sub(runes::count(bytes));
        if self.spec.minus {
            self.raw(bytes)?;
            return self.fill(b' ', missing);
        }
        self.fill(if self.spec.zero { b'0' } else { b' ' }, missing)?;
        self.raw(bytes)
    }

    /// Appends a byte `count` times. Fails at a limit of the evaluation.
    pub fn fill(&mut self, byte: u8, count: usize) -> Result<(), BuiltinError> {
        // a growing buffer doubles its size
        self.reserve(self.out.len().saturating_mul(2).saturating_add(count))?;
        self.out.resize(self.out.len() + count, byte);
        Ok(())
    }

    /// Checks the memory limit for `count` more bytes, and polls the other limits. Fails if one is exceeded.
    pub fn reserve(&self, count: usize) -> Result<(), BuiltinError> {
        if count > limits::LARGE_OPERAND {
            self.call.budget.check()?;
        }
        self.call.budget.reserve(count)
    }

    /// Prints without the flag for leading zeros.
    pub fn without_zero(
        &mut self,
        print: impl FnOnce(&mut Self) -> Result<(), BuiltinError>,
    ) -> Result<(), BuiltinError> {
        let zero = std::mem::take(&mut self.spec.zero);
        let result = print(self);
        self.spec.zero = zero;
        result
    }

    /// Appends a type and a value, as in error texts.
    pub fn with_type(&mut self, argument: &GoArgument<'_>) -> Result<(), BuiltinError> {
        if matches!(argument, GoArgument::Nil) {
            return self.raw(b"<nil>");
        }
        self.raw(argument.type_name().as_bytes())?;
        self.raw(b"=")?;
        // flags `+` and `#` have another meaning for `%v`, which does not apply here
        self.verb(argument, 'v', false)
    }

    pub fn value(&mut self, argument: &GoArgument<'_>, verb: char) -> Result<(), BuiltinError> {
        if verb != 'v' {
            return self.verb(argument, verb, false);
        }
        let is_quoted = std::mem::take(&mut self.spec.sharp);
        let plus = self.spec.plus;
        if !matches!(argument, GoArgument::Big(_)) {
            self.spec.plus = false;
        }
        let sharp = is_quoted && matches!(argument, GoArgument::Big(_));
        self.spec.sharp = sharp;
        let result = self.verb(argument, 'v', is_quoted);
        self.spec.plus = plus;
        result
    }

    fn verb(
        &mut self,
        argument: &GoArgument<'_>,
        verb: char,
        is_quoted: bool,
    ) -> Result<(), BuiltinError> {
        if verb == 'T' {
            return self.padded_text(argument.type_name().as_bytes());
        }
        let printed = match argument {
            GoArgument::Int(i) | GoArgument::PlainInt(i) => integer::print(self, *i, verb)?,
            GoArgument::Byte(byte) => integer::print(self, i64::from(*byte), verb)?,
            GoArgument::Bool(value) if matches!(verb, 't' | 'v') => {
                self.padded(if *value { b"true" } else { b"false" })?;
                true
            }
            GoArgument::Bool(_) => false,
            GoArgument::Nil if verb == 'v' => {
                self.padded(b"<nil>")?;
                true
            }
            GoArgument::Nil => return self.raw(format!("%!{verb}(<nil>)").as_bytes()),
            GoArgument::Big(big) => return integer::print_big(self, big, verb),
            GoArgument::Float(float) => float::print(self, *float, verb)?,
            GoArgument::Text(_) | GoArgument::Formatted(_) | GoArgument::JsonNumber(_) => {
                let bytes = argument.bytes().unwrap_or_default();
                text::print(self, &bytes, if is_quoted { 'q' } else { verb })?
            }
        };
        if printed {
            return Ok(());
        }
        self.raw(format!("%!{verb}(").as_bytes())?;
        self.with_type(argument)?;
        self.raw(b")")
    }

    /// Appends a string, truncated to the precision and padded.
    pub fn padded_text(&mut self, bytes: &[u8]) -> Result<(), BuiltinError> {
        let truncated = text::cut(&self.spec, bytes);
        self.padded(truncated)
    }
}
