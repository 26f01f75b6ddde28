//! What functions of the host answered in an evaluation, for the search that tells where it failed.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::{BuiltinContext, BuiltinError, EvalErrorCode, HostFunction};
use crate::limits;
use crate::value::{Value, ValueRef};

/// The answers of functions that are not pure, each call in its turn.
///
/// A failed evaluation is searched again for its error. The search goes by these answers, so that nothing outside is
/// asked twice.
#[derive(Default)]
pub struct RecordedCalls {
    results: RefCell<HashMap<CallKey, VecDeque<RecordedResult>>>,
    count: Cell<usize>,
    replays: Cell<bool>,
}

/// A function and its operands.
type CallKey = (Arc<str>, Vec<Value>);

/// What came of a call.
#[derive(Clone)]
enum RecordedResult {
    Value(Value),
    Undefined,
    Error(EvalErrorCode, String),
    Halt(EvalErrorCode, String),
}

impl RecordedCalls {
    /// From now on calls are answered by what is recorded.
    pub fn replay(&self) {
        self.replays.set(true);
    }

    /// Asks the function, or what is recorded of it.
    pub(super) fn invoke<'e>(
        &self,
        function: &HostFunction,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let operands_owned = || operands.iter().map(|operand| operand.to_value()).collect();
        if self.replays.get() {
            let answer = self.next(&(function.name.clone(), operands_owned()));
            // an empty message: the failed evaluation's own error is told
            let answer = answer.ok_or_else(|| BuiltinError::halt(EvalErrorCode::Internal, ""))?;
            return answer.give(call);
        }
        let result = function.invoke(call, operands);
        if self.count.get() < limits::RECORDED_CALLS {
            self.count.set(self.count.get() + 1);
            let key = (function.name.clone(), operands_owned());
            let mut results = self.results.borrow_mut();
            results
                .entry(key)
                .or_default()
                .push_back(RecordedResult::from_result(&result));
        }
        result
    }

    /// The next answer of a call. Behind the last comes the first again: rules that conflict are gone through once more, to
    /// list what they produced.
    fn next(&self, key: &CallKey) -> Option<RecordedResult> {
        let mut results = self.results.borrow_mut();
        let results = results.get_mut(key)?;
        let next = results.pop_front()?;
        results.push_back(next.clone());
        Some(next)
    }
}

impl RecordedResult {
    fn from_result(result: &Result<ValueRef<'_>, BuiltinError>) -> Self {
        match result {
            Ok(value) => Self::Value(value.to_value()),
            Err(BuiltinError::Undefined) => Self::Undefined,
            Err(BuiltinError::Error(error)) => Self::Error(error.code(), error.to_string()),
            Err(BuiltinError::Halt(error)) => Self::Halt(error.code(), error.to_string()),
        }
    }

    fn give<'e>(self, call: &BuiltinContext<'e>) -> Result<ValueRef<'e>, BuiltinError> {
        match self {
            Self::Value(value) => Ok(call.arena.copy_of(&value)),
            Self::Undefined => Err(BuiltinError::Undefined),
            Self::Error(code, message) => Err(BuiltinError::error_of(code, message)),
            Self::Halt(code, message) => Err(BuiltinError::halt(code, message)),
        }
    }
}
