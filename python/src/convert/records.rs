//! Cache of the key names of dicts (records). A program passes dicts of few shapes, and mostly with the same string objects as
//! names. Such a dict is recognized by the addresses of its names, without reading text. Dicts that were parsed from JSON have
//! new string objects each time, and are recognized by comparing the texts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ::engine::shapes::{KeyOrder, MAX_KEYS, Shapes, Unfilled};
use ::engine::{Object, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use smallvec::SmallVec;

/// Number of names that are kept on the stack while a dict is read.
pub const FEW: usize = 8;

/// Total size of names, in bytes, up to which a shape is cached.
const REMEMBERED: usize = 1 << 10;

/// Number of cache entries, indexed by the first name and the number of names.
const PLACES: usize = 64;

/// Number of dicts of a cached shape, but with other string objects, after which the cached objects are replaced.
const PATIENCE: u8 = 64;

/// A cached shape of dicts with its string objects.
pub struct Record {
    names: Box<[Py<PyString>]>,
    form: Rc<Form>,
}

/// Data of a shape that does not depend on the string objects.
struct Form {
    texts: Box<[Box<str>]>,
    order: KeyOrder,
    /// Number of dicts whose names were other objects than those of the record.
    missed: Cell<u8>,
}

/// Result of comparing a name with that of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum NameMatch {
    Same,
    /// Another object with the same text.
    Equal,
    No,
}

impl Record {
    /// Compares the name at a position.
    #[inline]
    pub fn knows(&self, index: usize, name: &Bound<'_, PyAny>) -> NameMatch {
        match self.names.get(index) {
            Some(expected) if expected.is(name) => NameMatch::Same,
            Some(_) if self.has_text(index, name) => NameMatch::Equal,
            _ => NameMatch::No,
        }
    }

    fn has_text(&self, index: usize, name: &Bound<'_, PyAny>) -> bool {
        let text = name.cast_exact::<PyString>().ok();
        let text = text.and_then(|text| text.to_str().ok());
        let expected = self.form.texts.get(index);
        expected.is_some_and(|expected| text == Some(expected))
    }

    /// Returns the element of the sorted values for the name at a position.
    #[inline]
    pub fn value_at<'v>(&self, values: &'v mut [Value], index: usize) -> Option<&'v mut Value> {
        values.get_mut(self.form.order.slot(index)?)
    }

    /// Returns the values of the first names, in the order of the names.
    pub fn in_order(&self, values: &mut [Value], count: usize) -> Vec<Value> {
        let slots = (0..count).filter_map(|index| self.form.order.slot(index));
        let values = slots.map(|slot| values.get_mut(slot).map(std::mem::take).unwrap_or_default());
        values.collect()
    }

    /// Returns an object of this shape, whose values are added one by one.
    #[inline]
    pub fn unfilled(&self) -> Unfilled {
        self.form.order.unfilled()
    }

    /// Returns the first `count` names, or all if there are fewer.
    pub fn first<'py>(
        &self,
        py: Python<'py>,
        count: usize,
    ) -> impl Iterator<Item = Bound<'py, PyAny>> {
        let names = self.names.iter().take(count);
        names.map(move |name| name.bind(py).clone().into_any())
    }

    /// Records that a dict of this shape had other string objects, which are cached after enough repetitions.
    pub fn miss(&self, dict: &Bound<'_, PyDict>) {
        let misses = self.form.missed.get().wrapping_add(1);
        self.form.missed.set(misses);
        if misses.is_multiple_of(PATIENCE) {
            let names: Vec<_> = dict.keys().iter().collect();
            let is_same = |(index, name)| self.knows(index, name) != NameMatch::No;
            if names.len() == self.names.len() && names.iter().enumerate().all(is_same) {
                remember(&names, self.form.clone());
            }
        }
    }
}

/// Shapes that a thread has read.
struct Records {
    forms: Shapes<Option<Rc<Record>>>,
    /// By the address of the first name.
    by_object: RecordTable,
    /// By the text of the first name.
    by_text: RecordTable,
}

type RecordTable = [Option<Rc<Record>>; PLACES];

