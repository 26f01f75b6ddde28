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
pub fn lists(have: &[Type], want: &[Parameter], label: usize) -> (String, String) {
    let (all, wanted) = (TypeList(have).to_string(), TypeList(want).to_string());
    if all.chars().count() <= LINE - label && wanted.chars().count() <= LINE - label {
        return (all, wanted);
    }
    let parameter = |position: usize| want.get(position).map(|want| &want.of);
    let have_texts: Vec<_> = have
        .iter()
        .enumerate()
        .map(|(position, of)| describe(of, parameter(position)))
        .collect();
    let want_texts = want.iter().enumerate().map(|(position, want)| {
        let name = want
            .name
            .as_ref()
            .map(|name| format!("{name}: "))
            .unwrap_or_default();
        let fitting = have
            .get(position)
            .is_none_or(|have| unifies(have, &want.of));
        if fitting && !fits(want, PART) {
            return name + &kind(&want.of);
        }
        name + &describe(&want.of, have.get(position))
    });
    let want_texts: Vec<_> = want_texts.collect();
    (
        TypeList(&have_texts).to_string(),
        TypeList(&want_texts).to_string(),
    )
}

/// Formats a type that should fit another.
fn describe(of: &Type, other: Option<&Type>) -> String {
    let mut text = String::new();
    match other {
        Some(other) if !unifies(of, other) => describe_difference(&mut text, of, other),
        _ => text = short(of),
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

fn fits(shown: &dyn Display, width: usize) -> bool {
    write!(WidthLimit(width), "{shown}").is_ok()
}

/// Formats a type, abbreviated if it is long.
fn short(of: &Type) -> String {
    if fits(of, PART) {
        return of.to_string();
    }
    kind(of)
}

/// Formats a type without its components.
fn kind(of: &Type) -> String {
    if of.is_empty() {
        return of.to_string();
    }
    let text = match of {
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
        _ => return of.to_string(),
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
fn describe_difference(out: &mut String, of: &Type, other: &Type) {
    match (of, other) {
        _ if of == other => out.push_str(&short(of)),
        (Type::Array(of), Type::Array(other)) => arrays(out, of, other),
        (Type::Object(of), Type::Object(other)) => objects(out, of, other),
        (Type::Set(of), Type::Set(other)) if !of.is_empty() && !other.is_empty() => {
            out.push_str("set[");
            describe_difference(out, of.element(), other.element());
            out.push(']');
        }
        (Type::Union(of), Type::Union(other)) => unions(out, of, other),
        _ => out.push_str(&short(of)),
    }
}

/// Writes the differences of arrays. If their lengths differ, only the kinds of the elements are shown.
fn arrays(out: &mut String, of: &ArrayType, other: &ArrayType) {
    let alike =
        of.fixed().len() == other.fixed().len() && of.rest().is_some() == other.rest().is_some();
    out.push_str("array");
    if !of.fixed().is_empty() {
        out.push('<');
        for (position, one) in of.fixed().iter().enumerate() {
            separate(out, position > 0);
            match other.fixed().get(position).filter(|_| alike) {
                Some(other) => describe_difference(out, one, other),
                None => out.push_str(&kind(one)),
            }
        }
        out.push('>');
    }
    if let Some(rest) = of.rest() {
        out.push('[');
        match other.rest().filter(|_| alike) {
            Some(other) => describe_difference(out, rest, other),
            None => out.push_str(&kind(rest)),
        }
        out.push(']');
    }
}

fn objects(out: &mut String, of: &ObjectType, other: &ObjectType) {
    out.push_str("object");
    if !of.fixed().is_empty() {
        out.push('<');
        let mut shown = 0;
        for (key, one) in of.fixed() {
            let theirs = other.get(key.borrow());
            if theirs == Some(one) {
                continue;
            }
            separate(out, shown > 0);
            shown += 1;
            let mut text = String::new();
            describe_mismatch(&mut text, one, theirs);
            out.push_str(&Property(key.borrow(), &text).to_string());
        }
        if shown < of.fixed().len() {
            separate(out, shown > 0);
            out.push_str("...");
        }
        out.push('>');
    }
    if let Some((key, rest)) = of.rest() {
        out.push('[');
        describe_mismatch(out, key, other.rest().map(|(key, _)| key));
        out.push_str(": ");
        describe_mismatch(out, rest, other.rest().map(|(_, rest)| rest));
        out.push(']');
    }
}

fn unions(out: &mut String, of: &UnionType, other: &UnionType) {
    out.push_str("any<");
    let mut shown = 0;
    for one in of.members().iter().filter(|one| !other.contains(one)) {
        separate(out, shown > 0);
        shown += 1;
        out.push_str(&short(one));
    }
    if shown < of.members().len() {
        separate(out, shown > 0);
        out.push_str("...");
    }
    out.push('>');
}

fn describe_mismatch(out: &mut String, of: &Type, other: Option<&Type>) {
    match other {
        Some(other) => describe_difference(out, of, other),
        None => out.push_str(&short(of)),
    }
}

fn separate(out: &mut String, needed: bool) {
    if needed {
        out.push_str(", ");
    }
}
