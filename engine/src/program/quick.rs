//! Calls that are answered from strings where they lie.

use std::sync::Arc;

use super::Operand;
use crate::builtins::{Answer, Entry, Prepared, Quick};

/// How a call is answered from strings where they lie, when these have their usual forms.
#[derive(Clone, Copy)]
pub enum QuickCall {
    /// By the built-in.
    Function(Quick),
    /// By the prepared call, from the operand at a position.
    Prepared(usize, Answer),
}

impl QuickCall {
    /// How a call with these operands is answered; `None` when nothing answers it so.
    pub fn of(
        entry: &Entry,
        prepared: Option<&Arc<dyn Prepared>>,
        args: &[Operand],
    ) -> Option<Self> {
        if let Some(prepared) = prepared {
            let (at, answer) = prepared.quick()?;
            return Some(Self::Prepared(at, answer));
        }
        let quick = entry.builtin.quick?;
        (quick.arity() == args.len()).then_some(Self::Function(quick))
    }

    /// What its answers stand for.
    pub fn answer(self) -> Answer {
        match self {
            Self::Function(quick) => quick.answer(),
            Self::Prepared(_, answer) => answer,
        }
    }
}