impl Default for Records {
    fn default() -> Self {
        Self {
            forms: Shapes::default(),
            by_object: [const { None }; PLACES],
            by_text: [const { None }; PLACES],
        }
    }
}

thread_local! {
    static RECORDS: RefCell<Records> = RefCell::default();
}

/// Returns the most likely shape of a dict with `size` names.
#[inline]
pub fn likely(first: &Bound<'_, PyAny>, size: usize) -> Option<Rc<Record>> {
    RECORDS.with_borrow(|records| {
        let is_long = |record: &&Rc<Record>| record.names.len() == size;
        let record = records.by_object.get(slot_of_object(first, size))?;
        if let Some(record) = record.as_ref().filter(is_long)
            && record.knows(0, first) == NameMatch::Same
        {
            return Some(record.clone());
        }
        let text = first.cast_exact::<PyString>().ok()?.to_str().ok()?;
        let record = records.by_text.get(slot_of_text(text, size))?;
        record.as_ref().filter(is_long).cloned()
    })
}

/// Creates an object from values in the order of names; `None` unless all names are plain strings that may be cached.
pub fn read(names: &[Bound<'_, PyAny>], values: &mut [Value]) -> Option<Object> {
    if names.len() > MAX_KEYS {
        return None;
    }
    let mut bytes = 0;
    let text = |name| {
        let text = Bound::cast_exact::<PyString>(name).ok()?.to_str().ok()?;
        bytes += str::len(text);
        (bytes <= REMEMBERED).then_some(text)
    };
    let texts: SmallVec<[&str; FEW]> = names.iter().map(text).collect::<Option<_>>()?;
    let first = texts.first()?;
    let slot = slot_of_text(first, names.len());
    let (object, new) = RECORDS.with_borrow_mut(|records| {
        let order = records.forms.order(&texts)?;
        let object = order.object(values);
        let new = match &order.note {
            Some(record) => {
                // other shapes may have the same first name
                let records_of_slot = records.by_text.get_mut(slot);
                let replaced = records_of_slot
                    .and_then(|records_of_slot| records_of_slot.replace(record.clone()));
                return Some((object, Err(replaced)));
            }
            None => Form {
                texts: texts.iter().map(|text| (*text).into()).collect(),
                order: order.bare(),
                missed: Cell::new(0),
            },
        };
        Some((object, Ok(new)))
    })?;
    if let Ok(form) = new {
        remember(names, Rc::new(form));
    }
    Some(object)
}

/// Caches the names of a dict of a shape.
fn remember(names: &[Bound<'_, PyAny>], form: Rc<Form>) {
    let (Some(first), Some(text)) = (names.first(), form.texts.first()) else {
        return;
    };
    let slots = (
        slot_of_object(first, names.len()),
        slot_of_text(text, names.len()),
    );
    let texts = form.texts.clone();
    let exact_names = names.iter().filter_map(|name| name.cast_exact().ok());
    let record = Rc::new(Record {
        names: exact_names.map(|name| name.clone().unbind()).collect(),
        form,
    });
    // the replaced entry is dropped after the borrow of the records ends
    let replaced = RECORDS.with_borrow_mut(|records| {
        let by_object = records.by_object.get_mut(slots.0);
        let by_object = by_object.and_then(|record_slot| record_slot.replace(record.clone()));
        let by_text = records.by_text.get_mut(slots.1);
        let by_text = by_text.and_then(|record_slot| record_slot.replace(record.clone()));
        let order = records.forms.order(&texts);
        (
            by_object,
            by_text,
            order.and_then(|order| order.note.replace(record)),
        )
    });
    drop(replaced);
}

fn slot_of_object(first: &Bound<'_, PyAny>, size: usize) -> usize {
    // objects are at least 16 bytes apart
    ((first.as_ptr().addr() >> 4) ^ size) % PLACES
}

fn slot_of_text(first: &str, size: usize) -> usize {
    let letter = first.as_bytes().first().copied().unwrap_or(0);
    (usize::from(letter) ^ (first.len() << 2) ^ size) % PLACES
}
