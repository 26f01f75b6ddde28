//! Keywords for arrays: items, length, uniqueness, `contains`.

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
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        match &keywords.items {
            ItemsKeyword::Any => {}
            ItemsKeyword::Alike(part) => {
                for (position, item) in items.iter().enumerate() {
                    self.inside(*part, item, InstancePath::Item(&path, position), report)?;
                }
            }
            ItemsKeyword::Each(parts, additional) => {
                self.each(parts, *additional, items, path, report)?;
            }
        }
        let length = items.len();
        if let Some(min) = keywords.min_items
            && length < min
        {
            self.blame(report, path, ProblemKind::MinItems(min))?;
        }
        if let Some(max) = keywords.max_items
            && length > max
        {
            self.blame(report, path, ProblemKind::MaxItems(max))?;
        }
        if keywords.unique {
            self.unique(items, path, report)?;
        }
        if let Some(part) = keywords.contains {
            self.contains(part, items, path, report)?;
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
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        for (position, (part, item)) in parts.iter().zip(items.iter()).enumerate() {
            self.inside(*part, item, InstancePath::Item(&path, position), report)?;
        }
        if parts.is_empty() || parts.len() >= items.len() {
            return Ok(());
        }
        match additional {
            Additional::Allowed => Ok(()),
            Additional::Forbidden => self.blame(report, path, ProblemKind::AdditionalItems),
            Additional::Schema(part) => {
                for (position, item) in items.iter().enumerate().skip(parts.len()) {
                    self.inside(part, item, InstancePath::Item(&path, position), report)?;
                }
                Ok(())
            }
        }
    }

    fn unique(
        &mut self,
        items: ArrayView<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let mut positions = HashMap::with_capacity(items.len());
        for (position, item) in items.iter().enumerate() {
            self.call.budget.step()?;
            if let Some(earlier) = positions.insert(canonical(&item.to_value()), position) {
                self.blame(report, path, ProblemKind::Unique(earlier, position))?;
            }
        }
        Ok(())
    }

    fn contains(
        &mut self,
        part: SubschemaId,
        items: ArrayView<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let mut best = None;
        for (position, item) in items.iter().enumerate() {
            let item_path = InstancePath::Item(&path, position);
            let item_report = self.in_new_instance(|inner| inner.report(part, item, item_path))?;
            if item_report.is_valid() {
                return Ok(());
            }
            ValidationReport::prefer(&mut best, item_report);
        }
        self.blame(report, path, ProblemKind::Contains)?;
        report.merge(best.unwrap_or_default());
        Ok(())
    }
}
