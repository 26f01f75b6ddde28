//! YAML parsing: an iterative builder of values from parser events.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};
use solon_syntax::yaml::{Differs, Gaps, REPAIRS, repaired};

use super::error::{YamlError, anchor_at};
use super::key::{PendingKey, invalid_key, key_of, key_of_value, null_key};
use super::resolve::{Scalar, TaggedScalar, float_value, is_out_of_range, resolve, resolve_tagged};
use super::scan;
use crate::limits;
use crate::value::json::{self, JsonErrorKind};
use crate::value::{NumberBuf, Repr, Value};

/// Parses the first document. Fails if it or a later one is not well formed.
pub fn read(text: &[u8]) -> Result<Value, YamlError> {
    read_with(text, OutOfRange::String)
}

/// Parses the first document like [`read`], and rejects plain numbers that are out of the range of 64-bit floats.
/// [`read`] returns such numbers as strings, as OPA does.
///
/// # Errors
/// If the text is not YAML, has no JSON form, or contains such a number.
pub fn read_with_checked_numbers(text: &[u8]) -> Result<Value, YamlError> {
    read_with(text, OutOfRange::Rejected)
}

/// Handling of a plain number that is out of the range of 64-bit floats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OutOfRange {
    String,
    Rejected,
}

fn read_with(text: &[u8], out_of_range: OutOfRange) -> Result<Value, YamlError> {
    let mut text = Cow::Borrowed(scan::without_last_blanks(decode(text)?));

    let stand_in = text.contains('\u{feff}').then(|| unused(&text));
    if let Some(stand_in) = stand_in {
        text = Cow::Owned(text.replace('\u{feff}', &stand_in.to_string()));
    }
    for _ in 0..REPAIRS {
        match document(&text, stand_in, out_of_range) {
            // the parser supports 255 nested brackets; deeper text nearly always is JSON
            Err(ReadFailure::Syntax(error)) if error.info() == FLOW_TOO_DEEP => {
                return json::read(text.as_bytes()).map_err(|json_error| match json_error.kind() {
                    JsonErrorKind::Character(json::TOO_DEEP) => YamlError::too_deep(),
                    _ => YamlError::syntax(&error, &text),
                });
            }
            Err(ReadFailure::Syntax(error)) => match repaired(&text, &error) {
                Some(repaired) => text = Cow::Owned(repaired),
                None => return Err(YamlError::syntax(&error, &text)),
            },
            Err(ReadFailure::Spelling(respelled)) => text = Cow::Owned(respelled),
            Err(ReadFailure::Document(error)) => return Err(error),
            Ok(value) => return Ok(value),
        }
    }
    Err(YamlError::yaml(
        "found character that cannot start any token",
    ))
}

enum ReadFailure {
    Syntax(ScanError),
    /// Go's parser reads this text instead.
    Spelling(String),
    Document(YamlError),
}

/// Returns a character that the text does not contain. It replaces byte order marks, which the parser rejects.
fn unused(text: &str) -> char {
    let mut private = '\u{e000}'..='\u{f8ff}';
    let unused = private.find(|c| !text.contains(*c));
    unused.unwrap_or('\u{feff}')
}

fn document(
    text: &str,
    stand_in: Option<char>,
    out_of_range: OutOfRange,
) -> Result<Value, ReadFailure> {
    let mut reader = YamlReader {
        text,
        stand_in,
        out_of_range,
        open_end: (!text.ends_with(['\n', '\r'])).then(|| text.chars().count()),
        frames: Vec::new(),
        anchors: HashMap::new(),
        nodes: 0,
        aliased: 0,
        document: None,
        unfit: None,
    };
    let mut gaps = Gaps::new(text);
    let differs = |differs| match differs {
        Differs::Rejected(misplaced) => ReadFailure::Document(YamlError::misplaced(misplaced)),
        Differs::Respelled(text) => ReadFailure::Spelling(text),
    };
    for event in Parser::new_from_str(text) {
        let (event, span) = match event {
            Ok(event) => event,
            Err(error) => {
                gaps.before_error(&error).map_err(differs)?;
                return Err(ReadFailure::Syntax(error));
            }
        };
        gaps.before(&event, span).map_err(differs)?;
        reader.event(event, span).map_err(ReadFailure::Document)?;
    }
    match reader.unfit {
        Some(error) => Err(ReadFailure::Document(error)),
        None => Ok(reader.document.unwrap_or_default()),
    }
}

/// The parser's error for too many nested brackets.
const FLOW_TOO_DEEP: &str = "recursion limit exceeded";

/// Decodes and checks the characters of a text.
fn decode(text: &[u8]) -> Result<&str, YamlError> {
    let text = std::str::from_utf8(text).map_err(|error| scan::octets(text, error))?;
    // the first mark denotes the encoding, and a second one may start the first line
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let control = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    if text.contains(control) {
        return Err(YamlError::yaml("control characters are not allowed"));
    }
    scan::directives(text)?;
    Ok(text)
}

struct YamlFrame {
    kind: Collection,
    anchor: usize,
    /// Number of nodes read before it.
    nodes: u64,
}

