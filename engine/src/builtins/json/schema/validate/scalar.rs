//! Numbers and strings.

use super::{ItemsChecked, SchemaValidator, ValidationReport};
use crate::builtins::json::schema::keywords::{NumberKeywords, StringKeywords};
use crate::builtins::json::schema::problem::{InstancePath, ProblemKind};
use crate::builtins::runes;
use crate::value::{Number, NumberBuf, ValueRef};

impl<'s, 'e> SchemaValidator<'_, 's, 'e> {
    pub(super) fn number(
        &mut self,
        keywords: &'s NumberKeywords,
        number: Number<'e>,
        place: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        if let Some(factor) = &keywords.multiple_of
            && !number.is_multiple_of(factor.as_number())
        {
            let kind = ProblemKind::MultipleOf(factor.as_number());
            self.blame(report, place, kind)?;
        }
        let compare = |bound: &NumberBuf| number.compare(bound.as_number());
        if let Some(bound) = &keywords.maximum
            && compare(bound).is_gt()
        {
            let kind = ProblemKind::Maximum(bound.as_number());
            self.blame(report, place, kind)?;
        }
        if let Some(bound) = &keywords.exclusive_maximum
            && compare(bound).is_ge()
        {
            let kind = ProblemKind::ExclusiveMaximum(bound.as_number());
            self.blame(report, place, kind)?;
        }
        if let Some(bound) = &keywords.minimum
            && compare(bound).is_lt()
        {
            let kind = ProblemKind::Minimum(bound.as_number());
            self.blame(report, place, kind)?;
        }
        if let Some(bound) = &keywords.exclusive_minimum
            && compare(bound).is_le()
        {
            let kind = ProblemKind::ExclusiveMinimum(bound.as_number());
            self.blame(report, place, kind)?;
        }
        Ok(())
    }

    pub(super) fn string(
        &mut self,
        keywords: &'s StringKeywords,
        value: ValueRef<'e>,
        place: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let text = value.text_or_empty();
        let length = runes::count(text.as_bytes());
        if let Some(least) = keywords.min_length
            && length < least
        {
            self.blame(report, place, ProblemKind::MinLength(least))?;
        }
        if let Some(most) = keywords.max_length
            && length > most
        {
            self.blame(report, place, ProblemKind::MaxLength(most))?;
        }
        if let Some((pattern, regex)) = &keywords.pattern
            && !regex.is_match(&text)
        {
            self.blame(report, place, ProblemKind::Pattern(pattern))?;
        }
        Ok(())
    }
}
