//! Joining types.

use super::{FunctionType, Parameter, Type};

/// Either of two types.
pub fn union(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Unknown, other) | (other, Type::Unknown) => other,
        (Type::Function(a), Type::Function(b)) => either_function(&a, &b),
        (Type::Any, _) | (_, Type::Any) => Type::Any,
        (a, b) if a == b => a,
        (a, b) => union_all([a, b]),
    }
}

/// One of many types: each once, unknown ones left out, `any` when one is `any`.
pub fn union_all(types: impl IntoIterator<Item = Type>) -> Type {
    let mut members: Vec<Type> = Vec::new();
    let mut functions = Type::Unknown;
    for one in types {
        match one {
            Type::Unknown => {}
            Type::Any => return Type::Any,
            Type::Function(_) => functions = union(functions, one),
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
    members.pop().unwrap_or(functions)
}

/// A function that may be either of two, as several rules define it; unknown when they differ in arity.
fn either_function(a: &FunctionType, b: &FunctionType) -> Type {
    if a.args.len() != b.args.len() {
        return Type::Unknown;
    }
    let either = |a: &Parameter, b: &Parameter| Parameter {
        name: None,
        of: union(a.of.clone(), b.of.clone()),
    };
    let args = a.args.iter().zip(&b.args);
    let result = match (&a.result, &b.result) {
        (Some(a), Some(b)) => Some(either(a, b)),
        (a, b) => a.clone().or_else(|| b.clone()),
    };
    FunctionType {
        args: args.map(|(a, b)| either(a, b)).collect(),
        variadic: a.variadic.clone(),
        result,
    }
    .into()
}

/// The type of one document that many rules contribute to, joined once at the end: sets by their elements,
/// objects without known keys by their keys and values, everything else as alternatives.
#[derive(Clone, Debug, Default)]
pub struct Merge {
    sets: Option<Vec<Type>>,
    objects: Option<(Vec<Type>, Box<Merge>)>,
    others: Vec<Type>,
}

impl Merge {
    /// Adds a contribution.
    pub fn add(&mut self, one: Type) {
        match one {
            Type::Unknown => {}
            Type::Set(set) => self.sets.get_or_insert_default().push(set.of().clone()),
            Type::Object(ref object) => match object.rest() {
                Some((key, of)) if object.fixed().is_empty() => {
                    let (keys, values) = self.objects.get_or_insert_default();
                    keys.push(key.clone());
                    values.add(of.clone());
                }
                _ => self.others.push(one),
            },
            Type::Union(inner) => {
                for member in inner.members() {
                    self.add(member.clone());
                }
            }
            one => self.others.push(one),
        }
    }

    /// The joined type.
    pub fn finish(self) -> Type {
        let sets = self.sets.map(|of| Type::set(union_all(of)));
        let objects = self
            .objects
            .map(|(keys, values)| Type::object_of(union_all(keys), values.finish()));
        union_all(self.others.into_iter().chain(sets).chain(objects))
    }
}
