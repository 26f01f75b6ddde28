//! Weights of `Accept` and `Accept-Encoding` entries.

/// Returns the weight in the parameters of an entry, from 0 (not accepted) to 1 (the default). Returns `None` if it is not a
/// number.
pub fn weight<'h>(parameters: impl IntoIterator<Item = &'h str>) -> Option<f32> {
    let pairs = parameters
        .into_iter()
        .filter_map(|parameter| parameter.split_once('='));
    let mut weights = pairs.filter(|(name, _)| name.trim().eq_ignore_ascii_case("q"));
    let weight = weights
        .next()
        .map(|(_, weight)| weight.trim().parse::<f32>());
    weight.map_or(Some(1.0), Result::ok)
}