enum Collection {
    Sequence(Vec<Value>),
    Mapping(Mapping),
}

#[derive(Default)]
struct Mapping {
    pairs: Vec<(Value, Value)>,
    /// Values of merge keys, in order.
    merges: Vec<Value>,
    key: Option<PendingKey>,
}

/// A finished anchored node and the number of nodes that it expands to.
struct Anchor {
    value: Value,
    nodes: u64,
    /// The error for an alias to the node in a position other than a key, if the node is a key with a number out of
    /// range.
    unfit: Option<YamlError>,
}

struct YamlReader<'t> {
    text: &'t str,
    /// The replacement of byte order marks.
    stand_in: Option<char>,
    out_of_range: OutOfRange,
    /// Length of a text without a line end at its end, in characters.
    open_end: Option<usize>,
    frames: Vec<YamlFrame>,
    anchors: HashMap<usize, Anchor>,
    nodes: u64,
    aliased: u64,
    document: Option<Value>,
    /// The first error of the conversion to JSON. Syntax errors take precedence.
    unfit: Option<YamlError>,
}

impl YamlReader<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        if self.document.is_some() {
            return Ok(());
        }
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
                // the parser adds a line end to the last line of a block, even if the text has none
                let added = block && self.open_end.is_some_and(|end| span.end.index() >= end);
                let text = if added {
                    text.strip_suffix('\n').unwrap_or(&text)
                } else {
                    &text
                };
                let is_rejected = self.out_of_range == OutOfRange::Rejected
                    && (style == ScalarStyle::Plain && tag.is_none())
                    && is_out_of_range(text);
                let error = is_rejected.then(|| YamlError::out_of_range(span.start.line(), text));
                self.scalar(text, style, anchor, tag.as_deref(), error)
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::SequenceStart(anchor, _) => self.start(Collection::Sequence(Vec::new()), anchor),
            Event::MappingStart(anchor, _) => {
                self.start(Collection::Mapping(Mapping::default()), anchor)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            _ => Ok(()),
        }
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        anchor: usize,
        tag: Option<&Tag>,
        unfit: Option<YamlError>,
    ) -> Result<(), YamlError> {
        let original = self.stand_in.filter(|stand_in| text.contains(*stand_in));
        let original = original.map(|stand_in| text.replace(stand_in, "\u{feff}"));
        let text = original.as_deref().unwrap_or(text);
        let tag = tag.map(Meaning::parse).filter(|tag| *tag != Meaning::None);
        let merge = text == "<<" && matches!(tag, None | Some(Meaning::Core("merge")));
        if merge
            && style == ScalarStyle::Plain
            && let Some(mapping) = self.awaiting_key()
        {
            mapping.key = Some(PendingKey::Merge);
            return Ok(());
        }
        let scalar = match tag {
            Some(Meaning::Core(tag)) => resolve_tagged(tag, text).map_err(YamlError::yaml)?,
            Some(_) => TaggedScalar::Scalar(Scalar::Str),
            None if style == ScalarStyle::Plain => TaggedScalar::Scalar(resolve(text)),
            None => TaggedScalar::Scalar(Scalar::Str),
        };
        self.nodes += 1;
        if self.awaiting_key().is_some() {
            let key = match &scalar {
                TaggedScalar::Scalar(scalar) => key_of(scalar, text),
                TaggedScalar::Text(bytes) => PendingKey::Text(Value::bytes(bytes)),
            };
            if anchor != 0 {
                let value = self.value(scalar, text);
                let node = Anchor {
                    value,
                    nodes: 1,
                    unfit,
                };
                self.anchors.insert(anchor, node);
            }
            if let Some(mapping) = self.awaiting_key() {
                mapping.key = Some(key);
            }
            return Ok(());
        }
        self.unfit = self.unfit.take().or(unfit);
        let value = self.value(scalar, text);
        self.node(value, anchor, 1);
        Ok(())
    }

    fn value(&mut self, scalar: TaggedScalar, text: &str) -> Value {
        match scalar {
            TaggedScalar::Text(bytes) => Value::bytes(&bytes),
            TaggedScalar::Scalar(Scalar::Str | Scalar::Merge) => Value::string(text),
            TaggedScalar::Scalar(Scalar::Null) => Value(Repr::Null),
            TaggedScalar::Scalar(Scalar::Bool(b)) => Value(Repr::Bool(b)),
            TaggedScalar::Scalar(Scalar::Int(i)) => Value::number(int_number(i)),
            TaggedScalar::Scalar(Scalar::Float(f)) => float_value(f).unwrap_or_else(|name| {
                let error = || YamlError::other(format!("json: unsupported value: {name}"));
                self.unfit.get_or_insert_with(error);
                Value(Repr::Null)
            }),
        }
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Result<(), YamlError> {
        if self.frames.iter().any(|frame| frame.anchor == anchor) {
            let name = anchor_at(self.text, span.start.index());
            return Err(YamlError::yaml(format_args!(
                "anchor '{name}' value contains itself"
            )));
        }
        let Some(Anchor {
            value,
            nodes,
            unfit,
        }) = self.anchors.get(&anchor)
        else {
            let name = anchor_at(self.text, span.start.index());
            return Err(YamlError::yaml(format_args!(
                "unknown anchor '{name}' referenced"
            )));
        };
        let (value, nodes, unfit) = (value.clone(), *nodes, unfit.clone());
        self.nodes = self.nodes.saturating_add(nodes);
        self.aliased = self.aliased.saturating_add(nodes);
        if self.aliased > 100 && self.nodes > 1000 && !aliasing_is_fair(self.aliased, self.nodes) {
            return Err(YamlError::yaml("document contains excessive aliasing"));
        }
        if let Some(mapping) = self.awaiting_key() {
            mapping.key = Some(key_of_value(&value)?);
            return Ok(());
        }
        self.unfit = self.unfit.take().or(unfit);
        self.node(value, 0, nodes);
        Ok(())
    }

    fn start(&mut self, kind: Collection, anchor: usize) -> Result<(), YamlError> {
        if self.frames.len() >= limits::VALUE_NESTING {
            return Err(YamlError::too_deep());
        }
        self.nodes += 1;
        self.frames.push(YamlFrame {
            kind,
            anchor,
            nodes: self.nodes - 1,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), YamlError> {
        let Some(frame) = self.frames.pop() else {
            return Ok(());
        };
        let value = match frame.kind {
            Collection::Sequence(items) => Value::array(items),
            Collection::Mapping(mapping) => mapping.finish()?,
        };
        if self.awaiting_key().is_some() {
            return Err(invalid_key(&value));
        }
        let nodes = self.nodes - frame.nodes;
        self.node(value, frame.anchor, nodes);
        Ok(())
    }

    /// Returns the current mapping, if its next node is a key.
    fn awaiting_key(&mut self) -> Option<&mut Mapping> {
        match self.frames.last_mut() {
            Some(YamlFrame {
                kind: Collection::Mapping(mapping),
                ..
            }) if mapping.key.is_none() => Some(mapping),
            _ => None,
        }
    }

    /// Adds a finished node to its collection.
    fn node(&mut self, value: Value, anchor: usize, nodes: u64) {
        if anchor != 0 {
            let node = Anchor {
                value: value.clone(),
                nodes,
                unfit: None,
            };
            self.anchors.insert(anchor, node);
        }
        let Some(frame) = self.frames.last_mut() else {
            self.document.get_or_insert(value);
            return;
        };
        match &mut frame.kind {
            Collection::Sequence(items) => items.push(value),
            Collection::Mapping(mapping) => match mapping.key.take() {
                Some(PendingKey::Text(key)) => mapping.pairs.push((key, value)),
                Some(PendingKey::Merge) => mapping.merges.push(value),
                Some(PendingKey::Null) | None => {
                    self.unfit.get_or_insert_with(|| null_key(value.borrow()));
                }
            },
        }
    }
}

impl Mapping {
    /// Builds the mapping. Its own pairs override merged ones, and earlier merges override later ones.
    fn finish(self) -> Result<Value, YamlError> {
        if self.merges.is_empty() {
            return Ok(Value::object(self.pairs));
        }
        let bad = || YamlError::yaml("map merge requires map or sequence of maps as the value");
        let mut pairs = Vec::new();
        for merge in self.merges.iter().rev() {
            let maps = match merge {
                Value(Repr::Object(_)) => std::slice::from_ref(merge),
                Value(Repr::Array(items)) => items,
                _ => return Err(bad()),
            };
            for map in maps.iter().rev() {
                let object = map.as_object().ok_or_else(bad)?;
                pairs.extend(
                    object
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
            }
        }
        pairs.extend(self.pairs);
        Ok(Value::object(pairs))
    }
}

#[derive(PartialEq)]
enum Meaning<'t> {
    /// The non-specific `!`.
    None,
    /// A type of YAML's core schema.
    Core(&'t str),
    /// Any other tag: the text stays unchanged.
    Foreign,
}

impl<'t> Meaning<'t> {
    fn parse(tag: &'t Tag) -> Self {
        let suffix = tag.suffix.strip_prefix("tag:yaml.org,2002:");
        match (tag.handle.as_str(), suffix, tag.suffix.as_str()) {
            ("tag:yaml.org,2002:", _, suffix) => Self::Core(suffix),
            (_, Some(suffix), _) => Self::Core(suffix),
            ("" | "!", None, "" | "!") => Self::None,
            _ => Self::Foreign,
        }
    }
}

/// Returns `true` if the share of nodes from aliases is acceptable: nearly all in small documents, a tenth in large
/// ones. It limits documents that expand exponentially.
fn aliasing_is_fair(aliased: u64, nodes: u64) -> bool {
    const SMALL: u64 = 400_000;
    const LARGE: u64 = 4_000_000;
    // in percent
    let allowed = 99 - 89 * (nodes.clamp(SMALL, LARGE) - SMALL) / (LARGE - SMALL);
    u128::from(aliased) * 100 <= u128::from(nodes) * u128::from(allowed)
}

fn int_number(i: i128) -> NumberBuf {
    i64::try_from(i).map_or_else(|_| NumberBuf::Text(i.to_string()), NumberBuf::Int)
}
