//! Configuration of the caches that outlive an evaluation.

use super::document::CachingSection;

/// Caches that outlive an evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caching {
    /// Maximum size of cached `http.send` responses, in bytes. By default this is the engine's limit.
    pub responses: Option<usize>,
    /// Maximum number of compiled patterns, schemas and similar objects in the cache. By default this is the engine's limit.
    pub patterns: Option<usize>,
    /// Maximum number of cached verified token signatures. Without it none are cached.
    pub signatures: Option<usize>,
}

/// Name of the cache of verified signatures.
const SIGNATURES: &str = "io_jwt";

impl Caching {
    /// Returns the settings of a configuration section.
    ///
    /// # Errors
    /// Fails if a number is out of range, in OPA's words.
    pub fn from_section(section: &CachingSection) -> Result<Self, String> {
        let responses = &section.inter_query_builtin_cache;
        let values = &section.inter_query_builtin_value_cache;
        let share = match responses.forced_eviction_threshold_percentage {
            None => 100,
            Some(share @ 0..=100) => share,
            Some(share) => {
                return Err(format!(
                    "invalid forced_eviction_threshold_percentage {share}"
                ));
            }
        };
        let period = limit(
            "stale_entry_eviction_period_seconds",
            responses.stale_entry_eviction_period_seconds,
        )?;
        if period.is_some_and(|period| period != usize::MAX) {
            return Err(
                "caching.inter_query_builtin_cache.stale_entry_eviction_period_seconds: not supported yet, \
                 answers are removed when others need their room"
                    .to_owned(),
            );
        }
        let mut signatures = None;
        for (name, cache) in &values.named {
            let entries = limit("max_num_entries", cache.max_num_entries)
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
        let bytes = limit("max_size_bytes", responses.max_size_bytes)?;
        Ok(Self {
            // eviction starts at this fill level
            responses: bytes.map(|bytes| match bytes {
                usize::MAX => bytes,
                bytes => share_of(bytes, share),
            }),
            patterns: limit("max_num_entries", values.max_num_entries)?,
            signatures,
        })
    }
}

/// Returns a number as a limit; 0 is unlimited.
fn limit(name: &str, number: Option<i64>) -> Result<Option<usize>, String> {
    match number {
        None => Ok(None),
        Some(0) => Ok(Some(usize::MAX)),
        Some(number) => usize::try_from(number)
            .map(Some)
            .map_err(|_| format!("invalid {name} {number}")),
    }
}

/// Returns a percentage of a number.
fn share_of(total: usize, share: i64) -> usize {
    let share = u128::from(share.unsigned_abs()) * total as u128 / 100;
    usize::try_from(share).unwrap_or(total)
}
