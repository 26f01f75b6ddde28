//! The names of dicts that were read before. A program asks with dicts of few forms, and its names are mostly the same
//! objects each time: such a dict is known without reading a text. Those of dicts that were read from JSON are other objects
//! each time: they are known by their texts, one after the other.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use ::engine::shapes::{KeyOrder, Shapes, Unfilled};
use ::engine::{Object, Value};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use smallvec::SmallVec;

/// Names that need no memory of their own while a dict is read.
pub const FEW: usize = 8;

/// Bytes of names up to which a form is remembered.
const REMEMBERED: usize = 1 << 10;

/// Places for forms that are known by the first name and the number of names.
const PLACES: usize = 64;

/// Dicts of a known form, but with other objects for names, after which those take the place of the former.
const PATIENCE: u8 = 64;

/// A form of dicts.
pub struct Record {
    names: Box<[Py<PyString>]>,
    form: Rc<Form>,
}

/// What the dicts of a form have in common, whichever objects their names are.
struct Form {
    texts: Box<[Box<str>]>,
    order: KeyOrder,
    /// Dicts whose names were other objects than those of the record that knew them.
    missed: Cell<u8>,
}

/// How a name is that of a record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// It is this very object.
    Same,
    /// Its text is the same.
    Equal,
    No,
}

impl Record {
    /// How the name at a position is known.
    #[inline]
    pub fn knows(&self, at: usize, name: &Bound<'_, PyAny>) -> Known {
        match self.names.get(at) {
            Some(known) if known.is(name) => Known::Same,
            Some(_) if self.has_text(at, name) => Known::Equal,
            _ => Known::No,
        }
    }

    fn has_text(&self, at: usize, name: &Bound<'_, PyAny>) -> bool {
        let text = name.cast_exact::<PyString>().ok();
        let text = text.and_then(|text| text.to_str().ok());
        let known = self.form.texts.get(at);
        known.is_some_and(|known| text == Some(known))
    }

    /// The place among the sorted values of the one under a name.
    #[inline]
    pub fn place<'v>(&self, values: &'v mut [Value], at: usize) -> Option<&'v mut Value> {
        values.get_mut(self.form.order.slot(at)?)
    }

    /// The values that were put under the first names, in the order of these.
    pub fn in_order(&self, values: &mut [Value], count: usize) -> Vec<Value> {
        let slots = (0..count).filter_map(|at| self.form.order.slot(at));
        let values = slots.map(|slot| values.get_mut(slot).map(std::mem::take).unwrap_or_default());
        values.collect()
    }

    /// An object of this form, whose values come one after the other.
    #[inline]
    pub fn unfilled(&self) -> Unfilled {
        self.form.order.unfilled()
    }

    /// The first names.
    pub fn first<'py>(
        &self,
        py: Python<'py>,
        count: usize,
    ) -> impl Iterator<Item = Bound<'py, PyAny>> {
        let names = self.names.iter().take(count);
        names.map(move |name| name.bind(py).clone().into_any())
    }

    /// Notes that a dict of this form had other objects for names, which are remembered if that goes on.
    pub fn miss(&self, dict: &Bound<'_, PyDict>) {
        let missed = self.form.missed.get().wrapping_add(1);
        self.form.missed.set(missed);
        if missed.is_multiple_of(PATIENCE) {
            let names: Vec<_> = dict.keys().iter().collect();
            let same = |(at, name)| self.knows(at, name) != Known::No;
            if names.len() == self.names.len() && names.iter().enumerate().all(same) {
                remember(&names, self.form.clone());
            }
        }
    }
}

/// The forms that a thread has read.
struct Records {
    forms: Shapes<Option<Rc<Record>>>,
    /// By the object that the first name is.
    by_object: Places,
    /// By the text of the first name.
    by_text: Places,
}

type Places = [Option<Rc<Record>>; PLACES];

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

/// The form that a dict of so many names most likely has.
#[inline]
pub fn likely(first: &Bound<'_, PyAny>, size: usize) -> Option<Rc<Record>> {
    RECORDS.with_borrow(|records| {
        let is_long = |record: &&Rc<Record>| record.names.len() == size;
        let record = records.by_object.get(place_of_object(first, size))?;
        if let Some(record) = record.as_ref().filter(is_long)
            && record.knows(0, first) == Known::Same
        {
            return Some(record.clone());
        }
        let text = first.cast_exact::<PyString>().ok()?.to_str().ok()?;
        let record = records.by_text.get(place_of_text(text, size))?;
        record.as_ref().filter(is_long).cloned()
    })
}

/// The object of values in the order of names; `None` unless all of them are plain strings that may be remembered.
pub fn read(names: &[Bound<'_, PyAny>], values: &mut [Value]) -> Option<Object> {
    if names.len() > Object::SHAPED {
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
    let place = place_of_text(first, names.len());
    let (object, new) = RECORDS.with_borrow_mut(|records| {
        let order = records.forms.order(&texts)?;
        let object = order.object(values);
        let new = match &order.note {
            Some(record) => {
                // other forms begin alike
                let known = records.by_text.get_mut(place);
                let replaced = known.and_then(|known| known.replace(record.clone()));
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

/// Remembers the names of a dict of a form.
fn remember(names: &[Bound<'_, PyAny>], form: Rc<Form>) {
    let (Some(first), Some(text)) = (names.first(), form.texts.first()) else {
        return;
    };
    let places = (
        place_of_object(first, names.len()),
        place_of_text(text, names.len()),
    );
    let texts = form.texts.clone();
    let held = names.iter().filter_map(|name| name.cast_exact().ok());
    let record = Rc::new(Record {
        names: held.map(|name| name.clone().unbind()).collect(),
        form,
    });
    // what it takes the place of is dropped when nobody borrows the records any more
    let replaced = RECORDS.with_borrow_mut(|records| {
        let by_object = records.by_object.get_mut(places.0);
        let by_object = by_object.and_then(|place| place.replace(record.clone()));
        let by_text = records.by_text.get_mut(places.1);
        let by_text = by_text.and_then(|place| place.replace(record.clone()));
        let order = records.forms.order(&texts);
        (
            by_object,
            by_text,
            order.and_then(|order| order.note.replace(record)),
        )
    });
    drop(replaced);
}

fn place_of_object(first: &Bound<'_, PyAny>, size: usize) -> usize {
    // objects are at least 16 bytes apart
    ((first.as_ptr().addr() >> 4) ^ size) % PLACES
}

fn place_of_text(first: &str, size: usize) -> usize {
    let letter = first.as_bytes().first().copied().unwrap_or(0);
    (usize::from(letter) ^ (first.len() << 2) ^ size) % PLACES
}
