//! Explanation of a filter for authors of policies: the outcome of each rule.

use solon_syntax::source::Span;

use super::{FilterQuery, PreparedFilters, source_location};
use crate::compile::Compiled;
use crate::error::Error;
use crate::filter::{Rejection, RuleTracker, TrackedRule};
use crate::query::{Pinned, Request};
use crate::trace::Observer;
use crate::value::{Value, json};

impl PreparedFilters {
    /// Returns the outcome of each rule that contributes to the filter, as an array of objects in evaluation order.
    /// Each has `rule` (the reference of its document), `location` (`file`, `row`, `col`) and `outcome`:
    ///
    /// - `holds`: true for every row.
    /// - `fails`: false for every row; `failed` is the last expression that failed.
    /// - `depends`: depends on the row; `tests` are the conditions for the first target.
    /// - `refused`: cannot be expressed; `errors` explain why.
    ///
    /// Errors without a location follow at the end, without a rule.
    ///
    /// ```
    /// use solon::{Engine, FilterOptions, FilterTarget, Request};
    ///
    /// let engine = Engine::new();
    /// let policy = "package p\ninclude if input.admin\ninclude if input.rows.price < 11";
    /// engine.set_module("p.rego", policy)?;
    /// let options = FilterOptions::new([FilterTarget::Sqlite]).unknowns(["input.rows"]);
    /// let explained = engine.prepare_filters("data.p.include", &options)?.explain(&Request::new())?;
    /// assert_eq!(explained.pointer("/0/outcome"), Some(&"fails".into()));
    /// assert_eq!(explained.pointer("/1/tests/0"), Some(&"rows.price < '11'".into()));
    /// # Ok::<(), solon::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of [`Self::compile`], except for conditions that no filter can express.
    pub fn explain(&self, request: &Request<'_>) -> Result<Value, Error> {
        Error::caught(|| self.explained(request))
    }

    fn explained(&self, request: &Request<'_>) -> Result<Value, Error> {
        let pinned = self.handle.pin_for(request)?;
        let Pinned {
            snapshot,
            prepared: inner,
            ..
        } = &pinned;
        let compiled = &*snapshot.state().policy.compiled;
        let mut tracker = RuleTracker::default();
        let observer = Some(&mut tracker as &mut dyn Observer);
        let residuals = super::evaluate_residuals(&pinned, &inner.partial, request, observer)?;
        let (condition, mut all_rejections) = inner.judge(&residuals);
        match super::evaluate_masks(&pinned, request) {
            Ok(Err(rejection)) => all_rejections.push(rejection),
            Err(error) if condition.is_ok() => return Err(error),
            _ => {}
        }
        let mut tests: Vec<(Span, Value)> = Vec::new();
        match &condition {
            Ok(condition) => {
                for (target, mappings) in &inner.targets {
                    all_rejections.extend(inner.inexpressible_tests(condition, *target, mappings));
                }
                for (test, condition) in condition.tests().zip(condition.separate_tests()) {
                    if let Some((target, mappings)) = inner.targets.first()
                        && let Ok(Some(query)) =
                            inner.query_for_target(&condition, *target, mappings)
                    {
                        tests.push((test.span, test_text(query)));
                    }
                }
            }
            Err(rejections) => all_rejections.extend(rejections.iter().cloned()),
        }
        let rules = tracker.finish();
        let mut unplaced = all_rejections;
        let mut reports = Vec::with_capacity(rules.len());
        for rule in &rules {
            let is_in_rule = |span: Span| {
                enclosing_rule(&rules, span).is_some_and(|enclosing| enclosing.span == rule.span)
            };
            let (of_rule, rest) = unplaced
                .into_iter()
                .partition(|rejection| is_in_rule(rejection.span));
            unplaced = rest;
            let of_rule: Vec<Rejection> = of_rule;
            let tests = tests.iter().filter(|(span, _)| is_in_rule(*span));
            let mut unique_tests: Vec<Value> = Vec::new();
            for (_, test) in tests {
                if !unique_tests.contains(test) {
                    unique_tests.push(test.clone());
                }
            }
            reports.push(rule_report(compiled, rule, &of_rule, unique_tests));
        }
        if !unplaced.is_empty() {
            reports.push(Value::object(vec![
                ("outcome".into(), "refused".into()),
                ("errors".into(), errors(compiled, &unplaced)),
            ]));
        }
        Ok(Value::array(reports))
    }
}

fn rule_report(
    compiled: &Compiled,
    rule: &TrackedRule,
    all_rejections: &[Rejection],
    tests: Vec<Value>,
) -> Value {
    let outcome = match rule {
        _ if !all_rejections.is_empty() => "refused",
        TrackedRule {
            may_succeed: false, ..
        } => "fails",
        TrackedRule { depends: true, .. } => "depends",
        _ => "holds",
    };
    let mut fields: Vec<(Value, Value)> = vec![
        ("rule".into(), Value::string(&rule.path)),
        ("outcome".into(), outcome.into()),
    ];
    fields.extend(location(compiled, rule.span));
    if let (Some((text, span)), "fails") = (&rule.failed, outcome) {
        // the expression as the policy has it, without the names of generated variables
        let mut modules = compiled.modules.iter();
        let source = modules.find(|module| module.source.id == span.source);
        let (start, end) = (span.start as usize, span.end as usize);
        let source_text = source.and_then(|module| module.source.text.get(start..end));
        let source_text = Value::string(source_text.unwrap_or(text));
        let mut failed: Vec<(Value, Value)> = vec![("expression".into(), source_text)];
        failed.extend(location(compiled, *span));
        fields.push(("failed".into(), Value::object(failed)));
    }
    if !tests.is_empty() {
        fields.push(("tests".into(), Value::array(tests)));
    }
    if !all_rejections.is_empty() {
        fields.push(("errors".into(), errors(compiled, all_rejections)));
    }
    Value::object(fields)
}

fn errors(compiled: &Compiled, all_rejections: &[Rejection]) -> Value {
    let entry = |rejection: &Rejection| {
        let mut fields: Vec<(Value, Value)> =
            vec![("message".into(), Value::string(&rejection.message))];
        fields.extend(location(compiled, rejection.span));
        let details = rejection.details.as_ref();
        fields.extend(details.map(|details| ("details".into(), Value::string(details))));
        Value::object(fields)
    };
    Value::array(all_rejections.iter().map(entry).collect())
}

fn location(compiled: &Compiled, span: Span) -> Option<(Value, Value)> {
    let (file, row, col) = source_location(compiled, span)?;
    let fields = vec![
        ("file".into(), Value::string(&file)),
        ("row".into(), Value::from(i64::from(row))),
        ("col".into(), Value::from(i64::from(col))),
    ];
    Some(("location".into(), Value::object(fields)))
}

/// Returns the rule that contains a location: the last one of its file that starts before it.
fn enclosing_rule(rules: &[TrackedRule], span: Span) -> Option<&TrackedRule> {
    let before = rules.iter().filter(|rule| {
        span.is_somewhere() && rule.span.source == span.source && rule.span.start <= span.start
    });
    before.max_by_key(|rule| rule.span.start)
}

/// Returns a condition as text: SQL without `WHERE`, or UCAST as JSON.
fn test_text(query: FilterQuery) -> Value {
    match query {
        FilterQuery::Sql(statement) => {
            let text = statement
                .text
                .strip_prefix("WHERE ")
                .unwrap_or(&statement.text);
            Value::string(text)
        }
        FilterQuery::Ucast(tree) => {
            let mut text = Vec::new();
            json::write(tree.borrow(), &mut text);
            Value::string(&String::from_utf8_lossy(&text))
        }
    }
}
