//! Checks that fields with equal names in the response have the same arguments and result types of the same structure.

use hashbrown::HashMap;
use smallvec::SmallVec;

use super::super::ast::{
    ArgumentNode, DefinitionKind, FieldNode, Selection, SourcePosition, Spread, TypeReference,
    ValueNode,
};
use super::super::parser::ParseResult;
use super::super::type_system::{InputOrField, TypeDef};
use super::DocumentValidator;

#[derive(Default)]
pub(super) struct Compared<'d> {
    /// Pairs of a selection set and a fragment; `true` if they were compared only as ones that never apply to one object.
    /// Each pair is compared at most twice, so comparisons of fragments that spread themselves end.
    fragments: HashMap<(SetId, &'d str), bool>,
    /// Pairs of fragments, with the same flag.
    pairs: HashMap<(&'d str, &'d str), bool>,
}

/// Identity of a selection set: its address and length. All empty sets have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct SetId(*const (), usize);

impl SetId {
    fn from_selections(selections: &[Selection<'_>]) -> Self {
        match selections {
            [] => Self(std::ptr::null(), 0),
            [..] => Self(selections.as_ptr().cast(), selections.len()),
        }
    }
}

/// Returns `true` if a comparison with the flag `covered` was made before, and includes one with the flag `exclusive`.
fn covers(covered: Option<&bool>, exclusive: bool) -> bool {
    covered.is_some_and(|&was_exclusive| exclusive || !was_exclusive)
}

#[derive(Clone, Copy)]
struct Selected<'d> {
    field: &'d FieldNode<'d>,
    parent: Option<&'d TypeDef>,
    definition: Option<&'d InputOrField>,
}

/// Selections with inline fragments expanded: fields by response name, and spreads.
struct Flat<'d> {
    id: SetId,
    names: Vec<&'d str>,
    /// Most names have one field.
    fields: HashMap<&'d str, SmallVec<[Selected<'d>; 1]>>,
    spreads: Vec<&'d Spread<'d>>,
    /// Number of steps that the expansion took.
    length: usize,
}

struct Conflict<'d> {
    name: &'d str,
    reason: Reason<'d>,
    position: SourcePosition,
}

enum Reason<'d> {
    Message(String),
    Inner(Vec<Conflict<'d>>),
}

impl<'d> Flat<'d> {
    fn in_order(&self) -> impl Iterator<Item = (&'d str, &[Selected<'d>])> {
        self.names
            .iter()
            .filter_map(|&name| Some((name, self.fields.get(name)?.as_slice())))
    }
}

impl Conflict<'_> {
    fn explain(&self, text: &mut String) {
        match &self.reason {
            Reason::Message(message) => text.push_str(message),
            Reason::Inner(inner) => {
                for (index, conflict) in inner.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { " and " });
                    text.extend(["subfields \"", conflict.name, "\" conflict because "]);
                    conflict.explain(text);
                }
            }
        }
    }
}

