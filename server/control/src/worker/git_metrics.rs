//! Metrics of fetches of Git repositories.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::registry::Registry;
use solon_common::metrics::{CounterFamily, DurationFamily};

use crate::config::MetricsSettings;
use crate::model::{Failure, Source, Status};
use crate::tree::Fetched;

/// Upper bounds of the buckets for fetches, in seconds.
const GIT_BUCKETS: [f64; 16] = [
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.5, 2.0, 5.0, 10.0, 30.0, 60.0,
];

/// The part of a message of a failure that precedes the message of Git.
const GIT_FAILURE: &str = ": git synchronizer: ";

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GitLabels {
    repo: String,
    source: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct GitResultLabels {
    repo: String,
    source: String,
    state: &'static str,
}

/// Metrics of fetches of Git repositories. Clones share them. Disabled ones are `None`.
#[derive(Clone)]
pub struct GitMetrics {
    counts: Option<CounterFamily<GitResultLabels>>,
    server_errors: Option<CounterFamily<GitLabels>>,
    times: Option<DurationFamily<GitLabels>>,
    /// The last commit of each source. A check that finds the same commit fetches nothing and is not counted.
    commits: Arc<Mutex<HashMap<String, String>>>,
}

impl GitMetrics {
    /// Creates the metrics that the settings enable.
    pub(super) fn new(settings: &MetricsSettings) -> Self {
        let bounds = if settings.git_buckets.is_empty() {
            &GIT_BUCKETS[..]
        } else {
            &settings.git_buckets
        };
        let is_counted = !settings.without_git_counts;
        Self {
            counts: is_counted.then(CounterFamily::counters),
            server_errors: is_counted.then(CounterFamily::counters),
            times: (!settings.without_git_times).then(|| DurationFamily::durations(bounds)),
            commits: Arc::default(),
        }
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        if let Some(counts) = &self.counts {
            let help = "Fetches of repositories by result";
            registry.register("ocp_git_sync_count", help, counts.family());
        }
        if let Some(errors) = &self.server_errors {
            let help = "Fetches of repositories that failed for other reasons than credentials";
            registry.register("ocp_git_sync_server_error", help, errors.family());
        }
        if let Some(times) = &self.times {
            let help = "Durations of fetches of repositories";
            registry.register("ocp_git_sync_duration_seconds", help, times.family());
        }
    }

    pub(super) fn count(&self, source: &Source, result: &Result<Fetched, Failure>, took: Duration) {
        let Some(git) = &source.git else {
            return;
        };
        let (name, repo) = (&source.name, without_user(&git.repo));
        let labels = || GitLabels {
            source: name.clone(),
            repo: repo.clone(),
        };
        let state = match result {
            Ok(fetched) => {
                let commit = fetched.facts.git_commit.clone().unwrap_or_default();
                let before = self.commits.lock().insert(name.clone(), commit.clone());
                if before.as_ref() == Some(&commit) {
                    return;
                }
                if let Some(times) = &self.times {
                    times.with(&labels(), |histogram| histogram.observe(took));
                }
                "SUCCESS"
            }
            Err(failure) if failure.message.contains(GIT_FAILURE) => {
                if let Some(errors) = &self.server_errors
                    && failure.status == Status::SyncFailed
                {
                    errors.with(&labels(), |counter| {
                        counter.inc();
                    });
                }
                "FAILED"
            }
            Err(_) => return,
        };
        if let Some(counts) = &self.counts {
            let GitLabels { repo, source } = labels();
            let labels = GitResultLabels {
                repo,
                source,
                state,
            };
            counts.with(&labels, |counter| {
                counter.inc();
            });
        }
    }
}

/// Returns an address without user information, which may contain a password.
fn without_user(repo: &str) -> String {
    let Some((scheme, rest)) = repo.split_once("://") else {
        return repo.to_owned();
    };
    let end = rest.find('/').unwrap_or(rest.len());
    let (authority, path) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let host = authority.rsplit('@').next().unwrap_or(authority);
    format!("{scheme}://{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Git, Phase};
    use crate::tree::Facts;
    use prometheus_client::encoding::text::encode;

    fn fetched(commit: &str) -> Fetched {
        let facts = Facts {
            git_commit: Some(commit.to_owned()),
            ..Facts::default()
        };
        Fetched::new(Vec::new(), facts)
    }

    fn failed(status: Status, message: &str) -> Failure {
        Failure {
            phase: Phase::Sync,
            status,
            message: message.to_owned(),
        }
    }

    #[test]
    fn fetches_are_counted() {
        let metrics = GitMetrics::new(&MetricsSettings::default());
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let git = Git {
            repo: "https://user:canary@git.example.com/r.git".to_owned(),
            ..Git::default()
        };
        let source = Source {
            name: "s".to_owned(),
            git: Some(git),
            ..Source::default()
        };
        let took = Duration::from_millis(150);
        for result in [
            Ok(fetched("1")),
            Ok(fetched("1")),
            Ok(fetched("2")),
            Err(failed(
                Status::SyncFailed,
                "source \"s\": git synchronizer: r: timeout",
            )),
            Err(failed(
                Status::UserError,
                "source \"s\": git synchronizer: r: authorization failed",
            )),
            Err(failed(
                Status::SyncFailed,
                "source \"s\": builtin \"x\": absent",
            )),
        ] {
            metrics.count(&source, &result, took);
        }
        metrics.count(&Source::default(), &Ok(fetched("1")), took);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let labels = "repo=\"https://git.example.com/r.git\",source=\"s\"";
        for line in [
            format!("ocp_git_sync_count_total{{{labels},state=\"SUCCESS\"}} 2"),
            format!("ocp_git_sync_count_total{{{labels},state=\"FAILED\"}} 2"),
            format!("ocp_git_sync_server_error_total{{{labels}}} 1"),
            format!("ocp_git_sync_duration_seconds_count{{{labels}}} 2"),
            format!("ocp_git_sync_duration_seconds_bucket{{le=\"0.1\",{labels}}} 0"),
            format!("ocp_git_sync_duration_seconds_bucket{{le=\"0.2\",{labels}}} 2"),
        ] {
            assert!(text.contains(&line), "{line} is not in {text}");
        }
        assert!(!text.contains("canary"));
        let off = GitMetrics::new(&MetricsSettings {
            without_git_counts: true,
            without_git_times: true,
            ..MetricsSettings::default()
        });
        off.count(&source, &Ok(fetched("1")), took);
        assert!(off.counts.is_none() && off.times.is_none());
    }

    #[test]
    fn addresses_have_no_user() {
        for (repo, wanted) in [
            ("https://h/r", "https://h/r"),
            ("https://u:p@h/r", "https://h/r"),
            ("https://u@p@h/r@1", "https://h/r@1"),
            ("ssh://git@h", "ssh://h"),
            ("git@h:r.git", "git@h:r.git"),
            ("../r", "../r"),
        ] {
            assert_eq!(without_user(repo), wanted);
        }
    }
}
