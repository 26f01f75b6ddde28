//! All constraints of a server, with their templates compiled.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use solon::Value;

use super::constraint::{CONSTRAINTS, Constraint, Evaluate};
use super::manifest::{self, Manifest};
use super::subject::{NamespaceObject, ReviewedRequest};
use super::template::{ConstraintTemplate, TEMPLATES};
use super::verdict::Verdict;

/// Groups of objects that often are next to constraints and mean nothing to a server.
const SKIPPED: [&str; 2] = ["kustomize.config.k8s.io", "test.gatekeeper.sh"];

pub struct ConstraintSet {
    /// In the order of kind and name.
    constraints: Vec<Constraint>,
}

impl ConstraintSet {
    /// Loads the templates and constraints of files and folders.
    ///
    /// # Errors
    /// A file cannot be read, or an object is not valid: names the file, the object and the problem. A set without constraints, or
    /// without an action of the webhook, is an error, because it would admit everything.
    pub fn load(paths: &[PathBuf]) -> Result<Self, String> {
        let set = Self::from_manifests(&manifest::read(paths)?)?;
        if set.constraints.is_empty() {
            let paths: Vec<_> = paths
                .iter()
                .map(|path| path.display().to_string())
                .collect();
            return Err(format!("no constraints in {}", paths.join(", ")));
        }
        if set.constraints.iter().all(|one| one.actions.is_empty()) {
            return Err("no constraint has an action of the webhook".to_owned());
        }
        Ok(set)
    }

    /// Compiles templates and constraints, which may be in any order.
    ///
    /// # Errors
    /// Errors of [`Self::load`].
    pub fn from_manifests(manifests: &[Manifest]) -> Result<Self, String> {
        let mut templates: BTreeMap<String, Arc<ConstraintTemplate>> = BTreeMap::new();
        let mut instances = Vec::new();
        for manifest in manifests {
            match (manifest.group(), manifest.kind()) {
                (TEMPLATES, "ConstraintTemplate") => {
                    let template = ConstraintTemplate::read(manifest)?;
                    let kind = template.kind.clone();
                    if let Some(first) = templates.insert(kind, Arc::new(template)) {
                        return Err(twice(manifest, &first.label));
                    }
                }
                (CONSTRAINTS, _) => instances.push(manifest),
                (group, _) if SKIPPED.contains(&group) => {}
                (group, kind) => {
                    return Err(format!(
                        "{}: unsupported object `{kind}` of the group `{group}`: expected a `ConstraintTemplate` of `{TEMPLATES}` or a constraint of `{CONSTRAINTS}`",
                        manifest.label()
                    ));
                }
            }
        }
        let mut constraints: BTreeMap<(String, String), Constraint> = BTreeMap::new();
        for manifest in instances {
            let kind = manifest.kind();
            let template = templates.get(kind).ok_or_else(|| {
                let template = kind.to_lowercase();
                format!(
                    "{}: missing ConstraintTemplate: template \"{template}\" not found",
                    manifest.label()
                )
            })?;
            let constraint = Constraint::read(manifest, template.clone())?;
            let key = (constraint.kind.clone(), constraint.name.clone());
            if let Some(first) = constraints.insert(key, constraint) {
                return Err(twice(manifest, &first.label));
            }
        }
        Ok(Self {
            constraints: constraints.into_values().collect(),
        })
    }

    /// Reviews a request. `documents` are the documents of the server, with the inventory. `evaluate` evaluates a template.
    pub fn review(
        &self,
        request: &ReviewedRequest<'_>,
        documents: &Value,
        evaluate: &mut Evaluate<'_>,
    ) -> Verdict {
        let namespace = request.namespace();
        let namespace = namespace.and_then(|name| NamespaceObject::find(documents, name));
        let review = request.document(namespace);
        let mut verdict = Verdict::default();
        for constraint in &self.constraints {
            if constraint.actions.is_empty() {
                continue;
            }
            match constraint.applies_to(request, namespace) {
                Ok(false) => {}
                Ok(true) => match constraint.violations(&review, documents, evaluate) {
                    Ok(violations) => verdict.add(constraint, violations),
                    Err(problem) => verdict.add_failure(constraint, problem),
                },
                Err(problem) => verdict.add_undecided_match(constraint, problem),
            }
        }
        verdict
    }
}

fn twice(manifest: &Manifest, first: &str) -> String {
    format!("{}: the object is also in {first}", manifest.label())
}

/// The constraints in force, if there are any. Clones share them.
#[derive(Clone, Default)]
pub struct ActiveConstraints(Arc<ArcSwapOption<ConstraintSet>>);

impl ActiveConstraints {
    /// Returns the constraints. A review must load them once.
    pub fn load(&self) -> Option<Arc<ConstraintSet>> {
        self.0.load_full()
    }

    /// Replaces the constraints. Reviews that have loaded the previous ones finish with them.
    pub fn replace(&self, constraints: ConstraintSet) {
        self.0.store(Some(Arc::new(constraints)));
    }
}
