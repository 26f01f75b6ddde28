//! Execution of the operations of a patch.

use super::open_array::OpenArray;
use super::{Operation, PatchStep, Path, StoreError, Transaction, Write, write};
use crate::limits;
use crate::value::{Repr, Value};

/// A patch in progress ([`Transaction::patching`]). Each operation reads the results of those before it. Long arrays
/// that grow or shrink stay open from one operation to the next.
#[derive(Debug)]
pub struct Patching<'t> {
    transaction: &'t mut Transaction,
    /// Invariant: none of them lies within another.
    open: Vec<OpenArray>,
    /// Number of elements that may still be moved.
    moves: usize,
}

/// Length from which an array is opened.
const LONG: usize = 64;

/// Maximum number of open arrays.
const MOST_OPEN: usize = 16;

impl<'t> Patching<'t> {
    pub(super) fn new(transaction: &'t mut Transaction) -> Self {
        Self {
            transaction,
            open: Vec::new(),
            moves: limits::PATCHED_ELEMENTS,
        }
    }

    /// Puts all open arrays back into the documents.
    pub(super) fn end(mut self) -> Result<(), StoreError> {
        self.close(|_| true)
    }

    /// Applies an operation.
    ///
    /// # Errors
    /// Errors of [`Transaction::write`]; [`StoreError::InvalidPatch`] if a test fails, a document is moved into itself, or
    /// changes of arrays move too many elements.
    pub fn apply(&mut self, step: PatchStep) -> Result<(), StoreError> {
        match step {
            PatchStep::Write(operation, path, value) => self.write(operation, &path, value),
            PatchStep::Test(path, value) if *self.read(&path)? == value => Ok(()),
            PatchStep::Test(path, _) => {
                Err(StoreError::invalid_patch(format!("{path}: test failed")))
            }
            PatchStep::Copy { from, to } => {
                let value = self.read(&from)?.clone();
                write::check_copy(&value, &mut self.transaction.copied)?;
                self.write(Operation::Add, &to, value)
            }
            PatchStep::Move { from, to } if from == to => self.read(&from).map(drop),
            PatchStep::Move { from, to } => {
                if to.segments().starts_with(from.segments()) {
                    let message = format!("{from}: cannot be moved into itself");
                    return Err(StoreError::invalid_patch(message));
                }
                let value = self.read(&from)?.clone();
                self.write(Operation::Remove, &from, Value(Repr::Null))?;
                self.write(Operation::Add, &to, value)
            }
        }
    }

    /// Returns the document at a path after the operations so far.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if there is none.
    pub fn read(&mut self, path: &Path) -> Result<&Value, StoreError> {
        self.close(|array| array.path().segments().starts_with(path.segments()))?;
        let mut open = self.open.iter();
        let Some((array, [key, keys @ ..])) =
            open.find_map(|array| Some((array, array.relative_keys(path)?)))
        else {
            return self.transaction.read(path);
        };
        path.read_from(array.element(key, path)?, keys)
    }

    /// Creates the missing objects around a path.
    ///
    /// # Errors
    /// If a value on the path is neither an object nor an array.
    pub fn make_parents(&mut self, path: &Path) -> Result<(), StoreError> {
        let Some((array, keys)) = array_around(&mut self.open, path) else {
            return self.transaction.make_parents(path);
        };
        let transaction = &mut *self.transaction;
        write::check_extent(path, &Value(Repr::Null), &mut transaction.nodes_left)?;
        if let [key, parents @ .., _] = keys {
            write::make_below(array.element_mut(key, path)?, parents, path)?;
        }
        transaction.writes.push(Write::MakeParents(path.clone()));
        Ok(())
    }

