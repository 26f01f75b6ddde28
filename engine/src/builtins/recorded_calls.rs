//! Recorded results of host functions, for the search for the error of a failed evaluation.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::{BuiltinContext, BuiltinError, EvalErrorCode, HostFunction};
use crate::limits;
use crate::value::{Value, ValueRef};

/// Recorded results of functions that are not pure, in call order.
///
/// A failed evaluation is repeated to find its error. The repetition uses these results, so that no external I/O
/// happens twice.
#[derive(Default)]
pub struct RecordedCalls {
    results: RefCell<HashMap<CallKey, VecDeque<RecordedResult>>>,
    count: Cell<usize>,
    replays: Cell<bool>,
}

/// Name and operands of a call.
type CallKey = (Arc<str>, Vec<Value>);

#[derive(Clone)]
enum RecordedResult {
    Value(Value),
    Undefined,
    Error(EvalErrorCode, String),
    Halt(EvalErrorCode, String),
}

impl RecordedCalls {
    /// Switches to replay: further calls return recorded results.
    pub fn replay(&self) {
        self.replays.set(true);
    }

    /// Calls the function and records the result, or returns the recorded result. A replay without a recorded result ends
    /// the evaluation with an internal error.
    pub(super) fn invoke<'e>(
        &self,
        function: &HostFunction,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        let operands_owned = || operands.iter().map(|operand| operand.to_value()).collect();
        if self.replays.get() {
            let recorded = self.next(&(function.name.clone(), operands_owned()));
            // the empty message selects the original error of the failed evaluation
            let recorded =
                recorded.ok_or_else(|| BuiltinError::halt(EvalErrorCode::Internal, ""))?;
            return recorded.give(call);
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

    /// Returns the next result of a call. Starts again at the first after the last: conflicting rules are evaluated
    /// once more, to list their values.
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
