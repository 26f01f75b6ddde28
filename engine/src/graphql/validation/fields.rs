//! Validation rules for fields.

use hashbrown::HashMap;

use super::super::ast::{DefinitionKind, FieldNode, Selection};
use super::super::parser::ParseResult;
use super::super::type_system::{InputOrField, TypeDef};
use super::DocumentValidator;
use super::suggestions::{HINT, propose};

/// Maximum number of nested lists in introspection queries.
const INTROSPECTION: usize = 3;

impl<'d> DocumentValidator<'d> {
    /// Checks a field, after its children.
    pub(super) fn field_rules(
        &mut self,
        parent: Option<&'d TypeDef>,
        definition: Option<&'d InputOrField>,
        field: &'d FieldNode<'d>,
    ) -> ParseResult<()> {
        if let (Some(parent), None) = (parent, definition) {
            let message = self.unknown_field(parent, field)?;
            self.report(message, field.position)?;
        }
        if let (Some(parent), Some(definition)) = (parent, definition) {
            let known = &definition.arguments;
            self.check_argument_names(known, &field.arguments, field.position, |it| {
                format!(
                    "argument \"{it}\" on field \"{}.{}\"",
                    parent.name, field.name
                )
            })?;
        }
        if matches!(field.name.as_ref(), "__schema" | "__type") {
            self.introspection(field)?;
        }
        if self.scope.is_some() {
            let of = definition.and_then(|it| self.types.target(it));
            self.overlaps(of, &field.selections)?;
        }
        if let Some(definition) = definition {
            let known = &definition.arguments;
            self.required_arguments(known, &field.arguments, field.position, || {
                format!("Field \"{}\"", field.name)
            })?;
            self.check_subselection(definition, field)?;
        }
        self.unique_arguments(&field.arguments)
    }

    fn unknown_field(&mut self, parent: &'d TypeDef, field: &FieldNode<'_>) -> ParseResult<String> {
        let mut message = format!(
            "Cannot query field \"{}\" on type \"{}\".",
            field.name, parent.name
        );
        if self.first_only {
            return Ok(message);
        }
        if matches!(
            parent.kind,
            DefinitionKind::Interface | DefinitionKind::Union
        ) {
            self.spend(parent.possible.len(), field.position)?;
            let types = self.types_with(parent, &field.name);
            if !types.is_empty() {
                let words = "Did you mean to use an inline fragment on";
                message += &propose(words, types);
                return Ok(message);
            }
        }
        if matches!(
            parent.kind,
            DefinitionKind::Interface | DefinitionKind::Object
        ) {
            let names = parent.fields.names();
            message += &self.near_names(HINT, &field.name, names, field.position)?;
        }
        Ok(message)
    }

    /// Returns the possible types of an abstract type that have a field, and their interfaces that have it, too, most
    /// frequent first.
    fn types_with(&self, parent: &'d TypeDef, name: &str) -> Vec<&'d str> {
        let mut uses: HashMap<&str, usize> = HashMap::new();
        let (mut objects, mut found) = (Vec::new(), Vec::new());
        for of in parent
            .possible
            .iter()
            .filter_map(|&id| self.types.type_by_id(id))
        {
            if of.fields.get(name).is_none() {
                continue;
            }
            objects.push(of.name.as_ref());
            for interface in &of.interfaces {
                let of = self.types.get(interface);
                if of.is_some_and(|of| of.fields.get(name).is_some()) {
                    let uses = uses.entry(interface).or_insert(0);
                    if *uses == 0 {
                        found.push(interface.as_ref());
                    }
                    *uses += 1;
                }
            }
        }
        found.extend(objects);
        found.sort_by_key(|name| std::cmp::Reverse(uses.get(name).copied().unwrap_or(0)));
        found
    }

    /// Checks that a field has selections if and only if its type has fields.
    fn check_subselection(
        &mut self,
        definition: &'d InputOrField,
        field: &'d FieldNode<'d>,
    ) -> ParseResult<()> {
        let Some(of) = self.types.target(definition) else {
            return Ok(());
        };
        let is_leaf = matches!(of.kind, DefinitionKind::Scalar | DefinitionKind::Enum);
        let message = match (is_leaf, field.selections.is_empty()) {
            (true, false) => format!(
                "Field \"{}\" must not have a selection since type \"{}\" has no subfields.",
                field.name, of.name
            ),
            (false, true) => format!(
                "Field \"{name}\" of type \"{}\" must have a selection of subfields. Did you mean \"{name} {{ ... }}\"?",
                definition.of,
                name = field.name,
            ),
            _ => return Ok(()),
        };
        self.report(message, field.position)
    }

    fn introspection(&mut self, field: &'d FieldNode<'d>) -> ParseResult<()> {
        if self.lists_too_deep(&field.selections, 0, &mut HashMap::new(), field)? {
            let message = "Maximum introspection depth exceeded".to_owned();
            return self.report(message, field.position);
        }
        Ok(())
    }

    fn lists_too_deep(
        &mut self,
        selections: &'d [Selection<'d>],
        lists: usize,
        within: &mut HashMap<&'d str, usize>,
        root: &'d FieldNode<'d>,
    ) -> ParseResult<bool> {
        self.spend(selections.len(), root.position)?;
        self.nested(root.position, |it| {
            for selection in selections {
                let deep = match selection {
                    Selection::Field(field) => {
                        let list = matches!(
                            field.name.as_ref(),
                            "fields" | "interfaces" | "possibleTypes" | "inputFields"
                        );
                        let lists = lists + usize::from(list);
                        lists >= INTROSPECTION
                            || it.lists_too_deep(&field.selections, lists, within, root)?
                    }
                    Selection::Inline(inline) => {
                        it.lists_too_deep(&inline.selections, lists, within, root)?
                    }
                    Selection::Spread(spread) => {
                        it.fragment_too_deep(&spread.name, lists, within, root)?
                    }
                };
                if deep {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Returns `true` if introspection in a fragment nests too deep. `within` contains the enclosing fragments with
    /// their numbers of enclosing lists.
    fn fragment_too_deep(
        &mut self,
        name: &'d str,
        lists: usize,
        within: &mut HashMap<&'d str, usize>,
        root: &'d FieldNode<'d>,
    ) -> ParseResult<bool> {
        if let Some(entered) = within.get(name) {
            // each further recursion adds as many levels as this one did
            return Ok(lists > *entered);
        }
        let Some(fragment) = self.fragments.get(name).copied() else {
            return Ok(false);
        };
        if let Some(deep) = self.memory.too_deep.get(&(name, lists)) {
            return Ok(*deep);
        }
        within.insert(name, lists);
        let deep = self.lists_too_deep(&fragment.selections, lists, within, root)?;
        within.remove(name);
        self.memory.too_deep.insert((name, lists), deep);
        Ok(deep)
    }
}
