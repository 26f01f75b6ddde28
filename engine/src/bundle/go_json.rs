//! JSON files of bundles, read as Go's decoder reads them into typed structures: only the first value of a text is read, the
//! case of names is ignored, and messages name the field of Go's structure.

use crate::value::{Object, Repr, Value, json};

/// Parses the first JSON value of a text. Bytes after it are ignored.
///
/// # Errors
/// The message of Go's decoder.
pub fn read_first(text: &[u8]) -> Result<Value, String> {
    json::read_first(text)
}

/// Returns Go's message about a value whose type is not that of the field.
pub fn type_error(value: &Value, field: &str, go_type: &str) -> String {
    let kind = kind(value, go_type);
    format!("json: cannot unmarshal {kind} into Go struct field {field} of type {go_type}")
}

fn kind(value: &Value, go_type: &str) -> String {
    match value {
        Value(Repr::Bool(_)) => "bool".to_owned(),
        Value(Repr::Array(_)) => "array".to_owned(),
        Value(Repr::Object(_)) => "object".to_owned(),
        value if value.borrow().as_text().is_some() => "string".to_owned(),
        number if go_type == "int" => format!("number {number}", number = number.rego_text()),
        _ => "number".to_owned(),
    }
}

/// The fields of a JSON object that is read into a Go structure.
pub struct GoFields<'v> {
    object: &'v Object,
    name: &'static str,
}

impl<'v> GoFields<'v> {
    /// Returns the fields of the value of a text, or `None` if the value is `null`.
    ///
    /// # Errors
    /// The value is not an object.
    pub fn of_object(value: &'v Value, of_type: &str) -> Result<Option<Self>, String> {
        match value {
            Value(Repr::Null) => Ok(None),
            Value(Repr::Object(object)) => Ok(Some(Self { object, name: "" })),
            other => Err(format!(
                "json: cannot unmarshal {} into Go value of type {of_type}",
                kind(other, of_type)
            )),
        }
    }

    pub fn of_nested(object: &'v Object, name: &'static str) -> Self {
        Self { object, name }
    }

    /// Sets the name of the structure in messages.
    pub fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Returns the value of a field, or `None` if it is absent or `null`. The case of the name is ignored if no name is equal.
    pub fn get(&self, field: &str) -> Option<&'v Value> {
        let exact = self.object.get_str(field);
        let field_value = exact.or_else(|| {
            let mut pairs = self.object.iter();
            let is_same = |key: &Value| {
                let key = key.borrow();
                let text = key.text_or_empty();
                text.to_str().eq_ignore_ascii_case(field)
            };
            pairs.find_map(|(key, value)| is_same(key).then_some(value))
        });
        field_value.filter(|value| !matches!(value, Value(Repr::Null)))
    }

    fn error(&self, value: &Value, field: &str, go_type: &str) -> String {
        type_error(value, &format!("{}.{field}", self.name), go_type)
    }

    /// Returns a field with a string. `None` if it is absent or `null`; the error is Go's message about another type.
    pub fn string(&self, field: &str) -> Result<Option<String>, String> {
        let Some(value) = self.get(field) else {
            return Ok(None);
        };
        let text = value.borrow().as_text();
        let text = text.ok_or_else(|| self.error(value, field, "string"))?;
        Ok(Some(text.to_str().into_owned()))
    }

    /// Returns a field with an array of strings, as [`Self::string`]. An element `null` is an empty string.
    pub fn strings(&self, field: &str) -> Result<Option<Vec<String>>, String> {
        let Some(items) = self.array(field, "[]string")? else {
            return Ok(None);
        };
        let items = items.iter().map(|item| match item.borrow().as_text() {
            Some(text) => Ok(text.to_str().into_owned()),
            None if matches!(item, Value(Repr::Null)) => Ok(String::new()),
            None => Err(self.error(item, field, "string")),
        });
        items.collect::<Result<_, _>>().map(Some)
    }

    /// Returns a field with an array, as [`Self::string`]. `go_type` is its type in Go.
    pub fn array(&self, field: &str, go_type: &str) -> Result<Option<&'v [Value]>, String> {
        match self.get(field) {
            None => Ok(None),
            Some(Value(Repr::Array(items))) => Ok(Some(items)),
            Some(other) => Err(self.error(other, field, go_type)),
        }
    }

    /// Returns a field with an object, as [`Self::string`].
    pub fn object(&self, field: &str) -> Result<Option<&'v Object>, String> {
        self.typed_object(field, "map[string]interface {}")
    }

    /// Returns a field with an object, as [`Self::string`]. `go_type` is its type in Go.
    pub fn typed_object(&self, field: &str, go_type: &str) -> Result<Option<&'v Object>, String> {
        match self.get(field) {
            None => Ok(None),
            Some(Value(Repr::Object(object))) => Ok(Some(object)),
            Some(other) => Err(self.error(other, field, go_type)),
        }
    }

    /// Returns a field with an integer of 64 bits, as [`Self::string`].
    pub fn integer(&self, field: &str) -> Result<Option<i64>, String> {
        let value = self.get(field);
        value.map(|value| self.integer_of(field, value)).transpose()
    }

    /// Returns the integer that is a part of a field. Other numbers are Go's type error.
    pub fn integer_of(&self, field: &str, value: &Value) -> Result<i64, String> {
        match value {
            Value(Repr::Int(number)) => Ok(*number),
            other => Err(self.error(other, field, "int")),
        }
    }
}
