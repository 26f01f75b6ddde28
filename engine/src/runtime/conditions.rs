//! Conditions of rules that both evaluators check before they enter a rule.

use super::base::base_child;
use crate::program::canonical::Test;
use crate::value::{Value, ValueRef};

/// Returns `true` if the value at an access path passes one of the tests, or if the list of tests is empty.
pub(crate) fn allows(tests: &[Test], found: ValueRef<'_>) -> bool {
    tests.is_empty() || tests.iter().any(|test| allows_one(test, found))
}

fn allows_one(test: &Test, found: ValueRef<'_>) -> bool {
    match test {
        Test::Equal(value) => found == value.borrow(),
        Test::Items(items) => found.as_array().is_some_and(|array| {
            let same = |(item, found): (&Option<Value>, ValueRef<'_>)| {
                item.as_ref().is_none_or(|item| item.borrow() == found)
            };
            array.len() == items.len() && items.iter().zip(array.iter()).all(same)
        }),
        Test::Contains(value) => contains(found, value.borrow()),
        Test::Prefix(texts) => any_text(found, texts, |text, base| text.starts_with(base)),
        Test::Suffix(texts) => any_text(found, texts, |text, base| text.ends_with(base)),
        Test::Segments(segments, delimiters) => found.as_text().is_some_and(|text| {
            let text = text.to_str();
            let parts: Vec<&str> = text.split(|c| delimiters.contains(&c)).collect();
            let same = |(segment, part): (&Option<String>, &&str)| {
                segment.as_ref().is_none_or(|segment| segment == part)
            };
            parts.len() == segments.len() && segments.iter().zip(&parts).all(same)
        }),
    }
}

/// Returns `true` if a document below `data` may have a key. Arrays and scalars are not searched.
pub(crate) fn may_have(collection: ValueRef<'_>, key: ValueRef<'_>) -> bool {
    if collection.as_object().is_some() {
        return base_child(collection, key).is_some();
    }
    collection.as_set().is_none_or(|set| set.contains(key))
}

fn contains(collection: ValueRef<'_>, element: ValueRef<'_>) -> bool {
    if let Some(array) = collection.as_array() {
        return array.iter().any(|item| item == element);
    }
    if let Some(object) = collection.as_object() {
        return object.iter().any(|(_, value)| value == element);
    }
    collection
        .as_set()
        .is_some_and(|set| set.iter().any(|member| member == element))
}

/// Returns `true` if a string, or one string of a collection, starts or ends with one of `texts`.
fn any_text(found: ValueRef<'_>, texts: &[Value], test: impl Fn(&[u8], &[u8]) -> bool) -> bool {
    let one = |found: ValueRef<'_>| {
        found.as_text().is_some_and(|text| {
            texts
                .iter()
                .any(|base| test(text.as_bytes(), base.borrow().text_or_empty().as_bytes()))
        })
    };
    if let Some(array) = found.as_array() {
        return array.iter().any(one);
    }
    if let Some(object) = found.as_object() {
        return object.iter().any(|(_, value)| one(value));
    }
    match found.as_set() {
        Some(set) => set.iter().any(one),
        None => one(found),
    }
}
