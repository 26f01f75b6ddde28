//! Unions of types, which are flat and without duplicates.

use std::sync::Arc;

use super::{FunctionType, Parameter, Type};

/// Returns the union of two types: the other type for an unknown one, `any` for `any`. Allocates only if the types differ.
pub fn union(a: Type, b: Type) -> Type {
    match (a, b) {
        (Type::Unknown, other) | (other, Type::Unknown) => other,
        (Type::Any, _) | (_, Type::Any) => Type::Any,
        (a, b) if a == b => a,
        (a, b) => union_all([a, b]),
    }
}

/// Returns the union of several types. Duplicates and unknown types are dropped; `any` absorbs all others.
pub fn union_all(types: impl IntoIterator<Item = Type>) -> Type {
    let mut members: Vec<Type> = Vec::new();
    let mut functions = Vec::new();
    for ty in types {
        match ty {
            Type::Unknown => {}
            Type::Any => return Type::Any,
            Type::Function(function) => functions.push(function),
            Type::Union(inner) => members.extend(inner.members().iter().cloned()),
            // adjacent types are often equal
            ty if members.last() == Some(&ty) => {}
            ty => members.push(ty),
        }
    }
    members.sort();
    members.dedup();
    if members.len() > 1 {
        return Type::any_of(members);
    }
    members.pop().unwrap_or_else(|| any_function(&functions))
}

/// Joins types one after the other. A function and the types that it is joined with are dropped, as in OPA.
pub(super) fn union_or_unknown(types: impl IntoIterator<Item = Type>) -> Type {
    let is_function = |ty: &Type| ty.as_function().is_some();
    types.into_iter().fold(Type::Unknown, |union, next| {
        let forgotten = is_function(&union) != is_function(&next);
        match (union, next) {
            (Type::Unknown, ty) | (ty, Type::Unknown) => ty,
            _ if forgotten => Type::Unknown,
            (union, next) => union_all([union, next]),
        }
    })
}

/// Returns the type of a function with several definitions, or unknown if their arities differ.
fn any_function(functions: &[Arc<FunctionType>]) -> Type {
    let Some((first, rest)) = functions.split_first() else {
        return Type::Unknown;
    };
    if rest.is_empty() {
        return Type::Function(first.clone());
    }
    if rest.iter().any(|other| other.arity() != first.arity()) {
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
