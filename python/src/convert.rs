//! Converts Python objects to values and back, without JSON text in between.
//!
//! | Python | value |
//! |---|---|
//! | `None`, `bool`, `str` | null, boolean, string |
//! | `int` of any size | number |
//! | `float`, `Decimal` (finite) | number, as Python writes it |
//! | `list`, `tuple` | array; comes back as a list, within a set or a key as a tuple |
//! | `dict`, any other `Mapping` | object; comes back as a dict, within a set or a key as a `FrozenDict` |
//! | dataclasses, pydantic models | object of their fields |
//! | members of an `Enum` | their value |
//! | `datetime`, `date` | rejected, or RFC 3339 text or nanoseconds by the option `datetimes` of the engine |
//! | objects with `__index__`, like the integers of numpy | number |
//! | `set`, `frozenset` | set; comes back as a set, within a set or a key as a frozenset |

mod from_python;
mod number;
mod objects;
mod records;
mod to_python;

pub use from_python::from_python;
pub use number::Fractions;
pub use to_python::{json_to_python, to_python};
