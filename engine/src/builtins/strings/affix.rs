//! Prefixes and suffixes.

use std::cmp::Ordering;

use crate::builtins::operands::Members;
use crate::builtins::{Call, Fault, Operands};
use crate::value::{TextView, V};

pub fn startswith<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, prefix) = (operands.text(0)?, operands.text(1)?);
    Ok(V::Bool(text.as_bytes().starts_with(prefix.as_bytes())))
}

pub fn endswith<'e>(_: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let (text, suffix) = (operands.text(0)?, operands.text(1)?);
    Ok(V::Bool(text.as_bytes().ends_with(suffix.as_bytes())))
}

pub fn any_prefix_match<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    any_match(
        call,
        operands,
        &Affix {
            starts: <[u8]>::starts_with,
            order: <[u8]>::cmp,
        },
    )
}

pub fn any_suffix_match<'e>(call: &mut Call<'e>, operands: &[V<'e>]) -> Result<V<'e>, Fault> {
    let order = |a: &[u8], b: &[u8]| a.iter().rev().cmp(b.iter().rev());
    any_match(
        call,
        operands,
        &Affix {
            starts: <[u8]>::ends_with,
            order,
        },
    )
}

/// The end of strings that is looked at: a test for it, and an order read from that end.
struct Affix {
    starts: fn(&[u8], &[u8]) -> bool,
    order: fn(&[u8], &[u8]) -> Ordering,
}

/// Pairs up to which trying them all is cheaper than sorting.
const FEW: usize = 64;

fn any_match<'e>(call: &mut Call<'e>, operands: &[V<'e>], affix: &Affix) -> Result<V<'e>, Fault> {
    let texts = Texts::of(operands, 0)?;
    let affixes = Texts::of(operands, 1)?;
    call.budget.spend_len(texts.len() + affixes.len())?;
    let starts =
        |text: &TextView<'_>, with: &TextView<'_>| (affix.starts)(text.as_bytes(), with.as_bytes());
    if texts.len().saturating_mul(affixes.len()) <= FEW {
        let starts_any = |text: TextView<'e>| affixes.any(|with| starts(&text, &with));
        return Ok(V::Bool(texts.any(starts_any)));
    }
    let mut affixes = affixes.list();
    affixes.sort_unstable_by(|a, b| (affix.order)(a.as_bytes(), b.as_bytes()));
    // where one starts another the longer says nothing new; without those, only the greatest that sorts at
    // or before a text can start it
    affixes.dedup_by(|longer, shorter| starts(longer, shorter));
    let found = texts.any(|text| {
        let after = affixes.partition_point(|with| {
            (affix.order)(with.as_bytes(), text.as_bytes()) != Ordering::Greater
        });
        after
            .checked_sub(1)
            .and_then(|at| affixes.get(at))
            .is_some_and(|with| starts(&text, with))
    });
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
            Self::Many(members) => members.iter_unordered().filter_map(V::as_text).any(test),
        }
    }

    fn list(self) -> Vec<TextView<'e>> {
        match self {
            Self::One(text) => vec![text],
            Self::Many(members) => members.iter_unordered().filter_map(V::as_text).collect(),
        }
    }
}
