//! Services and keys of a configuration, as OPA's configuration files have them. Comments, defaults and examples of the fields are the
//! reference page of the configuration.

mod credentials;
mod secret;
mod services;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

pub use credentials::{
    AwsConfig, AwsEnvironmentConfig, AwsMetadataConfig, AwsProfileConfig, AwsRoleConfig,
    AwsSourceConfig, AwsWebIdentityConfig, AzureConfig, AzureSharedKeyConfig, BearerConfig, Claim,
    ClientTlsConfig, CredentialsConfig, GcpConfig, GcpServiceAccountConfig, GrantType,
    OAuth2Config, Rejected, SignatureVersion,
};
pub use secret::Secret;
pub use services::{LIST, ServicesConfig};

/// A service that other keys refer to.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct ServiceConfig {
    /// Name of the service, if services are a list.
    #[schemars(example = &"registry")]
    pub name: Option<String>,
    /// Base URL.
    #[schemars(example = &"https://bundles.example.com")]
    pub url: Option<Secret>,
    /// Headers of each request.
    #[schemars(example = &"core")]
    pub headers: BTreeMap<String, Secret>,
    /// Seconds until the head of a response; 0 sets no limit.
    #[schemars(extend("default" = 10), example = 5)]
    pub response_header_timeout_seconds: Option<i64>,
    /// Certificates of the service that are accepted.
    pub tls: TlsConfig,
    /// Accepts any certificate of the service.
    pub allow_insecure_tls: bool,
    /// An earlier spelling of `allow_insecure_tls`.
    pub allow_insure_tls: bool,
    /// `oci` for a registry of container images. Bundles are layers of its images, and bearer tokens are encoded in base64.
    #[schemars(example = &"oci")]
    pub r#type: Option<String>,
    /// Address of the proxy, instead of the variables `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`; `direct` for none.
    #[schemars(example = &"http://proxy.example.com:3128")]
    pub proxy: Option<Secret>,
    /// Credentials for the service, of one kind at most.
    pub credentials: CredentialsConfig,
}

impl ServiceConfig {
    /// Returns `true` if the service is a registry of container images.
    pub fn is_registry(&self) -> bool {
        self.r#type.as_deref() == Some("oci")
    }
}

/// Certificates of a service that are accepted.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct TlsConfig {
    /// File with the authorities that sign the certificate of the service, as PEM.
    #[schemars(example = &"/etc/ssl/ca.pem")]
    pub ca_cert: Option<String>,
    /// Accepts certificates that authorities of the system sign as well.
    pub system_ca_required: bool,
}

/// A key that signs or verifies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, expecting = "an object")]
pub struct KeyConfig {
    /// Public key as PEM, or a secret.
    #[schemars(example = &"${VERIFICATION_KEY}")]
    pub key: Option<Secret>,
    /// Private key as PEM, or the path of its file.
    #[schemars(example = &"${SIGNING_KEY}")]
    pub private_key: Option<Secret>,
    /// Algorithm of signatures.
    #[schemars(extend("default" = "RS256"), example = &"ES256")]
    pub algorithm: Option<String>,
    /// Scope of signatures.
    #[schemars(example = &"write")]
    pub scope: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::ServicesConfig;

    fn read(text: &str) -> Result<ServicesConfig, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    #[test]
    fn services_are_an_object_or_a_list() {
        let names = |text: &str| {
            let config = read(text)?;
            let named_services = config.named()?;
            Ok::<_, String>(
                named_services
                    .iter()
                    .map(|(name, _)| (*name).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        let owned = |names: &[&str]| Ok(names.iter().map(|name| (*name).to_owned()).collect());
        assert_eq!(names("{}"), owned(&[]));
        assert_eq!(names("[]"), owned(&[]));
        let object = r#"{"b": {"url": "http://b"}, "a": {"url": "http://a", "name": "other"}}"#;
        assert_eq!(names(object), owned(&["a", "b"]));
        let list = r#"[{"name": "b", "url": "http://b"}, {"name": "a", "url": "http://a"}]"#;
        assert_eq!(names(list), owned(&["b", "a"]));
        assert_eq!(
            names(r#"[{"url": "http://b"}]"#),
            Err("services[0].name: missing".to_owned())
        );
        assert_eq!(
            names(r#"[{"name": "a"}, {"name": "a"}]"#),
            Err("services[1].name: `a` is the name of an earlier service".to_owned())
        );
        assert!(names("5").unwrap_err().contains("expected an object"));
    }

    #[test]
    fn secrets_are_not_part_of_debug_texts() {
        let text = r#"{"s": {"url": "https://u:hidden@h", "headers": {"X-Key": "hidden"}, "proxy": "http://u:hidden@p",
            "credentials": {
                "bearer": {"token": "hidden"},
                "client_tls": {"private_key_passphrase": "hidden"},
                "oauth2": {"client_secret": "hidden", "additional_headers": {"a": "hidden"}, "additional_parameters": {"b": "hidden"},
                           "client_assertion": "hidden"}}}}"#;
        let debug_text = format!("{:?}", read(text).unwrap());
        assert!(!debug_text.contains("hidden"), "{debug_text}");
        assert!(debug_text.contains("REDACTED"), "{debug_text}");
    }

    #[test]
    fn misspelled_credentials_are_rejected() {
        for credentials in [
            r#"{"beerer": {}}"#,
            r#"{"bearer": {"tokn": "a"}}"#,
            r#"{"client_tls": {"key": "a"}}"#,
            r#"{"oauth2": {"secret": "a"}}"#,
            r#"{"s3_signing": {"environment": {}}}"#,
            r#"{"s3_signing": {"metadata_credentials": {"role": "a"}}}"#,
            r#"{"gcp_metadata": {"scope": "a"}}"#,
            r#"{"azure_managed_identity": {"client": "a"}}"#,
        ] {
            let error = read(&format!(r#"{{"s": {{"credentials": {credentials}}}}}"#)).unwrap_err();
            assert!(error.contains("unknown field"), "{credentials}: {error}");
        }
    }
}
