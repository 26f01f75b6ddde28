//! Intrinsics: calls evaluated in place for common operands.

use std::sync::Arc;

use super::Operand;
use crate::builtins::{BuiltinEntry, IntrinsicFunction, IntrinsicResult, Prepared};

/// In-place evaluation of a call for operands in their usual representation.
#[derive(Clone, Copy)]
pub enum Intrinsic {
    /// From strings, by a function of the built-in.
    Function(IntrinsicFunction),
    /// From the string at an index, by the specialised call.
    Prepared(usize, IntrinsicResult),
    /// Lookup of a constant string in an object, with a default.
    Get,
    /// Addition of 64-bit integers; overflow calls the built-in.
    Plus,
    /// Subtraction of 64-bit integers; overflow calls the built-in.
    Minus,
    /// Multiplication of 64-bit integers; overflow calls the built-in.
    Times,
}

impl Intrinsic {
    /// Returns the intrinsic of a call on strings, if there is one.
    pub fn of_texts(
        entry: &BuiltinEntry,
        prepared: Option<&Arc<dyn Prepared>>,
        args: &[Operand],
    ) -> Option<Self> {
        if let Some(prepared) = prepared {
            let (at, answer) = prepared.intrinsic_operand()?;
            return Some(Self::Prepared(at, answer));
        }
        let quick = entry.builtin.intrinsic?;
        (quick.arity() == args.len()).then_some(Self::Function(quick))
    }

    /// Returns the intrinsic of a call on other operands, or `None`. `is_string` returns `true` for constant strings.
    pub fn of_others(
        name: &str,
        args: &[Operand],
        is_string: impl Fn(Operand) -> bool,
    ) -> Option<Self> {
        match (name, args) {
            ("object.get", [_, key, _]) if is_string(*key) => Some(Self::Get),
            ("plus", [_, _]) => Some(Self::Plus),
            ("minus", [_, _]) => Some(Self::Minus),
            ("mul", [_, _]) => Some(Self::Times),
            _ => None,
        }
    }

    /// Returns the kind of the results from strings, or `None` for intrinsics on other values.
    pub fn answer(self) -> Option<IntrinsicResult> {
        match self {
            Self::Function(quick) => Some(quick.result_kind()),
            Self::Prepared(_, answer) => Some(answer),
            Self::Get | Self::Plus | Self::Minus | Self::Times => None,
        }
    }
}
