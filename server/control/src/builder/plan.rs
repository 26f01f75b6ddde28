//! The sources that a bundle needs, and how they are mounted.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::rc::Rc;

use super::reference::{self, Mount};
use crate::limits;
use crate::model::{Bundle, Failure, Glob, Phase, Requirement, Source, Stack, Status};

/// The sources that a bundle needs, in breadth-first order of the requirements, and how they are mounted.
#[derive(Clone, Debug)]
pub struct Plan {
    visits: Vec<Visit>,
    edges: Vec<Edge>,
    /// Each source once, in the order of the visits, with its pinned commit.
    sources: Vec<(String, Option<String>)>,
}

/// A source together with its mounts. A source that is required with different mounts has several visits.
#[derive(Clone, Debug)]
pub(super) struct Visit {
    pub source: String,
    /// The mounts, from that of the source's own requirement to that of the bundle's.
    pub mounts: Vec<Mount>,
    /// The requirements that lead here.
    links: Vec<Link>,
    /// `true` if the source itself requires other sources.
    pub has_requirements: bool,
    /// `true` if the source must have files: it is a library, a repository, or has datasources.
    pub must_have_files: bool,
}

/// A requirement that leads to a visit.
#[derive(Clone, Debug)]
struct Link {
    /// The position of the visit whose source has the requirement. `None` for a requirement of the bundle or a stack.
    parent: Option<usize>,
    /// The position of the requirement in the plan, if it selects a part.
    edge: Option<usize>,
}

/// A requirement that selects a part of a source.
#[derive(Clone, Debug)]
pub(super) struct Edge {
    pub source: String,
    /// The selected path, as it is written. Empty if the requirement uses everything.
    pub path: String,
}

/// A visit whose requirements are not visited yet.
struct Open<'a> {
    requirements: Vec<(&'a Requirement, Option<Mount>)>,
    mounts: Vec<Mount>,
    /// The position of the visit.
    parent: Option<usize>,
    ancestors: Option<Rc<Ancestor<'a>>>,
}

/// The sources between the bundle and a source, as a list that visits share.
struct Ancestor<'a> {
    name: &'a str,
    before: Option<Rc<Ancestor<'a>>>,
}

impl Plan {
    /// Plans a bundle. `stacks` are all stacks, in the order in which their requirements follow those of the bundle.
    ///
    /// # Errors
    /// A source that is missing, conflicting pins of one source, a path or prefix that is not a reference, or requirements
    /// that lead back to their source with one more mount each time.
    pub fn new<S: Borrow<Source>, T: Borrow<Stack>>(
        bundle: &Bundle,
        sources: &BTreeMap<String, S>,
        stacks: &[T],
    ) -> Result<Self, Failure> {
        let mut plan = Self {
            visits: Vec::new(),
            edges: Vec::new(),
            sources: Vec::new(),
        };
        let mut pins = BTreeMap::new();
        let mut planned_visits: HashSet<(&str, Vec<Mount>)> = HashSet::new();
        let mut planned: HashSet<&str> = HashSet::new();
        let mut open = VecDeque::from([Open {
            requirements: requirements_of(bundle, stacks)?,
            mounts: Vec::new(),
            parent: None,
            ancestors: None,
        }]);
        while let Some(parent) = open.pop_front() {
            for (requirement, mount) in parent.requirements {
                let Some(name) = requirement.source.as_deref() else {
                    return Err(pin_without_source(requirement));
                };
                let (name, source) = sources
                    .get_key_value(name)
                    .ok_or_else(|| build_failed(format!("missing source {name:?}")))?;
                let (name, source) = (name.as_str(), source.borrow());
                if let Some(commit) = commit_of(requirement) {
                    pins.entry(name)
                        .or_insert_with(BTreeSet::new)
                        .insert(commit);
                }
                let mut mounts = Vec::with_capacity(parent.mounts.len() + 1);
                mounts.extend(mount);
                mounts.extend(parent.mounts.iter().cloned());
                let link = Link {
                    parent: parent.parent,
                    edge: plan.add_edge(name, requirement),
                };
                if !planned_visits.insert((name, mounts.clone())) {
                    let mut visits = plan.visits.iter_mut();
                    let existing =
                        visits.find(|visit| visit.source == name && visit.mounts == mounts);
                    if let Some(visit) = existing {
                        visit.links.push(link);
                    }
                    continue;
                }
                check_cycle(name, parent.ancestors.as_ref())?;
                if plan.visits.len() >= limits::VISITS {
                    return Err(config_error(format!(
                        "the requirements mount sources more than {} times",
                        limits::VISITS
                    )));
                }
                plan.visits.push(Visit {
                    source: name.to_owned(),
                    mounts: mounts.clone(),
                    links: vec![link],
                    has_requirements: !source.requirements.is_empty(),
                    must_have_files: source.git.is_some()
                        || !source.builtin.is_empty()
                        || !source.datasources.is_empty(),
                });
                if planned.insert(name) {
                    plan.sources.push((name.to_owned(), None));
                }
                let with_mount = |requirement| Ok((requirement, mount_of(requirement, &[])?));
                let requirements = source.requirements.iter().map(with_mount);
                open.push_back(Open {
                    requirements: requirements.collect::<Result<_, Failure>>()?,
                    mounts,
                    parent: Some(plan.visits.len() - 1),
                    ancestors: Some(Rc::new(Ancestor {
                        name,
                        before: parent.ancestors.clone(),
                    })),
                });
            }
        }
        check_pins(&pins)?;
        for (name, pin) in &mut plan.sources {
            let commits = pins.get(name.as_str());
            *pin = commits.and_then(|commits| Some((*commits.first()?).to_owned()));
        }
        Ok(plan)
    }

