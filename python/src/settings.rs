//! How objects and values become one another.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::Fractions;

/// What becomes of dates and times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Datetimes {
    /// They are refused.
    Refused,
    /// Text, as RFC 3339 writes it.
    Rfc3339,
    /// Nanoseconds since the Unix epoch.
    Nanoseconds,
}

/// What an engine was told about conversions.
#[derive(Clone, Copy)]
pub struct Settings {
    pub fractions: Fractions,
    pub datetimes: Datetimes,
}

impl Settings {
    /// By the options of an engine.
    pub fn read(decimal: bool, datetimes: Option<&str>) -> PyResult<Self> {
        let datetimes = match datetimes {
            None => Datetimes::Refused,
            Some("rfc3339") => Datetimes::Rfc3339,
            Some("ns") => Datetimes::Nanoseconds,
            Some(other) => {
                let message = format!("datetimes must be \"rfc3339\" or \"ns\", not {other:?}");
                return Err(PyValueError::new_err(message));
            }
        };
        let fractions = if decimal {
            Fractions::Decimal
        } else {
            Fractions::Float
        };
        Ok(Self {
            fractions,
            datetimes,
        })
    }
}
