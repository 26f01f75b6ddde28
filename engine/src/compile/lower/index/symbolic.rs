//! Symbolic values: values in a body that are reachable from the input or an argument by constant keys.

use solon_syntax::ast::{Name, Term, TermKind};

use super::conditions::RequiredValues;
use crate::compile::lower::constants::constant;
use crate::compile::small_map::SmallMap;
use crate::program::{AccessPath, Delimiters, KeyPath, PathRoot, Question, ValueFeature};
use crate::value::{Repr, Value};

/// Symbolic value of a term: where it is found, or a constant.
#[derive(Clone)]
pub enum SymbolicValue {
    At(AccessPath),
    /// Some element of the collection at an access path.
    Element(AccessPath),
    Split(AccessPath, Delimiters),
    Part(AccessPath, Delimiters, usize),
    Constant(Value),
    /// Some element of a constant collection.
    OneOf(RequiredValues),
}

/// Symbolic values of the variables of a body.
pub struct SymbolicBindings<'r> {
    values: SmallMap<&'r Name, SymbolicValue>,
}

impl<'r> SymbolicBindings<'r> {
    /// Binds each parameter of a function to the path of its argument, and variables within a pattern to the paths of the elements.
    pub fn new(args: &'r [Term]) -> Self {
        let mut spots = Self {
            values: SmallMap::default(),
        };
        for (at, arg) in (0..).zip(args) {
            spots.note(arg, &SymbolicValue::At(argument(at)));
        }
        spots
    }

    /// Binds the variables of a pattern that a value matches.
    pub fn note(&mut self, pattern: &'r Term, spot: &SymbolicValue) {
        match &pattern.kind {
            TermKind::Var(name) => {
                let is_root = matches!(&**name, "input" | "data");
                if !is_root && !self.values.contains(&name) {
                    self.values.insert(name, spot.clone());
                }
            }
            TermKind::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    if let Some(inner) = spot.item(at) {
                        self.note(item, &inner);
                    }
                }
            }
            TermKind::Object(pairs) => {
                for (key, value) in pairs {
                    if let Some(inner) = constant(key).and_then(|key| spot.clone().under_key(key)) {
                        self.note(value, &inner);
                    }
                }
            }
            _ => {}
        }
    }

    /// Returns the symbolic value of a term, or `None` if it is not known.
    pub fn of_term(&self, term: &Term) -> Option<SymbolicValue> {
        match &term.kind {
            TermKind::Var(name) => match &**name {
                "input" => Some(SymbolicValue::At(input())),
                _ => self.values.get(&name).cloned(),
            },
            TermKind::Ref(terms) => self.reference(terms),
            _ => constant(term).map(SymbolicValue::Constant),
        }
    }

    /// Returns the constant value of a term, or `None` if it is not constant.
    pub fn constant(&self, term: &Term) -> Option<Value> {
        match self.of_term(term)? {
            SymbolicValue::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn reference(&self, terms: &[Term]) -> Option<SymbolicValue> {
        let (head, keys) = terms.split_first()?;
        let mut spot = self.of_term(head)?;
        for key in keys {
            let known = match &key.kind {
                TermKind::Var(_) | TermKind::Ref(_) => self.constant(key),
                _ => constant(key),
            };
            spot = match known {
                Some(key) => spot.under_key(key)?,
                None if key.as_var().is_some() => spot.element()?,
                None => return None,
            };
        }
        Some(spot)
    }
}

impl SymbolicValue {
    /// Returns the value under a constant key, or `None` if it is not known.
    fn under_key(self, key: Value) -> Option<Self> {
        match self {
            Self::At(mut place) => {
                place.path.push(key);
                Some(Self::At(place))
            }
            Self::Split(place, delimiters) => {
                let Value(Repr::Int(at)) = key else {
                    return None;
                };
                let at = usize::try_from(at).ok()?;
                Some(Self::Part(place, delimiters, at))
            }
            _ => None,
        }
    }

    /// Returns an item of an array, or `None` if it is not known.
    pub fn item(&self, at: usize) -> Option<Self> {
        self.clone()
            .under_key(Value(Repr::Int(i64::try_from(at).ok()?)))
    }

    /// Returns some element, or `None` if it is not known.
    fn element(self) -> Option<Self> {
        match self {
            Self::At(place) => Some(Self::Element(place)),
            Self::Constant(value) => elements(&value).map(Self::OneOf),
            _ => None,
        }
    }

    /// Returns the question about its value, or `None` if the index cannot ask it.
    pub fn question(self) -> Option<Question> {
        let (place, feature) = match self {
            Self::At(place) => (place, ValueFeature::Value),
            Self::Element(place) => (place, ValueFeature::Element),
            Self::Part(place, delimiters, at) => (place, ValueFeature::Segment(delimiters, at)),
            Self::Split(..) | Self::Constant(_) | Self::OneOf(_) => return None,
        };
        Some(Question { place, feature })
    }

    /// Returns its access path, or `None` if it is not at one.
    pub fn access_path(self) -> Option<AccessPath> {
        match self {
            Self::At(place) => Some(place),
            _ => None,
        }
    }
}

/// Returns the elements of a collection, as for `in`, or `None` for other values.
pub fn elements(collection: &Value) -> Option<RequiredValues> {
    let collection = collection.borrow();
    if let Some(array) = collection.as_array() {
        return Some(array.iter().map(|item| item.to_value()).collect());
    }
    if let Some(object) = collection.as_object() {
        return Some(object.iter().map(|(_, item)| item.to_value()).collect());
    }
    let set = collection.as_set()?;
    Some(set.iter().map(|item| item.to_value()).collect())
}

/// Returns the access path of an argument, counted from 0.
pub fn argument(at: u32) -> AccessPath {
    AccessPath {
        root: PathRoot::Argument(at),
        path: KeyPath::new(),
    }
}

fn input() -> AccessPath {
    AccessPath {
        root: PathRoot::Input,
        path: KeyPath::new(),
    }
}