impl<'d> DocumentValidator<'d> {
    /// Checks the fields of a selection set, including all spreads.
    pub(super) fn overlaps(
        &mut self,
        ty: Option<&'d TypeDef>,
        selections: &'d [Selection<'d>],
    ) -> ParseResult<()> {
        if selections.is_empty() {
            return Ok(());
        }
        let flat = self.flatten(ty, selections);
        let mut conflicts = Vec::new();
        for (_, fields) in flat.in_order() {
            for (index, &a) in fields.iter().enumerate() {
                for &b in fields.iter().skip(index + 1) {
                    conflicts.extend(self.conflict(false, a, b)?);
                }
            }
        }
        for (index, &a) in flat.spreads.iter().enumerate() {
            self.fields_with_fragment(&mut conflicts, false, &flat, a)?;
            for &b in flat.spreads.iter().skip(index + 1) {
                self.fragment_with_fragment(&mut conflicts, false, a, b)?;
            }
        }
        for conflict in conflicts {
            let mut reason = String::new();
            conflict.explain(&mut reason);
            let message = format!(
                "Fields \"{}\" conflict because {reason}. Use different aliases on the fields to fetch both if this was intentional.",
                conflict.name
            );
            self.report(message, conflict.position)?;
        }
        Ok(())
    }

    fn flatten(&self, ty: Option<&'d TypeDef>, selections: &'d [Selection<'d>]) -> Flat<'d> {
        let mut flat = Flat {
            id: SetId::from_selections(selections),
            names: Vec::with_capacity(selections.len()),
            fields: HashMap::with_capacity(selections.len()),
            spreads: Vec::new(),
            length: 0,
        };
        let mut levels = vec![(ty, selections.iter())];
        while let Some((parent, level)) = levels.last_mut() {
            let parent = *parent;
            flat.length += 1;
            match level.next() {
                None => _ = levels.pop(),
                Some(Selection::Field(field)) => {
                    let name = match field.alias.as_ref() {
                        "" => field.name.as_ref(),
                        alias => alias,
                    };
                    let fields = flat.fields.entry(name).or_insert_with(|| {
                        flat.names.push(name);
                        SmallVec::new()
                    });
                    fields.push(Selected {
                        field,
                        parent,
                        definition: self.types.field(parent, &field.name),
                    });
                }
                Some(Selection::Inline(inline)) => {
                    levels.push((self.inline_type(parent, inline), inline.selections.iter()));
                }
                Some(Selection::Spread(spread)) => flat.spreads.push(spread),
            }
        }
        flat
    }

    /// Returns the expanded selections of a fragment.
    fn flatten_fragment(&mut self, spread: &'d Spread<'d>) -> ParseResult<Option<Flat<'d>>> {
        let Some(fragment) = self.fragments.get(spread.name.as_ref()).copied() else {
            return Ok(None);
        };
        let ty = self.types.get(&fragment.type_condition);
        let flat = self.flatten(ty, &fragment.selections);
        self.spend(flat.length, spread.position)?;
        Ok(Some(flat))
    }

    fn fields_with_fragment(
        &mut self,
        conflicts: &mut Vec<Conflict<'d>>,
        exclusive: bool,
        fields: &Flat<'d>,
        spread: &'d Spread<'d>,
    ) -> ParseResult<()> {
        let pair = (fields.id, spread.name.as_ref());
        if covers(self.memory.overlaps.fragments.get(&pair), exclusive) {
            return Ok(());
        }
        self.memory.overlaps.fragments.insert(pair, exclusive);
        let Some(fragment) = self.flatten_fragment(spread)? else {
            return Ok(());
        };
        if fields.id == fragment.id {
            return Ok(());
        }
        self.fields_with_fields(conflicts, exclusive, fields, &fragment)?;
        for &inner in &fragment.spreads {
            self.nested(spread.position, |validator| {
                validator.fields_with_fragment(conflicts, exclusive, fields, inner)
            })?;
        }
        Ok(())
    }

    fn fragment_with_fragment(
        &mut self,
        conflicts: &mut Vec<Conflict<'d>>,
        exclusive: bool,
        a: &'d Spread<'d>,
        b: &'d Spread<'d>,
    ) -> ParseResult<()> {
        if a.name == b.name {
            return Ok(());
        }
        let pair = if a.name < b.name { (a, b) } else { (b, a) };
        let pair = (pair.0.name.as_ref(), pair.1.name.as_ref());
        if covers(self.memory.overlaps.pairs.get(&pair), exclusive) {
            return Ok(());
        }
        self.memory.overlaps.pairs.insert(pair, exclusive);
        let (Some(left), Some(right)) = (self.flatten_fragment(a)?, self.flatten_fragment(b)?)
        else {
            return Ok(());
        };
        self.fields_with_fields(conflicts, exclusive, &left, &right)?;
        self.nested(a.position, |validator| {
            for &inner in &right.spreads {
                validator.fragment_with_fragment(conflicts, exclusive, a, inner)?;
            }
            for &inner in &left.spreads {
                validator.fragment_with_fragment(conflicts, exclusive, inner, b)?;
            }
            Ok(())
        })
    }

    fn fields_with_fields(
        &mut self,
        conflicts: &mut Vec<Conflict<'d>>,
        exclusive: bool,
        left: &Flat<'d>,
        right: &Flat<'d>,
    ) -> ParseResult<()> {
        for (name, fields) in left.in_order() {
            let same_name = right.fields.get(name).into_iter().flatten();
            for &a in fields {
                for &b in same_name.clone() {
                    conflicts.extend(self.conflict(exclusive, a, b)?);
                }
            }
        }
        Ok(())
    }

    /// Returns why two fields must not have the same name. `exclusive` ones never apply to the same object.
    fn conflict(
        &mut self,
        exclusive: bool,
        a: Selected<'d>,
        b: Selected<'d>,
    ) -> ParseResult<Option<Conflict<'d>>> {
        let arguments = a.field.arguments.len() * b.field.arguments.len();
        self.spend(1 + arguments, b.field.position)?;
        let (Some(parent_a), Some(parent_b)) = (a.parent, b.parent) else {
            return Ok(None);
        };
        let object = |type_def: &TypeDef| type_def.kind == DefinitionKind::Object;
        let exclusive = exclusive
            || parent_a.id != parent_b.id
                && object(parent_a)
                && object(parent_b)
                && a.definition.is_some()
                && b.definition.is_some();
        let reason = if !exclusive && a.field.name != b.field.name {
            Reason::Message(format!(
                "\"{}\" and \"{}\" are different fields",
                a.field.name, b.field.name
            ))
        } else if !exclusive && !same_arguments(&a.field.arguments, &b.field.arguments) {
            Reason::Message("they have differing arguments".into())
        } else if let (Some(left), Some(right)) = (a.definition, b.definition)
            && self.differ(&left.of, &right.of)
        {
            Reason::Message(format!(
                "they return conflicting types \"{}\" and \"{}\"",
                left.of, right.of
            ))
        } else if a.field.selections.is_empty() && b.field.selections.is_empty() {
            return Ok(None);
        } else {
            let inner = self.nested(b.field.position, |validator| {
                validator.inner_conflicts(exclusive, a, b)
            });
            match inner? {
                inner if inner.is_empty() => return Ok(None),
                inner => Reason::Inner(inner),
            }
        };
        Ok(Some(Conflict {
            name: match a.field.alias.as_ref() {
                "" => &a.field.name,
                alias => alias,
            },
            reason,
            position: b.field.position,
        }))
    }

    /// Compares the selections of two fields.
    fn inner_conflicts(
        &mut self,
        exclusive: bool,
        a: Selected<'d>,
        b: Selected<'d>,
    ) -> ParseResult<Vec<Conflict<'d>>> {
        let mut conflicts = Vec::new();
        let [left, right] = [a, b].map(|side| {
            let definition = side
                .definition
                .and_then(|definition| self.types.target(definition));
            self.flatten(definition, &side.field.selections)
        });
        self.spend(left.length + right.length, b.field.position)?;
        self.fields_with_fields(&mut conflicts, exclusive, &left, &right)?;
        for &spread in &right.spreads {
            self.fields_with_fragment(&mut conflicts, exclusive, &left, spread)?;
        }
        for &spread in &left.spreads {
            self.fields_with_fragment(&mut conflicts, exclusive, &right, spread)?;
        }
        for &a in &left.spreads {
            for &b in &right.spreads {
                self.fragment_with_fragment(&mut conflicts, exclusive, a, b)?;
            }
        }
        Ok(conflicts)
    }

    /// Returns `true` if results of two types differ in structure.
    fn differ(&self, a: &TypeReference<'_>, b: &TypeReference<'_>) -> bool {
        if a.non_null != b.non_null {
            return true;
        }
        match (&a.element, &b.element) {
            (Some(a), Some(b)) => self.differ(a, b),
            (None, None) => {
                let is_leaf =
                    |ty: &TypeDef| matches!(ty.kind, DefinitionKind::Scalar | DefinitionKind::Enum);
                let types = self.types.get(&a.name).zip(self.types.get(&b.name));
                types.is_some_and(|(a, b)| (is_leaf(a) || is_leaf(b)) && a.id != b.id)
            }
            _ => true,
        }
    }
}

fn same_arguments(a: &[ArgumentNode<'_>], b: &[ArgumentNode<'_>]) -> bool {
    let is_in_b = |a: &ArgumentNode<'_>| {
        b.iter()
            .any(|b| a.name == b.name && same_value(&a.value, &b.value))
    };
    a.len() == b.len() && a.iter().all(is_in_b)
}

fn same_value<'a>(a: &'a ValueNode<'a>, b: &'a ValueNode<'a>) -> bool {
    if a.kind != b.kind || a.raw != b.raw || a.children.len() != b.children.len() {
        return false;
    }
    let in_order = |value: &'a ValueNode<'a>| {
        let mut children: Vec<&ArgumentNode<'a>> = value.children.iter().collect();
        // fields of objects have no order, and elements of lists have no names
        children.sort_by_key(|child| &child.name);
        children
    };
    let mut pairs = in_order(a).into_iter().zip(in_order(b));
    pairs.all(|(a, b)| a.name == b.name && same_value(&a.value, &b.value))
}
