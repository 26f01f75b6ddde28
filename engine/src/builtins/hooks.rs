//! Hooks of the host for an evaluation.

use super::builtin_error::{BuiltinError, StopReason};
use super::http::SendMetrics;
use super::metadata::ResponseMetadata;
use super::nd_cache::NdBuiltinCache;
use super::recorded_calls::RecordedCalls;
use crate::value::Value;

/// Runs the call that it receives, or does not.
pub type AroundHostCalls<'a> = &'a dyn Fn(&mut dyn FnMut());

/// Hooks of the host. Most evaluations have few. Evaluations refer to them, so unused hooks cost nothing.
#[derive(Clone, Copy, Default)]
pub struct Hooks<'a> {
    /// Receives lines from `print`. Without it they are dropped.
    pub print: Option<&'a dyn Fn(&str)>,
    /// Cache of the results of nondeterministic built-ins.
    pub nd_cache: Option<&'a NdBuiltinCache>,
    /// Counts the requests of `http.send`. `None` counts none.
    pub send_metrics: Option<&'a SendMetrics>,
    /// The caller's metadata about the request, for host functions.
    pub metadata: Option<&'a Value>,
    /// Metadata that host functions return to the caller.
    pub response_metadata: Option<&'a ResponseMetadata>,
    /// Called at each poll of the budget.
    pub on_poll: Option<&'a dyn Fn()>,
    /// Called with each call that may block this thread, to run it.
    pub around_host_calls: Option<AroundHostCalls<'a>>,
    /// Recorded results of host functions that are not pure.
    pub(crate) recorded: Option<&'a RecordedCalls>,
}

impl Hooks<'_> {
    /// No hooks: nothing is observed.
    pub const NONE: &'static Hooks<'static> = &Hooks {
        print: None,
        nd_cache: None,
        send_metrics: None,
        metadata: None,
        response_metadata: None,
        on_poll: None,
        around_host_calls: None,
        recorded: None,
    };
}

impl<'a> Hooks<'a> {
    /// Returns what to call now and then while this thread waits. A host that runs the call itself knows that the thread waits,
    /// and needs no calls in between.
    pub fn while_waiting(&self) -> Option<&'a dyn Fn()> {
        self.on_poll.filter(|_| self.around_host_calls.is_none())
    }

    /// Makes a call that may block this thread, by [`Self::around_host_calls`].
    ///
    /// # Errors
    /// If the hook does not run the call, the evaluation ends as cancelled.
    pub fn host_call<R>(&self, call: impl FnOnce() -> R) -> Result<R, BuiltinError> {
        let Some(wrapper) = self.around_host_calls else {
            return Ok(call());
        };
        let (mut call, mut result) = (Some(call), None);
        wrapper(&mut || {
            if let Some(call) = call.take() {
                result = Some(call());
            }
        });
        result.ok_or_else(|| BuiltinError::stopped(StopReason::Cancelled))
    }
}
