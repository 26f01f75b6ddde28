//! Constraints of Gatekeeper in the files that the configuration names.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};

use super::watch::Watch;
use crate::api::{ActiveConstraints, ConstraintSet, constraint_files};
use crate::app::ServerBuilder;

/// Constraints that were loaded before the server starts.
pub struct StartedConstraints {
    active: ActiveConstraints,
    paths: Vec<PathBuf>,
    /// Watcher of the files, if they are reloaded when they change.
    watch: Option<Watch>,
}

impl StartedConstraints {
    /// Loads the constraints of files and folders. Without a path, nothing is loaded.
    ///
    /// # Errors
    /// Errors of [`ConstraintSet::load`].
    pub fn load(paths: &[PathBuf], is_watched: bool) -> Result<Self, String> {
        let active = ActiveConstraints::default();
        // watching starts before anything is read, so that no change is missed
        let watch = (is_watched && !paths.is_empty()).then(|| {
            let paths = paths.to_vec();
            Watch::new(move || constraint_files(&paths))
        });
        if !paths.is_empty() {
            active.replace(ConstraintSet::load(paths)?);
        }
        Ok(Self {
            active,
            paths: paths.to_vec(),
            watch,
        })
    }

    /// Adds the constraints to a server. They are reloaded when their files change and for each SIGHUP.
    pub fn attach(self, builder: ServerBuilder) -> ServerBuilder {
        let builder = builder.constraints(self.active.clone());
        let Some(watch) = self.watch else {
            return builder;
        };
        let (reload, requests) = channel();
        start(watch, requests, self.paths, self.active);
        builder.on_hangup(move || {
            // without a watcher the receiver does not exist
            let _ = reload.send(());
        })
    }
}

/// Reloads constraints for each change. If they cannot be loaded, those in force stay.
fn start(watch: Watch, requests: Receiver<()>, paths: Vec<PathBuf>, active: ActiveConstraints) {
    let mut last = String::new();
    watch.start(requests, move |is_retry| {
        let error = match ConstraintSet::load(&paths) {
            Ok(constraints) => {
                active.replace(constraints);
                tracing::info!("Constraints reloaded.");
                String::new()
            }
            Err(error) => error,
        };
        let is_reported = is_retry && error == last;
        if !error.is_empty() && !is_reported {
            tracing::error!(
                err = error,
                "Files of constraints changed, and cannot be loaded; the constraints stay as they were."
            );
        }
        last = error;
        last.is_empty()
    });
}
