//! The metrics of one request.

use std::collections::BTreeMap;

use solon::trace::Metrics;

use crate::config::Spelling;

/// Names and values, as answers list them.
pub fn spelled(metrics: &Metrics, spelling: Spelling) -> BTreeMap<String, u64> {
    let numbers = metrics.numbers();
    numbers
        .map(|(name, value)| (spelling.metric(name).into_owned(), value))
        .collect()
}
