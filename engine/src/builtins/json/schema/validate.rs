//! Validates documents.
//!
//! In addition to errors a validation has a score: if all subschemas of an `anyOf`, `oneOf` or `contains` fail, the
//! errors of the one with the best score are reported.

mod array;
mod object;
mod scalar;

use super::keywords::{
    Condition, SchemaDependency, SchemaKeywords, SchemaProgram, Subschema, SubschemaId,
};
use super::problem::{InstancePath, ProblemKind, SchemaViolation};
use crate::bug::Within as _;
use crate::builtins::{BuiltinContext, BuiltinError};
use crate::limits;
use crate::types::schema::validity::canonical;
use crate::value::{ObjectView, ValueRef};

/// Returns all errors of a document. The list is empty if the document is valid.
pub fn validate<'s, 'e>(
    call: &mut BuiltinContext<'e>,
    schema: &'s SchemaProgram,
    document: ValueRef<'e>,
) -> Result<Vec<SchemaViolation<'s>>, BuiltinError> {
    let mut validator = SchemaValidator {
        schema,
        call,
        references: Vec::new(),
        instance: 0,
        depth: 0,
        problem_count: 0,
    };
    let report = validator.report(0, document, InstancePath::Root)?;
    Ok(report.problems)
}

#[derive(Default)]
struct ValidationReport<'s> {
    problems: Vec<SchemaViolation<'s>>,
    score: i64,
}

impl ValidationReport<'_> {
    fn is_valid(&self) -> bool {
        self.problems.is_empty()
    }

    fn credit(&mut self) {
        self.score += 1;
    }
}

impl ValidationReport<'_> {
    fn merge(&mut self, mut other: Self) {
        self.problems.append(&mut other.problems);
        self.score += other.score;
    }

    /// Keeps the report with the better score, or the earlier one if the scores are equal.
    fn prefer(best: &mut Option<Self>, other: Self) {
        if best.as_ref().is_none_or(|best| other.score > best.score) {
            *best = Some(other);
        }
    }
}

type ItemsChecked = Result<(), BuiltinError>;

struct SchemaValidator<'v, 's, 'e> {
    schema: &'s SchemaProgram,
    call: &'v mut BuiltinContext<'e>,
    /// Subschemas of the references being followed, those of the current instance last.
    references: Vec<SubschemaId>,
    /// Start of the current instance's references in `references`.
    instance: usize,
    depth: usize,
    /// Number of errors found so far, including those that are not reported in the end.
    problem_count: usize,
}

