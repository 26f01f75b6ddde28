//! The names of dicts that were read before. A program asks with dicts of few forms, and its names are mostly the same
//! objects each time: such a dict is known without reading a text.

use std::cell::RefCell;
use std::rc::Rc;

use ::engine::internal::value::object::{KeyOrder, Shapes};
use ::engine::{Object, Value};
use pyo3::prelude::*;
use pyo3::types::PyString;
use smallvec::SmallVec;

/// Names that need no memory of their own while a dict is read.
pub const FEW: usize = 8;

/// Bytes of names up to which a form is remembered.
const REMEMBERED: usize = 1 << 10;

/// Places for forms that are known by the first name and the number of names.
const RECENT: usize = 64;

/// Dicts of a known form, but with other objects for names, after which those take the place of the former.
const PATIENCE: u8 = 8;

/// A form of dicts.
pub struct Record {
    names: Box<[Py<PyString>]>,
    order: KeyOrder,
}

impl Record {
    /// Whether the name at a position is this very object.
    #[inline]
    pub fn has(&self, at: usize, name: &Bound<'_, PyAny>) -> bool {
        self.names.get(at).is_some_and(|known| known.is(name))
    }

    /// The object of values in the order of the names, if there is one for each.
    #[inline]
    pub fn object(&self, values: &mut [Value]) -> Option<Object> {
        (values.len() == self.names.len()).then(|| self.order.object(values))
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
}

/// What is noted of the texts of names.
#[derive(Default)]
struct Note {
    /// Dicts whose names were other objects than those that are remembered.
    missed: u8,
}

/// The forms that a thread has read.
struct Records {
    by_text: Shapes<Note>,
    recent: [Option<Rc<Record>>; RECENT],
}

impl Default for Records {
    fn default() -> Self {
        Self {
            by_text: Shapes::default(),
            recent: [const { None }; RECENT],
        }
    }
}

thread_local! {
    static RECORDS: RefCell<Records> = RefCell::default();
}

/// The form that a dict of so many names most likely has.
#[inline]
pub fn recent(first: &Bound<'_, PyAny>, size: usize) -> Option<Rc<Record>> {
    RECORDS.with_borrow(|records| {
        let record = records.recent.get(place(first, size))?;
        record.clone()
    })
}

/// The object of values in the order of names; `None` unless all of them are plain strings that may be remembered.
pub fn read(names: &[Bound<'_, PyAny>], values: &mut [Value]) -> Option<Object> {
    let first = names.first()?;
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
    let left = RECORDS.with_borrow_mut(|records| {
        let order = records.by_text.order(&texts)?;
        let object = order.object(values);
        let left = if order.note.missed % PATIENCE == 0 {
            let names_held = names.iter().filter_map(|name| name.cast_exact().ok());
            let record = Record {
                names: names_held.map(|name| name.clone().unbind()).collect(),
                order: order.bare(),
            };
            let place = records.recent.get_mut(place(first, names.len()));
            place.and_then(|place| place.replace(Rc::new(record)))
        } else {
            None
        };
        order.note.missed = order.note.missed.wrapping_add(1);
        Some((object, left))
    });
    left.map(|(object, _)| object)
}

fn place(first: &Bound<'_, PyAny>, size: usize) -> usize {
    // objects are at least 16 bytes apart
    ((first.as_ptr().addr() >> 4) ^ size) % RECENT
}
