//! Validation rules for fragments and spreads.

use hashbrown::HashMap;

use super::super::ast::{DefinitionKind, FragmentDefinition, Inline, Selection, Spread};
use super::super::parser::ParseResult;
use super::super::type_system::TypeDef;
use super::DocumentValidator;
use super::suggestions::HINT;

impl<'d> DocumentValidator<'d> {
    /// Checks a fragment, after its children.
    pub(super) fn fragment_rules(
        &mut self,
        fragment: &'d FragmentDefinition<'d>,
        ty: Option<&'d TypeDef>,
    ) -> ParseResult<()> {
        let (name, position) = (&fragment.name, fragment.position);
        let condition = &fragment.type_condition;
        if ty.is_some_and(|ty| !ty.kind.is_composite()) {
            let message = format!(
                "Fragment \"{name}\" cannot condition on non composite type \"{condition}\"."
            );
            self.report(message, position)?;
        }
        if ty.is_none() {
            let names = self.types.type_names();
            let hint = self.near_names(HINT, condition, names, position)?;
            self.report(format!("Unknown type \"{condition}\".{hint}"), position)?;
        }
        self.cycles(fragment)?;
        self.memory.spreads_counted = false;
        if !self.memory.spread.contains(name.as_ref()) {
            self.report(format!("Fragment \"{name}\" is never used."), position)?;
        }
        self.overlaps(ty, &fragment.selections)?;
        if !self.memory.fragments.insert(name) {
            let message = format!("There can be only one fragment named \"{name}\".");
            self.report(message, position)?;
        }
        Ok(())
    }

    /// Checks an inline fragment, after its children.
    pub(super) fn inline_rules(
        &mut self,
        parent: Option<&'d TypeDef>,
        ty: Option<&'d TypeDef>,
        inline: &'d Inline<'d>,
    ) -> ParseResult<()> {
        let (condition, position) = (&inline.type_condition, inline.position);
        if !condition.is_empty() {
            if ty.is_some_and(|ty| !ty.kind.is_composite()) {
                let message =
                    format!("Fragment cannot condition on non composite type \"{condition}\".");
                self.report(message, position)?;
            }
            if ty.is_none() {
                self.report(format!("Unknown type \"{condition}\"."), position)?;
            }
        }
        self.overlaps(ty, &inline.selections)?;
        if let (Some(parent), Some(ty)) = (parent, ty)
            && !condition.is_empty()
            && !is_possible(parent, ty)
        {
            let message = format!("Fragment {}", mismatch_message(parent, condition));
            self.report(message, position)?;
        }
        Ok(())
    }

    /// Checks a spread, after the fragment it refers to.
    pub(super) fn spread_rules(
        &mut self,
        parent: Option<&'d TypeDef>,
        fragment: Option<&'d FragmentDefinition<'d>>,
        spread: &'d Spread<'d>,
    ) -> ParseResult<()> {
        let (name, position) = (&spread.name, spread.position);
        if fragment.is_none() {
            self.report(format!("Unknown fragment \"{name}\"."), position)?;
        }
        if self.memory.spreads_counted {
            self.memory.spread.insert(name);
        }
        let Some(fragment) = fragment else {
            return Ok(());
        };
        let ty = self.types.get(&fragment.type_condition);
        if let (Some(parent), Some(ty)) = (parent, ty)
            && !is_possible(parent, ty)
        {
            let message = format!(
                "Fragment \"{name}\" {}",
                mismatch_message(parent, &fragment.type_condition)
            );
            self.report(message, position)?;
        }
        Ok(())
    }

    /// Reports cycles of fragments that contain this one.
    fn cycles(&mut self, fragment: &'d FragmentDefinition<'d>) -> ParseResult<()> {
        let mut search = Search::default();
        self.search(fragment, &mut search)
    }

    fn search(
        &mut self,
        fragment: &'d FragmentDefinition<'d>,
        search: &mut Search<'d>,
    ) -> ParseResult<()> {
        let name = fragment.name.as_ref();
        if !self.memory.searched_for_cycles.insert(name) {
            return Ok(());
        }
        let spreads = spreads_in(&fragment.selections);
        if spreads.is_empty() {
            return Ok(());
        }
        search.open_fragments.insert(name, search.path.len());
        for spread in spreads {
            let name = spread.name.as_ref();
            self.spend(1, spread.position)?;
            match search.open_fragments.get(name) {
                None => {
                    if let Some(inner) = self.fragments.get(name).copied() {
                        search.path.push(name);
                        self.nested(spread.position, |validator| validator.search(inner, search))?;
                        search.path.pop();
                    }
                }
                Some(&from) => {
                    let cycle = search.path.get(from..).unwrap_or_default();
                    let names: Vec<String> =
                        cycle.iter().map(|name| format!("\"{name}\"")).collect();
                    let via = if names.is_empty() { "" } else { " via " };
                    let message = format!(
                        "Cannot spread fragment \"{name}\" within itself{via}{}.",
                        names.join(", ")
                    );
                    self.report(message, spread.position)?;
                }
            }
        }
        search.open_fragments.remove(name);
        Ok(())
    }
}

/// Returns `true` if a value may have both types, or if one of them has no selections, which another rule reports.
fn is_possible(parent: &TypeDef, ty: &TypeDef) -> bool {
    if !parent.kind.is_composite() || !ty.kind.is_composite() {
        return true;
    }
    let only_parent = [parent.id];
    let mut left: &[usize] = match parent.kind {
        DefinitionKind::Object => &only_parent,
        _ => &parent.possible,
    };
    let mut right: &[usize] = &ty.possible;
    while let ([a, more_left @ ..], [b, more_right @ ..]) = (left, right) {
        match a.cmp(b) {
            std::cmp::Ordering::Less => left = more_left,
            std::cmp::Ordering::Greater => right = more_right,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}

#[derive(Default)]
struct Search<'d> {
    /// Spreads on the current path.
    path: Vec<&'d str>,
    /// Fragments on the current path, with the length of the path to them.
    open_fragments: HashMap<&'d str, usize>,
}

fn mismatch_message(parent: &TypeDef, condition: &str) -> String {
    format!(
        "cannot be spread here as objects of type \"{}\" can never be of type \"{condition}\".",
        parent.name
    )
}

/// Returns all spreads in selections level by level, the deepest level first.
fn spreads_in<'d>(selections: &'d [Selection<'d>]) -> Vec<&'d Spread<'d>> {
    let mut spreads = Vec::new();
    let mut levels = vec![selections];
    while let Some(level) = levels.pop() {
        for selection in level {
            match selection {
                Selection::Spread(spread) => spreads.push(spread),
                Selection::Field(field) => levels.push(&field.selections),
                Selection::Inline(inline) => levels.push(&inline.selections),
            }
        }
    }
    spreads
}
