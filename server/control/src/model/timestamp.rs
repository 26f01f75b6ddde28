//! Timestamps, which are stored as microseconds since 1970.

use jiff::Timestamp;

/// Formats a timestamp as ISO 8601, in UTC.
///
/// # Errors
/// A timestamp outside of the calendar's range.
pub fn write(microseconds: i64) -> Result<String, jiff::Error> {
    Ok(Timestamp::from_microsecond(microseconds)?.to_string())
}

/// Parses a text such as `2030-01-31T00:00:00Z`. Returns `None` if it is invalid.
pub fn read(text: &str) -> Option<i64> {
    let timestamp: Timestamp = text.parse().ok()?;
    Some(timestamp.as_microsecond())
}

#[cfg(test)]
mod tests {
    use super::{read, write};

    #[test]
    fn moments_are_read_and_written() {
        let text = "2030-01-31T00:00:00Z";
        assert_eq!(write(read(text).unwrap()).unwrap(), text);
        assert_eq!(read("2030-01-31T02:00:00+02:00"), read(text));
        assert_eq!(write(1).unwrap(), "1970-01-01T00:00:00.000001Z");
        assert!(read("2030-01-31").is_none() && read("soon").is_none());
        assert!(write(i64::MAX).is_err());
    }
}
