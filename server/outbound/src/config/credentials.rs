//! Credentials of services. A misspelled key would leave a request without its credentials, so unknown keys are errors.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Secret;

/// Credentials for a service, of one kind at most.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct CredentialsConfig {
    /// A token in the header `Authorization`.
    pub bearer: Option<BearerConfig>,
    /// A client certificate.
    pub client_tls: Option<ClientTlsConfig>,
    /// Tokens of OAuth 2.0.
    pub oauth2: Option<OAuth2Config>,
    /// Signatures of AWS.
    pub s3_signing: Option<AwsConfig>,
    /// Tokens of the metadata server of Google Cloud.
    pub gcp_metadata: Option<GcpConfig>,
    /// Tokens of managed identities of Azure.
    pub azure_managed_identity: Option<AzureConfig>,
    /// Key of a storage account of Azure, for `azblob://` resources.
    pub azure_shared_key: Option<AzureSharedKeyConfig>,
    /// Key of a service account of Google Cloud, for `gs://` resources.
    pub gcp_service_account: Option<GcpServiceAccountConfig>,
    /// Name of a plugin. It is rejected.
    pub plugin: Option<String>,
}

/// Key of a storage account of Azure, for `azblob://` resources.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AzureSharedKeyConfig {
    /// Name of the account.
    #[schemars(example = &"policies")]
    pub account_name: Option<String>,
    /// Key of the account, in base64.
    #[schemars(example = &"${ACCOUNT_KEY}")]
    pub account_key: Option<Secret>,
}

/// Key of a service account of Google Cloud, for `gs://` resources.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct GcpServiceAccountConfig {
    /// File with the JSON key of the account. It is read for each download.
    #[schemars(example = &"/run/secrets/account.json")]
    pub path: Option<String>,
}

/// A token in the header `Authorization`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct BearerConfig {
    /// Token.
    #[schemars(example = &"${TOKEN}")]
    pub token: Option<Secret>,
    /// File with the token. It is read for each request.
    #[schemars(example = &"/run/secrets/token")]
    pub token_path: Option<String>,
    /// Scheme of the header `Authorization`.
    #[schemars(extend("default" = "Bearer"), example = &"Bearer")]
    pub scheme: Option<String>,
}

/// A client certificate. The files are read again after they have changed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct ClientTlsConfig {
    /// File with the certificate and its chain, as PEM.
    #[schemars(example = &"/etc/ssl/client.pem")]
    pub cert: Option<String>,
    /// File with the private key, as PEM.
    #[schemars(example = &"/etc/ssl/client.key")]
    pub private_key: Option<String>,
    /// Password of the private key.
    #[schemars(example = &"${KEY_PASSWORD}")]
    pub private_key_passphrase: Option<Secret>,
    /// Minimum number of seconds between two checks of the files for changes.
    #[schemars(extend("default" = 0), example = 60)]
    pub cert_reread_interval_seconds: Option<i64>,
}

/// Grant with which an OAuth 2.0 token is requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GrantType {
    /// `client_credentials`.
    #[default]
    ClientCredentials,
    /// A signed JWT.
    JwtBearer,
}

