//! Data filters.

use serde::Deserialize;
use serde_json::value::RawValue;

use solon::{Engine, Error, FilterOptions, FilterQuery, FilterTarget, Request, Value};

use super::{Line, Output, read_json};

/// A requested filter.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct FilterFields<'a> {
    /// Condition language.
    target: String,
    /// Dialect of the language.
    dialect: String,
    /// Database names of tables and columns.
    #[serde(borrow)]
    mappings: Option<&'a RawValue>,
    /// Rule that computes masks.
    mask_rule: Option<String>,
    /// `true` if values are passed as parameters.
    parameters: bool,
    /// `true` for exact filters.
    exact: bool,
    /// `true` for extensions beyond OPA.
    extensions: bool,
}

/// Compiles the filter of a reference.
pub fn compile(
    engine: &Engine,
    line: &Line<'_>,
    fields: &FilterFields<'_>,
    request: &Request<'_>,
) -> Result<Output, Error> {
    let target = format!("{}+{}", fields.target, fields.dialect);
    let target: FilterTarget = target.parse()?;
    let mut options = FilterOptions::new([target])
        .unknowns(line.unknowns.clone().unwrap_or_default())
        .disable_inlining(line.disable_inlining.clone())
        .parameters(fields.parameters)
        .allow_undefined(true)
        .exact(fields.exact)
        .extensions(fields.extensions);
    options.mask_rule.clone_from(&fields.mask_rule);
    if let Some(mappings) = fields.mappings {
        options = options.mappings(read_json(mappings.get())?);
    }
    let made = engine.filters(&*line.query, &options, request)?;
    let mut more = Vec::new();
    if let Some(filter) = made
        .filters
        .into_iter()
        .next()
        .and_then(|filter| filter.query)
    {
        match filter {
            FilterQuery::Sql(sql) => {
                more.push(("filter", Value::from(sql.text)));
                if !sql.parameters.is_empty() {
                    more.push(("parameters", Value::array(sql.parameters)));
                }
            }
            FilterQuery::Ucast(tree) => more.push(("filter", tree)),
        }
    }
    if let Some(masks) = made.masks {
        more.push(("masks", masks));
    }
    Ok(Output {
        solutions: Vec::new(),
        more,
    })
}
