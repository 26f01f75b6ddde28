//! Policy servers that wait for a new revision of their bundles.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use super::fixture::{BUNDLES, bundle};
use super::plane::{Connection, Plane};

/// Waiting downloads, one for each bundle, each on a connection of its own.
pub struct Downloads {
    ended: Arc<Mutex<Ended>>,
}

/// Downloads that have ended.
#[derive(Default)]
struct Ended {
    /// The time at which a new archive was complete, by bundle.
    updated: BTreeMap<String, Instant>,
    problem: Option<String>,
}

impl Downloads {
    /// Downloads each bundle, and then waits for a new revision of each.
    ///
    /// # Errors
    /// A bundle cannot be downloaded.
    pub fn begin(plane: &Plane) -> Result<Self, String> {
        let ended = Arc::new(Mutex::new(Ended::default()));
        plane.block_on(async {
            for number in 0..BUNDLES {
                let name = bundle(number);
                let target = format!("/v1/bundles/{name}/download");
                let mut connection = Connection::open(plane.address()).await?;
                // one after another: an archive is in memory while it is sent
                let first = connection.get(&target, &[]).await?;
                let Some(tag) = first.tag.filter(|_| first.status == 200) else {
                    return Err(format!("GET {target}: {}", first.status));
                };
                let ended = ended.clone();
                tokio::spawn(async move {
                    let headers = [
                        ("if-none-match", tag.as_str()),
                        ("prefer", "modes=snapshot,delta;wait=600"),
                    ];
                    // a time limit of the service may end the waiting without a new revision
                    let answer = loop {
                        match connection.get(&target, &headers).await {
                            Ok(answer) if answer.status == 304 => {}
                            answer => break answer,
                        }
                    };
                    let mut ended = ended.lock();
                    match answer {
                        Ok(answer) if answer.status == 200 && answer.tag.as_ref() != Some(&tag) => {
                            ended.updated.insert(name, Instant::now());
                        }
                        Ok(answer) => ended.problem = Some(format!("{name}: {}", answer.status)),
                        Err(problem) => ended.problem = Some(problem),
                    }
                });
            }
            Ok(())
        })?;
        Ok(Self { ended })
    }

    /// Returns the bundles whose downloads have ended with a new archive, and when.
    ///
    /// # Errors
    /// A download ended in another way.
    pub fn updated(&self) -> Result<BTreeMap<String, Instant>, String> {
        let ended = self.ended.lock();
        match &ended.problem {
            Some(problem) => Err(format!("a waiting download ended: {problem}")),
            None => Ok(ended.updated.clone()),
        }
    }
}
