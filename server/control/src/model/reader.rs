//! Parsing of JSON values, which reports all problems instead of only the first one.

use std::fmt::{self, Display};

use serde_json::{Map, Value};

use super::suggestion::nearest;
use crate::limits;

/// Decides whether unknown fields are rejected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Compat {
    /// Rejects them, with a suggestion of a known name.
    #[default]
    Strict,
    /// Ignores them, as OPA Control Plane does.
    Ocp,
}

/// The origin of an item, which decides about the local paths that it may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The API: paths are relative and stay inside, repositories are remote.
    Api,
    /// A configuration file of the operator.
    File,
}

/// The path of a value: steps from the root, each with a reference to the previous one.
#[derive(Clone, Copy, Debug)]
pub enum FieldPath<'p> {
    /// The whole body.
    Root,
    /// A member of an object.
    Member(&'p FieldPath<'p>, &'p str),
    /// An element of an array.
    Element(&'p FieldPath<'p>, usize),
}

impl FieldPath<'_> {
    /// Returns the path of a member of this value.
    pub fn member<'p>(&'p self, name: &'p str) -> FieldPath<'p> {
        FieldPath::Member(self, name)
    }

    /// Returns the path of an element of this value.
    pub fn element(&self, index: usize) -> FieldPath<'_> {
        FieldPath::Element(self, index)
    }
}

impl Display for FieldPath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => f.write_str("the body"),
            Self::Member(FieldPath::Root, name) => write_name(f, name),
            Self::Member(parent, name) => {
                write!(f, "{parent}.")?;
                write_name(f, name)
            }
            Self::Element(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

/// Writes an arbitrary name, quoted if necessary so that a message stays unambiguous.
fn write_name(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    let plain = |c: char| c.is_alphanumeric() || "_-".contains(c);
    if !name.is_empty() && name.chars().all(plain) {
        f.write_str(name)
    } else {
        write!(f, "{name:?}")
    }
}

/// The problems of a value. An error contains at least one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    messages: Vec<String>,
    untold: usize,
}

impl Problems {
    /// Creates a list with one problem.
    pub fn one(message: impl Into<String>) -> Self {
        Self {
            messages: vec![message.into()],
            untold: 0,
        }
    }

    /// Returns the problems in the order found, at most `limits::PROBLEMS`.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.messages.iter().map(String::as_str)
    }

    /// Returns `true` if there are none.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    fn add(&mut self, message: String) {
        if self.messages.len() < limits::PROBLEMS {
            self.messages.push(message);
        } else {
            self.untold += 1;
        }
    }
}

impl Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.messages.join("; "))?;
        if self.untold > 0 {
            write!(f, "; and {} more", self.untold)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Parses values and collects their problems.
#[derive(Debug)]
pub struct Reader {
    compat: Compat,
    origin: Origin,
    problems: Problems,
}

impl Reader {
    /// Creates a reader without problems.
    pub fn new(compat: Compat, origin: Origin) -> Self {
        Self {
            compat,
            origin,
            problems: Problems::default(),
        }
    }

    /// Returns the origin of the parsed value.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// Reports a problem of the value at `field_path`. Parsing continues, so that one response lists all problems.
    pub fn report(&mut self, field_path: &FieldPath<'_>, message: impl Display) {
        self.problems.add(format!("{field_path} {message}"));
    }

    /// Returns `true` if no problem was reported.
    pub fn is_content(&self) -> bool {
        self.problems.is_empty()
    }

    /// Returns `value` if no problems were reported.
    ///
    /// # Errors
    /// All problems.
    pub fn finish<T>(self, value: T) -> Result<T, Problems> {
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self.problems)
        }
    }

    /// Returns the members of an object. Any other value is reported and has no members.
    pub fn object<'v>(&mut self, field_path: &FieldPath<'_>, value: &'v Value) -> Members<'v> {
        let members = match value {
            Value::Object(members) => Some(members),
            other => {
                self.expected(field_path, "an object", other);
                None
            }
        };
        Members {
            members,
            names: Vec::new(),
        }
    }

    /// Returns the elements of an array. Any other value is reported and has no elements.
    pub fn array<'v>(&mut self, field_path: &FieldPath<'_>, value: &'v Value) -> &'v [Value] {
        match value {
            Value::Array(items) if items.len() <= limits::PARTS => items,
            Value::Array(items) => {
                let (had, max_elements) = (items.len(), limits::PARTS);
                self.report(
                    field_path,
                    format_args!("has {had} elements, at most {max_elements}"),
                );
                &[]
            }
            other => {
                self.expected(field_path, "an array", other);
                &[]
            }
        }
    }

    /// Returns a text. NUL is rejected because databases and paths cannot contain it.
    pub fn text(&mut self, field_path: &FieldPath<'_>, value: &Value) -> String {
        match value {
            Value::String(text) if text.len() > limits::TEXT => {
                let max_bytes = limits::TEXT;
                self.report(field_path, format_args!("is longer than {max_bytes} bytes"));
            }
            Value::String(text) if text.contains('\0') => {
                self.report(field_path, "has a NUL character");
            }
            Value::String(text) => return text.clone(),
            other => self.expected(field_path, "a string", other),
        }
        String::new()
    }

    /// Returns a Boolean. Any other value is reported, and `false` returned.
    pub fn boolean(&mut self, field_path: &FieldPath<'_>, value: &Value) -> bool {
        value.as_bool().unwrap_or_else(|| {
            self.expected(field_path, "true or false", value);
            false
        })
    }

    /// Returns an integer of 64 bits. Any other value is reported, and 0 returned.
    pub fn integer(&mut self, field_path: &FieldPath<'_>, value: &Value) -> i64 {
        value.as_i64().unwrap_or_else(|| {
            self.expected(field_path, "an integer", value);
            0
        })
    }

    /// Returns texts by name. Members that are not texts are reported.
    pub fn texts_by_name(
        &mut self,
        field_path: &FieldPath<'_>,
        value: &Value,
    ) -> std::collections::BTreeMap<String, String> {
        let members = self.object(field_path, value);
        let members = self.bounded(field_path, &members);
        let read_member = |(name, value): (&String, &Value)| {
            (name.clone(), self.text(&field_path.member(name), value))
        };
        members.map(read_member).collect()
    }

    /// Returns the members of an object with arbitrary names. Their number is limited.
    pub fn bounded<'v>(
        &mut self,
        field_path: &FieldPath<'_>,
        members: &Members<'v>,
    ) -> impl Iterator<Item = (&'v String, &'v Value)> + use<'v> {
        let members = members.members.filter(|members| {
            let fits = members.len() <= limits::PARTS;
            if !fits {
                let (had, max_members) = (members.len(), limits::PARTS);
                self.report(
                    field_path,
                    format_args!("has {had} members, at most {max_members}"),
                );
            }
            fits
        });
        members.into_iter().flatten()
    }

    /// Reports a value of an unexpected type. The message does not contain the value, which may be a secret.
    pub fn expected(&mut self, field_path: &FieldPath<'_>, expected: &str, value: &Value) {
        self.report(
            field_path,
            format_args!("must be {expected}, not {}", kind_of(value)),
        );
    }
}

