//! Joins the types of all rules of a document.

use super::{Type, union_all};

/// Type of a document that several rules define. Sets are joined by their elements, and objects without known keys by
/// their keys and values; all others are alternatives.
///
/// Contributions are collected and joined once, because a document may have many rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Merge {
    /// No contribution.
    #[default]
    Nothing,
    /// Sets, by element type.
    Sets(Vec<Type>),
    /// Objects without known keys, by key types and value types.
    Objects(Vec<Type>, Box<Merge>),
    /// Other types.
    Alternatives(Vec<Type>),
    /// Other types, and objects without known keys, by key types and value types.
    Mixed {
        /// Other types.
        others: Vec<Type>,
        /// Key types.
        keys: Vec<Type>,
        /// Value types.
        values: Vec<Type>,
    },
    /// Conflict of a function with something else: no type, until the next contribution, as in OPA.
    Clash,
}

impl Merge {
    /// Adds a contribution.
    pub fn add(&mut self, one: Type) {
        match (&mut *self, &one) {
            (_, Type::Unknown) => {}
            (Self::Nothing | Self::Clash, _) => *self = Self::begin(one),
            (Self::Alternatives(types), Type::Function(_))
                if types
                    .last()
                    .is_some_and(|last| last.as_function().is_none()) =>
            {
                *self = Self::Clash;
            }
            (Self::Mixed { .. }, Type::Function(_)) => *self = Self::Clash,
            (Self::Sets(of), Type::Set(set)) => of.push(set.element().clone()),
            (Self::Objects(keys, values), Type::Object(object)) if object.fixed().is_empty() => {
                // the empty object has no types of keys and values
                if let Some((key, of)) = object.rest() {
                    keys.push(key.clone());
                    values.add(of.clone());
                }
            }
            (Self::Alternatives(types), Type::Object(object))
                if object.fixed().is_empty() && types.iter().all(is_empty_object) =>
            {
                *self = Self::begin(one);
            }
            (Self::Mixed { keys, values, .. }, _) if let Some((key, of)) = open_object(&one) => {
                keys.push(key.clone());
                values.push(of.clone());
            }
            (Self::Mixed { others, .. }, one) if !matches!(one, Type::Union(_) | Type::Any) => {
                others.push(one.clone());
            }
            (Self::Alternatives(types), _) if open_object(&one).is_none() => types.push(one),
            _ => {
                let before = std::mem::take(self).finish();
                *self = Self::mixed(before, one);
            }
        }
    }

    fn begin(one: Type) -> Self {
        match &one {
            Type::Set(set) => Self::Sets(vec![set.element().clone()]),
            _ => match open_object(&one) {
                Some((key, of)) => {
                    Self::Objects(vec![key.clone()], Box::new(Self::begin(of.clone())))
                }
                None => Self::Alternatives(vec![one]),
            },
        }
    }

    /// Adds a type of another kind. Among several alternatives, the first object without known keys is joined with
    /// further ones.
    fn mixed(before: Type, one: Type) -> Self {
        let (union, other) = match (before, one) {
            (Type::Union(union), other) if !matches!(other, Type::Union(_)) => {
                (union.members().to_vec(), other)
            }
            (other, Type::Union(union)) if open_object(&other).is_some() => {
                (union.members().to_vec(), other)
            }
            (before, one) if open_object(&before).is_some() => (vec![one], before),
            (before, one) => (vec![before], one),
        };
        let Some((key, of)) = open_object(&other) else {
            return Self::Alternatives(union.into_iter().chain([other]).collect());
        };
        if union.iter().any(|of| matches!(of, Type::Any)) {
            return Self::Alternatives(vec![Type::Any]);
        }
        let (mut keys, mut values) = (vec![key.clone()], vec![of.clone()]);
        let mut others = union;
        if let Some(first) = others.iter().position(|of| open_object(of).is_some())
            && let Some((key, of)) = open_object(&others.remove(first))
        {
            keys.push(key.clone());
            values.push(of.clone());
        }
        Self::Mixed {
            others,
            keys,
            values,
        }
    }

    /// Returns `true` if contributions were in conflict.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Clash)
    }

    /// Returns the joined type.
    pub fn finish(self) -> Type {
        match self {
            Self::Nothing | Self::Clash => Type::Unknown,
            Self::Sets(of) => Type::set(union_all(of)),
            Self::Objects(keys, values) => Type::object_of(union_all(keys), values.finish()),
            Self::Alternatives(types) => union_all(types),
            Self::Mixed {
                others,
                keys,
                values,
            } => {
                let open = Type::object_of(union_all(keys), union_all(values));
                union_all(others.into_iter().chain([open]))
            }
        }
    }
}

/// Returns the key and value types of an object without known keys.
fn open_object(of: &Type) -> Option<&(Type, Type)> {
    match of {
        Type::Object(object) if object.fixed().is_empty() => object.rest(),
        _ => None,
    }
}

fn is_empty_object(of: &Type) -> bool {
    matches!(of, Type::Object(_)) && of.is_empty()
}
