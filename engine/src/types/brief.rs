//! Abbreviated types, for lines of messages that would be too long.
//!
//! Lines that fit are printed in full. In others each long type is abbreviated to its kind: `object<...>`. Two types
//! that should agree show only their differences.

use std::fmt::{self, Display, Write};

use super::display::Property;
use super::{ArrayType, ObjectType, Parameter, Type, UnionType, unifies};

/// Maximum length of a line printed in full, including its label.
const LINE: usize = 80;

/// Maximum length of a type printed in full in a line that is too long.
const PART: usize = 32;

/// Formats two types that should unify, each for a line with a label of `label` characters.
pub fn pair(a: &Type, b: &Type, label: usize) -> (String, String) {
    if fits(a, LINE - label) && fits(b, LINE - label) {
        return (a.to_string(), b.to_string());
    }
    let mut texts = (String::new(), String::new());
    describe_difference(&mut texts.0, a, b);
    describe_difference(&mut texts.1, b, a);
    texts
}

/// Formats operand types and the parameters that they should fit, each for a line with a label of `label` characters.
/// Long types that fit are abbreviated; others show only their differences.
pub fn lists(have: &[Type], parameters: &[Parameter], label: usize) -> (String, String) {
    let (all, parameters_text) = (TypeList(have).to_string(), TypeList(parameters).to_string());
    if all.chars().count() <= LINE - label && parameters_text.chars().count() <= LINE - label {
        return (all, parameters_text);
    }
    let parameter = |position: usize| {
        parameters
            .get(position)
            .map(|parameter_of| &parameter_of.of)
    };
    let have_texts: Vec<_> = have
        .iter()
        .enumerate()
        .map(|(position, ty)| describe(ty, parameter(position)))
        .collect();
    let want_texts = parameters
        .iter()
        .enumerate()
        .map(|(position, parameter_of)| {
            let name = parameter_of
                .name
                .as_ref()
                .map(|name| format!("{name}: "))
                .unwrap_or_default();
            let fitting = have
                .get(position)
                .is_none_or(|have| unifies(have, &parameter_of.of));
            if fitting && !fits(parameter_of, PART) {
                return name + &kind(&parameter_of.of);
            }
            name + &describe(&parameter_of.of, have.get(position))
        });
    let want_texts: Vec<_> = want_texts.collect();
    (
        TypeList(&have_texts).to_string(),
        TypeList(&want_texts).to_string(),
    )
}

/// Formats a type that should fit another.
fn describe(ty: &Type, other: Option<&Type>) -> String {
    let mut text = String::new();
    match other {
        Some(other) if !unifies(ty, other) => describe_difference(&mut text, ty, other),
        _ => text = short(ty),
    }
    text
}

struct TypeList<'a, T>(&'a [T]);

impl<T: Display> Display for TypeList<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        super::display::list(f, self.0)?;
        f.write_str(")")
    }
}

/// Writer that counts characters and fails beyond the limit.
struct WidthLimit(usize);

impl Write for WidthLimit {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 = self.0.checked_sub(text.chars().count()).ok_or(fmt::Error)?;
        Ok(())
    }
}

fn fits(text: &dyn Display, width: usize) -> bool {
    write!(WidthLimit(width), "{text}").is_ok()
}

/// Formats a type, abbreviated if it is long.
fn short(ty: &Type) -> String {
    if fits(ty, PART) {
        return ty.to_string();
    }
    kind(ty)
}

/// Formats a type without its components.
fn kind(ty: &Type) -> String {
    if ty.is_empty() {
        return ty.to_string();
    }
    let text = match ty {
        Type::Array(array) => {
            collection_outline("array", !array.fixed().is_empty(), array.rest().is_some())
        }
        Type::Object(object) => collection_outline(
            "object",
            !object.fixed().is_empty(),
            object.rest().is_some(),
        ),
        Type::Set(_) => "set[...]",
        Type::Function(_) => "(...) => ...",
        Type::Union(_) => "any<...>",
        _ => return ty.to_string(),
    };
    text.to_owned()
}

