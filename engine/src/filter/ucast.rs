//! Conditions as trees of UCAST.

use super::condition::Column;
use super::condition::{Comparison, Condition, Operand, Predicate, Test};
use super::mapping::Mappings;
use super::refusal::Refusal;
use crate::value::Value;

/// The tree of a condition: an empty object for one that always holds, nothing for one that never does.
///
/// # Errors
/// What the tree cannot say.
pub fn ucast(condition: &Condition, mappings: &Mappings) -> Result<Option<Value>, Refusal> {
    let bodies = match condition {
        Condition::Never => return Ok(None),
        Condition::Always => return Ok(Some(Value::object(Vec::new()))),
        Condition::Any(bodies) => bodies,
    };
    let mut all = Vec::with_capacity(bodies.len());
    for body in bodies {
        let tests: Result<Vec<Value>, Refusal> =
            body.iter().map(|test| node(test, mappings)).collect();
        all.push(joined("and", tests?));
    }
    Ok(Some(joined("or", all)))
}

fn joined(operator: &str, mut nodes: Vec<Value>) -> Value {
    match nodes.len() {
        1 => nodes.remove(0),
        _ => compound(operator, nodes),
    }
}

fn compound(operator: &str, nodes: Vec<Value>) -> Value {
    Value::object(vec![
        ("operator".into(), operator.into()),
        ("type".into(), "compound".into()),
        ("value".into(), Value::array(nodes)),
    ])
}

fn node(test: &Test, mappings: &Mappings) -> Result<Value, Refusal> {
    let (operator, value) = match &test.predicate {
        Predicate::Compare(comparison, Operand::Value(value)) => (comparison.word(), value.clone()),
        Predicate::Compare(comparison, Operand::Column(other)) => {
            let name = name(other, mappings, test)?;
            (
                comparison.word(),
                Value::object(vec![("field".into(), name)]),
            )
        }
        Predicate::In(values) => ("in", Value::array(values.clone())),
        Predicate::Affix(affix, part) => (affix.word(), Value::string(part)),
        Predicate::Present => (Comparison::Ne.word(), Value::Null),
    };
    let field = Value::object(vec![
        ("field".into(), name(&test.column, mappings, test)?),
        ("operator".into(), operator.into()),
        ("type".into(), "field".into()),
        ("value".into(), value),
    ]);
    let made = if test.negated {
        compound("not", vec![field])
    } else {
        field
    };
    Ok(if null_passes(test) {
        let column = name(&test.column, mappings, test)?;
        let present = Value::object(vec![
            ("field".into(), column),
            ("operator".into(), Comparison::Ne.word().into()),
            ("type".into(), "field".into()),
            ("value".into(), Value::Null),
        ]);
        compound("and", vec![present, made])
    } else {
        made
    })
}

/// Whether `null` passes where it is read as zero, as JavaScript does: it is less than anything else in Rego, and zero is
/// more than what is negative.
fn null_passes(test: &Test) -> bool {
    let Predicate::Compare(comparison, Operand::Value(value)) = &test.predicate else {
        return false;
    };
    let comparison = if test.negated {
        comparison.opposite()
    } else {
        *comparison
    };
    let value = value.borrow();
    let begins = value.utf8().map_or_else(
        || value.to_string().starts_with('-'),
        |text| {
            let blank = |one: char| one.is_whitespace() || one == '\u{FEFF}';
            text.trim_start_matches(blank).starts_with('-')
        },
    );
    begins && matches!(comparison, Comparison::Gt | Comparison::Gte)
}

/// The name of a field. Whoever reads it cuts it at its first point, so a table's name may have none of its own.
fn name(column: &Column, mappings: &Mappings, test: &Test) -> Result<Value, Refusal> {
    if let Some(table) = column.table.as_deref().filter(|table| table.contains('.')) {
        let message = format!("name of table `{table}` holds a point");
        return Err(Refusal::new(message, test.place));
    }
    Ok(Value::string(&mappings.name(column).parts.join(".")))
}
