//! Bearer tokens that are requested, and cached until they expire.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;

use super::bearer;
use super::cache::{Cache, Obtained};
use crate::authorize::{Authorize, BoxFuture};
use crate::config::Secret;
use crate::error::Error;

/// A server that issues tokens.
pub trait TokenSource: Debug + Send + Sync {
    /// Requests a token from its issuer, without a cache.
    fn obtain(&self) -> impl Future<Output = Result<Obtained<Secret>, Error>> + Send;
}

/// The token of a source, as credentials of requests or by itself.
#[derive(Debug)]
pub struct CachedToken<S> {
    source: S,
    cache: Cache<Secret>,
}

impl<S> From<S> for CachedToken<S> {
    fn from(source: S) -> Self {
        Self {
            source,
            cache: Cache::default(),
        }
    }
}

impl<S: TokenSource> CachedToken<S> {
    /// Returns the token, which is requested if the current one expires soon.
    ///
    /// # Errors
    /// The source does not issue one.
    pub async fn token(&self) -> Result<Arc<Secret>, Error> {
        self.cache.get(self.source.obtain()).await
    }

    /// Drops the current token, so that the next one is requested. Call this after a server has rejected the token.
    pub fn forget(&self) {
        self.cache.forget();
    }
}

impl<S: TokenSource> Authorize for CachedToken<S> {
    fn authorize<'a>(
        &'a self,
        request: &'a mut Request<Bytes>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let token = self.token().await?;
            bearer::set(request, "Bearer", token.expose())
        })
    }

    fn forget(&self) -> bool {
        self.cache.forget();
        true
    }
}
