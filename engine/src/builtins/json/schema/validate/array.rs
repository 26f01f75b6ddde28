//! Arrays.

use std::collections::HashMap;

use super::{ItemsChecked, SchemaValidator, ValidationReport};
use crate::builtins::json::schema::keywords::{
    Additional, ArrayKeywords, ItemsKeyword, SubschemaId,
};
use crate::builtins::json::schema::problem::{InstancePath, ProblemKind};
use crate::types::schema::validity::canonical;
use crate::value::array::ArrayView;

impl<'s, 'e> SchemaValidator<'_, 's, 'e> {
    pub(super) fn array(
        &mut self,
        keywords: &'s ArrayKeywords,
        items: ArrayView<'e>,
        place: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        match &keywords.items {
            ItemsKeyword::Any => {}
            ItemsKeyword::Alike(part) => {
                for (position, item) in items.iter().enumerate() {
                    self.inside(*part, item, InstancePath::Item(&place, position), report)?;
                }
            }
            ItemsKeyword::Each(parts, additional) => {
                self.each(parts, *additional, items, place, report)?;
            }
        }
        let length = items.len();
        if let Some(least) = keywords.min_items
            && length < least
        {
            self.blame(report, place, ProblemKind::MinItems(least))?;
        }
        if let Some(most) = keywords.max_items
            && length > most
        {
            self.blame(report, place, ProblemKind::MaxItems(most))?;
        }
        if keywords.unique {
            self.unique(items, place, report)?;
        }
        if let Some(part) = keywords.contains {
            self.contains(part, items, place, report)?;
        }
        report.credit();
        Ok(())
    }

    /// Validates items that have a schema each. Does nothing without such schemas.
    fn each(
        &mut self,
        parts: &'s [SubschemaId],
        additional: Additional,
        items: ArrayView<'e>,
        place: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        for (position, (part, item)) in parts.iter().zip(items.iter()).enumerate() {
            self.inside(*part, item, InstancePath::Item(&place, position), report)?;
        }
        if parts.is_empty() || parts.len() >= items.len() {
            return Ok(());
        }
        match additional {
            Additional::Allowed => Ok(()),
            Additional::Forbidden => self.blame(report, place, ProblemKind::AdditionalItems),
            Additional::Schema(part) => {
                for (position, item) in items.iter().enumerate().skip(parts.len()) {
                    self.inside(part, item, InstancePath::Item(&place, position), report)?;
                }
                Ok(())
            }
        }
    }

    fn unique(
        &mut self,
        items: ArrayView<'e>,
        place: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let mut seen = HashMap::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            self.call.budget.step()?;
            if let Some(earlier) = seen.insert(canonical(&item.to_value()), position) {
                self.blame(report, place, ProblemKind::Unique(earlier, position))?;
            }
        }
        Ok(())
    }

    fn contains(
        &mut self,
        part: SubschemaId,
        items: ArrayView<'e>,
        place: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let mut best = None;
        for (position, item) in items.iter().enumerate() {
            let place = InstancePath::Item(&place, position);
            let found = self.in_new_instance(|inner| inner.report(part, item, place))?;
            if found.is_valid() {
                return Ok(());
            }
            ValidationReport::prefer(&mut best, found);
        }
        self.blame(report, place, ProblemKind::Contains)?;
        report.merge(best.unwrap_or_default());
        Ok(())
    }
}
