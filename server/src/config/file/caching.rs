//! What a configuration says of what outlives an evaluation.

use serde_json::Value;

/// What is kept from one evaluation to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caching {
    /// Most bytes of answers of `http.send`; as many as the engine keeps unless set.
    pub responses: Option<usize>,
    /// Most patterns, schemas and the like that are kept compiled; as many as the engine keeps unless set.
    pub patterns: Option<usize>,
    /// Maximum number of verified signatures of tokens that are remembered. Without it none are.
    pub signatures: Option<usize>,
}

/// The cache of verified signatures, among those with a name.
const SIGNATURES: &str = "io_jwt";

impl Caching {
    /// That of a configuration whose values have the right types.
    ///
    /// # Errors
    /// A value that is out of its bounds, in OPA's words.
    pub fn of(config: &Value) -> Result<Self, String> {
        let (responses, values) = sections(config);
        let share = number(responses, "forced_eviction_threshold_percentage");
        let share = match share.map(|share| (share, share.as_u64())) {
            None => 100,
            Some((_, Some(share @ 0..=100))) => share,
            Some((share, _)) => {
                return Err(format!(
                    "invalid forced_eviction_threshold_percentage {share}"
                ));
            }
        };
        let period = bound(responses, "stale_entry_eviction_period_seconds")?;
        if period.is_some_and(|period| period != usize::MAX) {
            return Err(
                "caching.inter_query_builtin_cache.stale_entry_eviction_period_seconds: not supported yet, \
                 answers are removed when others need their room"
                    .to_owned(),
            );
        }
        let mut signatures = None;
        for (name, cache) in named(values) {
            let entries = bound(Some(cache), "max_num_entries")
                .map_err(|error| format!("{error} for named cache {name}"))?;
            if name == SIGNATURES {
                signatures = entries;
            } else if entries.is_some() {
                return Err(format!(
                    "caching.inter_query_builtin_value_cache.named.{name}: not supported yet, \
                     these values share one cache"
                ));
            }
        }
        let bytes = bound(responses, "max_size_bytes")?;
        Ok(Self {
            // room is made as soon as so much of it is taken
            responses: bytes.map(|bytes| match bytes {
                usize::MAX => bytes,
                bytes => share_of(bytes, share),
            }),
            patterns: bound(values, "max_num_entries")?,
            signatures,
        })
    }
}

/// What stands there of answers of `http.send`, and of what texts compile to.
fn sections(config: &Value) -> (Option<&Value>, Option<&Value>) {
    let section = |name: &str| config.get("caching")?.get(name);
    (
        section("inter_query_builtin_cache"),
        section("inter_query_builtin_value_cache"),
    )
}

/// The caches of their own that values may have.
fn named(values: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    let named = values.and_then(|values| values.get("named"));
    let named = named.and_then(Value::as_object).into_iter();
    named.flat_map(|named| named.iter())
}

fn number<'c>(section: Option<&'c Value>, name: &str) -> Option<&'c Value> {
    section?.get(name).filter(|number| !number.is_null())
}

/// A number that bounds something. 0 sets no bound.
fn bound(section: Option<&Value>, name: &str) -> Result<Option<usize>, String> {
    let Some(number) = number(section, name) else {
        return Ok(None);
    };
    let most = match number.as_u64() {
        None => return Err(format!("invalid {name} {number}")),
        Some(0) => usize::MAX,
        Some(most) => usize::try_from(most).unwrap_or(usize::MAX),
    };
    Ok(Some(most))
}

/// A share of a number, in hundredths.
fn share_of(whole: usize, share: u64) -> usize {
    let share = u128::from(share) * whole as u128 / 100;
    usize::try_from(share).unwrap_or(whole)
}
