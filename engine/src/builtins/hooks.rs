//! What a host attaches to an evaluation.

use super::http::SendMetrics;
use super::metadata::ResponseMetadata;
use super::nd_cache::NdBuiltinCache;
use super::recorded::Recorded;
use crate::value::Value;

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
    pub at_looks: Option<&'a dyn Fn()>,
    /// What functions that are not pure answered, where that is recorded.
    pub(crate) recorded: Option<&'a Recorded>,
}

impl Hooks<'_> {
    /// None of them.
    pub const NONE: &'static Hooks<'static> = &Hooks {
        print: None,
        nd_cache: None,
        send_metrics: None,
        metadata: None,
        response_metadata: None,
        at_looks: None,
        recorded: None,
    };
}
