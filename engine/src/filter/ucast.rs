//! Conditions as UCAST trees.

use super::condition::{
    ColumnName, ColumnTest, ComparisonOperator, FilterCondition, FilterOperand, Predicate,
};
use super::mapping::Mappings;
use super::rejection::Rejection;
use super::target::FilterTarget;
use crate::value::{Repr, Value};

/// Returns the tree of a condition: an empty object if it always holds, `None` if it never does.
///
/// # Errors
///
/// Conditions that the tree cannot express.
pub fn ucast(
    condition: &FilterCondition,
    target: FilterTarget,
    mappings: &Mappings,
) -> Result<Option<Value>, Rejection> {
    let bodies = match condition {
        FilterCondition::Never => return Ok(None),
        FilterCondition::Always => return Ok(Some(Value::object(Vec::new()))),
        FilterCondition::Any(bodies) => bodies,
    };
    // Prisma queries databases, in which comparisons with NULL are unknown, and rejects null tests of columns that are
    // not nullable
    let guards = target != FilterTarget::UcastPrisma;
    let mut all = Vec::with_capacity(bodies.len());
    for body in bodies {
        let tests = body.iter().map(|test| node(test, mappings, guards));
        let tests: Result<Vec<Value>, Rejection> = tests.collect();
        all.push(combine("and", tests?));
    }
    Ok(Some(combine("or", all)))
}

fn combine(operator: &str, mut nodes: Vec<Value>) -> Value {
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

fn node(test: &ColumnTest, mappings: &Mappings, guards: bool) -> Result<Value, Rejection> {
    if !test.functions.is_empty() {
        return Err(Rejection::new("function of a column", test.span));
    }
    let (operator, value) = match &test.predicate {
        Predicate::Compare(comparison, FilterOperand::Value(value)) => {
            (comparison.word(), value.clone())
        }
        Predicate::Compare(comparison, FilterOperand::Column(other)) => {
            let name = name(other, mappings, test)?;
            (
                comparison.word(),
                Value::object(vec![("field".into(), name)]),
            )
        }
        Predicate::In(values) => ("in", Value::array(values.clone())),
        Predicate::Affix(affix, part) => (affix.word(), Value::string(part)),
        Predicate::Part(affix, _) => {
            let message = format!("rhs of {} must be known", affix.word());
            return Err(Rejection::new(message, test.span));
        }
        Predicate::Present => (ComparisonOperator::Ne.word(), Value(Repr::Null)),
        Predicate::NumberText(literal) => return Err(literal.unsettled(test.span)),
    };
    let field = Value::object(vec![
        ("field".into(), name(&test.column, mappings, test)?),
        ("operator".into(), operator.into()),
        ("type".into(), "field".into()),
        ("value".into(), value),
    ]);
    let node_value = if test.negated {
        compound("not", vec![field])
    } else {
        field
    };
    let Some(column) = lacking_null(test).filter(|_| guards) else {
        return Ok(node_value);
    };
    let present = Value::object(vec![
        ("field".into(), name(column, mappings, test)?),
        ("operator".into(), ComparisonOperator::Ne.word().into()),
        ("type".into(), "field".into()),
        ("value".into(), Value(Repr::Null)),
    ]);
    Ok(compound("and", vec![present, node_value]))
}

/// Returns the column whose `null` would pass as zero in JavaScript, although `null` is less than any other value in
/// Rego.
fn lacking_null(test: &ColumnTest) -> Option<&ColumnName> {
    let Predicate::Compare(comparison, operand) = &test.predicate else {
        return None;
    };
    let comparison = if test.negated {
        comparison.opposite()
    } else {
        *comparison
    };
    match (operand, comparison) {
        // zero is greater than negative values only
        (FilterOperand::Value(value), ComparisonOperator::Gt | ComparisonOperator::Gte) => {
            is_negative(value).then_some(&test.column)
        }
        (FilterOperand::Column(_), ComparisonOperator::Gt | ComparisonOperator::Gte) => {
            Some(&test.column)
        }
        (FilterOperand::Column(other), ComparisonOperator::Lt | ComparisonOperator::Lte) => {
            Some(other)
        }
        _ => None,
    }
}

/// Returns `true` if a number, or a text that is converted to one, starts with a minus sign.
fn is_negative(value: &Value) -> bool {
    let value = value.borrow();
    value.utf8().map_or_else(
        || value.rego_text().to_string().starts_with('-'),
        |text| {
            let blank = |character: char| character.is_whitespace() || character == '\u{FEFF}';
            text.trim_start_matches(blank).starts_with('-')
        },
    )
}

/// Returns the name of a field. Interpreters split it at the first dot or at each dot, so the policy's names may not
/// contain dots.
fn name(column: &ColumnName, mappings: &Mappings, test: &ColumnTest) -> Result<Value, Rejection> {
    let table = column.table.as_deref().map(|table| ("table", table));
    let names = table.into_iter().chain([("column", &*column.name)]);
    for (kind, name) in names {
        if name.contains('.') {
            let message = format!("name of {kind} `{name}` holds a point");
            return Err(Rejection::new(message, test.span));
        }
    }
    Ok(Value::string(&mappings.name(column).segments.join(".")))
}
