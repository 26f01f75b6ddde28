//! Credentials that expire, cached until shortly before.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::error::Error;

/// Maximum time before the end of their validity at which credentials are renewed.
const EARLY: Duration = Duration::from_mins(5);

/// Share of their validity, as a divisor, at which short-lived credentials are renewed.
const EARLY_SHARE: u32 = 5;

/// The current credentials of a service. One request obtains new ones, the others wait for it.
#[derive(Debug)]
pub struct Cache<T> {
    current: Mutex<Option<Entry<T>>>,
    is_forgotten: AtomicBool,
}

#[derive(Debug)]
struct Entry<T> {
    value: Arc<T>,
    renewal: Instant,
    end: Instant,
}

/// Credentials and their remaining validity.
pub struct Obtained<T> {
    pub value: T,
    /// The validity. Zero means that they are for one request.
    pub validity: Duration,
}

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self {
            current: Mutex::new(None),
            is_forgotten: AtomicBool::new(false),
        }
    }
}

impl<T> Cache<T> {
    /// Returns the current credentials, or those that `obtain` returns if there are none or they expire soon. If `obtain` fails,
    /// credentials that are still valid stay in use. One call of `obtain` runs at a time; other callers wait for it.
    ///
    /// # Errors
    /// `obtain` fails, and the current credentials are missing or expired.
    pub async fn get(
        &self,
        obtain: impl Future<Output = Result<Obtained<T>, Error>>,
    ) -> Result<Arc<T>, Error> {
        let mut current = self.current.lock().await;
        if self.is_forgotten.swap(false, Ordering::AcqRel) {
            *current = None;
        }
        let now = Instant::now();
        if let Some(entry) = &*current
            && now < entry.renewal
        {
            return Ok(entry.value.clone());
        }
        match obtain.await {
            Ok(Obtained { value, validity }) => {
                let value = Arc::new(value);
                let early = EARLY.min(validity / EARLY_SHARE);
                // a validity beyond the range of the clock is limited to a day
                let end = now.checked_add(validity);
                let end = end.unwrap_or(now + Duration::from_hours(24));
                *current = Some(Entry {
                    value: value.clone(),
                    renewal: end.checked_sub(early).unwrap_or(now),
                    end,
                });
                Ok(value)
            }
            Err(error) => match &*current {
                Some(entry) if Instant::now() < entry.end => Ok(entry.value.clone()),
                _ => Err(error),
            },
        }
    }

    /// Drops the current credentials, so that the next call of [`Self::get`] obtains new ones. Does not wait.
    pub fn forget(&self) {
        self.is_forgotten.store(true, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use super::{Cache, Obtained};
    use crate::error::{Error, ErrorKind};

    #[tokio::test(start_paused = true)]
    async fn credentials_are_renewed_before_they_expire() {
        let cache = Cache::default();
        let calls = Cell::new(0);
        let get = async |seconds: Option<u64>| {
            let obtain = async {
                calls.set(calls.get() + 1);
                let seconds = seconds.ok_or(Error::new(ErrorKind::Credentials, "down"))?;
                let validity = Duration::from_secs(seconds);
                Ok(Obtained {
                    value: calls.get(),
                    validity,
                })
            };
            cache.get(obtain).await.map(|value| *value)
        };
        let pause = async |seconds| tokio::time::advance(Duration::from_secs(seconds)).await;
        assert_eq!(get(Some(100)).await, Ok(1));
        pause(79).await;
        assert_eq!(get(Some(100)).await, Ok(1));
        pause(2).await;
        // valid credentials survive a failure
        assert_eq!(get(None).await, Ok(1));
        pause(18).await;
        assert_eq!(get(None).await, Ok(1));
        pause(2).await;
        assert!(get(None).await.is_err());
        assert_eq!(get(Some(3600)).await, Ok(5));
        pause(3299).await;
        assert_eq!(get(Some(3600)).await, Ok(5));
        pause(2).await;
        assert_eq!(get(Some(3600)).await, Ok(6));
        // credentials that the service rejected are not used again
        cache.forget();
        assert!(get(None).await.is_err());
        assert_eq!(get(Some(0)).await, Ok(8));
        assert_eq!(get(Some(0)).await, Ok(9));
        assert_eq!(get(Some(u64::MAX)).await, Ok(10));
        assert_eq!(get(None).await, Ok(10));
    }
}
