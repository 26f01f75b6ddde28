//! Times, with the crate `jiff`.

use jiff::civil::{DateTime, Weekday};
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use solon::Value;

use super::{Prepare, elements, number, text, texts};

pub const DECISIONS: &[(&str, Prepare)] = &[
    ("time_parse", || Some(Box::new(plain))),
    ("time_parse_long", || Some(Box::new(long))),
    ("time_rfc3339", || Some(Box::new(rfc3339))),
    ("time_duration", || Some(Box::new(durations))),
    ("time_date", || {
        let zone = TimeZone::get("Europe/Berlin").ok()?;
        Some(Box::new(move |data, _| {
            let years = stamps(data).map(|time| i64::from(zone.to_datetime(time).year()));
            Some(Value::from(years.sum::<i64>()))
        }))
    }),
    ("time_format", || {
        let zone = TimeZone::get("America/New_York").ok()?;
        Some(Box::new(move |data, _| {
            let shown = stamps(data).map(|time| {
                let zoned = time.to_zoned(zone.clone());
                zoned.strftime("%a, %d %b %Y %H:%M:%S %z").to_string().len()
            });
            number(shown.sum())
        }))
    }),
    ("window_decision", || {
        let zone = TimeZone::get("Europe/Berlin").ok()?;
        Some(Box::new(move |data, input| {
            is_open(data, input, &zone).map(Value::from)
        }))
    }),
    ("window_grants", || Some(Box::new(grants))),
    ("window_keys", || Some(Box::new(keys))),
];

fn ns(time: Timestamp) -> Option<i64> {
    i64::try_from(time.as_nanosecond()).ok()
}

fn stamps(data: &Value) -> impl Iterator<Item = Timestamp> {
    texts(data, "rfc3339").filter_map(|text| text.parse().ok())
}

fn plain(data: &Value, _: &Value) -> Option<Value> {
    let read = |text: &str| {
        let time = strtime::parse("%Y-%m-%d %H:%M:%S %z", text).ok()?;
        ns(time.to_timestamp().ok()?)
    };
    texts(data, "plain").filter_map(read).max().map(Value::from)
}

fn utc(time: DateTime) -> Option<Timestamp> {
    TimeZone::UTC.to_timestamp(time).ok()
}

fn long(data: &Value, _: &Value) -> Option<Value> {
    let read = |text: &str| {
        let time = strtime::parse("%d %b %Y %H:%M:%S UTC", text).ok()?;
        ns(utc(time.to_datetime().ok()?)?)
    };
    texts(data, "long").filter_map(read).max().map(Value::from)
}

fn rfc3339(data: &Value, _: &Value) -> Option<Value> {
    stamps(data).filter_map(ns).max().map(Value::from)
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "the form of all decisions: others have no answer where something is missing"
)]
fn durations(data: &Value, _: &Value) -> Option<Value> {
    let read = |text: &str| {
        let duration: SignedDuration = text.parse().ok()?;
        i64::try_from(duration.as_nanos()).ok()
    };
    let sum: i64 = texts(data, "durations").filter_map(read).sum();
    Some(Value::from(sum))
}

fn now(input: &Value) -> Option<Timestamp> {
    text(input, "time")?.parse().ok()
}

fn time(value: &Value, key: &str) -> Option<Timestamp> {
    text(value, key)?.parse().ok()
}

fn is_open(data: &Value, input: &Value, zone: &TimeZone) -> Option<bool> {
    let now = now(input)?;
    let there = zone.to_datetime(now);
    if !(8..18).contains(&there.hour())
        || matches!(there.weekday(), Weekday::Saturday | Weekday::Sunday)
    {
        return Some(false);
    }
    let certificate = input.get("certificate")?;
    if time(certificate, "not_before")? > now || now >= time(certificate, "not_after")? {
        return Some(false);
    }
    let is_frozen = |freeze: &Value| {
        let from = time(freeze, "from")?;
        let days = freeze.get("days")?.as_i64()?;
        let end = from
            .checked_add(SignedDuration::from_hours(24 * days))
            .ok()?;
        Some(from <= now && now < end)
    };
    let mut freezes = elements(data.get("freezes")?);
    Some(!freezes.any(|freeze| is_frozen(freeze) == Some(true)))
}

fn grants(data: &Value, input: &Value) -> Option<Value> {
    let now = now(input)?;
    let is_active = |grant: &&Value| {
        let from: Timestamp = text(grant, "from")?.parse().ok()?;
        let length: SignedDuration = text(grant, "length")?.parse().ok()?;
        Some(from <= now && now < from.checked_add(length).ok()?)
    };
    let active = elements(data.get("grants")?).filter(|grant| is_active(grant) == Some(true));
    number(active.count())
}

fn keys(data: &Value, input: &Value) -> Option<Value> {
    let now = now(input)?;
    let limit = SignedDuration::from_hours(2160);
    let is_old = |key: &&Value| {
        let created = strtime::parse("%Y-%m-%d %H:%M:%S", text(key, "created")?).ok()?;
        let created = utc(created.to_datetime().ok()?)?;
        Some(now.duration_since(created) > limit)
    };
    let old = elements(data.get("keys")?).filter(|key| is_old(key) == Some(true));
    number(old.count())
}