/// Tokens of OAuth 2.0.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct OAuth2Config {
    /// URL of the token endpoint (`https`).
    #[schemars(example = &"https://auth.example.com/token")]
    pub token_url: Option<String>,
    /// `client_credentials` or `jwt_bearer`.
    #[schemars(with = "Option<String>", extend("default" = "client_credentials"), example = &"jwt_bearer")]
    pub grant_type: Option<GrantType>,
    /// Identifier of the client.
    #[schemars(example = &"solon")]
    pub client_id: Option<String>,
    /// Secret of the client.
    #[schemars(example = &"${CLIENT_SECRET}")]
    pub client_secret: Option<Secret>,
    /// Name of the key in `keys` that signs JWTs.
    #[schemars(example = &"jwt_key")]
    pub signing_key: Option<String>,
    /// SHA-1 thumbprint of the certificate of the key, in hexadecimal digits; it becomes the header `x5t` of JWTs.
    #[schemars(example = &"8F1BDDDE9982299E62749C20EDDBAAC57F619D04")]
    pub thumbprint: Option<String>,
    /// Claims of JWTs.
    #[schemars(with = "Option<BTreeMap<String, String>>", example = &"https://auth.example.com")]
    pub additional_claims: BTreeMap<String, Claim>,
    /// Adds a unique identifier, the claim `jti`, to JWTs.
    #[schemars(example = true)]
    pub include_jti_claim: bool,
    /// Scopes of the token.
    #[schemars(example = ["bundles"])]
    pub scopes: Vec<String>,
    /// Headers of requests to the token endpoint.
    #[schemars(example = &"core")]
    pub additional_headers: BTreeMap<String, Secret>,
    /// Parameters of requests to the token endpoint.
    #[schemars(example = &"https://api.example.com")]
    pub additional_parameters: BTreeMap<String, Secret>,
    /// JWT that authenticates the client, instead of `client_secret`.
    #[schemars(example = &"${ASSERTION}")]
    pub client_assertion: Option<Secret>,
    /// File with that JWT. It is read for each token.
    #[schemars(example = &"/run/secrets/assertion")]
    pub client_assertion_path: Option<String>,
    /// Type of that JWT.
    #[schemars(
        extend("default" = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        example = &"urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    )]
    pub client_assertion_type: Option<String>,
    /// Keys of AWS KMS. They are rejected.
    pub aws_kms: Option<Rejected>,
    /// Credentials for AWS KMS. They are rejected.
    pub aws_signing: Option<Rejected>,
    /// Keys of Azure Key Vault. They are rejected.
    pub azure_keyvault: Option<Rejected>,
    /// Credentials for Azure Key Vault. They are rejected.
    pub azure_signing: Option<Rejected>,
}

/// The value of a claim. It is not part of debug output.
#[derive(Clone, PartialEq, Deserialize)]
#[serde(transparent)]
pub struct Claim(pub serde_json::Value);

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("REDACTED")
    }
}

/// A section that is rejected by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected;

impl JsonSchema for Rejected {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rejected".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({})
    }
}

impl<'de> Deserialize<'de> for Rejected {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        serde::de::IgnoredAny::deserialize(from)?;
        Ok(Self)
    }
}

/// Version of AWS signatures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum SignatureVersion {
    /// HMAC with a key for one region.
    #[default]
    #[serde(rename = "4")]
    V4,
    /// ECDSA, for several regions.
    #[serde(rename = "4a")]
    V4a,
}

/// Signatures of AWS. Several kinds of credentials are tried in the order of the environment, the role, the web identity, the profile and
/// the metadata service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsConfig {
    /// Service of AWS that requests are signed for.
    #[schemars(extend("default" = "s3"), example = &"execute-api")]
    pub service: Option<String>,
    /// Version of signatures. Only `4` is supported.
    #[schemars(with = "Option<String>", extend("default" = "4"), example = &"4")]
    pub signature_version: Option<SignatureVersion>,
    /// Credentials of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_SESSION_TOKEN`.
    pub environment_credentials: Option<AwsEnvironmentConfig>,
    /// A profile of a credentials file.
    pub profile_credentials: Option<AwsProfileConfig>,
    /// Credentials of the AWS access portal. They are rejected.
    pub sso_credentials: Option<Rejected>,
    /// The metadata service of EC2, or the credentials service of containers.
    pub metadata_credentials: Option<AwsMetadataConfig>,
    /// A role that other credentials of AWS may assume.
    pub assume_role_credentials: Option<AwsRoleConfig>,
    /// A role that a token of another identity provider may assume.
    pub web_identity_credentials: Option<AwsWebIdentityConfig>,
}

/// Variables of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_SESSION_TOKEN`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsEnvironmentConfig {}

/// A profile of a credentials file.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsProfileConfig {
    /// File with credentials; the default is `AWS_SHARED_CREDENTIALS_FILE`, or `~/.aws/credentials`.
    #[schemars(example = &"/etc/aws/credentials")]
    pub path: Option<String>,
    /// Name of the profile; the default is `AWS_PROFILE`, or `default`.
    #[schemars(example = &"bundles")]
    pub profile: Option<String>,
    /// Region; the default is `AWS_REGION`.
    #[schemars(example = &"eu-west-1")]
    pub aws_region: Option<String>,
}

/// The metadata service of EC2, or the credentials service of containers if `iam_role` is absent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsMetadataConfig {
    /// Region; the default is `AWS_REGION`.
    #[schemars(example = &"eu-west-1")]
    pub aws_region: Option<String>,
    /// Role of the machine.
    #[schemars(example = &"bundle-reader")]
    pub iam_role: Option<String>,
}

