//! Decodes YAML nodes into the fields of a block. Type errors are collected, so that one pass over a block reports all
//! of them.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use super::scalar::{Scalar, resolve};
use super::value::Any;
use super::yaml::{BlockError, Child, EventKind, Node};

/// Fields of a block, not yet interpreted.
#[derive(Default)]
pub(super) struct Fields {
    pub scope: String,
    pub id: String,
    pub title: String,
    pub description: String,
    pub entrypoint: bool,
    pub organizations: Vec<String>,
    pub related_resources: Vec<Any>,
    pub authors: Vec<Any>,
    pub schemas: Vec<MappingMembers>,
    pub compile: Option<MappingMembers>,
    pub custom: Option<MappingMembers>,
    pub labels: Option<MappingMembers>,
}

/// A mapping with string keys, in source order.
pub(super) type MappingMembers = Vec<(String, Any)>;

/// Decodes the fields of a block.
///
/// # Errors
/// A field has another type: all problems, in the words of Go's YAML decoder.
pub(super) fn decode(root: &Child) -> Result<Fields, BlockError> {
    let mut decoder = Decoder::default();
    let mut fields = Fields::default();
    decoder.fields(root, &mut fields)?;
    let Some((line, _)) = decoder.complaints.first() else {
        return Ok(fields);
    };
    let mut message = "yaml: unmarshal errors:".to_owned();
    for (line, complaint) in &decoder.complaints {
        let _ = write!(message, "\n  line {line}: {complaint}");
    }
    Err(BlockError {
        line: *line,
        message,
    })
}

/// Maximum number of reported errors.
const COMPLAINTS: usize = 100;

#[derive(Default)]
struct Decoder {
    complaints: Vec<(usize, String)>,
    /// Number of decoded nodes, and how many of them through aliases. Detects documents that expand exponentially.
    nodes_read: u32,
    aliased: u32,
    alias_depth: u32,
}

const MAP: &str = "map[string]interface {}";

impl Decoder {
    fn complain(&mut self, line: usize, complaint: String) {
        if self.complaints.len() < COMPLAINTS {
            self.complaints.push((line, complaint));
        }
    }

    /// Reports a node that does not have the wanted Go type.
    fn mismatch(&mut self, node: &Node, expected: &str) -> Result<(), BlockError> {
        let (tag, text) = match &node.kind {
            EventKind::Scalar { text, plain } => {
                let tag = match &node.tag {
                    Some(tag) => tag.clone(),
                    None => resolve(text, *plain, None)?.tag().to_owned(),
                };
                (tag, Some(text.as_str()))
            }
            kind => {
                let tag_of_kind = if matches!(kind, EventKind::Sequence(_)) {
                    "!!seq"
                } else {
                    "!!map"
                };
                match &node.tag {
                    Some(tag) if tag != tag_of_kind => (tag.clone(), Some("")),
                    _ => (tag_of_kind.to_owned(), None),
                }
            }
        };
        let text = text.map_or_else(String::new, |text| format!(" `{}`", truncate(text)));
        self.complain(
            node.line,
            format!("cannot unmarshal {tag}{text} into {expected}"),
        );
        Ok(())
    }

    fn count_node(&mut self, child: &Child) -> Result<(), BlockError> {
        self.nodes_read = self.nodes_read.saturating_add(1);
        self.alias_depth += u32::from(child.alias);
        if self.alias_depth > 0 {
            self.aliased = self.aliased.saturating_add(1);
        }
        let allowed = if self.nodes_read < 400_000 {
            0.99
        } else {
            0.10
        };
        if self.aliased > 100
            && self.nodes_read > 1000
            && f64::from(self.aliased) > allowed * f64::from(self.nodes_read)
        {
            return Err(BlockError::new("document contains excessive aliasing"));
        }
        Ok(())
    }

    fn leave(&mut self, child: &Child) {
        self.alias_depth -= u32::from(child.alias);
    }

