//! Sources of keys, which are tried one after another.

use std::time::Duration;

use super::AwsKeys;
use super::metadata;
use super::profile;
use super::sts;
use crate::config::{
    AwsConfig, AwsMetadataConfig, AwsProfileConfig, AwsRoleConfig, AwsSourceConfig,
    AwsWebIdentityConfig, Secret,
};
use crate::credentials::cache::Obtained;
use crate::credentials::endpoint::{Environment, Sources, failed};
use crate::error::Error;

/// Sources in the order in which they are tried.
#[derive(Debug)]
pub struct Chain {
    kinds: Vec<Kind>,
    sources: Sources,
}

#[derive(Debug)]
enum Kind {
    Environment,
    Role(AwsRoleConfig, Box<Chain>),
    WebIdentity(AwsWebIdentityConfig),
    Profile(AwsProfileConfig),
    Metadata(AwsMetadataConfig),
}

impl Chain {
    /// Returns the sources of a configuration.
    ///
    /// # Errors
    /// There is none, or one is not supported.
    pub fn new(config: &AwsConfig, sources: &Sources) -> Result<Self, String> {
        if config.sso_credentials.is_some() {
            return Err(".sso_credentials: not supported".to_owned());
        }
        let own_sources = AwsSourceConfig {
            environment_credentials: config.environment_credentials.clone(),
            profile_credentials: config.profile_credentials.clone(),
            metadata_credentials: config.metadata_credentials.clone(),
        };
        let mut chain = Self::plain(&own_sources, sources);
        // the environment is the first source, if it is one
        let mut position = usize::from(config.environment_credentials.is_some());
        if let Some(role) = &config.assume_role_credentials {
            let inner = role.aws_signing.as_deref().cloned().unwrap_or_default();
            let inner = Self::plain(&inner, sources);
            if inner.kinds.is_empty() {
                return Err(
                    ".assume_role_credentials.aws_signing: expected `environment_credentials`, `profile_credentials` or \
                     `metadata_credentials`"
                        .to_owned(),
                );
            }
            chain
                .kinds
                .insert(position, Kind::Role(role.clone(), Box::new(inner)));
            position += 1;
        }
        if let Some(web) = &config.web_identity_credentials {
            chain.kinds.insert(position, Kind::WebIdentity(web.clone()));
        }
        if chain.kinds.is_empty() {
            return Err(
                ": a AWS credential service must be specified when S3 signing is enabled"
                    .to_owned(),
            );
        }
        Ok(chain)
    }

    /// Returns the sources that do not depend on another source.
    fn plain(config: &AwsSourceConfig, sources: &Sources) -> Self {
        let environment = config.environment_credentials.as_ref();
        let kinds = [
            environment.map(|_| Kind::Environment),
            config.profile_credentials.clone().map(Kind::Profile),
            config.metadata_credentials.clone().map(Kind::Metadata),
        ];
        Self {
            kinds: kinds.into_iter().flatten().collect(),
            sources: sources.clone(),
        }
    }

    /// Returns the keys of the first source that has some.
    ///
    /// # Errors
    /// No source has keys. The message has the reason of each.
    pub async fn obtain(&self) -> Result<Obtained<AwsKeys>, Error> {
        let mut problems = Vec::new();
        for kind in &self.kinds {
            let obtained = match kind {
                Kind::Environment => environment(&self.sources.environment),
                Kind::Profile(config) => profile::obtain(config, &self.sources.environment).await,
                Kind::Metadata(config) => metadata::obtain(config, &self.sources).await,
                Kind::WebIdentity(config) => sts::with_token(config, &self.sources).await,
                Kind::Role(config, inner) => {
                    // the chain in the role contains no role
                    match Box::pin(inner.obtain()).await {
                        Ok(keys) => sts::with_keys(config, &keys.value, &self.sources).await,
                        Err(error) => Err(error),
                    }
                }
            };
            match obtained {
                Ok(keys) => return Ok(keys),
                Err(error) => problems.push(error.to_string()),
            }
        }
        Err(failed(format!("AWS credentials: {}", problems.join("; "))))
    }
}

/// Returns the keys in variables of the environment. They are read for each request.
fn environment(environment: &Environment) -> Result<Obtained<AwsKeys>, Error> {
    let required = |name: &str| {
        environment
            .get(name)
            .ok_or_else(|| failed(format!("no {name} set in environment")))
    };
    let token = environment.get("AWS_SESSION_TOKEN");
    let token = token.or_else(|| environment.get("AWS_SECURITY_TOKEN"));
    Ok(Obtained {
        value: AwsKeys {
            id: required("AWS_ACCESS_KEY_ID")?,
            secret: required("AWS_SECRET_ACCESS_KEY")?.into(),
            token: token.map(Secret::from),
            region: required("AWS_REGION")?,
        },
        validity: Duration::ZERO,
    })
}

/// Returns the region of a configuration, or the one of the environment.
///
/// # Errors
/// Both are missing, or the region has other characters than letters, digits and `-`.
pub fn region(config: Option<&String>, environment: &Environment) -> Result<String, Error> {
    let region = config.filter(|region| !region.is_empty()).cloned();
    let region = region.or_else(|| environment.get("AWS_REGION"));
    let region = region.ok_or_else(|| failed("neither `aws_region` nor AWS_REGION is set"))?;
    // it becomes part of a host name
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if region.chars().all(is_name) {
        Ok(region)
    } else {
        Err(failed("`aws_region` is not the name of a region"))
    }
}
