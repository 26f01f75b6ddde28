//! Joining types.

use std::sync::Arc;

use super::{FunctionType, Parameter, Type};

/// Either of two types.
pub fn union(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Unknown, other) | (other, Type::Unknown) => other,
        (Type::Any, _) | (_, Type::Any) => Type::Any,
        (a, b) if a == b => a,
        (a, b) => union_all([a, b]),
    }
}

/// One of many types: each once, unknown ones left out, `any` when one is `any`.
pub fn union_all(types: impl IntoIterator<Item = Type>) -> Type {
    let mut members: Vec<Type> = Vec::new();
    let mut functions = Vec::new();
    for one in types {
        match one {
            Type::Unknown => {}
            Type::Any => return Type::Any,
            Type::Function(function) => functions.push(function),
            Type::Union(inner) => members.extend(inner.members().iter().cloned()),
            // neighbours are often alike
            one if members.last() == Some(&one) => {}
            one => members.push(one),
        }
    }
    members.sort();
    members.dedup();
    if members.len() > 1 {
        return Type::any_of(members);
    }
    members.pop().unwrap_or_else(|| any_function(&functions))
}

/// Types joined one after the other. What a function is joined with is forgotten, and so is the function: so it is
/// published.
pub(super) fn joined(types: impl IntoIterator<Item = Type>) -> Type {
    let is_function = |one: &Type| one.as_function().is_some();
    types.into_iter().fold(Type::Unknown, |joined, next| {
        let forgotten = is_function(&joined) != is_function(&next);
        match (joined, next) {
            (Type::Unknown, one) | (one, Type::Unknown) => one,
            _ if forgotten => Type::Unknown,
            (joined, next) => union_all([joined, next]),
        }
    })
}

/// A function that may be any of several, as rules define it; unknown when they differ in arity.
fn any_function(functions: &[Arc<FunctionType>]) -> Type {
    let Some((first, others)) = functions.split_first() else {
        return Type::Unknown;
    };
    if others.is_empty() {
        return Type::Function(first.clone());
    }
    if others.iter().any(|other| other.arity() != first.arity()) {
        return Type::Unknown;
    }
    let argument = |position: usize| {
        let nth = functions
            .iter()
            .filter_map(|function| function.args.get(position));
        Parameter::from(union_all(nth.map(|parameter| parameter.of.clone())))
    };
    let results = functions
        .iter()
        .filter_map(|function| function.result.as_ref());
    let results: Vec<_> = results.map(|result| result.of.clone()).collect();
    FunctionType {
        args: (0..first.arity()).map(argument).collect(),
        variadic: first.variadic.clone(),
        result: (!results.is_empty()).then(|| union_all(results).into()),
    }
    .into()
}

/// The type of one document that many rules contribute to. Sets are joined by their elements, objects without
/// known keys by their keys and values, until something else comes in between; then all are alternatives.
///
/// Contributions are kept and joined once: many rules may stand behind one document.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Merge {
    /// No contribution yet.
    #[default]
    Nothing,
    /// Sets, by the types of their elements.
    Sets(Vec<Type>),
    /// Objects without known keys, by the types of their keys and of their values.
    Objects(Vec<Type>, Box<Merge>),
    /// Anything else.
    Alternatives(Vec<Type>),
    /// A function and something else: no type, until the next contribution. So it is published.
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
            (Self::Sets(of), Type::Set(set)) => of.push(set.of().clone()),
            (Self::Objects(keys, values), Type::Object(object)) if object.fixed().is_empty() => {
                if let Some((key, of)) = object.rest() {
                    keys.push(key.clone());
                    values.add(of.clone());
                }
            }
            (Self::Alternatives(types), _) => types.push(one),
            _ => {
                let before = std::mem::take(self).finish();
                *self = Self::Alternatives(vec![before, one]);
            }
        }
    }

    fn begin(one: Type) -> Self {
        match &one {
            Type::Set(set) => Self::Sets(vec![set.of().clone()]),
            Type::Object(object) if object.fixed().is_empty() => match object.rest() {
                Some((key, of)) => {
                    Self::Objects(vec![key.clone()], Box::new(Self::begin(of.clone())))
                }
                None => Self::Alternatives(vec![one]),
            },
            _ => Self::Alternatives(vec![one]),
        }
    }

    /// Whether contributions came to nothing.
    pub fn is_clash(&self) -> bool {
        matches!(self, Self::Clash)
    }

    /// The joined type.
    pub fn finish(self) -> Type {
        match self {
            Self::Nothing | Self::Clash => Type::Unknown,
            Self::Sets(of) => Type::set(union_all(of)),
            Self::Objects(keys, values) => Type::object_of(union_all(keys), values.finish()),
            Self::Alternatives(types) => union_all(types),
        }
    }
}
