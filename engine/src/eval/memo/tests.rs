use super::{ALIKE, By, Memo, MemoLookup, SCAN};
use crate::value::{Arena, RefRepr, Value, ValueRef};

const NULL: ValueRef<'static> = ValueRef(RefRepr::Null);

fn number(number: i64) -> ValueRef<'static> {
    ValueRef::from(number)
}

fn cached<'e>(memo: &Memo<'e>, rule: u32, args: &[ValueRef<'e>], by: By) -> Option<ValueRef<'e>> {
    match memo.lookup(rule, args, by) {
        MemoLookup::Cached(result) => result,
        MemoLookup::Missing(_) => None,
    }
}

#[test]
fn results_are_found_by_rule_and_arguments_in_lists_and_tables() {
    let arena = Arena::new();
    let mut memo = Memo::new(&arena, 4);
    let numbers = || (0_i64..).take(10 * SCAN);
    for (before, at) in numbers().enumerate() {
        assert_eq!(memo.get(1, &[number(at)]), None);
        memo.put(1, &[number(at)], Some(number(-at)));
        assert_eq!(memo.table.is_some(), before >= SCAN, "{at}");
    }
    for at in numbers() {
        assert_eq!(memo.get(1, &[number(at)]), Some(Some(number(-at))));
        assert_eq!(memo.get(2, &[number(at)]), None);
        assert_eq!(memo.get(1, &[number(at), number(at)]), None);
    }
    assert_eq!(memo.get(1, &[]), None);
}

#[test]
fn an_undefined_result_is_a_result() {
    let arena = Arena::new();
    let mut memo = Memo::new(&arena, 1);
    memo.put(0, &[], None);
    assert_eq!(memo.get(0, &[]), Some(None));
}

#[test]
fn clearing_drops_results_and_flags() {
    let arena = Arena::new();
    let mut memo = Memo::new(&arena, 1);
    for at in 0..20 {
        memo.put(0, &[number(at)], None);
    }
    memo.keep_long(0, &[NULL], Some(NULL));
    assert!(memo.is_first(0));
    memo.clear();
    assert_eq!(memo.get(0, &[number(1)]), None);
    assert_eq!(memo.get(0, &[NULL]), None);
    assert!(memo.is_first(0));
    assert!(memo.by(0) == By::Address);
}

#[test]
fn flags_of_rules_are_separate() {
    let arena = Arena::new();
    let rules = 600;
    for rule in [0, 1, 31, 32, 63, 64, 255, 256, 599] {
        let mut memo = Memo::new(&arena, rules);
        assert!(memo.is_first(rule));
        assert!(!memo.is_first(rule));
        memo.note_long(rule);
        for other in (0..600).filter(|other| *other != rule) {
            assert!(memo.by(other) == By::Address, "{rule} {other}");
            assert!(memo.is_first(other), "{rule} {other}");
        }
        assert!(memo.by(rule) == By::Value);
        assert!(!memo.is_first(rule));
    }
}

#[test]
fn collections_are_compared_by_value_or_by_address() {
    let arena = Arena::new();
    let mut memo = Memo::new(&arena, 1);
    let list = || Value::array((0..5).map(Value::from).collect());
    let (one, other) = (list(), list());
    let MemoLookup::Missing(place) = memo.lookup(0, &[one.borrow()], By::Address) else {
        panic!("there is no result yet");
    };
    memo.fill(place, 0, &[one.borrow()], By::Address, Some(number(1)));
    memo.put(0, &[other.borrow()], Some(number(2)));
    assert_eq!(
        cached(&memo, 0, &[one.borrow()], By::Address),
        Some(number(1))
    );
    assert_eq!(
        cached(&memo, 0, &[other.borrow()], By::Value),
        Some(number(2))
    );
}

#[test]
fn arguments_that_begin_alike_are_hashed_in_full() {
    let arena = Arena::new();
    let mut memo = Memo::new(&arena, 1);
    let long = |last: i64| {
        let items = (0..40).map(Value::from).chain([Value::from(last)]);
        Value::array(items.collect())
    };
    let lists: Vec<Value> = (0..).take(4 * (SCAN + ALIKE)).map(long).collect();
    for (list, at) in lists.iter().zip(0..) {
        memo.put(0, &[list.borrow()], Some(number(at)));
    }
    assert!(memo.thorough);
    for (list, at) in lists.iter().zip(0..) {
        assert_eq!(memo.get(0, &[list.borrow()]), Some(Some(number(at))));
    }
}

#[test]
fn a_position_stays_valid_while_other_results_are_added() {
    let arena = Arena::new();
    let mut memo = Memo::new(&arena, 1);
    let MemoLookup::Missing(place) = memo.lookup(0, &[NULL], By::Value) else {
        panic!("there is no result yet");
    };
    for at in (0..).take(2 * SCAN) {
        memo.put(0, &[number(at)], None);
    }
    memo.fill(place, 0, &[NULL], By::Value, Some(number(7)));
    assert_eq!(memo.get(0, &[NULL]), Some(Some(number(7))));
}