/// Returns the name of the type of a JSON value for messages.
pub fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The members of an object, taken one by one. [`Members::end`] rejects the members that were not taken.
#[derive(Debug)]
pub struct Members<'v> {
    members: Option<&'v Map<String, Value>>,
    names: Vec<&'static str>,
}

impl<'v> Members<'v> {
    /// Takes a member. `None` if it is absent or `null`, or if the value is not an object.
    pub fn take(&mut self, name: &'static str) -> Option<&'v Value> {
        self.names.push(name);
        let value = self.members?.get(name)?;
        (!value.is_null()).then_some(value)
    }

    /// Returns `true` if a member exists, `null` included.
    pub fn has(&self, name: &str) -> bool {
        self.members
            .is_some_and(|members| members.contains_key(name))
    }

    /// Returns `true` if the value was an object, also if it is empty.
    pub fn is_object(&self) -> bool {
        self.members.is_some()
    }

    /// Returns `true` if the object is empty, or the value was not an object.
    pub fn is_empty(&self) -> bool {
        self.members.is_none_or(Map::is_empty)
    }

    /// Takes the name. Empty if it is absent.
    pub fn name(&mut self, reader: &mut Reader, field_path: &FieldPath<'_>) -> String {
        match self.take("name") {
            Some(Value::String(name)) if name.is_empty() => {
                reader.report(&field_path.member("name"), "must not be empty");
                String::new()
            }
            Some(value) => reader.text(&field_path.member("name"), value),
            None => String::new(),
        }
    }

    /// Takes a text. Empty if it is absent.
    pub fn text(
        &mut self,
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        name: &'static str,
    ) -> String {
        match self.take(name) {
            Some(value) => reader.text(&field_path.member(name), value),
            None => String::new(),
        }
    }

    /// Takes a text that is required and must not be empty.
    pub fn required(
        &mut self,
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        name: &'static str,
    ) -> String {
        let before = reader.problems.messages.len() + reader.problems.untold;
        let text = self.text(reader, field_path, name);
        let is_new = before == reader.problems.messages.len() + reader.problems.untold;
        if text.is_empty() && is_new && self.is_object() {
            reader.report(&field_path.member(name), "is required");
        }
        text
    }

    /// Takes an array of texts. Empty if it is absent.
    pub fn texts(
        &mut self,
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        name: &'static str,
    ) -> Vec<String> {
        let Some(value) = self.take(name) else {
            return Vec::new();
        };
        let field_path = field_path.member(name);
        let items = reader.array(&field_path, value).iter().enumerate();
        items
            .map(|(index, item)| reader.text(&field_path.element(index), item))
            .collect()
    }

    /// Rejects the members that were not taken, with suggestions of known names.
    pub fn end(self, reader: &mut Reader, field_path: &FieldPath<'_>) {
        if reader.compat == Compat::Ocp {
            return;
        }
        for name in self.members.into_iter().flat_map(Map::keys) {
            if self.names.contains(&name.as_str()) {
                continue;
            }
            match nearest(name, &self.names) {
                Some(suggestion) => reader.report(
                    &field_path.member(name),
                    format_args!("is not a known field; did you mean `{suggestion}`?"),
                ),
                None => reader.report(
                    &field_path.member(name),
                    format_args!(
                        "is not a known field; expected one of {}",
                        self.names.join(", ")
                    ),
                ),
            }
        }
    }
}
