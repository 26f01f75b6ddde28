//! Types as messages print them: `any<number, string>`, `object<a: number>[string: any]`, `(x: any) => number`.

use std::fmt::{self, Display, Formatter};

use super::{FunctionType, Parameter, Type};
use crate::value::{RefRepr, ValueRef};

impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown => f.write_str("???"),
            Self::Null => f.write_str("null"),
            Self::Boolean => f.write_str("boolean"),
            Self::Number => f.write_str("number"),
            Self::String => f.write_str("string"),
            Self::Any => f.write_str("any"),
            Self::Union(union) => {
                f.write_str("any<")?;
                list(f, union.members())?;
                f.write_str(">")
            }
            Self::Array(array) => {
                f.write_str("array")?;
                if !array.fixed().is_empty() {
                    f.write_str("<")?;
                    list(f, array.fixed())?;
                    f.write_str(">")?;
                }
                match array.rest() {
                    Some(rest) => write!(f, "[{rest}]"),
                    None => Ok(()),
                }
            }
            Self::Object(object) => {
                f.write_str("object")?;
                if !object.fixed().is_empty() {
                    f.write_str("<")?;
                    list(
                        f,
                        object
                            .fixed()
                            .iter()
                            .map(|(key, ty)| Property(key.borrow(), ty)),
                    )?;
                    f.write_str(">")?;
                }
                match object.rest() {
                    Some((key, ty)) => write!(f, "[{key}: {ty}]"),
                    None => Ok(()),
                }
            }
            Self::Set(set) if set.is_empty() => f.write_str("set"),
            Self::Set(set) => write!(f, "set[{}]", set.element()),
            Self::Recursive(inner) => write!(f, "recursive({})", inner.reference()),
            Self::Function(function) => function.fmt(f),
        }
    }
}

impl Display for FunctionType {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        list(f, &self.args)?;
        if let Some(variadic) = &self.variadic {
            let separator = if self.args.is_empty() { "" } else { ", " };
            write!(f, "{separator}{variadic}...")?;
        }
        match &self.result {
            Some(result) => write!(f, ") => {result}"),
            None => f.write_str(") => ???"),
        }
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}: {}", self.of),
            None => self.of.fmt(f),
        }
    }
}

/// A known key with the type of its value.
pub(super) struct Property<'a, T>(pub ValueRef<'a>, pub &'a T);

impl<T: Display> Display for Property<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        plain(f, self.0)?;
        write!(f, ": {}", self.1)
    }
}

/// Formats a key as Go prints the JSON value: strings without quotes, `[1 2]`, `map[a:1]`.
fn plain(f: &mut Formatter<'_>, key: ValueRef<'_>) -> fmt::Result {
    if let Some(text) = key.as_text() {
        return f.write_str(&String::from_utf8_lossy(text.as_bytes()));
    }
    if let Some(items) = key.as_array() {
        return write_spaced(f, "[", items.iter(), plain);
    }
    if let Some(items) = key.as_set() {
        return write_spaced(f, "[", items.iter(), plain);
    }
    if let Some(pairs) = key.as_object() {
        return write_spaced(f, "map[", pairs.iter(), |f, (key, ty)| {
            plain(f, key)?;
            f.write_str(":")?;
            plain(f, ty)
        });
    }
    match key {
        ValueRef(RefRepr::Null) => f.write_str("<nil>"),
        other => write!(f, "{other}", other = other.rego_text()),
    }
}

fn write_spaced<T>(
    f: &mut Formatter<'_>,
    open: &str,
    items: impl Iterator<Item = T>,
    print: impl Fn(&mut Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    f.write_str(open)?;
    for (index, item) in items.enumerate() {
        if index > 0 {
            f.write_str(" ")?;
        }
        print(f, item)?;
    }
    f.write_str("]")
}

/// Writes items, separated by commas.
pub(super) fn list<T: Display>(
    f: &mut Formatter<'_>,
    items: impl IntoIterator<Item = T>,
) -> fmt::Result {
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        item.fmt(f)?;
    }
    Ok(())
}
