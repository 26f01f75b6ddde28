//! Signatures of AWS, version 4.

mod metadata;
mod profile;
mod sign;
mod source;
mod sts;

use bytes::Bytes;
use http::Request;

use super::cache::Cache;
use super::endpoint::Sources;
use crate::authorize::{Authorize, BoxFuture};
use crate::config::{AwsConfig, Secret, SignatureVersion};
use crate::error::Error;

use source::Chain;

/// Keys that sign requests.
#[derive(Clone, Debug)]
pub struct AwsKeys {
    id: String,
    secret: Secret,
    token: Option<Secret>,
    region: String,
}

/// Signs requests with keys that are renewed before they expire.
#[derive(Debug)]
pub struct Aws {
    service: String,
    chain: Chain,
    cache: Cache<AwsKeys>,
}

impl Aws {
    /// Returns the credentials of a configuration.
    ///
    /// # Errors
    /// The configuration has no source of keys, or the configuration is not supported.
    pub fn new(config: &AwsConfig, sources: &Sources) -> Result<Self, String> {
        if config.signature_version == Some(SignatureVersion::V4a) {
            return Err(".signature_version: `4a` is not supported, expected `4`".to_owned());
        }
        let service = config.service.as_deref().filter(|name| !name.is_empty());
        let service = service.unwrap_or("s3");
        if service == "ecr" {
            return Err(".service: `ecr` is not supported".to_owned());
        }
        Ok(Self {
            service: service.to_owned(),
            chain: Chain::new(config, sources)?,
            cache: Cache::default(),
        })
    }
}

impl Authorize for Aws {
    fn authorize<'a>(
        &'a self,
        request: &'a mut Request<Bytes>,
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let keys = self.cache.get(self.chain.obtain()).await?;
            sign::sign(request, &keys, &self.service, std::time::SystemTime::now())
        })
    }

    fn forget(&self) -> bool {
        self.cache.forget();
        true
    }
}
