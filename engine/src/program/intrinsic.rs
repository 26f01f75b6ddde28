//! Calls that are answered for the most common operands where these lie.

use std::sync::Arc;

use super::Operand;
use crate::builtins::{Entry, IntrinsicFunction, IntrinsicResult, Prepared};

/// How a call is answered without being made, when its operands have their usual forms.
#[derive(Clone, Copy)]
pub enum Intrinsic {
    /// From strings, by the built-in.
    Function(IntrinsicFunction),
    /// From the string at a position, by the prepared call.
    Prepared(usize, IntrinsicResult),
    /// By looking for a constant string in an object, as a step of a path does, but for the default.
    Get,
    /// By adding whole numbers.
    Plus,
    /// By taking one from the other.
    Minus,
    /// By multiplying them.
    Times,
}

impl Intrinsic {
    /// How a call with these operands is answered from strings; `None` when nothing answers it so.
    pub fn of_texts(
        entry: &Entry,
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

    /// The same from other operands, of which `is_string` tells the constant strings.
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

    /// What its answers from strings stand for.
    pub fn answer(self) -> Option<IntrinsicResult> {
        match self {
            Self::Function(quick) => Some(quick.result_kind()),
            Self::Prepared(_, answer) => Some(answer),
            Self::Get | Self::Plus | Self::Minus | Self::Times => None,
        }
    }
}
