//! Logged events, and reasons why some cannot be replayed.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Event members that a replay needs. Values are text of the log.
#[derive(Deserialize)]
pub struct ReplayEvent<'e> {
    /// Id of the decision. Log lines without one are not decisions.
    #[serde(borrow, default)]
    pub decision_id: Cow<'e, str>,
    /// Path of the document as the client sent it, with percent escapes.
    #[serde(borrow, default)]
    pub path: Cow<'e, str>,
    #[serde(borrow)]
    pub query: Option<Cow<'e, str>>,
    /// Input as JSON text. `None` if it was undefined.
    #[serde(borrow, default, deserialize_with = "present")]
    pub input: Option<&'e RawValue>,
    /// Result as JSON text. `None` if it was undefined.
    #[serde(borrow, default, deserialize_with = "present")]
    pub result: Option<&'e RawValue>,
    /// Results of nondeterministic built-in functions.
    #[serde(borrow)]
    pub nd_builtin_cache: Option<&'e RawValue>,
    #[serde(borrow, default)]
    erased: Vec<Cow<'e, str>>,
    #[serde(borrow, default)]
    masked: Vec<Cow<'e, str>>,
    /// Error of the decision: an object, or the text of a console.
    #[serde(borrow)]
    pub error: Option<&'e RawValue>,
    #[serde(borrow)]
    pub timestamp: Option<Cow<'e, str>>,
    custom: Option<EventExtras>,
}

#[derive(Deserialize)]
struct EventExtras {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Deserializes a member that is present, also if it is `null`.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(from).map(Some)
}

/// Type of the events of data filters.
const FILTER: &str = "open-policy-agent/compile";

/// Reason why a decision cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    /// The mask policy removed or replaced a part of the input.
    MaskedInput,
    /// The mask policy removed or replaced a part of the result, so that results cannot be compared.
    MaskedResult,
    /// The mask policy removed or replaced results of nondeterministic functions.
    MaskedCalls,
    /// The event is of a data filter, which is not replayed.
    Filter,
    /// The decision ended at its time limit or because its client disconnected.
    Cancelled,
    /// The evaluation needs the result of a network call, or random numbers, that are not in the event.
    UnloggedCall,
}

impl SkipReason {
    /// Returns the reason as part of a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Self::MaskedInput => "input is masked",
            Self::MaskedResult => "result is masked",
            Self::MaskedCalls => "nd_builtin_cache is masked",
            Self::Filter => "data filter",
            Self::Cancelled => "decision was cancelled",
            Self::UnloggedCall => "call is not in nd_builtin_cache",
        }
    }
}

impl ReplayEvent<'_> {
    /// Returns the reason why the event cannot be replayed, as far as the event shows it.
    pub fn reason(&self) -> Option<SkipReason> {
        let is_changed = |member: &str| {
            let is_of = |pointer: &Cow<'_, str>| {
                let first = pointer.strip_prefix('/').unwrap_or(pointer);
                first.split('/').next() == Some(member)
            };
            self.erased.iter().chain(&self.masked).any(is_of)
        };
        if is_changed("input") {
            return Some(SkipReason::MaskedInput);
        }
        if is_changed("nd_builtin_cache") {
            return Some(SkipReason::MaskedCalls);
        }
        if is_changed("result") {
            return Some(SkipReason::MaskedResult);
        }
        let kind = self
            .custom
            .as_ref()
            .and_then(|custom| custom.kind.as_deref());
        (kind == Some(FILTER)).then_some(SkipReason::Filter)
    }
}
