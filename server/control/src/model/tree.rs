//! The documents of a source as one tree.

use solon::Value;

/// Conflict of two documents at one path, given by its steps.
#[derive(Debug, PartialEq, Eq)]
pub struct Conflict(pub Vec<String>);

/// Returns a tree with a value at a path: `a`, `b` and 1 give `{"a": {"b": 1}}`. An empty path gives the value.
pub fn nest(path: &[String], value: Value) -> Value {
    path.iter().rev().fold(value, |value, step| {
        Value::object(vec![(Value::from(step.as_str()), value)])
    })
}

/// Returns the value at a path of a tree, or `None` if a step is missing or its value is not an object.
pub fn value_at<'v>(tree: &'v Value, path: &[String]) -> Option<&'v Value> {
    path.iter()
        .try_fold(tree, |value, step| value.as_object()?.get_str(step))
}

/// Merges two trees. Objects are merged recursively. Fails with the path if both have a value there, unless both values are
/// objects.
pub fn merge(left: &Value, right: &Value) -> Result<Value, Conflict> {
    let (Some(left_members), Some(right_members)) = (left.as_object(), right.as_object()) else {
        return Err(Conflict(Vec::new()));
    };
    let mut members: Vec<(Value, Value)> =
        Vec::with_capacity(left_members.len() + right_members.len());
    for (name, value) in left_members.iter() {
        let merged = match right_members.get(name.borrow()) {
            Some(second) => merge(value, second).map_err(|Conflict(mut steps)| {
                steps.insert(0, name.as_str().unwrap_or_default().to_owned());
                Conflict(steps)
            })?,
            None => value.clone(),
        };
        members.push((name.clone(), merged));
    }
    let new = right_members
        .iter()
        .filter(|(name, _)| left_members.get(name.borrow()).is_none());
    members.extend(new.map(|(name, value)| (name.clone(), value.clone())));
    Ok(Value::object(members))
}

#[cfg(test)]
mod tests {
    use super::{Conflict, merge, nest, value_at};
    use solon::Value;

    fn value(text: &str) -> Value {
        solon::json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn trees_are_merged() {
        let steps = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(nest(&steps("a/b"), value("1")), value(r#"{"a":{"b":1}}"#));
        let merged_tree =
            merge(&value(r#"{"a":{"b":1},"c":2}"#), &value(r#"{"a":{"d":3}}"#)).unwrap();
        assert_eq!(merged_tree, value(r#"{"a":{"b":1,"d":3},"c":2}"#));
        assert_eq!(value_at(&merged_tree, &steps("a/d")), Some(&value("3")));
        assert_eq!(value_at(&merged_tree, &steps("c/d")), None);
        let clash = merge(&value(r#"{"a":{"b":1}}"#), &value(r#"{"a":{"b":1}}"#));
        assert_eq!(clash, Err(Conflict(steps("a/b"))));
    }
}