    /// Returns the names of the needed sources in breadth-first order, each once, with the commit that a requirement pins.
    pub fn sources(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let sources = self.sources.iter();
        sources.map(|(name, pin)| (name.as_str(), pin.as_deref()))
    }

    /// Returns the visits in breadth-first order.
    pub(super) fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Returns a requirement that selects nothing of what it leads to. `has_files` and `contributes` are by visit.
    pub(super) fn empty_selection(
        &self,
        has_files: &[bool],
        contributes: &[bool],
    ) -> Option<&Edge> {
        let candidates = self.edges_above(has_files);
        let selecting = self.edges_above(contributes);
        let first = candidates.difference(&selecting).next()?;
        self.edges.get(*first)
    }

    /// Returns the positions of the requirements that lead to one of the marked visits.
    fn edges_above(&self, marked_visits: &[bool]) -> BTreeSet<usize> {
        let mut visited = marked_visits.to_vec();
        let mut open: Vec<usize> = (0..marked_visits.len())
            .filter(|index| marked_visits.get(*index) == Some(&true))
            .collect();
        let mut edges = BTreeSet::new();
        while let Some(index) = open.pop() {
            for link in self.visits.get(index).map_or(&[][..], |visit| &visit.links) {
                edges.extend(link.edge);
                if let Some(parent) = link.parent
                    && let Some(is_visited) = visited.get_mut(parent)
                    && !std::mem::replace(is_visited, true)
                {
                    open.push(parent);
                }
            }
        }
        edges
    }

    /// Adds a requirement that selects a part of its source, and returns its position.
    fn add_edge(&mut self, source: &str, requirement: &Requirement) -> Option<usize> {
        if requirement.path.is_empty() {
            return None;
        }
        self.edges.push(Edge {
            source: source.to_owned(),
            path: requirement.path.clone(),
        });
        Some(self.edges.len() - 1)
    }
}

