//! Settings of conversions between objects and values.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::Fractions;

/// Conversion of dates and times.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Datetimes {
    /// They are rejected: an exception is raised.
    Refused,
    /// Text in RFC 3339 format.
    Rfc3339,
    /// Nanoseconds since the Unix epoch.
    Nanoseconds,
}

/// Conversion settings of an engine.
#[derive(Clone, Copy)]
pub struct Settings {
    pub fractions: Fractions,
    pub datetimes: Datetimes,
}

impl Settings {
    /// Reads the options of an engine, or raises `ValueError` for an unknown value of `datetimes`.
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