    fn fields(&mut self, root: &Child, out: &mut Fields) -> Result<(), BlockError> {
        let node = &*root.node;
        if is_null(node)? {
            return Ok(());
        }
        let EventKind::Mapping(pairs) = &node.kind else {
            return self.mismatch(node, "ast.rawAnnotation");
        };
        if self.repeats_keys(pairs) {
            return Ok(());
        }
        for (key, value) in self.merge(pairs)? {
            let Some(key) = self.string(key)? else {
                continue;
            };
            self.count_node(value)?;
            match key.as_str() {
                "scope" => out.scope = self.string(value)?.unwrap_or_default(),
                // a value of another kind is ignored, as any unknown field is
                "id" if matches!(value.node.kind, EventKind::Scalar { .. }) => {
                    out.id = self.string(value)?.unwrap_or_default();
                }
                "title" => out.title = self.string(value)?.unwrap_or_default(),
                "description" => out.description = self.string(value)?.unwrap_or_default(),
                "entrypoint" => out.entrypoint = self.boolean(value)?,
                "organizations" => {
                    out.organizations = self.list(value, "[]string", Self::string)?;
                }
                "related_resources" => {
                    out.related_resources =
                        self.list(value, "[]interface {}", |decoder, child| {
                            decoder.any(child).map(Some)
                        })?;
                }
                "authors" => {
                    out.authors = self.list(value, "[]interface {}", |decoder, child| {
                        decoder.any(child).map(Some)
                    })?;
                }
                "schemas" => {
                    let element = |decoder: &mut Self, child: &Child| {
                        decoder.members(child).map(|m| Some(m.unwrap_or_default()))
                    };
                    out.schemas = self.list(value, &format!("[]{MAP}"), element)?;
                }
                "compile" => out.compile = self.members(value)?,
                "custom" => out.custom = self.members(value)?,
                "labels" => out.labels = self.members(value)?,
                _ => {}
            }
            self.leave(value);
        }
        Ok(())
    }

    /// Decodes a string: any scalar except null, as written.
    fn string(&mut self, child: &Child) -> Result<Option<String>, BlockError> {
        let node = &*child.node;
        let EventKind::Scalar { text, plain } = &node.kind else {
            return self.mismatch(node, "string").map(|()| None);
        };
        Ok(match resolve(text, *plain, node.tag.as_deref())? {
            Scalar::Null => None,
            Scalar::String(text) => Some(text),
            _ => Some(text.clone()),
        })
    }

    /// Decodes a boolean, including the words that YAML 1.1 reads as booleans.
    fn boolean(&mut self, child: &Child) -> Result<bool, BlockError> {
        let node = &*child.node;
        if let EventKind::Scalar { text, plain } = &node.kind {
            match resolve(text, *plain, node.tag.as_deref())? {
                Scalar::Null => return Ok(false),
                Scalar::Boolean(value) => return Ok(value),
                Scalar::String(text) => match text.as_str() {
                    "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" => return Ok(true),
                    "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" => return Ok(false),
                    _ => {}
                },
                _ => {}
            }
        }
        self.mismatch(node, "bool").map(|()| false)
    }

    /// Decodes a list. Elements that decode to `None` are skipped.
    fn list<T>(
        &mut self,
        child: &Child,
        expected: &str,
        mut element: impl FnMut(&mut Self, &Child) -> Result<Option<T>, BlockError>,
    ) -> Result<Vec<T>, BlockError> {
        let node = &*child.node;
        if is_null(node)? {
            return Ok(Vec::new());
        }
        let EventKind::Sequence(elements) = &node.kind else {
            return self.mismatch(node, expected).map(|()| Vec::new());
        };
        let mut out = Vec::with_capacity(elements.len());
        for element_node in elements {
            out.extend(element(self, element_node)?);
        }
        Ok(out)
    }

    /// Decodes a mapping with string keys. Returns `None` for null.
    fn members(&mut self, child: &Child) -> Result<Option<MappingMembers>, BlockError> {
        let node = &*child.node;
        if is_null(node)? {
            return Ok(None);
        }
        let EventKind::Mapping(pairs) = &node.kind else {
            return self.mismatch(node, MAP).map(|()| None);
        };
        if self.repeats_keys(pairs) {
            return Ok(None);
        }
        let mut out = Vec::with_capacity(pairs.len());
        for (key, value) in self.merge(pairs)? {
            if let Some(key) = self.string(key)? {
                out.push((key, self.any(value)?));
            }
        }
        Ok(Some(out))
    }

