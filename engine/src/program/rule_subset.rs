//! Sets of rules, as a sorted list or as bits.

use super::RuleId;

/// A set of rule sets of a program, by id. Small sets are sorted lists, others are bit sets, whichever is smaller.
#[derive(Debug)]
pub struct RuleSubset(SubsetRepr);

#[derive(Debug)]
enum SubsetRepr {
    /// Sorted, without duplicates.
    Sorted(Box<[RuleId]>),
    /// One bit for each rule set of the program, if there are many.
    Bits(Box<[u64]>),
}

impl RuleSubset {
    /// Creates a set of rules of a program with `count` rule sets. Ids may be repeated and in any order.
    pub fn new(mut rules: Vec<RuleId>, count: usize) -> Self {
        rules.sort_unstable();
        rules.dedup();
        let words = count.div_ceil(u64::BITS as usize);
        if rules.len() * size_of::<RuleId>() <= words * size_of::<u64>() {
            return Self(SubsetRepr::Sorted(rules.into()));
        }
        let mut bits = vec![0; words];
        for rule in rules {
            let (word, bit) = position(rule);
            if let Some(word) = bits.get_mut(word) {
                *word |= bit;
            }
        }
        Self(SubsetRepr::Bits(bits.into()))
    }

    /// Returns `true` if it contains a rule set. A binary search, or one bit.
    #[inline]
    pub fn contains(&self, rule: RuleId) -> bool {
        match &self.0 {
            SubsetRepr::Sorted(rules) => rules.binary_search(&rule).is_ok(),
            SubsetRepr::Bits(bits) => {
                let (word, bit) = position(rule);
                bits.get(word).is_some_and(|word| word & bit != 0)
            }
        }
    }
}

/// Returns the index of a rule's word and its bit.
#[inline]
fn position(rule: RuleId) -> (usize, u64) {
    ((rule / u64::BITS) as usize, 1 << (rule % u64::BITS))
}

#[cfg(test)]
mod tests {
    use super::{RuleSubset, SubsetRepr};

    #[test]
    fn small_sets_are_lists_and_large_ones_are_bits() {
        let small = RuleSubset::new(vec![700, 3, 3], 1000);
        assert!(matches!(&small.0, SubsetRepr::Sorted(rules) if **rules == [3, 700]));
        let large = RuleSubset::new((0..1000).step_by(2).collect(), 1000);
        assert!(matches!(&large.0, SubsetRepr::Bits(words) if words.len() == 16));
        for rule in 0..1000 {
            assert_eq!(small.contains(rule), rule == 3 || rule == 700, "{rule}");
            assert_eq!(large.contains(rule), rule % 2 == 0, "{rule}");
        }
    }

    #[test]
    fn a_program_without_rules_has_an_empty_set() {
        assert!(!RuleSubset::new(Vec::new(), 0).contains(0));
    }

    #[test]
    fn ids_beyond_the_program_are_not_members() {
        let all = RuleSubset::new((0..64).collect(), 64);
        assert!(all.contains(63));
        assert!(!all.contains(64));
    }
}
