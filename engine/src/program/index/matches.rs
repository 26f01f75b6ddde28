//! Rule numbers that an index selects.

/// The rules that an index selects, by their positions.
pub enum SelectedRules<'e> {
    /// Rules of one or two lists; sufficient for most indexes.
    Few(Numbers<'e>),
    /// Rules of more lists, in source order, each once.
    Merged(Vec<u32>),
}

/// Lists of selected rules. Invariant: none is empty.
#[derive(Default)]
pub(super) struct RuleLists<'e> {
    /// The first two lists; sufficient for most indexes.
    lists: [&'e [u32]; 2],
    more: Vec<&'e [u32]>,
}

impl<'e> RuleLists<'e> {
    #[inline]
    pub fn add(&mut self, list: &'e [u32]) {
        if list.is_empty() {
            return;
        }
        match &mut self.lists {
            [first, _] if first.is_empty() => *first = list,
            [_, second] if second.is_empty() => *second = list,
            _ => self.more.push(list),
        }
    }

    /// Merges the lists. Two lists need no allocation.
    pub fn matches(&self) -> SelectedRules<'e> {
        let [left, right] = self.lists;
        if self.more.is_empty() {
            return SelectedRules::Few(Numbers { left, right });
        }
        SelectedRules::Merged(self.merged())
    }

    #[cold]
    fn merged(&self) -> Vec<u32> {
        let lists = self.lists.iter().chain(&self.more);
        let mut all: Vec<u32> = lists.flat_map(|list| list.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Numbers of selected rules, in source order, each once.
#[derive(Clone)]
pub struct Numbers<'e> {
    left: &'e [u32],
    right: &'e [u32],
}

impl<'e> Numbers<'e> {
    /// Merges two sorted lists while it is iterated.
    #[inline]
    pub fn merged(left: &'e [u32], right: &'e [u32]) -> Self {
        Self { left, right }
    }

    /// Iterates over one list.
    #[inline]
    pub fn of_list(list: &'e [u32]) -> Self {
        let right = &[];
        Self { left: list, right }
    }
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    #[inline]
    fn next(&mut self) -> Option<u32> {
        let list = match (self.left.first(), self.right.first()) {
            (Some(a), Some(b)) if b < a => &mut self.right,
            (Some(a), Some(b)) if a == b => {
                self.right = self.right.get(1..).unwrap_or_default();
                &mut self.left
            }
            (None, _) => &mut self.right,
            _ => &mut self.left,
        };
        let (at, rest) = list.split_first()?;
        *list = rest;
        Some(*at)
    }
}
