//! Keywords for objects: properties, patterns of names, dependencies.

use super::{ItemsChecked, SchemaValidator, ValidationReport};
use crate::builtins::json::schema::keywords::{Additional, ObjectKeywords};
use crate::builtins::json::schema::problem::{InstancePath, ProblemKind};
use crate::value::{ObjectView, ValueRef};

impl<'s, 'e> SchemaValidator<'_, 's, 'e> {
    pub(super) fn object(
        &mut self,
        keywords: &'s ObjectKeywords,
        members: ObjectView<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let length = members.len();
        if let Some(min) = keywords.min_properties
            && length < min
        {
            self.blame(report, path, ProblemKind::MinProperties(min))?;
        }
        if let Some(max) = keywords.max_properties
            && length > max
        {
            self.blame(report, path, ProblemKind::MaxProperties(max))?;
        }
        for name in &keywords.required {
            if members.get_str(name).is_some() {
                report.credit();
            } else {
                self.blame(report, path, ProblemKind::Required(name))?;
            }
        }
        let is_open = matches!(keywords.additional, Additional::Allowed);
        if !keywords.patterns.is_empty() || !is_open {
            for (name, value) in members.iter() {
                self.other_property(keywords, name, value, path, report)?;
            }
        }
        if let Some(part) = keywords.names {
            for (name, _) in members.iter() {
                let name_report = self.in_new_instance(|inner| inner.report(part, name, path))?;
                if !name_report.is_valid() {
                    let text = name.text_or_empty().to_str().into_owned();
                    self.blame(report, path, ProblemKind::PropertyName(text))?;
                    report.merge(name_report);
                }
            }
        }
        report.credit();
        Ok(())
    }

    /// Validates `patternProperties` and `additionalProperties` of one property.
    fn other_property(
        &mut self,
        keywords: &'s ObjectKeywords,
        name: ValueRef<'e>,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let text = name.text_or_empty();
        let mut is_described = false;
        for (pattern, part) in &keywords.patterns {
            if pattern.is_match(&text) {
                is_described = true;
                self.inside(*part, value, InstancePath::Property(&path, name), report)?;
            }
        }
        if is_described {
            report.credit();
            return Ok(());
        }
        if keywords.properties.contains_key(&*text.to_str()) {
            return Ok(());
        }
        match keywords.additional {
            Additional::Allowed => Ok(()),
            Additional::Forbidden => {
                let kind = ProblemKind::AdditionalProperty(text.to_str().into_owned());
                self.blame(report, path, kind)
            }
            Additional::Schema(part) => {
                self.inside(part, value, InstancePath::Property(&path, name), report)
            }
        }
    }
}
