//! What functions of the host answered in an evaluation, for the search that tells where it failed.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::{BuiltinContext, Custom, Fault, FaultCode};
use crate::limits;
use crate::value::{Value, ValueRef};

/// The answers of functions that are not pure, each call in its turn.
///
/// A failed evaluation is searched again for its error. The search goes by these answers, so that nothing outside is
/// asked twice.
#[derive(Default)]
pub struct Recorded {
    answers: RefCell<HashMap<Asked, VecDeque<Answer>>>,
    count: Cell<usize>,
    replays: Cell<bool>,
}

/// A function and its operands.
type Asked = (Arc<str>, Vec<Value>);

/// What came of a call.
#[derive(Clone)]
enum Answer {
    Value(Value),
    Undefined,
    Error(FaultCode, String),
    Halt(FaultCode, String),
}

impl Recorded {
    /// From now on calls are answered by what is recorded.
    pub fn replay(&self) {
        self.replays.set(true);
    }

    /// Asks the function, or what is recorded of it.
    pub(super) fn ask<'e>(
        &self,
        function: &Custom,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, Fault> {
        let operands_owned = || operands.iter().map(|operand| operand.to_value()).collect();
        if self.replays.get() {
            let answer = self.next(&(function.name.clone(), operands_owned()));
            // an empty message: the failed evaluation's own error is told
            let answer = answer.ok_or_else(|| Fault::halt(FaultCode::Internal, ""))?;
            return answer.give(call);
        }
        let result = function.ask(call, operands);
        if self.count.get() < limits::RECORDED_CALLS {
            self.count.set(self.count.get() + 1);
            let key = (function.name.clone(), operands_owned());
            let mut answers = self.answers.borrow_mut();
            answers
                .entry(key)
                .or_default()
                .push_back(Answer::of(&result));
        }
        result
    }

    /// The next answer of a call. Behind the last comes the first again: rules that conflict are gone through once more, to
    /// list what they produced.
    fn next(&self, key: &Asked) -> Option<Answer> {
        let mut answers = self.answers.borrow_mut();
        let answers = answers.get_mut(key)?;
        let next = answers.pop_front()?;
        answers.push_back(next.clone());
        Some(next)
    }
}

impl Answer {
    fn of(result: &Result<ValueRef<'_>, Fault>) -> Self {
        match result {
            Ok(value) => Self::Value(value.to_value()),
            Err(Fault::Undefined) => Self::Undefined,
            Err(Fault::Error(error)) => Self::Error(error.code(), error.to_string()),
            Err(Fault::Halt(error)) => Self::Halt(error.code(), error.to_string()),
        }
    }

    fn give<'e>(self, call: &BuiltinContext<'e>) -> Result<ValueRef<'e>, Fault> {
        match self {
            Self::Value(value) => Ok(call.arena.copy_of(&value)),
            Self::Undefined => Err(Fault::Undefined),
            Self::Error(code, message) => Err(Fault::error_of(code, message)),
            Self::Halt(code, message) => Err(Fault::halt(code, message)),
        }
    }
}
