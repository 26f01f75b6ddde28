//! Joins the types of all rules of a document.

use super::{Type, union_all};

/// Type of a document that several rules define. Sets are joined by their elements, and objects without known keys by
/// their keys and values; all others are alternatives.
///
/// Contributions are collected and joined once, because a document may have many rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Merge {
    /// No rule has contributed a type.
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
    /// Adds a contribution. An unknown type adds nothing. A function and another type contradict each other.
    pub fn add(&mut self, contribution: Type) {
        match (&mut *self, &contribution) {
            (_, Type::Unknown) => {}
            (Self::Nothing | Self::Clash, _) => *self = Self::begin(contribution),
            (Self::Alternatives(types), Type::Function(_))
                if types
                    .last()
                    .is_some_and(|last| last.as_function().is_none()) =>
            {
                *self = Self::Clash;
            }
            (Self::Mixed { .. }, Type::Function(_)) => *self = Self::Clash,
            (Self::Sets(ty), Type::Set(set)) => ty.push(set.element().clone()),
            (Self::Objects(keys, values), Type::Object(object)) if object.fixed().is_empty() => {
                // the empty object has no types of keys and values
                if let Some((key, ty)) = object.rest() {
                    keys.push(key.clone());
                    values.add(ty.clone());
                }
            }
            (Self::Alternatives(types), Type::Object(object))
                if object.fixed().is_empty() && types.iter().all(is_empty_object) =>
            {
                *self = Self::begin(contribution);
            }
            (Self::Mixed { keys, values, .. }, _)
                if let Some((key, ty)) = open_object(&contribution) =>
            {
                keys.push(key.clone());
                values.push(ty.clone());
            }
            (
                Self::Mixed {
                    others: non_objects,
                    ..
                },
                alternative,
            ) if !matches!(alternative, Type::Union(_) | Type::Any) => {
                non_objects.push(alternative.clone());
            }
            (Self::Alternatives(types), _) if open_object(&contribution).is_none() => {
                types.push(contribution);
            }
            _ => {
                let before = std::mem::take(self).finish();
                *self = Self::begin_mixed(before, contribution);
            }
        }
    }

    fn begin(contribution: Type) -> Self {
        match &contribution {
            Type::Set(set) => Self::Sets(vec![set.element().clone()]),
            _ => match open_object(&contribution) {
                Some((key, ty)) => {
                    Self::Objects(vec![key.clone()], Box::new(Self::begin(ty.clone())))
                }
                None => Self::Alternatives(vec![contribution]),
            },
        }
    }

    /// Adds a type of another kind. Among several alternatives, the first object without known keys is joined with
    /// further ones.
    fn begin_mixed(current: Type, contribution: Type) -> Self {
        let (union, object) = match (current, contribution) {
            (Type::Union(union), other) if !matches!(other, Type::Union(_)) => {
                (union.members().to_vec(), other)
            }
            (other, Type::Union(union)) if open_object(&other).is_some() => {
                (union.members().to_vec(), other)
            }
            (object, members) if open_object(&object).is_some() => (vec![members], object),
            (object, members) => (vec![object], members),
        };
        let Some((key, ty)) = open_object(&object) else {
            return Self::Alternatives(union.into_iter().chain([object]).collect());
        };
        if union.iter().any(|ty| matches!(ty, Type::Any)) {
            return Self::Alternatives(vec![Type::Any]);
        }
        let (mut keys, mut values) = (vec![key.clone()], vec![ty.clone()]);
        let mut non_objects = union;
        if let Some(first) = non_objects
            .iter()
            .position(|member| open_object(member).is_some())
            && let Some((key, ty)) = open_object(&non_objects.remove(first))
        {
            keys.push(key.clone());
            values.push(ty.clone());
        }
        Self::Mixed {
            others: non_objects,
            keys,
            values,
        }
    }

    /// Returns `true` if contributions were in conflict.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Clash)
    }

    /// Returns the joined type, or an unknown type without contributions or after a contradiction.
    pub fn finish(self) -> Type {
        match self {
            Self::Nothing | Self::Clash => Type::Unknown,
            Self::Sets(ty) => Type::set(union_all(ty)),
            Self::Objects(keys, values) => Type::object_of(union_all(keys), values.finish()),
            Self::Alternatives(types) => union_all(types),
            Self::Mixed {
                others: non_objects,
                keys,
                values,
            } => {
                let open = Type::object_of(union_all(keys), union_all(values));
                union_all(non_objects.into_iter().chain([open]))
            }
        }
    }
}

/// Returns the key and value types of an object without known keys.
fn open_object(ty: &Type) -> Option<&(Type, Type)> {
    match ty {
        Type::Object(object) if object.fixed().is_empty() => object.rest(),
        _ => None,
    }
}

fn is_empty_object(ty: &Type) -> bool {
    matches!(ty, Type::Object(_)) && ty.is_empty()
}
