//! Conversions of values to Rust types.

use super::{Object, RefRepr, Repr, Set, Value, ValueRef, pointer};

impl Value {
    /// Returns the string, or `None` if the value is not a string of valid UTF-8.
    ///
    /// ```
    /// use solon::{Value, value};
    ///
    /// let user = value!({"name": "alice", "age": 42, "roles": ["dev", "ops"], "rate": 0.5});
    /// assert_eq!(user.get("name").and_then(Value::as_str), Some("alice"));
    /// assert_eq!(user.get("age").and_then(Value::as_i64), Some(42));
    /// assert_eq!(user.get("rate").and_then(Value::as_f64), Some(0.5));
    /// assert_eq!(user.pointer("/roles/1"), Some(&value!("ops")));
    /// assert_eq!(user.get("name").and_then(Value::as_i64), None);
    /// ```
    pub fn as_str(&self) -> Option<&str> {
        self.utf8()
    }

    /// Returns the Boolean, or `None` for other values.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self(Repr::Bool(bool)) => Some(*bool),
            _ => None,
        }
    }

    /// Returns the number, or `None` if it is not a 64-bit integer. `1.0` counts as an integer.
    pub fn as_i64(&self) -> Option<i64> {
        self.borrow().as_number()?.to_i64()
    }

    /// Returns the nearest `f64`, or `None` if the value is not a number. Numbers beyond the range are infinite.
    pub fn as_f64(&self) -> Option<f64> {
        Some(self.borrow().as_number()?.to_f64())
    }

    /// Returns the elements, or `None` if the value is not an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self(Repr::Array(items)) => Some(items),
            _ => None,
        }
    }

    /// Returns the set, or `None` for other values.
    pub fn as_set(&self) -> Option<&Set> {
        match self {
            Self(Repr::Set(set)) => Some(set),
            _ => None,
        }
    }

    /// Returns the object, or `None` for other values.
    pub fn into_object(self) -> Option<Object> {
        match self {
            Self(Repr::Object(object)) => Some(object),
            _ => None,
        }
    }

    /// Returns `true` for `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self(Repr::Null))
    }

    /// Returns the value at a JSON Pointer (RFC 6901): each step is a key of an object or an index of an array. The
    /// empty pointer returns the value itself. Returns `None` if a step has no value or the pointer does not begin with a slash.
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        let steps = pointer.strip_prefix('/')?.split('/');
        steps.map(pointer::unescape).try_fold(self, |value, step| {
            match value {
                Self(Repr::Object(object)) => object.get_str(&step),
                Self(Repr::Array(items)) => {
                    // no sign, and no leading zeros
                    let is_index = step.bytes().all(|byte| byte.is_ascii_digit())
                        && (*step == *"0" || !step.starts_with('0'));
                    items.get(step.parse::<usize>().ok().filter(|_| is_index)?)
                }
                _ => None,
            }
        })
    }
}

impl ValueRef<'_> {
    /// Returns the Boolean, or `None` for other values.
    ///
    /// ```
    /// use solon::value;
    ///
    /// let list = value!([true, 1, 0.5, "text", null]);
    /// let list: Vec<_> = list.borrow().as_array().into_iter().flat_map(|list| list.iter()).collect();
    /// assert_eq!(list[0].as_bool(), Some(true));
    /// assert_eq!(list[1].as_i64(), Some(1));
    /// assert_eq!(list[2].as_f64(), Some(0.5));
    /// assert_eq!(list[3].as_str(), Some("text"));
    /// assert!(list[4].is_null());
    /// assert_eq!((list[4].as_bool(), list[4].as_i64(), list[4].as_f64(), list[4].as_str()), (None, None, None, None));
    /// ```
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Self(RefRepr::Bool(bool)) => Some(bool),
            _ => None,
        }
    }

    /// Returns the string, or `None` if the value is not a string of valid UTF-8.
    pub fn as_str(&self) -> Option<&str> {
        self.utf8()
    }

    /// Returns the number, or `None` if it is not a 64-bit integer. `1.0` is one.
    pub fn as_i64(self) -> Option<i64> {
        self.as_number()?.to_i64()
    }

    /// Returns the nearest `f64`, or `None` if the value is not a number. Numbers beyond the range are infinite.
    pub fn as_f64(self) -> Option<f64> {
        Some(self.as_number()?.to_f64())
    }

    /// Returns `true` for `null`.
    pub fn is_null(self) -> bool {
        matches!(self, Self(RefRepr::Null))
    }
}