/// Returns the requirements of a bundle, then those of each stack that applies.
fn requirements_of<'a>(
    bundle: &'a Bundle,
    stacks: &'a [impl Borrow<Stack>],
) -> Result<Vec<(&'a Requirement, Option<Mount>)>, Failure> {
    let mut all = Vec::new();
    for requirement in &bundle.requirements {
        all.push((requirement, mount_of(requirement, &[])?));
    }
    let options = bundle.options.as_ref();
    let automount = !options.is_some_and(|options| options.no_default_stack_mount);
    let stacks = stacks.iter().map(Borrow::borrow);
    for stack in stacks.filter(|stack| applies(stack, bundle)) {
        let stack_prefix = ["stacks".to_owned(), stack.name.clone()];
        for requirement in &stack.requirements {
            let prefix: &[String] = match requirement.automount {
                Some(false) => &[],
                _ if automount => &stack_prefix,
                _ => &[],
            };
            all.push((requirement, mount_of(requirement, prefix)?));
        }
    }
    Ok(all)
}

/// Returns `true` if the stack adds its sources to the bundle.
fn applies(stack: &Stack, bundle: &Bundle) -> bool {
    let excludes = stack.exclude_selector.as_ref();
    selects(&stack.selector, bundle) && !excludes.is_some_and(|labels| selects(labels, bundle))
}

/// Returns `true` if the bundle has each label, with a value that one of the globs matches. An empty list matches each value.
fn selects(selector: &BTreeMap<String, Vec<String>>, bundle: &Bundle) -> bool {
    selector.iter().all(|(label, globs)| {
        bundle.labels.get(label).is_some_and(|value| {
            let mut globs_of_label = globs.iter();
            globs.is_empty()
                || globs_of_label.any(|glob| Glob::new(glob).is_ok_and(|glob| glob.matches(value)))
        })
    })
}

/// Returns the mount of a requirement, or `None` if its source keeps its paths. `prefix_of_mount` precedes the prefix.
fn mount_of(
    requirement: &Requirement,
    prefix_of_mount: &[String],
) -> Result<Option<Mount>, Failure> {
    let steps = |field: &str, text: &str| {
        let source = requirement.source.as_deref().unwrap_or_default();
        reference::steps(text).map_err(|problem| {
            config_error(format!(
                "requirement {source:?}: {field} {text:?} {problem}"
            ))
        })
    };
    let path = steps("path", &requirement.path)?;
    let mut prefix = prefix_of_mount.to_vec();
    prefix.extend(steps("prefix", &requirement.prefix)?);
    let mount = Mount { path, prefix };
    Ok((!mount.is_identity()).then_some(mount))
}

fn commit_of(requirement: &Requirement) -> Option<&str> {
    let pin = requirement.git.as_ref()?;
    (!pin.commit.is_empty()).then_some(pin.commit.as_str())
}

fn check_cycle(name: &str, ancestors: Option<&Rc<Ancestor<'_>>>) -> Result<(), Failure> {
    let mut chain = vec![name];
    let mut next = ancestors;
    while let Some(ancestor) = next {
        chain.push(ancestor.name);
        if ancestor.name == name {
            chain.reverse();
            return Err(config_error(format!(
                "sources require one another with mounts: {}",
                chain.join(" → ")
            )));
        }
        next = ancestor.before.as_ref();
    }
    Ok(())
}

fn check_pins(pins: &BTreeMap<&str, BTreeSet<&str>>) -> Result<(), Failure> {
    let conflicts = pins.iter().filter(|(_, commits)| commits.len() > 1);
    let names: Vec<&str> = conflicts.map(|(name, _)| *name).collect();
    let Some((first, other_names)) = names.split_first() else {
        return Ok(());
    };
    let others_text = match other_names.len() {
        0 => String::new(),
        count => format!(" (along with {count} other sources)"),
    };
    // OCP names the tenant after the source
    Err(config_error(format!(
        "requirements on {first:?} (default) conflict{others_text}"
    )))
}

fn pin_without_source(requirement: &Requirement) -> Failure {
    let commit = commit_of(requirement).unwrap_or_default();
    config_error(format!(
        "a requirement pins commit {commit:?} without a `source`"
    ))
}

fn config_error(message: String) -> Failure {
    Failure {
        phase: Phase::Build,
        status: Status::ConfigError,
        message,
    }
}

pub(super) fn build_failed(message: impl Into<String>) -> Failure {
    Failure {
        phase: Phase::Build,
        status: Status::BuildFailed,
        message: message.into(),
    }
}
