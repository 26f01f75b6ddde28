//! From events to a value.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, ScalarStyle, Tag};

use super::YamlError;
use super::scalar;
use crate::limits;
use crate::value::Value;

/// A value under construction.
#[derive(Default)]
pub(super) struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Value>,
    /// Nodes so far, each alias with all that it stands for.
    size: usize,
}

/// A finished node.
#[derive(Clone)]
struct Node {
    value: Value,
    /// Nodes in it.
    size: usize,
    /// A plain `<<`, which as a key merges.
    merges: bool,
}

/// A collection whose end has not come.
struct Open {
    anchor: usize,
    size: usize,
    items: Items,
}

enum Items {
    Sequence(Vec<Value>),
    Mapping {
        pairs: Vec<(Value, Value)>,
        merged: Vec<(Value, Value)>,
        key: Option<Node>,
    },
}

impl Builder {
    /// The value of the events so far.
    pub fn finish(&mut self) -> Value {
        self.root.take().unwrap_or(Value::Null)
    }

    /// Takes the next event.
    pub fn event(&mut self, event: Event<'_>) -> Result<(), YamlError> {
        match event {
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => self.add(node.clone(), 0),
                None => Err(YamlError::yaml("anchor value contains itself")),
            },
            Event::Scalar(text, style, anchor, tag) => {
                let node = scalar_node(&text, style, tag.as_deref())?;
                self.add(node, anchor)
            }
            Event::SequenceStart(anchor, _) => self.open(anchor, Items::Sequence(Vec::new())),
            Event::MappingStart(anchor, _) => {
                let items = Items::Mapping {
                    pairs: Vec::new(),
                    merged: Vec::new(),
                    key: None,
                };
                self.open(anchor, items)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(()),
        }
    }

    fn open(&mut self, anchor: usize, items: Items) -> Result<(), YamlError> {
        if self.open.len() >= limits::NESTING {
            return Err(YamlError::yaml(format_args!(
                "exceeded max depth of {}",
                limits::NESTING
            )));
        }
        self.open.push(Open {
            anchor,
            size: 1,
            items,
        });
        Ok(())
    }

    fn close(&mut self) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else {
            return Ok(());
        };
        let value = match open.items {
            Items::Sequence(items) => Value::array(items),
            Items::Mapping {
                pairs, mut merged, ..
            } => {
                // what is written wins over what is merged
                merged.extend(pairs);
                Value::object(merged)
            }
        };
        // its items are counted already
        self.size -= open.size - 1;
        self.add(
            Node {
                value,
                size: open.size,
                merges: false,
            },
            open.anchor,
        )
    }

    fn add(&mut self, node: Node, anchor: usize) -> Result<(), YamlError> {
        self.size += node.size;
        if self.size > limits::YAML_NODES {
            return Err(YamlError::yaml("document contains excessive aliasing"));
        }
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        let Some(open) = self.open.last_mut() else {
            self.root = Some(node.value);
            return Ok(());
        };
        open.size += node.size;
        match &mut open.items {
            Items::Sequence(items) => items.push(node.value),
            Items::Mapping { pairs, merged, key } => match key.take() {
                None => *key = Some(node),
                Some(key) if key.merges => merge(merged, node.value)?,
                Some(key) => pairs.push((name(key.value)?, node.value)),
            },
        }
        Ok(())
    }
}

fn scalar_node(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Node, YamlError> {
    let merges = text == "<<" && style == ScalarStyle::Plain && tag.is_none();
    let value = scalar::resolve(text, style, tag)?;
    Ok(Node {
        value,
        size: 1,
        merges,
    })
}

/// Adds what `<<` brings; of several documents the earlier wins, as later pairs do here.
fn merge(merged: &mut Vec<(Value, Value)>, value: Value) -> Result<(), YamlError> {
    let mut take = |value: &Value| match value {
        Value::Object(object) => {
            merged.extend(
                object
                    .iter()
                    .map(|(key, value)| (key.clone(), value.clone())),
            );
            Ok(())
        }
        _ => Err(YamlError::yaml(
            "map merge requires map or sequence of maps as the value",
        )),
    };
    match &value {
        Value::Array(items) => items.iter().rev().try_for_each(take),
        one => take(one),
    }
}

/// A key as JSON has it.
fn name(key: Value) -> Result<Value, YamlError> {
    let text: Cow<'_, str> = match &key {
        Value::Short(_) | Value::Text(_) => return Ok(key),
        Value::Bool(true) => "true".into(),
        Value::Bool(false) => "false".into(),
        Value::Null => return Err(YamlError::json("unsupported map key of type: null")),
        Value::Array(_) | Value::Object(_) | Value::Set(_) => {
            return Err(YamlError::yaml("invalid map key"));
        }
        number => number.to_string().into(),
    };
    Ok(Value::string(&text))
}
