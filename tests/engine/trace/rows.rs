//! Events as rows: the kind, the node, the location, the numbers of the search and of the enclosing one, the variables
//! (name and value), the user's names of variables (name, user's name, location), the message, and the document that is
//! looked up.

use std::collections::HashMap;

use serde_json::{Value, json};

use crate::Case;

const NODE: usize = 1;
const LOCALS: usize = 5;
const REFERENCE: usize = 8;

/// Returns the rows of events in the format of the command line.
pub fn of_events(events: &Value) -> Vec<Value> {
    events.as_array().into_iter().flatten().map(row).collect()
}

fn row(event: &Value) -> Value {
    let mut locals: Vec<Value> = event["Locals"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|local| {
            let mut value = local.clone();
            let name = value
                .as_object_mut()
                .and_then(|fields| fields.remove("name"));
            json!([name, value])
        })
        .collect();
    // their order is unspecified
    locals.sort_by_key(Value::to_string);
    let metadata: Vec<Value> = event["LocalMetadata"]
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, shown)| json!([name, shown["name"], position(&shown["location"])]))
        .collect();
    json!([
        event["Op"],
        node(&event["Op"], &event["Node"]),
        position(&event["Location"]),
        event["QueryID"],
        event["ParentID"],
        locals,
        metadata,
        event["Message"],
        event["Ref"],
    ])
}

fn position(location: &Value) -> Value {
    if location.is_null() {
        return Value::Null;
    }
    let file = location["file"].as_str().unwrap();
    json!(format!("{file}:{}:{}", location["row"], location["col"]))
}

/// Returns a node. The unification that reads a rule within a package has none, see `line`.
fn node(op: &Value, node: &Value) -> Value {
    let leaf = node["terms"][2]["value"].as_str();
    let unify = op
        .as_str()
        .is_some_and(|op| op.eq_ignore_ascii_case("unify"));
    if unify && leaf.is_some_and(|name| name.contains("_leaf")) {
        return Value::Null;
    }
    node.clone()
}

/// Returns the content of a row in the format of the REST API.
pub fn plain(row: &Value) -> Value {
    let op = row[0].as_str().unwrap().to_lowercase();
    let locals: Vec<Value> = row[LOCALS].as_array().unwrap().clone();
    json!([op, row[NODE], row[3], row[4], locals, row[7]])
}

/// Returns the content of events in the format of the REST API.
pub fn of_plain_events(events: &Value) -> Vec<Value> {
    let events = events.as_array().into_iter().flatten();
    let rows = events.map(|event| {
        let locals = event["locals"].as_array().unwrap().iter();
        let mut locals: Vec<Value> = locals
            .map(|local| {
                // the format of the command line has no names of generated variables here
                let name = local["key"]["value"].as_str().unwrap();
                let name = if name.starts_with('$') { "_" } else { name };
                json!([name, local["value"]])
            })
            .collect();
        locals.sort_by_key(Value::to_string);
        let message = event.get("message").cloned().unwrap_or_else(|| json!(""));
        json!([
            event["op"],
            node(&event["op"], &event["node"]),
            event["query_id"],
            event["parent_id"],
            locals,
            message
        ])
    });
    rows.collect()
}

/// Returns the positions of the events of a shorter trace in a longer one.
pub fn positions(all: &[Value], kept: &[Value]) -> Vec<usize> {
    let mut from = 0;
    let positions = kept.iter().map(|row| {
        let at = all[from..].iter().position(|other| other == row);
        let at = from + at.expect("each event of a shorter trace is in the longer one");
        from = at + 1;
        at
    });
    positions.collect()
}

/// Writes rows to a case, with nodes and values as positions in `texts`.
pub fn write(case: &mut Case, rows: &[Value]) {
    let mut texts: Vec<Value> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut intern = |value: &Value| -> Value {
        let at = *known.entry(value.to_string()).or_insert_with(|| {
            texts.push(value.clone());
            texts.len() - 1
        });
        json!(at)
    };
    let rows = rows.iter().map(|row| {
        let mut row = row.clone();
        row[NODE] = intern(&row[NODE]);
        row[REFERENCE] = intern(&row[REFERENCE]);
        row[6] = intern(&row[6]);
        for local in row[LOCALS].as_array_mut().unwrap() {
            local[1] = intern(&local[1]);
        }
        row
    });
    let rows: Vec<Value> = rows.collect();
    case.insert("events".to_owned(), json!(rows));
    case.insert("texts".to_owned(), json!(texts));
}

/// Returns the rows of a case.
pub fn read(case: &Case) -> Vec<Value> {
    let text = |at: &Value| case["texts"][usize::try_from(at.as_u64().unwrap()).unwrap()].clone();
    let rows = case["events"].as_array().unwrap().iter().map(|row| {
        let mut row = row.clone();
        row[NODE] = text(&row[NODE]);
        row[REFERENCE] = text(&row[REFERENCE]);
        row[6] = text(&row[6]);
        for local in row[LOCALS].as_array_mut().unwrap() {
            local[1] = text(&local[1]);
        }
        row
    });
    rows.collect()
}
