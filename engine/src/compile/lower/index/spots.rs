//! Spots: values that a body names, as far as they are found from the input or an argument by constants.

use solon_syntax::ast::{Name, Term, TermKind};

use super::conditions::Answers;
use crate::compile::lower::constants::constant;
use crate::compile::small_map::SmallMap;
use crate::program::{Delimiters, Feature, Path, Place, Question, Root};
use crate::value::Value;

/// What a term stands for.
#[derive(Clone)]
pub enum Spot {
    /// The value at a place.
    At(Place),
    /// Some element of the collection at a place.
    Element(Place),
    /// What delimiters make of the string at a place.
    Parts(Place, Delimiters),
    /// One of these parts.
    Part(Place, Delimiters, usize),
    /// A constant.
    Constant(Value),
    /// Some element of a constant collection.
    OneOf(Answers),
}

/// What the variables of a body stand for.
pub struct Spots<'r> {
    known: SmallMap<&'r Name, Spot>,
}

impl<'r> Spots<'r> {
    /// With what the arguments of a function are called.
    pub fn new(args: &'r [Term]) -> Self {
        let mut spots = Self {
            known: SmallMap::default(),
        };
        for (at, arg) in (0..).zip(args) {
            spots.note(arg, &Spot::At(argument(at)));
        }
        spots
    }

    /// Notes what the variables of a pattern stand for that a value has.
    pub fn note(&mut self, pattern: &'r Term, spot: &Spot) {
        match &pattern.kind {
            TermKind::Var(name) => {
                let is_root = matches!(&**name, "input" | "data");
                if !is_root && !self.known.contains(&name) {
                    self.known.insert(name, spot.clone());
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
                    if let Some(inner) = constant(key).and_then(|key| spot.clone().below(key)) {
                        self.note(value, &inner);
                    }
                }
            }
            _ => {}
        }
    }

    /// What a term stands for.
    pub fn of(&self, term: &Term) -> Option<Spot> {
        match &term.kind {
            TermKind::Var(name) => match &**name {
                "input" => Some(Spot::At(input())),
                _ => self.known.get(&name).cloned(),
            },
            TermKind::Ref(terms) => self.reference(terms),
            _ => constant(term).map(Spot::Constant),
        }
    }

    /// The constant that a term stands for.
    pub fn constant(&self, term: &Term) -> Option<Value> {
        match self.of(term)? {
            Spot::Constant(value) => Some(value),
            _ => None,
        }
    }

    fn reference(&self, terms: &[Term]) -> Option<Spot> {
        let (head, keys) = terms.split_first()?;
        let mut spot = self.of(head)?;
        for key in keys {
            let known = match &key.kind {
                TermKind::Var(_) | TermKind::Ref(_) => self.constant(key),
                _ => constant(key),
            };
            spot = match known {
                Some(key) => spot.below(key)?,
                None if key.as_var().is_some() => spot.element()?,
                None => return None,
            };
        }
        Some(spot)
    }
}

impl Spot {
    /// What lies under a constant key.
    fn below(self, key: Value) -> Option<Self> {
        match self {
            Self::At(mut place) => {
                place.path.push(key);
                Some(Self::At(place))
            }
            Self::Parts(place, delimiters) => {
                let Value::Int(at) = key else { return None };
                let at = usize::try_from(at).ok()?;
                Some(Self::Part(place, delimiters, at))
            }
            _ => None,
        }
    }

    /// An item of an array.
    pub fn item(&self, at: usize) -> Option<Self> {
        self.clone().below(Value::Int(i64::try_from(at).ok()?))
    }

    /// Some element.
    fn element(self) -> Option<Self> {
        match self {
            Self::At(place) => Some(Self::Element(place)),
            Self::Constant(value) => elements(&value).map(Self::OneOf),
            _ => None,
        }
    }

    /// The question that asks for its value.
    pub fn question(self) -> Option<Question> {
        let (place, feature) = match self {
            Self::At(place) => (place, Feature::Value),
            Self::Element(place) => (place, Feature::Element),
            Self::Part(place, delimiters, at) => (place, Feature::Segment(delimiters, at)),
            Self::Parts(..) | Self::Constant(_) | Self::OneOf(_) => return None,
        };
        Some(Question { place, feature })
    }

    /// The place whose value it is.
    pub fn place(self) -> Option<Place> {
        match self {
            Self::At(place) => Some(place),
            _ => None,
        }
    }
}

/// The elements of a collection, as `in` finds them.
pub fn elements(collection: &Value) -> Option<Answers> {
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

/// An argument of the function.
pub fn argument(at: u32) -> Place {
    Place {
        root: Root::Argument(at),
        path: Path::new(),
    }
}

fn input() -> Place {
    Place {
        root: Root::Input,
        path: Path::new(),
    }
}
