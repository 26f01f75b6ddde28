//! Keys of base documents.
//!
//! OPA's store is addressed by strings only. Below a base document a number is the key of its own text, as it is
//! written: `1.0` and `1` are two keys. An array is indexed by a string that parses as an index. Virtual documents, the
//! input, local values and values of `with` distinguish numbers and strings and are read with [`ValueRef::lookup`]
//! instead.

use crate::store::index;
use crate::value::text::ArenaText;
use crate::value::{Number, Object, RefRepr, Repr, Short, Value, ValueRef};

/// Returns the value under `key` in a base document, or `None` if there is none.
pub(crate) fn base_child<'e>(base: ValueRef<'e>, key: ValueRef<'e>) -> Option<ValueRef<'e>> {
    if let Some(object) = base.as_object() {
        return object.get(key).or_else(|| {
            let number = key.as_number()?;
            with_text(number, |text| object.get(text))
        });
    }
    if let Some(items) = base.as_array() {
        return items.get(base_index(key)?);
    }
    // sets, which only a host can put into base documents
    base.lookup(key)
}

/// Returns the value under a stored `key` in a stored base document. A string key costs what any lookup costs.
#[inline]
pub(crate) fn stored_base_child<'e>(base: &'e Value, key: &'e Value) -> Option<&'e Value> {
    if let Value(Repr::Object(object)) = base
        && let Some(found) = object.get_stored(key)
    {
        return Some(found);
    }
    other_base_child(base, key)
}

/// Looks up a key that the object does not contain as it is: a number, or a number's text.
#[inline(never)]
fn other_base_child<'e>(base: &'e Value, key: &'e Value) -> Option<&'e Value> {
    match base {
        Value(Repr::Object(object)) => number_key(object, key.borrow()),
        Value(Repr::Array(items)) => items.get(base_index(key.borrow())?),
        Value(Repr::Set(set)) => set.contains(key.borrow()).then_some(key),
        _ => None,
    }
}

/// Returns the value under the text of a number, or `None` if `key` is not a number.
#[inline]
pub(crate) fn number_key<'e>(object: &'e Object, key: ValueRef<'_>) -> Option<&'e Value> {
    let number = key.as_number()?;
    under_number(object, number)
}

#[inline(never)]
fn under_number<'e>(object: &'e Object, number: Number<'_>) -> Option<&'e Value> {
    with_text(number, |text| object.get(text))
}

/// Returns the position that `key` names in an array of a base document, or `None` if it names none.
pub(crate) fn base_index(key: ValueRef<'_>) -> Option<usize> {
    match key {
        ValueRef(RefRepr::Int(index)) => usize::try_from(index).ok(),
        _ => match key.as_number() {
            Some(Number::Text(text)) => index(text.as_bytes()),
            Some(number) => index(number.to_string().as_bytes()),
            None => index(key.string_bytes()?),
        },
    }
}

/// Calls `read` with the text of a number. Integers and numbers kept as text need no allocation.
fn with_text<R>(number: Number<'_>, read: impl FnOnce(ValueRef<'_>) -> R) -> R {
    let mut buffer = itoa::Buffer::new();
    let written;
    let text = match number {
        Number::Int(int) => buffer.format(int),
        Number::Text(text) => text,
        Number::Decimal(..) => {
            written = number.to_string();
            &written
        }
    };
    match Short::new(text.as_bytes()) {
        Some(short) => read(ValueRef(RefRepr::Short(short))),
        None => read(ValueRef(RefRepr::ArenaText(&ArenaText::Utf8(text)))),
    }
}

#[cfg(test)]
mod tests {
    use super::base_child;
    use crate::value::{NumberBuf, Repr, Value};

    #[test]
    fn a_number_is_the_key_of_its_text() {
        let texts = [
            "100",
            "-1",
            "1.0",
            "0.10",
            "1e2",
            "-0",
            "12345678901234567890",
        ];
        for text in texts {
            let object = Value::object(vec![(Value::string(text), Value(Repr::Bool(true)))]);
            let key = Value::number(NumberBuf::parse(text).expect("a number"));
            assert!(
                base_child(object.borrow(), key.borrow()).is_some(),
                "{text}"
            );
            let other = Value::number(NumberBuf::parse("100.0").expect("a number"));
            assert!(
                base_child(object.borrow(), other.borrow()).is_none(),
                "{text}"
            );
        }
    }
}
