//! A pool of idle connections.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::DbError;

/// Idle connections and the permits for opening more.
pub struct Pool<C> {
    idle: Mutex<Vec<C>>,
    permits: Arc<Semaphore>,
    patience: Duration,
}

/// The reason why a transaction did not begin.
#[derive(Debug)]
pub enum BeginError {
    /// The connection is lost, but another one may work.
    Lost(DbError),
    /// The connection is healthy and outside of a transaction.
    Failed(DbError),
}

/// A leased connection, or the permit to open one. A connection that is not given back is closed.
pub struct PooledConnection<C> {
    pool: Arc<Pool<C>>,
    connection: Option<C>,
    // released after the connection is given back
    _permit: OwnedSemaphorePermit,
}

impl<C> Pool<C> {
    /// Creates a pool of at most `max_connections` connections. A lease waits at most `patience` for one.
    pub fn new(max_connections: usize, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            idle: Mutex::new(Vec::new()),
            permits: Arc::new(Semaphore::new(max_connections)),
            patience,
        })
    }

    /// Leases an idle connection, or the permit to open one.
    pub async fn lease(self: &Arc<Self>) -> Result<PooledConnection<C>, DbError> {
        let permit = tokio::time::timeout(self.patience, self.permits.clone().acquire_owned());
        let Ok(Ok(permit)) = permit.await else {
            let message = "every connection is in use";
            return Err(DbError::Busy(message.to_owned()));
        };
        Ok(PooledConnection {
            connection: self.idle.lock().pop(),
            pool: self.clone(),
            _permit: permit,
        })
    }

    /// Closes the idle connections.
    pub fn forget(&self) {
        let forgotten = std::mem::take(&mut *self.idle.lock());
        drop(forgotten);
    }
}

impl<C> PooledConnection<C> {
    /// Takes the connection out of the lease.
    pub fn take(&mut self) -> Option<C> {
        self.connection.take()
    }

    /// Returns the connection of the lease, if there is one.
    pub fn get(&mut self) -> Option<&mut C> {
        self.connection.as_mut()
    }

    /// Sets the connection of the lease, which [`Self::give_back`] returns to the pool.
    pub fn set(&mut self, connection: C) {
        self.connection = Some(connection);
    }

    /// Returns the connection to the pool. A lease that is dropped instead closes it.
    pub fn give_back(mut self) {
        if let Some(connection) = self.connection.take() {
            self.pool.idle.lock().push(connection);
        }
    }

    /// Returns the pool of the lease, for other connections.
    pub fn pool(&self) -> &Pool<C> {
        &self.pool
    }
}
