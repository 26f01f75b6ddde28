//! Assembling the trees of a plan: selection, mounts, roots.

use std::collections::BTreeMap;

use bytes::Bytes;
use solon::Version;
use solon::bundle::Manifest;

use super::modules::{self, Policy};
use super::names::Folders;
use super::plan::{Visit, build_failed};
use super::reference::apply_all;
use super::roots::{self, OwnedRoots};
use super::{Input, documents};
use crate::model::{Compat, Failure, Glob};
use crate::tree::{Fetched, Tree};

/// The contents of a bundle before it is compiled.
pub struct Assembly {
    /// The trees in the order of the plan.
    pub subtrees: Vec<Part>,
    /// The roots of the manifest.
    pub roots: Vec<Vec<String>>,
    /// The revision that the manifest of a source sets.
    pub manifest_revision: Option<String>,
    pub rego_version: i64,
    /// Notes for an operator.
    pub notes: Vec<String>,
}

/// A tree in its folder of the archive.
pub struct Part {
    pub folder: String,
    pub policies: Vec<Policy>,
    /// The files with documents at their mounted paths.
    pub documents: Vec<(String, Bytes)>,
    /// The other files, which only the hash of the bundle covers.
    pub others: Vec<(String, Bytes)>,
    /// The version that the manifest of the tree sets.
    version: Option<i64>,
}

/// Files and roots that a visit adds to the bundle.
struct Contribution {
    roots: Vec<Vec<String>>,
    has_files: bool,
}

/// Assembles the trees in the order of the plan.
///
/// # Errors
/// A glob is not valid, or two sources own the same documents.
pub fn assemble(input: &Input<'_>) -> Result<Assembly, Failure> {
    let mut assembler = Assembler {
        default: default_version(input),
        excludes: globs(&input.bundle.excluded_files)?,
        folders: Folders::default(),
        subtrees: Vec::new(),
        manifests: Vec::new(),
        notes: Vec::new(),
    };
    let mut owned = OwnedRoots::default();
    let visits = input.plan.visits();
    let (mut has_files, mut contributes) = (vec![], vec![]);
    for visit in visits {
        let fetched = input.sources.get(&visit.source);
        let fetched =
            fetched.ok_or_else(|| build_failed(format!("missing source {:?}", visit.source)))?;
        let contribution = assembler.visit(visit, fetched)?;
        has_files.push(contribution.has_files);
        contributes.push(!contribution.roots.is_empty());
        owned
            .add(&visit.source, contribution.roots)
            .map_err(build_failed)?;
    }
    if let Some(edge) = input.plan.empty_selection(&has_files, &contributes) {
        return Err(build_failed(format!(
            "requirement {:?}: path {:?} selects nothing",
            edge.source, edge.path
        )));
    }
    Ok(assembler.finish(owned.into_roots()))
}

struct Assembler {
    default: i64,
    excludes: Vec<Glob>,
    folders: Folders,
    subtrees: Vec<Part>,
    /// Manifests of trees, with the roots moved by the mounts.
    manifests: Vec<Manifest>,
    notes: Vec<String>,
}

impl Assembler {
    fn visit(&mut self, visit: &Visit, fetched: &Fetched) -> Result<Contribution, Failure> {
        let source = &visit.source;
        let failed = |problem: String| build_failed(format!("source {source} {problem}"));
        if visit.must_have_files && fetched.trees.iter().all(Tree::is_empty) {
            return Err(build_failed(format!(
                "source {source:?}: directory does not exist"
            )));
        }
        let mut contributions = Vec::new();
        let mut has_files = false;
        for tree in &fetched.trees {
            let files = self
                .included_files(tree)
                .map_err(|error| failed(format!("cannot be read: {error}")))?;
            if files.is_empty() {
                continue;
            }
            has_files = true;
            let folder = self.folders.next(source);
            let manifest = match files.get(".manifest") {
                None => Manifest::default(),
                Some(text) => Manifest::read(text)
                    .map_err(|error| failed(format!("has an invalid .manifest: {error}")))?,
            };
            let version = manifest.rego_version.map(|version| version.min(1));
            let mut part = Part {
                folder,
                policies: Vec::new(),
                documents: Vec::new(),
                others: Vec::new(),
                version,
            };
            let mut tree_roots = Vec::new();
            for (path, bytes) in in_walk_order(&files) {
                if modules::is_policy(path) {
                    let number = modules::file_version(&manifest, path)
                        .or(version)
                        .unwrap_or(self.default);
                    let policy =
                        modules::mount(&part.folder, path, bytes, language(number), &visit.mounts);
                    if let Some(policy) = policy.map_err(failed)? {
                        tree_roots.push(policy.package.clone());
                        part.policies.push(policy);
                    }
                }
            }
            for (path, bytes) in in_walk_order(&files) {
                if documents::is_document(path) {
                    let mounted = documents::mount(path, bytes, &visit.mounts);
                    if let Some((folder, path)) = mounted.map_err(failed)? {
                        tree_roots.push(folder);
                        part.documents.push((path, bytes.clone()));
                    }
                } else if !modules::is_policy(path) {
                    part.others.push((path.to_owned(), bytes.clone()));
                }
            }
            for root in tree_roots {
                roots::add(&mut contributions, root);
            }
            self.keep_manifest(manifest, visit);
            self.subtrees.push(part);
        }
        let is_placeholder = !has_files && !visit.has_requirements;
        if is_placeholder && visit.mounts.iter().any(|mount| !mount.prefix.is_empty()) {
            let root = apply_all(&visit.mounts, Vec::new());
            contributions.extend(root.filter(|root| !root.is_empty()));
        }
        Ok(Contribution {
            roots: contributions,
            has_files,
        })
    }