    fn any(&mut self, child: &Child) -> Result<Any, BlockError> {
        self.count_node(child)?;
        let node = &*child.node;
        let value = match &node.kind {
            EventKind::Scalar { text, plain } => {
                Any::Scalar(resolve(text, *plain, node.tag.as_deref())?)
            }
            EventKind::Sequence(elements) => {
                let mut out = Vec::with_capacity(elements.len());
                for element in elements {
                    out.push(self.any(element)?);
                }
                Any::Sequence(out)
            }
            EventKind::Mapping(pairs) => self.mapping(pairs)?,
        };
        self.leave(child);
        Ok(value)
    }

    fn mapping(&mut self, pairs: &[(Child, Child)]) -> Result<Any, BlockError> {
        if self.repeats_keys(pairs) {
            return Ok(Any::Mapping(Vec::new()));
        }
        let mut out = Vec::with_capacity(pairs.len());
        for (key, value) in self.merge(pairs)? {
            let Any::Scalar(key) = self.any(key)? else {
                return Err(BlockError::new("invalid map key: only scalars can be keys"));
            };
            out.push((key, self.any(value)?));
        }
        Ok(Any::Mapping(out))
    }

    /// Returns the pairs of a mapping, followed by those that `<<` merges into it. Explicit pairs override merged ones,
    /// and earlier merges override later ones.
    fn merge<'a>(&mut self, pairs: &'a [(Child, Child)]) -> Result<Pairs<'a>, BlockError> {
        let mut out = Pairs::with_capacity(pairs.len());
        let mut merges = Vec::new();
        for (key, value) in pairs {
            if is_merge(key) {
                merges.push(value);
            } else {
                out.push((key, value));
            }
        }
        if merges.is_empty() {
            return Ok(out);
        }
        let mut keys: HashSet<&str> = out.iter().filter_map(|(key, _)| key_text(key)).collect();
        for value in merges {
            let reject =
                || BlockError::new("map merge requires map or sequence of maps as the value");
            let sources = match &value.node.kind {
                EventKind::Mapping(_) => std::slice::from_ref(value),
                EventKind::Sequence(sources) => sources.as_slice(),
                EventKind::Scalar { .. } => return Err(reject()),
            };
            for source in sources {
                let EventKind::Mapping(pairs) = &source.node.kind else {
                    return Err(reject());
                };
                self.count_node(source)?;
                for (key, value) in self.merge(pairs)? {
                    if key_text(key).is_none_or(|text| keys.insert(text)) {
                        out.push((key, value));
                    }
                }
                self.leave(source);
            }
        }
        Ok(out)
    }

    /// Reports every pair of equal keys. Returns `true` if there are any.
    fn repeats_keys(&mut self, pairs: &[(Child, Child)]) -> bool {
        let mut lines: HashMap<&str, Vec<usize>> = HashMap::with_capacity(pairs.len());
        let mut repeated = Vec::new();
        for (index, (key, _)) in pairs.iter().enumerate() {
            let EventKind::Scalar { text, .. } = &key.node.kind else {
                continue;
            };
            let occurrences = lines.entry(text).or_default();
            for first in occurrences.iter().take(COMPLAINTS) {
                repeated.push((*first, index, text));
            }
            occurrences.push(index);
        }
        repeated.sort_unstable();
        for (first, second, text) in &repeated {
            let line = |index: usize| pairs.get(index).map_or(0, |(key, _)| key.node.line);
            let complaint = format!(
                "mapping key {} already defined at line {}",
                crate::print::quote(text),
                line(*first)
            );
            self.complain(line(*second), complaint);
        }
        !repeated.is_empty()
    }
}

/// Truncates a text to ten bytes and marks the truncation.
fn truncate(text: &str) -> String {
    if text.len() <= 10 {
        return text.to_owned();
    }
    let (head, _) = text.as_bytes().split_at(7);
    format!("{}...", String::from_utf8_lossy(head))
}

fn is_null(node: &Node) -> Result<bool, BlockError> {
    match &node.kind {
        EventKind::Scalar { text, plain } => {
            Ok(resolve(text, *plain, node.tag.as_deref())? == Scalar::Null)
        }
        _ => Ok(false),
    }
}

fn is_merge(key: &Child) -> bool {
    matches!(&key.node.kind, EventKind::Scalar { text, plain: true } if text == "<<" && key.node.tag.is_none())
}

type Pairs<'a> = Vec<(&'a Child, &'a Child)>;

fn key_text(key: &Child) -> Option<&str> {
    match &key.node.kind {
        EventKind::Scalar { text, .. } => Some(text),
        _ => None,
    }
}
