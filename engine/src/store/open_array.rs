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
        let mut open_items = Items::default();
        write::change_at(root, &path, &mut |value| {
            if let Value(Repr::Array(items)) = value {
                std::mem::swap(items, &mut open_items);
            }
        })?;
        Ok(Self {
            path,
            blocks: open_items
                .chunks(BLOCK / 2)
                .map(<[Value]>::to_vec)
                .collect(),
            len: open_items.len(),
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

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns `true` if the array lies below a path, not at it.
    pub fn is_below(&self, path: &Path) -> bool {
        let keys = self.path.segments().strip_prefix(path.segments());
        keys.is_some_and(|keys| !keys.is_empty())
    }

    /// Returns the keys of a path from this array on. Returns `None` if the path does not lead into the array.
    pub fn relative_keys<'p>(&self, path: &'p Path) -> Option<&'p [String]> {
        let rest = path.segments().strip_prefix(self.path.segments())?;
        (!rest.is_empty()).then_some(rest)
    }

    /// Returns the element that a key of a path leads to.
    ///
    /// # Errors
    /// The key is not an index of the array.
    pub fn element(&self, key: &str, path: &Path) -> Result<&Value, StoreError> {
        let element = index(key.as_bytes()).and_then(|index| {
            let (block, index) = self.find(index)?;
            self.blocks.get(block)?.get(index)
        });
        element.ok_or_else(|| StoreError::bad_index(path, bad_index(key)))
    }

    /// Returns the element that a key of a path leads to, for modification. Fails if the key is not an index of the array.
    pub fn element_mut(&mut self, key: &str, path: &Path) -> Result<&mut Value, StoreError> {
        let element = index(key.as_bytes()).and_then(|index| self.get_mut(index));
        element.ok_or_else(|| StoreError::bad_index(path, bad_index(key)))
    }

    /// Changes the array at a position that it has ([`write::place`]).
    pub fn write(&mut self, operation: Operation, position: usize, value: Value) {
        match operation {
            Operation::Add => self.insert(position, value),
            Operation::Remove => self.remove(position),
            Operation::Replace => match self.get_mut(position) {
                Some(element) => *element = value,
                None => bug!("an element is replaced that an array does not have"),
            },
        }
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut Value> {
        let (block, index_in_block) = self.find(index)?;
        self.blocks.get_mut(block)?.get_mut(index_in_block)
    }

    /// Inserts an element before the one at a position, or appends it.
    fn insert(&mut self, index: usize, item: Value) {
        self.len += 1;
        let slot = self.find_to_insert(index);
        let Some(block) = self.blocks.get_mut(slot.0) else {
            self.blocks.push(vec![item]);
            return;
        };
        block.insert(slot.1.min(block.len()), item);
        if block.len() >= BLOCK {
            let half = block.split_off(BLOCK / 2);
            self.blocks.insert(slot.0 + 1, half);
        }
    }

    fn remove(&mut self, index: usize) {
        let Some((block_index, index)) = self.find(index) else {
            bug!("an element is removed that an array does not have");
        };
        self.len -= 1;
        let block = self.blocks.item_mut(block_index);
        block.remove(index);
        if block.is_empty() {
            self.blocks.remove(block_index);
        }
    }

    /// Returns the block of an element, and its position there. Takes time in the number of blocks.
    fn find(&self, index: usize) -> Option<(usize, usize)> {
        let (block, index_in_block) = self.find_to_insert(index);
        (index_in_block < self.blocks.get(block)?.len()).then_some((block, index_in_block))
    }

    /// Returns the block and the position for an insertion, which may be the end of the last block.
    fn find_to_insert(&self, mut index: usize) -> (usize, usize) {
        let last = self.blocks.len().saturating_sub(1);
        for (block_index, block) in self.blocks.iter().enumerate() {
            if index < block.len() || block_index == last {
                return (block_index, index);
            }
            index -= block.len();
        }
        (0, index)
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
                    .map(|number| Value(Repr::Int(number)))
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
        let copy = root.clone();
        let mut open = OpenArray::open(&mut root, path.clone()).expect("an array");
        let mut seed = 7_usize;
        for step in 0..20_000_i64 {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let index = (seed >> 33) % (list.len() + 1);
            // first it grows, then it shrinks
            let grows = (step < 5000) != seed.is_multiple_of(16);
            if grows || list.is_empty() {
                list.insert(index, step);
                open.write(Operation::Add, index, Value(Repr::Int(step)));
            } else if index < list.len() {
                list.remove(index);
                open.write(Operation::Remove, index, Value(Repr::Null));
            }
            assert_eq!(open.len(), list.len());
            let index = index.min(list.len().saturating_sub(1));
            let expected = list
                .get(index)
                .copied()
                .map(|number| Value(Repr::Int(number)));
            let actual = open.element(&index.to_string(), &path).ok();
            assert_eq!(actual, expected.as_ref());
            assert!(open.blocks.iter().all(|block| block.len() < BLOCK));
        }
        open.close(&mut root).expect("its place");
        assert_eq!(root, value!({"a": [(numbers(&list))]}));
        assert_eq!(
            copy.get("a").and_then(|a| a.as_array()).map(|a| a.len()),
            Some(1)
        );
    }
}
