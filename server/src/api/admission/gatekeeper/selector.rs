//! Label selectors of Kubernetes.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::section::or_default;

pub type LabelMap<'a> = BTreeMap<&'a str, &'a str>;

/// A label selector. An empty one selects every object.
#[derive(Debug, Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    default,
    expecting = "an object"
)]
pub struct LabelSelector {
    #[serde(deserialize_with = "or_default")]
    match_labels: BTreeMap<String, String>,
    #[serde(deserialize_with = "or_default")]
    match_expressions: Vec<Requirement>,
}

/// A condition on one label.
#[derive(Debug, Deserialize)]
#[serde(try_from = "RequirementSection")]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object")]
struct RequirementSection {
    key: String,
    operator: Operator,
    #[serde(default, deserialize_with = "or_default")]
    values: Vec<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl TryFrom<RequirementSection> for Requirement {
    type Error = String;

    fn try_from(section: RequirementSection) -> Result<Self, String> {
        let RequirementSection {
            key,
            operator,
            values,
        } = section;
        match (operator, values.is_empty()) {
            (Operator::In | Operator::NotIn, true) => Err(format!(
                "`values` must not be empty for the operator {operator:?}"
            )),
            (Operator::Exists | Operator::DoesNotExist, false) => Err(format!(
                "`values` must be empty for the operator {operator:?}"
            )),
            _ => Ok(Self {
                key,
                operator,
                values,
            }),
        }
    }
}

impl LabelSelector {
    /// Returns `true` if every object is selected, whatever its labels.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }

    /// Returns `true` if an object with these labels is selected.
    pub fn selects(&self, labels: &LabelMap<'_>) -> bool {
        let value = |key: &str| labels.get(key).copied();
        let equal = self
            .match_labels
            .iter()
            .all(|(key, expected)| value(key) == Some(expected));
        equal
            && self
                .match_expressions
                .iter()
                .all(|requirement| requirement.is_met_by(value(&requirement.key)))
    }
}

impl Requirement {
    /// Returns `true` if the value of the label meets the condition.
    fn is_met_by(&self, value: Option<&str>) -> bool {
        let is_listed = value.is_some_and(|value| self.values.iter().any(|one| one == value));
        match self.operator {
            Operator::In => is_listed,
            Operator::NotIn => !is_listed,
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}
