//! Prefixes and suffixes. Statements about prefixes also apply to suffixes read from the end.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::sync::Arc;

use smallvec::SmallVec;

use crate::builtins::arrays::allot;
use crate::builtins::operands::Members;
use crate::builtins::{BuiltinContext, BuiltinError, Operands, Prepared};
use crate::value::array::{ArrayView, ArrayViewRepr};
use crate::value::{RefRepr, TextView, ValueRef};

pub fn startswith<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, prefix) = (operands.text(0)?, operands.text(1)?);
    Ok(ValueRef(RefRepr::Bool(
        text.as_bytes().starts_with(prefix.as_bytes()),
    )))
}

pub fn endswith<'e>(
    _: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let (text, suffix) = (operands.text(0)?, operands.text(1)?);
    Ok(ValueRef(RefRepr::Bool(
        text.as_bytes().ends_with(suffix.as_bytes()),
    )))
}

pub fn any_prefix_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    any_match::<PrefixMatch>(call, operands)
}

pub fn any_suffix_match<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    any_match::<Suffix>(call, operands)
}

/// Prepares constant prefixes. Returns `None` if they are not constant or not strings.
pub fn prepare_any_prefix(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    prepare::<PrefixMatch>(operands)
}

/// Prepares constant suffixes. Returns `None` if they are not constant or not strings.
pub fn prepare_any_suffix(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    prepare::<Suffix>(operands)
}

fn prepare<A: AffixKind>(operands: &[Option<ValueRef<'_>>]) -> Option<Arc<dyn Prepared>> {
    let affixes =
        AffixOperand::from_operand(std::slice::from_ref(&operands.get(1).copied()??), 0).ok()?;
    let sorted = A::sorted(affixes.list());
    Some(Arc::new(ConstantAffixes::<A> {
        sorted: sorted.iter().map(|text| text.as_bytes().into()).collect(),
        affix: PhantomData,
    }))
}

/// A call with constant prefixes or suffixes.
struct ConstantAffixes<A> {
    sorted: Box<[Box<[u8]>]>,
    affix: PhantomData<A>,
}

impl<A: AffixKind> Prepared for ConstantAffixes<A> {
    fn call<'e>(
        &self,
        call: &mut BuiltinContext<'e>,
        operands: &[ValueRef<'e>],
    ) -> Result<ValueRef<'e>, BuiltinError> {
        any_match::<A>(call, operands)
    }

    fn tested(&self) -> Option<usize> {
        Some(0)
    }

    fn test(&self, text: &TextView<'_>) -> bool {
        let text = text.as_bytes();
        if self.sorted.len() <= FEW {
            return self.sorted.iter().any(|with| A::starts(text, with));
        }
        A::starts_one(text, &self.sorted, |with| with)
    }
}

/// Prefix or suffix: a test, and an order of strings read from that end.
trait AffixKind: Send + Sync + 'static {
    /// `true` if strings are read from their end.
    const BACKWARD: bool;

    fn starts(text: &[u8], with: &[u8]) -> bool;

    fn order(a: &[u8], b: &[u8]) -> Ordering;

    /// Sorts the strings and removes those that have another one as prefix. Invariant: after that, only the greatest
    /// string that sorts at or before a text can be its prefix.
    fn sorted(mut affixes: Vec<TextView<'_>>) -> Vec<TextView<'_>> {
        affixes.sort_unstable_by(|a, b| Self::order(a.as_bytes(), b.as_bytes()));
        affixes.dedup_by(|longer, shorter| Self::starts(longer.as_bytes(), shorter.as_bytes()));
        affixes
    }

    /// Returns `true` if a text starts with one of the strings of [`Self::sorted`]. Binary search.
    fn starts_one<T>(text: &[u8], sorted: &[T], bytes: impl Fn(&T) -> &[u8]) -> bool {
        let after = sorted.partition_point(|with| Self::order(bytes(with), text).is_le());
        let nearest = after.checked_sub(1).and_then(|index| sorted.get(index));
        nearest.is_some_and(|with| Self::starts(text, bytes(with)))
    }
}

struct PrefixMatch;

impl AffixKind for PrefixMatch {
    const BACKWARD: bool = false;

    #[inline]
    fn starts(text: &[u8], with: &[u8]) -> bool {
        text.starts_with(with)
    }

    fn order(a: &[u8], b: &[u8]) -> Ordering {
        a.cmp(b)
    }
}

struct Suffix;

impl AffixKind for Suffix {
    const BACKWARD: bool = true;

    #[inline]
    fn starts(text: &[u8], with: &[u8]) -> bool {
        text.ends_with(with)
    }

    fn order(a: &[u8], b: &[u8]) -> Ordering {
        a.iter().rev().cmp(b.iter().rev())
    }
}

