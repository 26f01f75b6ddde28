//! Prefixes and suffixes. What is said of prefixes holds for suffixes read from the other end.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::builtins::operands::Members;
use crate::builtins::{BuiltinContext, Fault, Operands, Prepared};
use crate::value::{TextView, V};

pub fn startswith<'e>(_: &mut BuiltinContext<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, prefix) = (operands.text(0)?, operands.text(1)?);
    Ok(V::Bool(text.as_bytes().starts_with(prefix.as_bytes())))
}

pub fn endswith<'e>(_: &mut BuiltinContext<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, suffix) = (operands.text(0)?, operands.text(1)?);
    Ok(V::Bool(text.as_bytes().ends_with(suffix.as_bytes())))
}

pub fn any_prefix_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[V<'e>],
) -> Result<V<'e>, Fault> {
    any_match(call, operands, &PREFIX)
}

pub fn any_suffix_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[V<'e>],
) -> Result<V<'e>, Fault> {
    any_match(call, operands, &SUFFIX)
}

/// Works constant prefixes in.
pub fn prepare_any_prefix(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    prepare(operands, &PREFIX)
}

/// Works constant suffixes in.
pub fn prepare_any_suffix(operands: &[Option<V<'_>>]) -> Option<Arc<dyn Prepared>> {
    prepare(operands, &SUFFIX)
}

fn prepare(operands: &[Option<V<'_>>], affix: &'static Affix) -> Option<Arc<dyn Prepared>> {
    let affixes = Texts::of(std::slice::from_ref(&operands.get(1).copied()??), 0).ok()?;
    let sorted = affix.sorted(affixes.list());
    Some(Arc::new(Constant {
        affix,
        sorted: sorted.iter().map(|text| text.as_bytes().into()).collect(),
    }))
}

/// Constant strings, one of which a string shall start or end with.
struct Constant {
    affix: &'static Affix,
    sorted: Box<[Box<[u8]>]>,
}

impl Prepared for Constant {
    fn call<'e>(&self, call: &mut BuiltinContext<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
        any_match(call, operands, self.affix)
    }

    fn tested(&self) -> Option<usize> {
        Some(0)
    }

    fn test(&self, text: &TextView<'_>) -> bool {
        let text = text.as_bytes();
        if self.sorted.len() <= FEW {
            return self
                .sorted
                .iter()
                .any(|with| (self.affix.starts)(text, with));
        }
        self.affix.starts_one(text, &self.sorted, |with| with)
    }
}

/// The end of strings that is looked at: a test for it, and an order read from that end.
struct Affix {
    starts: fn(&[u8], &[u8]) -> bool,
    order: fn(&[u8], &[u8]) -> Ordering,
}

const PREFIX: Affix = Affix {
    starts: <[u8]>::starts_with,
    order: <[u8]>::cmp,
};

const SUFFIX: Affix = Affix {
    starts: <[u8]>::ends_with,
    order: |a, b| a.iter().rev().cmp(b.iter().rev()),
};

impl Affix {
    /// The strings in order. Where one starts another the longer says nothing new; without those, only the greatest
    /// that sorts at or before a text can start it.
    fn sorted<'e>(&self, mut affixes: Vec<TextView<'e>>) -> Vec<TextView<'e>> {
        affixes.sort_unstable_by(|a, b| (self.order)(a.as_bytes(), b.as_bytes()));
        affixes.dedup_by(|longer, shorter| (self.starts)(longer.as_bytes(), shorter.as_bytes()));
        affixes
    }

    /// Whether a text starts with one of the strings that [`Self::sorted`] left.
    fn starts_one<T>(&self, text: &[u8], sorted: &[T], bytes: impl Fn(&T) -> &[u8]) -> bool {
        let after = sorted.partition_point(|with| (self.order)(bytes(with), text).is_le());
        let nearest = after.checked_sub(1).and_then(|at| sorted.get(at));
        nearest.is_some_and(|with| (self.starts)(text, bytes(with)))
    }
}

/// Pairs up to which trying them all is cheaper than sorting.
const FEW: usize = 64;

fn any_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[V<'e>],
    affix: &Affix,
) -> Result<V<'e>, Fault> {
    let texts = Texts::of(operands, 0)?;
    let affixes = Texts::of(operands, 1)?;
    call.budget.spend_len(texts.len() + affixes.len())?;
    let starts =
        |text: &TextView<'_>, with: &TextView<'_>| (affix.starts)(text.as_bytes(), with.as_bytes());
    if texts.len().saturating_mul(affixes.len()) <= FEW {
        let starts_any = |text: TextView<'e>| affixes.any(|with| starts(&text, &with));
        return Ok(V::Bool(texts.any(starts_any)));
    }
    let sorted = affix.sorted(affixes.list());
    let found = texts.any(|text| affix.starts_one(text.as_bytes(), &sorted, TextView::as_bytes));
    Ok(V::Bool(found))
}

/// One string, or several.
#[derive(Clone, Copy)]
enum Texts<'e> {
    One(TextView<'e>),
    Many(Members<'e>),
}

impl<'e> Texts<'e> {
    /// The strings of an operand, which holds nothing else.
    fn of(operands: &[V<'e>], position: u8) -> Result<Self, Fault> {
        let operand = operands.at(position);
        if let Some(text) = operand.as_text() {
            return Ok(Self::One(text));
        }
        let refuse = || Fault::operand(position + 1, &["string", "set", "array"], operand);
        let members = Members::of(operand).ok_or_else(refuse)?;
        for text in members.texts(position) {
            text?;
        }
        Ok(Self::Many(members))
    }

    fn len(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Many(members) => members.len(),
        }
    }

    /// Whether one of them passes a test.
    fn any(self, test: impl Fn(TextView<'e>) -> bool) -> bool {
        match self {
            Self::One(text) => test(text),
            Self::Many(members) => members
                .iter_unordered()
                .filter_map(|value| value.as_text())
                .any(test),
        }
    }

    fn list(self) -> Vec<TextView<'e>> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(members) => members
                .iter_unordered()
                .filter_map(|value| value.as_text())
                .collect(),
        }
    }
}
