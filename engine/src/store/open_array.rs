//! A long array during a patch: its elements are in blocks, so that an insertion or a removal moves only part of them.

use super::path::{bad_index, index};
use super::{Operation, Path, StoreError, write};
use crate::bug::bug;
use crate::index::Indexed as _;
use crate::value::{Items, Repr, Value};

/// An array that is taken out of its document during a patch.
#[derive(Debug)]
pub(super) struct OpenArray {
    path: Path,
    blocks: Vec<Vec<Value>>,
    len: usize,
}

/// Maximum number of elements of a block. A full block is split into two.
const BLOCK: usize = 512;

impl OpenArray {
    /// Takes an array out of a document, which contains an empty array until this is closed.
    pub fn open(root: &mut Value, path: Path) -> Result<Self, StoreError> {
        let mut taken = Items::default();
        write::change_at(root, &path, &mut |value| {
            if let Value(Repr::Array(items)) = value {
                std::mem::swap(items, &mut taken);
            }
        })?;
        Ok(Self {
            path,
            blocks: taken.chunks(BLOCK / 2).map(<[Value]>::to_vec).collect(),
            len: taken.len(),
        })
    }

    /// Puts the array back.
    pub fn close(self, root: &mut Value) -> Result<(), StoreError> {
        let mut items = Vec::with_capacity(self.len);
        items.extend(self.blocks.into_iter().flatten());
        let items = Items::new(items);
        write::change_at(root, &self.path, &mut |value| {
            *value = Value(Repr::Array(items.clone()));
        })
    }

    /// Returns the path of the array.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the array lies below a path.
    pub fn is_below(&self, path: &Path) -> bool {
        let keys = self.path.segments().strip_prefix(path.segments());
        keys.is_some_and(|keys| !keys.is_empty())
    }

    /// Returns the keys of a path from this array on, if it leads into the array.
    pub fn relative_keys<'p>(&self, path: &'p Path) -> Option<&'p [String]> {
        let rest = path.segments().strip_prefix(self.path.segments())?;
        (!rest.is_empty()).then_some(rest)
    }

    /// Returns the element that a key of a path leads to.
    pub fn element(&self, key: &str, path: &Path) -> Result<&Value, StoreError> {
        let found = index(key.as_bytes()).and_then(|at| {
            let (block, at) = self.find(at)?;
            self.blocks.get(block)?.get(at)
        });
        found.ok_or_else(|| StoreError::bad_index(path, bad_index(key)))
    }

    /// Returns the element that a key of a path leads to, for modification.
    pub fn element_mut(&mut self, key: &str, path: &Path) -> Result<&mut Value, StoreError> {
        let found = index(key.as_bytes()).and_then(|at| self.get_mut(at));
        found.ok_or_else(|| StoreError::bad_index(path, bad_index(key)))
    }

    /// Changes the array at a position that it has ([`write::place`]).
    pub fn write(&mut self, operation: Operation, place: usize, value: Value) {
        match operation {
            Operation::Add => self.insert(place, value),
            Operation::Remove => self.remove(place),
            Operation::Replace => match self.get_mut(place) {
                Some(element) => *element = value,
                None => bug!("an element is replaced that an array does not have"),
            },
        }
    }

    fn get_mut(&mut self, at: usize) -> Option<&mut Value> {
        let (block, at) = self.find(at)?;
        self.blocks.get_mut(block)?.get_mut(at)
    }

    /// Inserts an element before the one at a position, or appends it.
    fn insert(&mut self, at: usize, item: Value) {
        self.len += 1;
        let found = self.find_to_insert(at);
        let Some(block) = self.blocks.get_mut(found.0) else {
            self.blocks.push(vec![item]);
            return;
        };
        block.insert(found.1.min(block.len()), item);
        if block.len() >= BLOCK {
            let half = block.split_off(BLOCK / 2);
            self.blocks.insert(found.0 + 1, half);
        }
    }

    /// Removes the element at a position.
    fn remove(&mut self, at: usize) {
        let Some((place, at)) = self.find(at) else {
            bug!("an element is removed that an array does not have");
        };
        self.len -= 1;
        let block = self.blocks.item_mut(place);
        block.remove(at);
        if block.is_empty() {
            self.blocks.remove(place);
        }
    }

    /// Returns the block of an element, and its position there. Takes time in the number of blocks.
    fn find(&self, at: usize) -> Option<(usize, usize)> {
        let (block, at) = self.find_to_insert(at);
        (at < self.blocks.get(block)?.len()).then_some((block, at))
    }

    /// Returns the block and the position for an insertion, which may be the end of the last block.
    fn find_to_insert(&self, mut at: usize) -> (usize, usize) {
        let last = self.blocks.len().saturating_sub(1);
        for (place, block) in self.blocks.iter().enumerate() {
            if at < block.len() || place == last {
                return (place, at);
            }
            at -= block.len();
        }
        (0, at)
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCK, OpenArray};
    use crate::store::{DataSnapshot, Operation, Transaction};
    use crate::value::{Repr, Value};
    use crate::{Path, value};

    #[test]
    fn it_changes_like_a_vector() {
        let path = Path::new(["a", "0"]);
        let mut list: Vec<i64> = (0..3000).collect();
        let numbers = |list: &[i64]| {
            Value::array(
                list.iter()
                    .copied()
                    .map(|it| Value(Repr::Int(it)))
                    .collect(),
            )
        };
        let mut root = value!({"a": [null]});
        root = {
            let mut transaction = Transaction::new(&DataSnapshot::new(root, 0));
            let put = transaction.write(Operation::Replace, &path, numbers(&list));
            put.expect("a place");
            transaction.root().clone()
        };
        let kept = root.clone();
        let mut open = OpenArray::open(&mut root, path.clone()).expect("an array");
        let mut seed = 7_usize;
        for step in 0..20_000_i64 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let at = (seed >> 33) % (list.len() + 1);
            // first it grows, then it shrinks
            let grows = (step < 5000) != seed.is_multiple_of(16);
            if grows || list.is_empty() {
                list.insert(at, step);
                open.write(Operation::Add, at, Value(Repr::Int(step)));
            } else if at < list.len() {
                list.remove(at);
                open.write(Operation::Remove, at, Value(Repr::Null));
            }
            assert_eq!(open.len(), list.len());
            let at = at.min(list.len().saturating_sub(1));
            let want = list.get(at).copied().map(|it| Value(Repr::Int(it)));
            let found = open.element(&at.to_string(), &path).ok();
            assert_eq!(found, want.as_ref());
            assert!(open.blocks.iter().all(|block| block.len() < BLOCK));
        }
        open.close(&mut root).expect("its place");
        assert_eq!(root, value!({"a": [(numbers(&list))]}));
        assert_eq!(
            kept.get("a").and_then(|a| a.as_array()).map(|a| a.len()),
            Some(1)
        );
    }
}