    fn write(&mut self, operation: Operation, path: &Path, value: Value) -> Result<(), StoreError> {
        self.close(|array| array.path().segments().starts_with(path.segments()))?;
        if operation != Operation::Replace {
            self.open_parent(path)?;
        }
        let Some((array, keys)) = array_around(&mut self.open, path) else {
            return self.transaction.write(operation, path, value);
        };
        let transaction = &mut *self.transaction;
        write::check_extent(path, &value, &mut transaction.nodes_left)?;
        match keys {
            [last] => {
                let position = write::element_position(array.len(), operation, last, path)?;
                array.write(operation, position, value.clone());
            }
            [key, keys @ ..] => {
                let element = array.element_mut(key, path)?;
                write::write_below(element, keys, operation, path, value.clone())?;
            }
            [] => return Err(StoreError::not_found(path)),
        }
        let write = Write::Exactly(operation, path.clone(), value);
        transaction.writes.push(write);
        Ok(())
    }

    /// Opens the array that is about to grow or shrink, if it is long and does not lie within an open one.
    fn open_parent(&mut self, path: &Path) -> Result<(), StoreError> {
        let Some((_, keys)) = path.segments().split_last() else {
            return Ok(());
        };
        let parent = Path::new(keys);
        if self.open.iter().any(|array| *array.path() == parent) {
            return Ok(());
        }
        let value = match array_around(&mut self.open, &parent) {
            Some((array, [key, keys @ ..])) => {
                let element = array.element(key, &parent).ok();
                element.and_then(|element| parent.read_from(element, keys).ok())
            }
            _ => parent.find(self.transaction.root()),
        };
        let Some(Value(Repr::Array(items))) = value else {
            return Ok(());
        };
        let length = items.len();
        // arrays below this one would have other paths afterwards
        self.close(|array| array.is_below(&parent))?;
        if length < LONG {
            return Ok(());
        }
        let remaining = self.moves.checked_sub(length);
        self.moves = remaining.ok_or_else(|| {
            let max_elements = limits::PATCHED_ELEMENTS;
            StoreError::invalid_patch(format!(
                "patches that move more than {max_elements} elements of arrays"
            ))
        })?;
        if array_around(&mut self.open, &parent).is_none() {
            if self.open.len() == MOST_OPEN {
                self.open.remove(0).close(&mut self.transaction.root)?;
            }
            let array = OpenArray::open(&mut self.transaction.root, parent)?;
            self.open.push(array);
        }
        Ok(())
    }

    fn close(&mut self, is_to_close: impl Fn(&OpenArray) -> bool) -> Result<(), StoreError> {
        let closed = self.open.extract_if(.., |array| is_to_close(array));
        for array in closed {
            array.close(&mut self.transaction.root)?;
        }
        Ok(())
    }
}