/// A role that other credentials of AWS may assume.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsRoleConfig {
    /// Region; the default is `AWS_REGION`.
    #[schemars(example = &"eu-west-1")]
    pub aws_region: Option<String>,
    /// Role; the default is `AWS_ROLE_ARN`.
    #[schemars(example = &"arn:aws:iam::123456789012:role/bundles")]
    pub iam_role_arn: Option<String>,
    /// Name of the session.
    #[schemars(extend("default" = "open-policy-agent"), example = &"solon")]
    pub session_name: Option<String>,
    /// Domain of AWS; the default is `AWS_DOMAIN`, or `amazonaws.com`.
    #[schemars(example = &"amazonaws.com.cn")]
    pub aws_domain: Option<String>,
    /// Credentials that assume the role.
    #[schemars(with = "Option<AwsSourceConfig>")]
    pub aws_signing: Option<Box<AwsSourceConfig>>,
}

/// Credentials that assume a role.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsSourceConfig {
    /// Credentials of the environment: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_REGION`, `AWS_SESSION_TOKEN`.
    pub environment_credentials: Option<AwsEnvironmentConfig>,
    /// A profile of a credentials file.
    pub profile_credentials: Option<AwsProfileConfig>,
    /// The metadata service of EC2, or the credentials service of containers.
    pub metadata_credentials: Option<AwsMetadataConfig>,
}

/// A role that a token of another identity provider may assume.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AwsWebIdentityConfig {
    /// Region; the default is `AWS_REGION`.
    #[schemars(example = &"eu-west-1")]
    pub aws_region: Option<String>,
    /// Name of the session.
    #[schemars(extend("default" = "open-policy-agent"), example = &"solon")]
    pub session_name: Option<String>,
    /// Domain of AWS; the default is `AWS_DOMAIN`, or `amazonaws.com`.
    #[schemars(example = &"amazonaws.com.cn")]
    pub aws_domain: Option<String>,
}

/// Tokens of the metadata server of Google Cloud.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct GcpConfig {
    /// Audience of an identity token.
    #[schemars(example = &"https://bundles.example.com")]
    pub audience: Option<String>,
    /// URL of the metadata server.
    #[schemars(extend("default" = "http://metadata.google.internal"), example = &"http://metadata.google.internal")]
    pub endpoint: Option<String>,
    /// Scopes of an access token.
    #[schemars(example = ["https://www.googleapis.com/auth/devstorage.read_only"])]
    pub scopes: Vec<String>,
    /// Path of access tokens.
    #[schemars(
        extend("default" = "/computeMetadata/v1/instance/service-accounts/default/token"),
        example = &"/computeMetadata/v1/instance/service-accounts/default/token"
    )]
    pub access_token_path: Option<String>,
    /// Path of identity tokens.
    #[schemars(
        extend("default" = "/computeMetadata/v1/instance/service-accounts/default/identity"),
        example = &"/computeMetadata/v1/instance/service-accounts/default/identity"
    )]
    pub id_token_path: Option<String>,
}

/// Tokens of managed identities of Azure.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, expecting = "an object")]
pub struct AzureConfig {
    /// URL of the token endpoint; the default is the one of virtual machines, or `IDENTITY_ENDPOINT` with `use_app_service_msi`.
    #[schemars(example = &"http://169.254.169.254/metadata/identity/oauth2/token")]
    pub endpoint: Option<String>,
    /// Version of the endpoint's protocol.
    #[schemars(extend("default" = "2018-02-01"), example = &"2018-02-01")]
    pub api_version: Option<String>,
    /// Resource that tokens are for.
    #[schemars(extend("default" = "https://storage.azure.com/"), example = &"https://storage.azure.com/")]
    pub resource: Option<String>,
    /// Object identifier of the identity.
    #[schemars(example = &"00000000-0000-0000-0000-000000000000")]
    pub object_id: Option<String>,
    /// Client identifier of the identity.
    #[schemars(example = &"00000000-0000-0000-0000-000000000000")]
    pub client_id: Option<String>,
    /// Resource identifier of the identity.
    #[schemars(example = &"/subscriptions/0/resourceGroups/g/providers/Microsoft.ManagedIdentity/userAssignedIdentities/i")]
    pub mi_res_id: Option<String>,
    /// Requests tokens as programs of Azure App Service do.
    #[schemars(example = true)]
    pub use_app_service_msi: bool,
}
