//! What a host attaches to an evaluation.

use super::builtin_error::{BuiltinError, StopReason};
use super::http::SendMetrics;
use super::metadata::ResponseMetadata;
use super::nd_cache::NdBuiltinCache;
use super::recorded_calls::RecordedCalls;
use crate::value::Value;

/// Runs the call that it is given, or leaves it out.
pub type AroundHostCalls<'a> = &'a dyn Fn(&mut dyn FnMut());

/// What a host attaches to an evaluation; most attach little. Evaluations refer to it, so that what is not attached costs
/// nothing.
#[derive(Clone, Copy, Default)]
pub struct Hooks<'a> {
    /// Where `print` writes lines; without it they are dropped.
    pub print: Option<&'a dyn Fn(&str)>,
    /// Where answers of nondeterministic built-ins are noted, and looked up first.
    pub nd_cache: Option<&'a NdBuiltinCache>,
    /// Where requests are counted.
    pub send_metrics: Option<&'a SendMetrics>,
    /// What the caller told about the request, for functions of the host.
    pub metadata: Option<&'a Value>,
    /// Where functions of the host tell the caller something.
    pub response_metadata: Option<&'a ResponseMetadata>,
    /// What is called at each look at the budget.
    pub on_poll: Option<&'a dyn Fn()>,
    /// What is called with each call that may block this thread, to run it.
    pub around_host_calls: Option<AroundHostCalls<'a>>,
    /// What functions that are not pure answered, where that is recorded.
    pub(crate) recorded: Option<&'a RecordedCalls>,
}

impl Hooks<'_> {
    /// None of them.
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
    /// The host left the call out: the evaluation ends as cancelled.
    pub fn host_call<R>(&self, call: impl FnOnce() -> R) -> Result<R, BuiltinError> {
        let Some(around) = self.around_host_calls else {
            return Ok(call());
        };
        let (mut call, mut result) = (Some(call), None);
        around(&mut || {
            if let Some(call) = call.take() {
                result = Some(call());
            }
        });
        result.ok_or_else(|| BuiltinError::stopped(StopReason::Cancelled))
    }
}
