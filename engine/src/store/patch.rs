//! JSON Patch (RFC 6902) on base documents.

use super::{Operation, Path, StoreError};
use crate::value::{Repr, Value};

/// An operation of a patch.
#[derive(Clone, Debug)]
pub enum PatchStep {
    /// `add`, `replace`, `remove`
    Write(Operation, Path, Value),
    /// `test`: fails if the document has another value.
    Test(Path, Value),
    /// `copy`, which adds a copy of the source at the target.
    Copy {
        /// Path of the source, from the root on.
        from: Path,
        /// Path of the target, from the root on.
        to: Path,
    },
    /// `move`, which removes the source.
    Move {
        /// Path of the source, from the root on.
        from: Path,
        /// Path of the target, from the root on.
        to: Path,
    },
}

impl PatchStep {
    /// Parses a patch: an array of operations, whose paths are JSON pointers. The paths are relative to the root.
    ///
    /// ```
    /// use solon::store::PatchStep;
    /// use solon::{Change, Engine, value};
    ///
    /// let engine = Engine::new();
    /// engine.put("data.users", value!({"alice": {"age": 7}}))?;
    /// let patch = value!([{"op": "copy", "from": "/users/alice", "path": "/users/bob"}]);
    /// let mut change = Change::default();
    /// change.patch(PatchStep::parse(&patch)?);
    /// engine.apply(change)?;
    /// assert_eq!(engine.read("data.users.bob.age")?, 7);
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreError::InvalidPatch`] with the operation and what is wrong with it.
    pub fn parse(patch: &Value) -> Result<Vec<Self>, StoreError> {
        let Some(operations) = patch.as_array() else {
            return Err(StoreError::invalid_patch(
                "a patch must be an array of operations",
            ));
        };
        let steps = operations.iter().enumerate().map(|(index, operation)| {
            let result = Self::parse_operation(operation);
            result.map_err(|message| {
                StoreError::invalid_patch(format!("operation {index}: {message}"))
            })
        });
        steps.collect()
    }

    /// Returns the operation with `root` prepended to its paths.
    #[must_use]
    pub fn with_prefix(self, root: &Path) -> Self {
        match self {
            Self::Write(operation, path, value) => Self::Write(operation, root.join(&path), value),
            Self::Test(path, value) => Self::Test(root.join(&path), value),
            Self::Copy { from, to } => Self::Copy {
                from: root.join(&from),
                to: root.join(&to),
            },
            Self::Move { from, to } => Self::Move {
                from: root.join(&from),
                to: root.join(&to),
            },
        }
    }

    fn parse_operation(operation: &Value) -> Result<Self, String> {
        let text = |name: &str| match operation.get(name).map(|text| (text, text.as_str())) {
            Some((_, Some(text))) => Ok(text),
            Some((other, None)) => Err(format!("`{name}` must be a string, not {}", other.kind())),
            None => Err(format!("`{name}` is missing")),
        };
        let to = pointer(text("path")?)?;
        let from = || pointer(text("from")?);
        let value = || {
            let value = operation.get("value").cloned();
            value.ok_or_else(|| "`value` is missing".to_owned())
        };
        Ok(match text("op")? {
            "add" => Self::Write(Operation::Add, to, value()?),
            "replace" => Self::Write(Operation::Replace, to, value()?),
            "remove" => Self::Write(Operation::Remove, to, Value(Repr::Null)),
            "test" => Self::Test(to, value()?),
            "copy" => Self::Copy { from: from()?, to },
            "move" => Self::Move { from: from()?, to },
            other => return Err(format!("bad patch operation: {other}")),
        })
    }
}

/// Parses a JSON pointer. The error is the message.
fn pointer(text: &str) -> Result<Path, String> {
    let Some(steps) = text.strip_prefix('/') else {
        return match text {
            "" => Ok(Path::default()),
            _ => Err(format!("bad patch path: {text}")),
        };
    };
    let steps = steps.split('/');
    Ok(Path::new(
        steps.map(|step| step.replace("~1", "/").replace("~0", "~")),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{DataSnapshot, Transaction};
    use crate::value;

    fn patched(patch: &Value) -> Result<Value, String> {
        let documents = value!({"a": {"b/c": 1, "~": [1, 2]}});
        let mut transaction = Transaction::new(&DataSnapshot::new(documents, 0));
        let steps = PatchStep::parse(patch).map_err(|error| error.to_string())?;
        transaction
            .patch(steps)
            .map_err(|error| error.to_string())?;
        Ok(transaction.root().clone())
    }

    #[test]
    fn operations_read_previous_results() {
        let patch = value!([
            {"op": "test", "path": "/a/b~1c", "value": 1},
            {"op": "add", "path": "/a/~0/-", "value": 3},
            {"op": "move", "from": "/a/~0", "path": "/x"},
            {"op": "copy", "from": "/x/2", "path": "/a/b~1c"},
            {"op": "replace", "path": "/x/0", "value": null},
            {"op": "remove", "path": "/x/1"},
        ]);
        assert_eq!(
            patched(&patch),
            Ok(value!({"a": {"b/c": 3}, "x": [null, 3]}))
        );
        assert_eq!(
            patched(&value!([{"op": "replace", "path": "", "value": {}}])),
            Ok(value!({}))
        );
    }

    #[test]
    fn errors_name_the_operation() {
        for (patch, message) in [
            (value!({}), "a patch must be an array of operations"),
            (value!([1]), "operation 0: `path` is missing"),
            (
                value!([{"op": "add", "path": 1}]),
                "`path` must be a string, not number",
            ),
            (value!([{"op": "add", "path": "/x"}]), "`value` is missing"),
            (value!([{"op": "copy", "path": "/x"}]), "`from` is missing"),
            (
                value!([{"op": "plus", "path": "/x"}]),
                "bad patch operation: plus",
            ),
            (value!([{"op": "remove", "path": "x"}]), "bad patch path: x"),
            (
                value!([{"op": "remove", "path": "/x"}]),
                "document does not exist",
            ),
            (
                value!([{"op": "test", "path": "/a", "value": 1}]),
                "/a: test failed",
            ),
            (
                value!([{"op": "move", "from": "/a", "path": "/a/d"}]),
                "/a: cannot be moved into itself",
            ),
        ] {
            let error = patched(&patch).expect_err(message);
            assert!(error.contains(message), "{error}");
        }
    }
}
