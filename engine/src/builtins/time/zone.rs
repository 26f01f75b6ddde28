//! Time zones and their UTC offsets.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::builtins::patterns::{CompiledPattern, Family};
use crate::builtins::{BuiltinContext, BuiltinError, Operands};
use crate::value::{RefRepr, ValueRef};

static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// A time zone, cached across calls.
pub struct Zone {
    rules: TimeZone,
    /// Number of offset lookups before the table was built.
    lookups: AtomicU32,
    table: OnceLock<Box<[OffsetInterval]>>,
}

/// Interval with a constant UTC offset, up to the next one.
struct OffsetInterval {
    start: i64,
    offset: i64,
}

/// Range of the table in seconds since 1970: 1970 to 2099.
const YEARS: std::ops::Range<i64> = 0..4_102_444_800;

/// Number of offset lookups from which the table pays off.
const TABLE_THRESHOLD: u32 = 64;

impl CompiledPattern for Zone {
    fn bytes(&self) -> usize {
        /// Estimated size of the transitions and of the table in bytes.
        const TRANSITIONS: usize = 16 << 10;
        TRANSITIONS
    }
}

impl Zone {
    fn find(name: &str) -> Result<Self, BuiltinError> {
        if name.starts_with(['/', '\\']) || name.contains("..") {
            return Err(BuiltinError::error("time: invalid location name"));
        }
        if name.contains('\0') {
            return Err(BuiltinError::error("invalid argument"));
        }
        let zone = ZONES.get(name).ok();
        let zone = zone.filter(|zone| zone.iana_name() == Some(name));
        let zone = zone.ok_or_else(|| BuiltinError::error(format!("unknown time zone {name}")))?;
        Ok(Self {
            rules: zone,
            lookups: AtomicU32::new(0),
            table: OnceLock::new(),
        })
    }

    /// Returns the UTC offset in seconds at `second` of Unix time. After [`TABLE_THRESHOLD`] calls, a table replaces the
    /// computation.
    fn offset(&self, second: i64) -> i64 {
        if let Some(table) = self.table.get() {
            let after = table.partition_point(|period| period.start <= second);
            let period = after.checked_sub(1).and_then(|index| table.get(index));
            if let Some(period) = period.filter(|_| YEARS.contains(&second)) {
                return period.offset;
            }
        } else if self.lookups.fetch_add(1, Ordering::Relaxed) >= TABLE_THRESHOLD {
            self.table.get_or_init(|| self.offset_intervals());
        }
        self.compute_offset(second)
    }

    fn compute_offset(&self, second: i64) -> i64 {
        let time = Timestamp::from_second(second).unwrap_or_default();
        self.rules.to_offset(time).seconds().into()
    }

    /// Returns the intervals in the range of the table.
    #[cold]
    fn offset_intervals(&self) -> Box<[OffsetInterval]> {
        let first = OffsetInterval {
            start: YEARS.start,
            offset: self.compute_offset(YEARS.start),
        };
        let start = Timestamp::from_second(YEARS.start).unwrap_or_default();
        let later = self
            .rules
            .following(start)
            .map(|transition| OffsetInterval {
                start: transition.timestamp().as_second(),
                offset: transition.offset().seconds().into(),
            });
        let later = later.take_while(|period| period.start < YEARS.end);
        std::iter::once(first).chain(later).collect()
    }
}

#[derive(Clone)]
pub enum TimeZoneRef {
    Utc,
    Zone(Arc<Zone>),
}

/// Most recently used time zone with its name: loops usually use a single one.
pub struct LastZone<'e> {
    name: ValueRef<'e>,
    zone: TimeZoneRef,
}

impl LastZone<'_> {
    /// Returns `true` if it has this name. May return `false` for an equal name at another address.
    fn has_name(&self, name: ValueRef<'_>) -> bool {
        match (self.name, name) {
            (ValueRef(RefRepr::Short(a)), ValueRef(RefRepr::Short(b))) => a == b,
            (ValueRef(RefRepr::Text(a)), ValueRef(RefRepr::Text(b))) => a.ptr_eq(b),
            (ValueRef(RefRepr::ArenaText(a)), ValueRef(RefRepr::ArenaText(b))) => {
                std::ptr::eq(a, b)
            }
            _ => false,
        }
    }
}

impl TimeZoneRef {
    /// Looks up the time zone with a name and stores it as the last one. `Local` is UTC. Fails for an unknown name.
    pub fn find<'e>(call: &mut BuiltinContext<'e>, name: ValueRef<'e>) -> Result<(), BuiltinError> {
        if call
            .last_zone
            .as_ref()
            .is_some_and(|last| last.has_name(name))
        {
            return Ok(());
        }
        let zone = match &*[name].text(0)?.to_str() {
            "" | "UTC" | "Local" => Self::Utc,
            text => {
                let find = || Zone::find(text);
                let zone = call.patterns.get(Family::TimeZone, text.as_bytes(), find)?;
                Self::Zone(zone)
            }
        };
        call.last_zone = Some(LastZone { name, zone });
        Ok(())
    }

    /// Returns the time zone of the last [`Self::find`], or UTC before the first.
    pub fn last<'c>(call: &'c BuiltinContext<'_>) -> &'c Self {
        call.last_zone
            .as_ref()
            .map_or(&Self::Utc, |last| &last.zone)
    }

    /// Returns the UTC offset in seconds at `second` of Unix time.
    pub fn offset(&self, second: i64) -> i64 {
        match self {
            Self::Utc => 0,
            Self::Zone(zone) => zone.offset(second),
        }
    }

    pub fn abbreviation(&self, second: i64) -> String {
        let time = Timestamp::from_second(second).unwrap_or_default();
        let zone = match self {
            Self::Utc => &TimeZone::UTC,
            Self::Zone(zone) => &zone.rules,
        };
        zone.to_offset_info(time).abbreviation().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::{YEARS, Zone};

    /// The table agrees with the time zone, at both ends, around each transition and between.
    #[test]
    fn the_table_is_that_of_the_zone() {
        for name in [
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe",
            "Asia/Kolkata",
            "Africa/Casablanca",
            "Antarctica/Troll",
            "Etc/GMT+5",
        ] {
            let zone = Zone::find(name).map_err(|_| name).unwrap();
            let table = zone.offset_intervals();
            let edges = table.iter().map(|period| period.start);
            let probes = edges.flat_map(|edge| [edge - 1, edge, edge + 1, edge + 3_000_000]);
            let mut seconds: Vec<i64> = probes.collect();
            seconds.extend([YEARS.start - 1, YEARS.end - 1, YEARS.end, -5_000_000_000]);
            let lookups = seconds.iter().map(|second| zone.compute_offset(*second));
            let expected: Vec<i64> = lookups.collect();
            assert!(zone.table.set(table).is_ok());
            let offsets: Vec<i64> = seconds.iter().map(|second| zone.offset(*second)).collect();
            assert_eq!(offsets, expected, "{name}");
        }
    }
}
