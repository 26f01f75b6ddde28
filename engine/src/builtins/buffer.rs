//! Text buffers of built-ins. Writing respects the memory and time limits of the evaluation.

use std::fmt::{self, Write as _};

use super::call::Budget;
use super::{BuiltinContext, BuiltinError};
use crate::limits;
use crate::value::{ValueRef, display};

/// Bytes of a string being built in the arena.
pub type Buffer<'e> = bumpalo::collections::Vec<'e, u8>;

/// Appends to a buffer. Fails at a limit of the evaluation, before memory is allocated.
#[inline]
pub fn push(
    call: &BuiltinContext<'_>,
    buffer: &mut Buffer<'_>,
    bytes: &[u8],
) -> Result<(), BuiltinError> {
    let length = buffer.len() + bytes.len();
    if length > buffer.capacity() {
        call.budget.reserve(buffer.len() + length)?;
        if length > limits::LARGE_OPERAND {
            call.budget.check()?;
        }
    }
    buffer.extend_from_slice_copy(bytes);
    Ok(())
}

/// Writes values into a buffer until the memory limit is reached or the evaluation is stopped.
pub struct Writer<'b, 'e> {
    buffer: &'b mut Buffer<'e>,
    remaining: usize,
    /// Length of the buffer at which the limits are polled next.
    next_poll_len: usize,
    budget: &'b Budget<'b>,
}

impl<'b, 'e> Writer<'b, 'e> {
    /// Returns a writer that appends to the buffer. It reads the remaining memory of the budget once, here.
    pub fn new(call: &'b BuiltinContext<'_>, buffer: &'b mut Buffer<'e>) -> Self {
        Self {
            remaining: call.budget.remaining_memory(),
            next_poll_len: buffer.len().saturating_add(limits::POLL_BYTES),
            budget: &call.budget,
            buffer,
        }
    }

    /// Writes a value whose text may be long. Fails at a limit of the evaluation.
    pub fn show(&mut self, value: impl fmt::Display) -> Result<(), BuiltinError> {
        let result = write!(self, "{value}");
        self.check_written(result)
    }

    /// Writes the text form of a value. Fails at a limit of the evaluation.
    pub fn value(&mut self, value: ValueRef<'_>) -> Result<(), BuiltinError> {
        let result = display::write_value(value, self);
        self.check_written(result)
    }

    fn check_written(&self, result: fmt::Result) -> Result<(), BuiltinError> {
        if result.is_ok() {
            return Ok(());
        }
        self.budget.check()?;
        Err(BuiltinError::memory())
    }
}

impl fmt::Write for Writer<'_, '_> {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.remaining = self.remaining.checked_sub(text.len()).ok_or(fmt::Error)?;
        if self.buffer.len() > self.next_poll_len {
            self.next_poll_len = self.buffer.len() + limits::POLL_BYTES;
            self.budget.check().map_err(|_| fmt::Error)?;
        }
        self.buffer.extend_from_slice_copy(text.as_bytes());
        Ok(())
    }
}