impl<'s, 'e> SchemaValidator<'_, 's, 'e> {
    fn report(
        &mut self,
        id: SubschemaId,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
    ) -> Result<ValidationReport<'s>, BuiltinError> {
        let mut report = ValidationReport::default();
        self.part(id, value, path, &mut report)?;
        Ok(report)
    }

    fn blame(
        &mut self,
        report: &mut ValidationReport<'s>,
        path: InstancePath<'_, 'e>,
        kind: ProblemKind<'s>,
    ) -> ItemsChecked {
        self.call.budget.step()?;
        self.problem_count += 1;
        self.call
            .budget
            .reserve(self.problem_count * size_of::<SchemaViolation<'_>>())?;
        let field = path.field();
        report.problems.push(SchemaViolation { kind, field });
        report.score -= 2;
        Ok(())
    }

    fn part(
        &mut self,
        id: SubschemaId,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        self.call.budget.step()?;
        if self.depth > limits::SCHEMA_DEPTH {
            return Err(BuiltinError::error("schema is nested too deeply"));
        }
        self.depth += 1;
        let outcome =
            stacker::maybe_grow(limits::VALUE_STACK, limits::COMPILE_STACK, || {
                match self.schema.subschemas.get(id) {
                    Some(Subschema::Always(true)) | None => Ok(()),
                    Some(Subschema::Always(false)) => self.blame(report, path, ProblemKind::False),
                    Some(Subschema::Reference(target)) => self.follow(*target, value, path, report),
                    Some(Subschema::Keywords(keywords)) => {
                        self.keywords(keywords, value, path, report)
                    }
                }
            });
        self.depth -= 1;
        outcome
    }

    /// Follows a reference. A reference that leads back to itself without descending into the document would not
    /// terminate, so it is an error.
    fn follow(
        &mut self,
        target: SubschemaId,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let open = self.references.within(self.instance..);
        if open.contains(&target) {
            return Err(BuiltinError::error("schema refers to itself without end"));
        }
        self.references.push(target);
        self.part(target, value, path, report)?;
        self.references.pop();
        Ok(())
    }

    /// Validates the children of the current instance.
    fn inside(
        &mut self,
        id: SubschemaId,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        self.in_new_instance(|validator| validator.part(id, value, path, report))
    }

    fn in_new_instance<R>(
        &mut self,
        check: impl FnOnce(&mut Self) -> Result<R, BuiltinError>,
    ) -> Result<R, BuiltinError> {
        let outer = std::mem::replace(&mut self.instance, self.references.len());
        let outcome = check(self)?;
        self.instance = outer;
        Ok(outcome)
    }

    fn keywords(
        &mut self,
        keywords: &'s SchemaKeywords,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let type_name = kind(value);
        let allowed = keywords.types.allow(type_name)
            || type_name == "integer" && keywords.types.allow("number");
        if !allowed {
            let kind = ProblemKind::Type(&keywords.types, type_name);
            return self.blame(report, path, kind);
        }
        self.combinations(keywords, value, path, report)?;
        if let Some(number) = value.as_number() {
            if let Some(number_keywords) = &keywords.number {
                self.number(number_keywords, number, path, report)?;
            }
            report.credit();
            self.common(keywords, value, path, report)?;
        } else if let Some(items) = value.as_array() {
            self.array(&keywords.array, items, path, report)?;
            self.common(keywords, value, path, report)?;
        } else if let Some(members) = value.as_object() {
            self.object(&keywords.object, members, path, report)?;
            self.common(keywords, value, path, report)?;
            for (name, property) in &keywords.object.properties {
                if let Some(value) = members.get_str(name) {
                    let name = self.call.arena.text(name);
                    self.inside(
                        *property,
                        value,
                        InstancePath::Property(&path, name),
                        report,
                    )?;
                }
            }
        } else {
            self.common(keywords, value, path, report)?;
            if value.is_string() {
                if let Some(string_keywords) = &keywords.string {
                    self.string(string_keywords, value, path, report)?;
                }
                report.credit();
            }
        }
        report.credit();
        Ok(())
    }

    fn combinations(
        &mut self,
        keywords: &'s SchemaKeywords,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        if !keywords.any_of.is_empty() {
            self.any_of(&keywords.any_of, value, path, report)?;
        }
        if !keywords.one_of.is_empty() {
            self.one_of(&keywords.one_of, value, path, report)?;
        }
        let mut all = true;
        for part in &keywords.all_of {
            let part_report = self.report(*part, value, path)?;
            if !part_report.is_valid() {
                all = false;
                report.merge(part_report);
            }
        }
        if !all {
            self.blame(report, path, ProblemKind::AllOf)?;
        }
        if let Some(not) = keywords.not
            && self.report(not, value, path)?.is_valid()
        {
            self.blame(report, path, ProblemKind::Not)?;
        }
        if !keywords.dependencies.is_empty()
            && let Some(members) = value.as_object()
        {
            self.dependencies(keywords, value, members, path, report)?;
        }
        if let Some(condition) = &keywords.condition {
            self.condition(condition, value, path, report)?;
        }
        report.credit();
        Ok(())
    }

    fn any_of(
        &mut self,
        parts: &'s [SubschemaId],
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let mut best = None;
        for part in parts {
            let part_report = self.report(*part, value, path)?;
            if part_report.is_valid() {
                return Ok(());
            }
            ValidationReport::prefer(&mut best, part_report);
        }
        self.blame(report, path, ProblemKind::AnyOf)?;
        report.merge(best.unwrap_or_default());
        Ok(())
    }

    fn one_of(
        &mut self,
        parts: &'s [SubschemaId],
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let (mut valid, mut best) = (0, None);
        for part in parts {
            let part_report = self.report(*part, value, path)?;
            if part_report.is_valid() {
                valid += 1;
            } else if valid == 0 {
                ValidationReport::prefer(&mut best, part_report);
            }
        }
        if valid != 1 {
            self.blame(report, path, ProblemKind::OneOf)?;
            if valid == 0 {
                report.merge(best.unwrap_or_default());
            }
        }
        Ok(())
    }

    fn dependencies(
        &mut self,
        keywords: &'s SchemaKeywords,
        value: ValueRef<'e>,
        members: ObjectView<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        for (name, dependency) in &keywords.dependencies {
            if members.get_str(name).is_none() {
                continue;
            }
            match dependency {
                SchemaDependency::Names(names) => {
                    for name in names {
                        if members.get_str(name).is_none() {
                            self.blame(report, path, ProblemKind::Dependency(name))?;
                        }
                    }
                }
                SchemaDependency::Schema(part) => self.part(*part, value, path, report)?,
            }
        }
        Ok(())
    }

    fn condition(
        &mut self,
        condition: &'s Condition,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        let (branch, kind) = if self.report(condition.test, value, path)?.is_valid() {
            (condition.then, ProblemKind::Then)
        } else {
            (condition.otherwise, ProblemKind::Else)
        };
        if let Some(branch) = branch {
            let part_report = self.report(branch, value, path)?;
            if !part_report.is_valid() {
                self.blame(report, path, kind)?;
                report.merge(part_report);
            }
        }
        Ok(())
    }

    /// Validates keywords that apply to values of all types.
    fn common(
        &mut self,
        keywords: &'s SchemaKeywords,
        value: ValueRef<'e>,
        path: InstancePath<'_, 'e>,
        report: &mut ValidationReport<'s>,
    ) -> ItemsChecked {
        if keywords.constant.is_some() || keywords.values.is_some() {
            let text = canonical(&value.to_value());
            if let Some(constant) = &keywords.constant
                && *constant != text
            {
                self.blame(report, path, ProblemKind::Const(constant))?;
            }
            if let Some(values) = &keywords.values
                && !values.contains(&text)
            {
                self.blame(report, path, ProblemKind::Enum(values))?;
            }
        }
        if let Some((name, format)) = &keywords.format
            && let Some(text) = value.as_text()
            && !format.accepts(&text.to_str())
        {
            self.blame(report, path, ProblemKind::Format(name))?;
        }
        report.credit();
        Ok(())
    }
}

/// Returns the type name of a value. Numbers without a fraction are integers.
fn kind(value: ValueRef<'_>) -> &'static str {
    match value.as_number() {
        Some(number) if number.is_integer() => "integer",
        _ => value.kind().as_str(),
    }
}