    /// Reads the files of a tree that are not excluded.
    fn included_files(&self, tree: &Tree) -> std::io::Result<BTreeMap<String, Bytes>> {
        let mut files = BTreeMap::new();
        for (path, content) in tree.files() {
            if !self.is_excluded(path) {
                files.insert(path.to_owned(), content.read()?);
            }
        }
        Ok(files)
    }

    /// Returns `true` if a glob matches the file or one of its folders.
    fn is_excluded(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(slash, _)| slash);
        ends.chain([path.len()]).any(|end| {
            let text = path.get(..end).unwrap_or_default();
            self.excludes.iter().any(|glob| glob.matches(text))
        })
    }

    fn keep_manifest(&mut self, mut manifest: Manifest, visit: &Visit) {
        if manifest.roots.is_some() {
            let moved_roots = manifest.roots().into_iter().filter_map(|root| {
                let steps = root.split('/').filter(|step| !step.is_empty());
                let steps = steps.map(str::to_owned).collect();
                apply_all(&visit.mounts, steps).map(|root| roots::slashed(&root))
            });
            manifest.roots = Some(moved_roots.collect());
        }
        self.manifests.push(manifest);
    }

    fn finish(mut self, computed: Vec<Vec<String>>) -> Assembly {
        let mut roots = computed;
        let of_source = self
            .manifests
            .iter()
            .find_map(|manifest| manifest.roots.clone().filter(|roots| !roots.is_empty()));
        if let Some(of_source) = of_source {
            let texts: Vec<String> = roots.iter().map(|root| roots::slashed(root)).collect();
            let (mut own_texts, mut source_texts) = (texts.clone(), of_source.clone());
            own_texts.sort();
            source_texts.sort();
            if own_texts != source_texts {
                self.notes.push(format!(
                    "builder: source manifest roots [{}] differ from computed roots [{}]; using manifest roots",
                    of_source.join(" "),
                    texts.join(" ")
                ));
            }
            let steps = |root: &String| {
                let steps = root.split('/').filter(|step| !step.is_empty());
                steps.map(str::to_owned).collect::<Vec<_>>()
            };
            let mut all: Vec<Vec<String>> = of_source.iter().map(steps).collect();
            // roots of other sources are kept, or the bundle could not be activated
            for root in roots {
                let overlaps = |existing: &Vec<String>| {
                    existing.starts_with(&root) || root.starts_with(existing)
                };
                if !all.iter().any(overlaps) {
                    all.push(root);
                }
            }
            roots = all;
        }
        if roots.is_empty() {
            roots.push(Vec::new());
        }
        let revisions = self.manifests.iter().map(|manifest| &manifest.revision);
        let manifest_revision = revisions.into_iter().find(|text| !text.is_empty()).cloned();
        let rego_version = self.rego_version();
        Assembly {
            subtrees: self.subtrees,
            roots,
            manifest_revision,
            rego_version,
            notes: self.notes,
        }
    }

    /// Returns 1 if a source requires it, the version of all sources if they agree, or else the default.
    fn rego_version(&self) -> i64 {
        let with_policies = self
            .subtrees
            .iter()
            .filter(|part| !part.policies.is_empty());
        let mut versions = with_policies.map(|part| part.version.unwrap_or(self.default));
        if self.subtrees.iter().any(|part| part.version == Some(1)) {
            return 1;
        }
        match versions.next() {
            Some(first) if versions.all(|version| version == first) => first,
            _ => self.default,
        }
    }
}

/// Returns the version of Rego of sources whose manifests have none.
fn default_version(input: &Input<'_>) -> i64 {
    let options = input.bundle.options.as_ref();
    if let Some(version) = options.and_then(|options| options.rego_version) {
        return version;
    }
    match input.compat {
        Compat::Strict => 1,
        Compat::Ocp => 0,
    }
}

/// Returns the version of the language with a number in manifests: 0, or V1 for any other number.
pub fn language(number: i64) -> Version {
    if number == 0 {
        Version::V0
    } else {
        Version::V1
    }
}

fn globs(patterns: &[String]) -> Result<Vec<Glob>, Failure> {
    let globs = patterns.iter().map(|pattern| {
        Glob::new(pattern)
            .map_err(|problem| build_failed(format!("excluded file pattern {pattern:?} {problem}")))
    });
    globs.collect()
}

/// Returns files in the order in which a walk of folders finds them: by the names of each folder.
fn in_walk_order(files: &BTreeMap<String, Bytes>) -> Vec<(&str, &Bytes)> {
    let mut all: Vec<(&str, &Bytes)> = files
        .iter()
        .map(|(path, bytes)| (path.as_str(), bytes))
        .collect();
    all.sort_by(|(a, _), (b, _)| a.split('/').cmp(b.split('/')));
    all
}
