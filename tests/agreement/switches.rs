//! Optimisations are not observable: results are the same without each of them, and without all.

use solon::internal::compile::{Optimisation, Options};
use solon_lines as lines;

use crate::compare;

/// Returns the results of a request that differ from `usual`, by the disabled optimisation.
pub fn differences(request: &str, usual: &str) -> Vec<(String, &'static str)> {
    let each = Optimisation::ALL.iter().map(|one| vec![one.name()]);
    let all = Optimisation::ALL.iter().map(|one| one.name()).collect();
    let left_out = each.chain([all]);
    left_out
        .filter_map(|names| {
            let options = Options::default()
                .skipped_passes(names.iter().map(|&name| name.to_owned()).collect());
            let answer = lines::answer_with(request, &options);
            compare::difference(usual, &answer).map(|difference| (names.join(", "), difference))
        })
        .collect()
}
