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
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        if let Some(factor) = &keywords.multiple_of
            && !number.is_multiple_of(factor.as_number())
        {
            let kind = ProblemKind::MultipleOf(factor.as_number());
            self.blame(report, path, kind)?;
        }
        let compare = |limit: &NumberBuf| number.compare(limit.as_number());
        if let Some(limit) = &keywords.maximum
            && compare(limit).is_gt()
        {
            let kind = ProblemKind::Maximum(limit.as_number());
            self.blame(report, path, kind)?;
        }
        if let Some(limit) = &keywords.exclusive_maximum
            && compare(limit).is_ge()
        {
            let kind = ProblemKind::ExclusiveMaximum(limit.as_number());
            self.blame(report, path, kind)?;
        }
        if let Some(limit) = &keywords.minimum
            && compare(limit).is_lt()
        {
            let kind = ProblemKind::Minimum(limit.as_number());
            self.blame(report, path, kind)?;
        }
        if let Some(limit) = &keywords.exclusive_minimum
            && compare(limit).is_le()
        {
            let kind = ProblemKind::ExclusiveMinimum(limit.as_number());
            self.blame(report, path, kind)?;
        }
        Ok(())
    }

    pub(super) fn string(
        &mut self,
        keywords: &'s StringKeywords,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let text = value.text_or_empty();
        let length = runes::count(text.as_bytes());
        if let Some(min) = keywords.min_length
            && length < min
        {
            self.blame(report, path, ProblemKind::MinLength(min))?;
        }
        if let Some(max) = keywords.max_length
            && length > max
        {
            self.blame(report, path, ProblemKind::MaxLength(max))?;
        }
        if let Some((pattern, regex)) = &keywords.pattern
            && !regex.is_match(&text)
        {
            self.blame(report, path, ProblemKind::Pattern(pattern))?;
        }
        Ok(())
    }
}
