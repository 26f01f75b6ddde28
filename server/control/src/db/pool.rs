//! Connections that are kept for the next who needs one.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::DbError;

/// Idle connections, and how many more there may be.
pub struct Pool<C> {
    idle: Mutex<Vec<C>>,
    permits: Arc<Semaphore>,
    patience: Duration,
}

/// Why a transaction did not begin.
#[derive(Debug)]
pub enum BeginError {
    /// The connection is lost, and another may not be.
    Lost(DbError),
    /// The connection is healthy and outside of a transaction.
    Failed(DbError),
}

/// A connection that is taken, or the right to open one. What is not given back is gone.
pub struct Lease<C> {
    pool: Arc<Pool<C>>,
    connection: Option<C>,
    // given back after the connection
    _permit: OwnedSemaphorePermit,
}

impl<C> Pool<C> {
    /// A pool of at most so many, for each of which one waits at most so long.
    pub fn new(most: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::new(Vec::new()),
            permits: Arc::new(Semaphore::new(most)),
            patience,
        })
    }

    /// Takes an idle connection, or the right to open one.
    pub async fn lease(self: &Arc<Self>) -> Result<Lease<C>, DbError> {
        let permit = tokio::time::timeout(self.patience, self.permits.clone().acquire_owned());
        let Ok(Ok(permit)) = permit.await else {
            let words = "every connection is in use";
            return Err(DbError::Busy(words.to_owned()));
        };
        Ok(Lease {
            connection: self.idle.lock().pop(),
            pool: self.clone(),
            _permit: permit,
        })
    }

    /// Forgets the idle ones.
    pub fn forget(&self) {
        let forgotten = std::mem::take(&mut *self.idle.lock());
        drop(forgotten);
    }
}

impl<C> Lease<C> {
    /// The connection, for as long as nobody gives it back.
    pub fn take(&mut self) -> Option<C> {
        self.connection.take()
    }

    /// The connection where it is.
    pub fn get(&mut self) -> Option<&mut C> {
        self.connection.as_mut()
    }

    /// Has a connection from now on.
    pub fn set(&mut self, connection: C) {
        self.connection = Some(connection);
    }

    /// Gives the connection back for others.
    pub fn give_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.idle.lock().push(connection);
        }
    }

    /// The pool it is from.
    pub fn pool(&self) -> &Pool<C> {
        &self.pool
    }
}
