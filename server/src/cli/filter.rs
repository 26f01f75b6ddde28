//! Options of data filters on the command line.

use solon::{FilterOptions, FilterTarget, Path, Value, json};

use super::report::Report;

/// Parses a target: `sql+postgresql`, or `postgresql` for short.
pub fn target(name: &str) -> Result<FilterTarget, String> {
    let parse_target = |name: &str| name.parse::<FilterTarget>();
    let target = if name.contains('+') {
        parse_target(name)
    } else {
        parse_target(&format!("sql+{name}")).or_else(|_| parse_target(&format!("ucast+{name}")))
    };
    target.map_err(|_| {
        let all: Vec<String> = FilterTarget::ALL.iter().map(ToString::to_string).collect();
        format!("expected one of {}", all.join(", "))
    })
}

/// Names of tables and columns in the database, from a JSON file.
#[derive(Clone)]
pub struct Mappings(Value);

/// Reads a file of mappings. The error names the file.
pub fn mappings(path: &str) -> Result<Mappings, String> {
    let text = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let value = json::read(&text).map_err(|error| format!("{path}: {error}"))?;
    Ok(Mappings(value))
}

/// Options that commands share.
#[derive(Clone, clap::Args)]
pub struct Filtering {
    /// The database's names for tables and columns: a JSON file in the form of `targetSQLTableMappings`.
    #[arg(long, value_name = "FILE", value_parser = mappings)]
    mappings: Option<Mappings>,
    /// Rule that computes masks of columns; by default, the one that METADATA names.
    #[arg(long, value_name = "REF")]
    mask_rule: Option<String>,
    /// Keep exactly the rows that are true, of tables that are as the mappings declare them.
    #[arg(long)]
    exact: bool,
    /// Say more than the published targets do, where it can be said exactly.
    #[arg(long)]
    extensions: bool,
}

impl Filtering {
    /// Returns the engine options for these targets.
    pub fn options(&self, targets: Vec<FilterTarget>) -> FilterOptions {
        let mut options = FilterOptions::new(targets)
            .exact(self.exact)
            .extensions(self.extensions);
        options.mappings = self.mappings.as_ref().map(|Mappings(value)| value.clone());
        options.mask_rule.clone_from(&self.mask_rule);
        options
    }
}

/// Returns the rule that a query names by a reference (`data.filters.include`) or by a path (`filters/include`).
pub fn rule(query: &str) -> Result<&str, Report> {
    let query = query.trim();
    if query.parse::<Path>().is_ok() && !query.contains(char::is_whitespace) {
        Ok(query)
    } else {
        let message = "a filter is made of a rule: expected a reference like data.filters.include";
        Err(Report::message(format!("{message}, got `{query}`")))
    }
}

/// Returns the outcome of each rule that a filter uses, one line each, with indented details.
pub fn explanation(path: &str, rules: &Value) -> String {
    let text = |object: &Value, name: &str| {
        let member = object.get(name).and_then(Value::as_str);
        member.unwrap_or_default().to_owned()
    };
    let location_prefix = |object: &Value| match object.get("location") {
        Some(location) => {
            let number = |name| {
                location
                    .get(name)
                    .map(ToString::to_string)
                    .unwrap_or_default()
            };
            format!(
                "{}:{}:{}: ",
                text(location, "file"),
                number("row"),
                number("col")
            )
        }
        None => String::new(),
    };
    let all = |object: &Value, name: &str| -> Vec<Value> {
        let member = object.get(name).and_then(Value::as_array);
        member.map(<[Value]>::to_vec).unwrap_or_default()
    };
    let mut lines = vec![format!("{path}:")];
    for rule in rules.as_array().unwrap_or_default() {
        let name = text(rule, "rule");
        let separator = if name.is_empty() { "" } else { " " };
        let outcome = text(rule, "outcome");
        lines.push(format!(
            "  {}{name}{separator}{outcome}",
            location_prefix(rule)
        ));
        if let Some(failed) = rule.get("failed") {
            lines.push(format!(
                "    {}{}",
                location_prefix(failed),
                text(failed, "expression")
            ));
        }
        let tests = all(rule, "tests");
        lines.extend(
            tests
                .iter()
                .filter_map(|test| Some(format!("    {}", test.as_str()?))),
        );
        for error in all(rule, "errors") {
            lines.push(format!(
                "    {}{}",
                location_prefix(&error),
                text(&error, "message")
            ));
        }
    }
    lines.push(String::new());
    lines.join("\n")
}