fn collection_outline(kind: &'static str, fixed: bool, rest: bool) -> &'static str {
    match (kind, fixed, rest) {
        ("array", true, true) => "array<...>[...]",
        ("array", false, true) => "array[...]",
        ("array", ..) => "array<...>",
        (_, true, true) => "object<...>[...]",
        (_, false, true) => "object[...]",
        _ => "object<...>",
    }
}

/// Writes the components of a type that another type does not have.
fn describe_difference(out: &mut String, ty: &Type, other: &Type) {
    match (ty, other) {
        _ if ty == other => out.push_str(&short(ty)),
        (Type::Array(ty), Type::Array(other)) => arrays(out, ty, other),
        (Type::Object(ty), Type::Object(other)) => objects(out, ty, other),
        (Type::Set(ty), Type::Set(other)) if !ty.is_empty() && !other.is_empty() => {
            out.push_str("set[");
            describe_difference(out, ty.element(), other.element());
            out.push(']');
        }
        (Type::Union(ty), Type::Union(other)) => unions(out, ty, other),
        _ => out.push_str(&short(ty)),
    }
}

/// Writes the differences of arrays. If their lengths differ, only the kinds of the elements are shown.
fn arrays(out: &mut String, ty: &ArrayType, other: &ArrayType) {
    let alike =
        ty.fixed().len() == other.fixed().len() && ty.rest().is_some() == other.rest().is_some();
    out.push_str("array");
    if !ty.fixed().is_empty() {
        out.push('<');
        for (position, element) in ty.fixed().iter().enumerate() {
            separate(out, position > 0);
            match other.fixed().get(position).filter(|_| alike) {
                Some(other) => describe_difference(out, element, other),
                None => out.push_str(&kind(element)),
            }
        }
        out.push('>');
    }
    if let Some(rest) = ty.rest() {
        out.push('[');
        match other.rest().filter(|_| alike) {
            Some(other) => describe_difference(out, rest, other),
            None => out.push_str(&kind(rest)),
        }
        out.push(']');
    }
}

fn objects(out: &mut String, ty: &ObjectType, other: &ObjectType) {
    out.push_str("object");
    if !ty.fixed().is_empty() {
        out.push('<');
        let mut written_count = 0;
        for (key, ty) in ty.fixed() {
            let other_ty = other.get(key.borrow());
            if other_ty == Some(ty) {
                continue;
            }
            separate(out, written_count > 0);
            written_count += 1;
            let mut text = String::new();
            describe_mismatch(&mut text, ty, other_ty);
            out.push_str(&Property(key.borrow(), &text).to_string());
        }
        if written_count < ty.fixed().len() {
            separate(out, written_count > 0);
            out.push_str("...");
        }
        out.push('>');
    }
    if let Some((key, rest)) = ty.rest() {
        out.push('[');
        describe_mismatch(out, key, other.rest().map(|(key, _)| key));
        out.push_str(": ");
        describe_mismatch(out, rest, other.rest().map(|(_, rest)| rest));
        out.push(']');
    }
}

fn unions(out: &mut String, ty: &UnionType, other: &UnionType) {
    out.push_str("any<");
    let mut written_count = 0;
    for member in ty.members().iter().filter(|member| !other.contains(member)) {
        separate(out, written_count > 0);
        written_count += 1;
        out.push_str(&short(member));
    }
    if written_count < ty.members().len() {
        separate(out, written_count > 0);
        out.push_str("...");
    }
    out.push('>');
}

fn describe_mismatch(out: &mut String, ty: &Type, other: Option<&Type>) {
    match other {
        Some(other) => describe_difference(out, ty, other),
        None => out.push_str(&short(ty)),
    }
}

fn separate(out: &mut String, condition: bool) {
    if condition {
        out.push_str(", ");
    }
}
