//! No optimisation shows: the answers are the same with each of them left out, and with all.

use solon::internal::compile::{Optimisation, Options};
use solon_lines as lines;

use crate::compare;

/// The answers to a request that differ from `usual` when something is left out, by what that was.
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
