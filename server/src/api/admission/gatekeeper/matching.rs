//! `spec.match` of constraints: which objects a constraint applies to.

use serde::Deserialize;

use super::section::or_default;
use super::selector::LabelSelector;
use super::subject::{NamespaceObject, Subject};
use super::wildcard::Wildcard;

/// Conditions on an object, which must all be true. An absent condition is true.
#[derive(Debug, Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    default,
    expecting = "an object"
)]
pub struct Match {
    #[serde(deserialize_with = "or_default")]
    kinds: Vec<KindSelector>,
    #[serde(deserialize_with = "or_default")]
    scope: String,
    #[serde(deserialize_with = "or_default")]
    namespaces: Vec<Wildcard>,
    #[serde(deserialize_with = "or_default")]
    excluded_namespaces: Vec<Wildcard>,
    #[serde(deserialize_with = "or_default")]
    label_selector: LabelSelector,
    #[serde(deserialize_with = "or_default")]
    namespace_selector: LabelSelector,
    #[serde(deserialize_with = "name")]
    name: Option<Wildcard>,
    #[serde(deserialize_with = "or_default")]
    source: Source,
}

/// Groups and kinds. An empty list contains all, as `*` does.
#[derive(Debug, Default, Deserialize)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    default,
    expecting = "an object"
)]
struct KindSelector {
    #[serde(deserialize_with = "or_default")]
    api_groups: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    kinds: Vec<String>,
}

/// Origin of objects.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
enum Source {
    #[default]
    All,
    /// Objects of requests.
    Original,
    /// Objects that Gatekeeper derives from others, such as the pods of a deployment. There are none here.
    Generated,
}

/// Reads a name. An empty one is the same as none.
fn name<'de, D: serde::Deserializer<'de>>(reader: D) -> Result<Option<Wildcard>, D::Error> {
    let text = Option::<String>::deserialize(reader)?;
    let text = text.filter(|text| !text.is_empty());
    let name = text.map(Wildcard::try_from).transpose();
    name.map_err(serde::de::Error::custom)
}

impl KindSelector {
    fn selects(&self, subject: &Subject<'_>) -> bool {
        let contains = |list: &[String], text: &str| {
            list.is_empty() || list.iter().any(|one| one == "*" || one == text)
        };
        contains(&self.api_groups, subject.group) && contains(&self.kinds, subject.kind)
    }
}

impl Match {
    /// Returns `true` if one of the objects matches. `namespace` is the namespace that contains them, if it is known.
    ///
    /// # Errors
    /// No object matches, and for one of them that cannot be decided: its namespace is unknown, or labels are not readable.
    pub fn matches(
        &self,
        subjects: &[Subject<'_>],
        namespace: Option<NamespaceObject<'_>>,
    ) -> Result<bool, String> {
        let mut problem = None;
        for subject in subjects {
            match self.matches_one(subject, namespace) {
                Ok(true) => return Ok(true),
                Ok(false) => {}
                Err(text) => problem = Some(text),
            }
        }
        problem.map_or(Ok(false), Err)
    }

    fn matches_one(
        &self,
        subject: &Subject<'_>,
        namespace: Option<NamespaceObject<'_>>,
    ) -> Result<bool, String> {
        let is_matched = self.matches_kind(subject)
            && self.matches_scope(subject)
            && self.matches_namespaces(subject)
            && self.matches_name(subject)
            && self.source != Source::Generated;
        // errors of selectors count only for objects that nothing else excludes
        Ok(is_matched
            && self.matches_labels(subject)?
            && self.matches_namespace_labels(subject, namespace)?)
    }

    fn matches_kind(&self, subject: &Subject<'_>) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kinds| kinds.selects(subject))
    }

    fn matches_scope(&self, subject: &Subject<'_>) -> bool {
        let is_namespaced = subject.namespace.is_some();
        match self.scope.as_str() {
            "Cluster" => !is_namespaced,
            "Namespaced" => is_namespaced,
            // as Gatekeeper does
            _ => true,
        }
    }

    fn matches_namespaces(&self, subject: &Subject<'_>) -> bool {
        let Some(namespace) = subject.compared_namespace() else {
            return true;
        };
        let contains = |list: &[Wildcard]| list.iter().any(|name| name.matches(namespace));
        (self.namespaces.is_empty() || contains(&self.namespaces))
            && !contains(&self.excluded_namespaces)
    }

    fn matches_name(&self, subject: &Subject<'_>) -> bool {
        self.name.as_ref().is_none_or(|name| {
            name.matches(subject.name) || name.matches_generated(subject.generate_name)
        })
    }

    fn matches_labels(&self, subject: &Subject<'_>) -> Result<bool, String> {
        let selector = &self.label_selector;
        Ok(selector.is_empty() || selector.selects(&subject.labels()?))
    }

    fn matches_namespace_labels(
        &self,
        subject: &Subject<'_>,
        namespace: Option<NamespaceObject<'_>>,
    ) -> Result<bool, String> {
        let selector = &self.namespace_selector;
        if selector.is_empty() {
            return Ok(true);
        }
        if subject.is_namespace() {
            return Ok(selector.selects(&subject.labels()?));
        }
        match (subject.namespace, namespace) {
            (None, _) => Ok(true),
            (Some(_), Some(namespace)) => Ok(selector.selects(&namespace.labels()?)),
            (Some(name), None) => Err(format!(
                "`namespaceSelector` needs the labels of the namespace `{name}`, which is not in the inventory"
            )),
        }
    }
}
