//! Validation rules for fields: existence, and selections of their values.

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
            let parameters = &definition.arguments;
            self.check_argument_names(parameters, &field.arguments, field.position, |argument| {
                format!(
                    "argument \"{argument}\" on field \"{}.{}\"",
                    parent.name, field.name
                )
            })?;
        }
        if matches!(field.name.as_ref(), "__schema" | "__type") {
            self.introspection(field)?;
        }
        if self.scope.is_some() {
            let ty = definition.and_then(|field_definition| self.types.target(field_definition));
            self.overlaps(ty, &field.selections)?;
        }
        if let Some(definition) = definition {
            let parameters = &definition.arguments;
            self.required_arguments(parameters, &field.arguments, field.position, || {
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
                let question = "Did you mean to use an inline fragment on";
                message += &propose(question, types);
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
        let (mut objects, mut interfaces) = (Vec::new(), Vec::new());
        for ty in parent
            .possible
            .iter()
            .filter_map(|&id| self.types.type_by_id(id))
        {
            if ty.fields.get(name).is_none() {
                continue;
            }
            objects.push(ty.name.as_ref());
            for interface in &ty.interfaces {
                let ty = self.types.get(interface);
                if ty.is_some_and(|ty| ty.fields.get(name).is_some()) {
                    let uses = uses.entry(interface).or_insert(0);
                    if *uses == 0 {
                        interfaces.push(interface.as_ref());
                    }
                    *uses += 1;
                }
            }
        }
        interfaces.extend(objects);
        interfaces.sort_by_key(|name| std::cmp::Reverse(uses.get(name).copied().unwrap_or(0)));
        interfaces
    }

    /// Checks that a field has selections if and only if its type has fields.
    fn check_subselection(
        &mut self,
        definition: &'d InputOrField,
        field: &'d FieldNode<'d>,
    ) -> ParseResult<()> {
        let Some(ty) = self.types.target(definition) else {
            return Ok(());
        };
        let is_leaf = matches!(ty.kind, DefinitionKind::Scalar | DefinitionKind::Enum);
        let message = match (is_leaf, field.selections.is_empty()) {
            (true, false) => format!(
                "Field \"{}\" must not have a selection since type \"{}\" has no subfields.",
                field.name, ty.name
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
        depths: &mut HashMap<&'d str, usize>,
        root: &'d FieldNode<'d>,
    ) -> ParseResult<bool> {
        self.spend(selections.len(), root.position)?;
        self.nested(root.position, |validator| {
            for selection in selections {
                let deep = match selection {
                    Selection::Field(field) => {
                        let list = matches!(
                            field.name.as_ref(),
                            "fields" | "interfaces" | "possibleTypes" | "inputFields"
                        );
                        let lists = lists + usize::from(list);
                        lists >= INTROSPECTION
                            || validator.lists_too_deep(&field.selections, lists, depths, root)?
                    }
                    Selection::Inline(inline) => {
                        validator.lists_too_deep(&inline.selections, lists, depths, root)?
                    }
                    Selection::Spread(spread) => {
                        validator.fragment_too_deep(&spread.name, lists, depths, root)?
                    }
                };
                if deep {
                    return Ok(true);
                }
            }
            Ok(false)
        })
    }

    /// Returns `true` if introspection in a fragment nests too deep. `depths` contains the enclosing fragments with
    /// their numbers of enclosing lists.
    fn fragment_too_deep(
        &mut self,
        name: &'d str,
        lists: usize,
        depths: &mut HashMap<&'d str, usize>,
        root: &'d FieldNode<'d>,
    ) -> ParseResult<bool> {
        if let Some(lists_at_entry) = depths.get(name) {
            // each further round adds as many levels of lists as this one, so that any level exceeds every limit in the end
            return Ok(lists > *lists_at_entry);
        }
        let Some(fragment) = self.fragments.get(name).copied() else {
            return Ok(false);
        };
        if let Some(deep) = self.memory.too_deep.get(&(name, lists)) {
            return Ok(*deep);
        }
        depths.insert(name, lists);
        let deep = self.lists_too_deep(&fragment.selections, lists, depths, root)?;
        depths.remove(name);
        self.memory.too_deep.insert((name, lists), deep);
        Ok(deep)
    }
}