/// Returns the open array that a path leads into, and the keys from there on.
fn array_around<'a, 'p>(
    open: &'a mut [OpenArray],
    path: &'p Path,
) -> Option<(&'a mut OpenArray, &'p [String])> {
    open.iter_mut().find_map(|array| {
        let keys = array.relative_keys(path)?;
        Some((array, keys))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::DataSnapshot;
    use crate::value;
    use crate::value::Repr;

    fn numbers(count: i64) -> Value {
        Value::array((0..count).map(|number| Value(Repr::Int(number))).collect())
    }

    fn add(path: &str, value: Value) -> PatchStep {
        PatchStep::Write(Operation::Add, Path::from_slashes(path), value)
    }

    /// Deterministic pseudo-random numbers below a bound.
    struct Numbers(u64);

    impl Numbers {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).expect("31 bits") % limit
        }

        /// Returns a path that most often exists.
        fn path(&mut self) -> Path {
            let mut keys = vec![["a", "b", "c"][self.below(3)].to_owned()];
            for _ in 0..self.below(4) {
                keys.push(match self.below(12) {
                    0 => "-".to_owned(),
                    1 => "x".to_owned(),
                    2 => "0".to_owned(),
                    3 => "list".to_owned(),
                    _ => self.below(110).to_string(),
                });
            }
            Path::new(keys)
        }

        fn value(&mut self) -> Value {
            match self.below(8) {
                0 => numbers(100),
                1 => value!({"list": [(numbers(90)), 1]}),
                2 => value!({"x": {}}),
                _ => Value(Repr::Int(7)),
            }
        }

        fn step(&mut self) -> PatchStep {
            let to = self.path();
            match self.below(10) {
                0 => PatchStep::Test(to, self.value()),
                1 => PatchStep::Copy {
                    from: self.path(),
                    to,
                },
                2 => PatchStep::Move {
                    from: self.path(),
                    to,
                },
                3 | 4 => PatchStep::Write(Operation::Remove, to, Value(Repr::Null)),
                5 => PatchStep::Write(Operation::Replace, to, self.value()),
                _ => PatchStep::Write(Operation::Add, to, self.value()),
            }
        }
    }

    #[test]
    fn open_arrays_equal_separate_operations() {
        let documents = value!({
            "a": (numbers(100)),
            "b": [(numbers(80)), {"list": (numbers(70))}, (numbers(3))],
            "c": {"list": [(numbers(100)), (numbers(100))]},
        });
        let mut random = Numbers(11);
        let mut applied = 0;
        for _ in 0..300 {
            let mut separate = Transaction::new(&DataSnapshot::new(documents.clone(), 0));
            let mut closed = separate.clone();
            let patched = separate.patching(|patching| {
                for _ in 0..60 {
                    let step = random.step();
                    // a patch of a single operation leaves no array open
                    let result_alone = closed.patch([step.clone()]);
                    let message_of = |result: &Result<(), StoreError>| {
                        result.as_ref().map_err(ToString::to_string).copied()
                    };
                    let together = patching.apply(step.clone());
                    assert_eq!(message_of(&together), message_of(&result_alone), "{step:?}");
                    applied += usize::from(together.is_ok());
                }
                Ok::<_, StoreError>(())
            });
            patched.expect("what is open is put back");
            assert_eq!(separate.root(), closed.root());
        }
        assert!(applied > 3000, "{applied}");
    }

    #[test]
    fn single_operations_equal_those_of_transactions() {
        let documents = value!({"a": (numbers(100)), "b": [(numbers(80))]});
        let mut random = Numbers(13);
        let mut transaction = Transaction::new(&DataSnapshot::new(documents, 0));
        for _ in 0..2000 {
            let PatchStep::Write(operation, path, value) = random.step() else {
                continue;
            };
            let mut other = transaction.clone();
            let is_written = other.write(operation, &path, value.clone()).is_ok();
            let step = PatchStep::Write(operation, path, value);
            assert_eq!(transaction.patch([step]).is_ok(), is_written);
            assert_eq!(transaction.root(), other.root());
        }
    }

    #[test]
    fn a_list_may_grow_at_its_front() {
        let mut transaction = Transaction::new(&DataSnapshot::new(value!({"l": [], "m": []}), 0));
        let steps = (0..100_000).flat_map(|number| {
            [
                add("l/0", Value(Repr::Int(number))),
                add("m/0", Value(Repr::Int(-number))),
            ]
        });
        transaction.patch(steps).expect("room");
        for (list, last) in [("l", 99_999), ("m", -99_999)] {
            let list = transaction.read(&Path::new([list])).expect("a list");
            let list = list.as_array().expect("a list");
            assert_eq!(
                (list.len(), list.first()),
                (100_000, Some(&Value(Repr::Int(last))))
            );
        }
    }

    #[test]
    fn moves_are_limited() {
        let mut transaction =
            Transaction::new(&DataSnapshot::new(value!({"l": (numbers(100))}), 0));
        let apply_with_moves = |transaction: &mut Transaction, moves| {
            let mut patching = Patching::new(transaction);
            patching.moves = moves;
            let result = patching.apply(add("l/0", Value(Repr::Null)));
            patching.end().expect("its place");
            result.map_err(|error| error.to_string())
        };
        assert_eq!(apply_with_moves(&mut transaction, 100), Ok(()));
        let message = apply_with_moves(&mut transaction, 100).expect_err("101 elements");
        assert!(message.contains("patches that move more than"), "{message}");
    }
}
