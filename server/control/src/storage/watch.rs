//! Notification of downloads that wait for a new revision.
//!
//! One task of the process polls the database while downloads wait, whatever their number. A waiting download holds no
//! connection and no thread. Publications of this process wake the task at once, and those of others within a second.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Notify, watch};

use crate::db::{Database, DbError, Mode};

/// Pause between two polls of the database.
const PAUSE: Duration = Duration::from_secs(1);

/// Wakes waiting downloads.
pub struct PublicationWatch {
    database: Database,
    state: Mutex<WatchState>,
    poke: Notify,
}

#[derive(Default)]
struct WatchState {
    /// Number of the last change that the task has seen.
    seen: i64,
    /// Waiting downloads by the id of their bundle.
    waiting: HashMap<i64, watch::Sender<()>>,
    is_polling: bool,
    is_closed: bool,
}

enum Subscribed {
    /// Wait for a change.
    Waiting(watch::Receiver<()>),
    /// Some bundle has changed since the caller read its own.
    Outdated,
    Closed,
}

impl PublicationWatch {
    /// Creates the notifications of a database, without a task.
    pub fn new(database: Database) -> Arc<Self> {
        Arc::new(Self {
            database,
            state: Mutex::default(),
            poke: Notify::new(),
        })
    }

    /// Looks for changes at once, because this process has made one.
    pub fn poke(&self) {
        self.poke.notify_one();
    }

    /// Ends all waiting, now and in the future.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        state.waiting.clear();
    }

    /// Waits until a bundle may have changed after the change `seen_change`, which must be the number of changes of the snapshot
    /// in which the caller has read the bundle. Returns `false` if nothing changed within the time.
    async fn changed(self: &Arc<Self>, bundle: i64, seen_change: i64, timeout: Duration) -> bool {
        match self.subscribe(bundle, seen_change) {
            Subscribed::Waiting(mut receiver) => {
                let result = tokio::time::timeout(timeout, receiver.changed()).await;
                matches!(result, Ok(Ok(())))
            }
            Subscribed::Outdated => true,
            Subscribed::Closed => false,
        }
    }

    fn subscribe(self: &Arc<Self>, bundle: i64, seen_change: i64) -> Subscribed {
        let mut state = self.state.lock();
        if state.is_closed {
            return Subscribed::Closed;
        }
        if !state.is_polling {
            state.is_polling = true;
            state.seen = seen_change;
            tokio::spawn(self.clone().poll());
        } else if state.seen > seen_change {
            // the task has reported changes that the caller has not read, perhaps of this bundle
            return Subscribed::Outdated;
        }
        let sender = state.waiting.entry(bundle);
        Subscribed::Waiting(sender.or_insert_with(|| watch::channel(()).0).subscribe())
    }

    /// Polls the database until no download waits.
    async fn poll(self: Arc<Self>) {
        let mut is_failing = false;
        loop {
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = self.poke.notified() => {}
            }
            let Some(last_seen) = self.last_change() else {
                return;
            };
            match self.read(last_seen).await {
                Ok((changes, bundles)) => {
                    is_failing = false;
                    let mut state = self.state.lock();
                    state.seen = state.seen.max(changes);
                    for bundle in bundles {
                        if let Some(sender) = state.waiting.get(&bundle) {
                            sender.send_replace(());
                        }
                    }
                }
                Err(error) if !is_failing => {
                    is_failing = true;
                    tracing::warn!(%error, "waiting downloads receive no new revisions until the database responds");
                }
                Err(_) => {}
            }
        }
    }

    /// Returns the last change that the task has seen, or `None` if it ends because no download waits.
    fn last_change(&self) -> Option<i64> {
        let mut state = self.state.lock();
        state
            .waiting
            .retain(|_, sender| sender.receiver_count() > 0);
        state.is_polling = !state.waiting.is_empty();
        state.is_polling.then_some(state.seen)
    }

    /// Returns the number of changes and the bundles that changed after the change `seen_change`.
    async fn read(&self, seen_change: i64) -> Result<(i64, Vec<i64>), DbError> {
        let mut transaction = self.database.begin(Mode::Read).await?;
        let changes_and_bundles = async {
            let changes = transaction.publication_changes().await?;
            let bundles = if changes > seen_change {
                transaction.published_after(seen_change).await?
            } else {
                Vec::new()
            };
            Ok((changes, bundles))
        };
        let changes_and_bundles = changes_and_bundles.await;
        transaction.roll_back().await;
        changes_and_bundles
    }
}

/// A download that waits for a change. The response to a client that has the active revision carries it as an extension, and
/// the listener decides how long it waits before it handles the request again.
#[derive(Clone)]
pub struct LongPoll {
    watch: Arc<PublicationWatch>,
    bundle: i64,
    seen: i64,
    within: Duration,
}

impl LongPoll {
    /// Creates the waiting of a client that has read a bundle in a snapshot with `seen_change` changes.
    pub(crate) fn new(
        watch: Arc<PublicationWatch>,
        bundle: i64,
        seen_change: i64,
        timeout: Duration,
    ) -> Self {
        Self {
            watch,
            bundle,
            seen: seen_change,
            within: timeout,
        }
    }

    /// Returns the time that the client wants to wait.
    pub fn within(&self) -> Duration {
        self.within
    }

    /// Waits until the bundle may have changed. Returns `false` if it did not within `timeout`, or if the service stops.
    pub async fn changed(&self, timeout: Duration) -> bool {
        self.watch.changed(self.bundle, self.seen, timeout).await
    }
}
