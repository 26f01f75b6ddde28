//! Prefixes and suffixes.

use std::cmp::Ordering;

use smallvec::SmallVec;

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
    let texts = one_or_many(operands, 0)?;
    let mut affixes = one_or_many(operands, 1)?;
    call.budget.spend_len(texts.len() + affixes.len())?;
    let starts =
        |text: &TextView<'_>, with: &TextView<'_>| (affix.starts)(text.as_bytes(), with.as_bytes());
    if texts.len().saturating_mul(affixes.len()) <= FEW {
        let found = texts
            .iter()
            .any(|text| affixes.iter().any(|with| starts(text, with)));
        return Ok(V::Bool(found));
    }
    affixes.sort_unstable_by(|a, b| (affix.order)(a.as_bytes(), b.as_bytes()));
    // where one starts another the longer says nothing new; without those, only the greatest that sorts at
    // or before a text can start it
    affixes.dedup_by(|longer, shorter| starts(longer, shorter));
    let found = texts.iter().any(|text| {
        let after = affixes.partition_point(|with| {
            (affix.order)(with.as_bytes(), text.as_bytes()) != Ordering::Greater
        });
        after
            .checked_sub(1)
            .and_then(|at| affixes.get(at))
            .is_some_and(|with| starts(text, with))
    });
    Ok(V::Bool(found))
}

/// Strings, of which there are few in most calls.
type Texts<'e> = SmallVec<[TextView<'e>; 8]>;

fn one_or_many<'e>(operands: &[V<'e>], position: u8) -> Result<Texts<'e>, Fault> {
    let operand = operands.at(position);
    if let Some(text) = operand.as_text() {
        return Ok(Texts::from_iter([text]));
    }
    Members::of(operand)
        .ok_or_else(|| Fault::operand(position + 1, &["string", "set", "array"], operand))?
        .texts(position)
        .collect()
}