/// Number of pairs up to which trying all of them is cheaper than sorting.
const FEW: usize = 64;

fn any_match<'e, A: AffixKind>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    let texts = AffixOperand::from_operand(operands, 0)?;
    if let Some(sorted) = cached_affixes::<A>(call, operands.operand(1))? {
        call.budget.spend_len(texts.len())?;
        let is_match = texts.any(|text| A::starts_one(text.as_bytes(), sorted, TextView::as_bytes));
        return Ok(ValueRef(RefRepr::Bool(is_match)));
    }
    let affixes = AffixOperand::from_operand(operands, 1)?;
    call.budget.spend_len(texts.len() + affixes.len())?;
    let starts =
        |text: &TextView<'_>, with: &TextView<'_>| A::starts(text.as_bytes(), with.as_bytes());
    if texts.len().saturating_mul(affixes.len()) <= FEW {
        let starts_any = |text: TextView<'e>| affixes.any(|with| starts(&text, &with));
        return Ok(ValueRef(RefRepr::Bool(texts.any(starts_any))));
    }
    let sorted = A::sorted(affixes.list());
    let is_match = texts.any(|text| A::starts_one(text.as_bytes(), &sorted, TextView::as_bytes));
    Ok(ValueRef(RefRepr::Bool(is_match)))
}

/// Sorted lists of prefixes and suffixes that calls of one evaluation use repeatedly.
#[derive(Default)]
pub struct AffixCache<'e> {
    /// Address of the list of the last call.
    last: usize,
    lists: SmallVec<[CachedList<'e>; 2]>,
}

/// A stored list by its address, and the result of [`Affix::sorted`] for it.
struct CachedList<'e> {
    address: usize,
    backward: bool,
    sorted: &'e [TextView<'e>],
}

/// Length of a list below which a scan is faster than a lookup.
const SHORT: usize = 8;

const CAPACITY: usize = 8;

/// Returns a stored array of strings in sorted order, from the second call with it. Returns `None` if sorting does not
/// pay off.
fn cached_affixes<'e, A: AffixKind>(
    call: &mut BuiltinContext<'e>,
    operand: ValueRef<'e>,
) -> Result<Option<&'e [TextView<'e>]>, BuiltinError> {
    let items = match operand.as_array() {
        Some(ArrayView(ArrayViewRepr::Stored(items))) if items.len() >= SHORT => items,
        _ => return Ok(None),
    };
    let address = items.as_ptr().addr();
    let lists = &mut call.caches().affixes;
    let is_it = |list: &&CachedList<'_>| list.address == address && list.backward == A::BACKWARD;
    if let Some(list) = lists.lists.iter().find(is_it) {
        return Ok(Some(list.sorted));
    }
    if std::mem::replace(&mut lists.last, address) != address || lists.lists.len() == CAPACITY {
        return Ok(None);
    }
    let affixes = AffixOperand::from_operand(&[ValueRef(RefRepr::Null), operand], 1)?;
    allot(call, affixes.len())?;
    call.budget.spend_len(affixes.len())?;
    let sorted = &*call
        .arena
        .bump()
        .alloc_slice_copy(&A::sorted(affixes.list()));
    call.caches().affixes.lists.push(CachedList {
        address,
        backward: A::BACKWARD,
        sorted,
    });
    Ok(Some(sorted))
}

#[derive(Clone, Copy)]
enum AffixOperand<'e> {
    One(TextView<'e>),
    Collection(Members<'e>),
}

impl<'e> AffixOperand<'e> {
    /// Returns the strings of an operand. Fails if it contains anything else.
    fn from_operand(operands: &[ValueRef<'e>], position: u8) -> Result<Self, BuiltinError> {
        let operand = operands.operand(position);
        if let Some(text) = operand.as_text() {
            return Ok(Self::One(text));
        }
        let reject = || BuiltinError::operand(position + 1, &["string", "set", "array"], operand);
        let members = Members::from_value(operand).ok_or_else(reject)?;
        for text in members.texts(position) {
            text?;
        }
        Ok(Self::Collection(members))
    }

    fn len(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Collection(members) => members.len(),
        }
    }

    /// Returns `true` if one of the strings passes a test. Members of other types are skipped.
    fn any(self, test: impl Fn(TextView<'e>) -> bool) -> bool {
        match self {
            Self::One(text) => test(text),
            Self::Collection(members) => members
                .iter_unordered()
                .filter_map(|value| value.as_text())
                .any(test),
        }
    }

    fn list(self) -> Vec<TextView<'e>> {
        match self {
            Self::One(text) => vec![text],
            Self::Collection(members) => members
                .iter_unordered()
                .filter_map(|value| value.as_text())
                .collect(),
        }
    }
}
