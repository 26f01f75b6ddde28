//! Sources: where policies and data come from.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::Value;

use super::{
    Address, FieldPath, FileDocument, Git, Kind, Origin, Reader, Reference, Requirement, Resource,
    Webhook, credentials,
};

/// A source. All origins can be combined. A source without an origin contains pushed data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The name, unique among sources. See [`super::check_name`].
    pub name: String,
    /// A Git repository, which the service fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
    /// A folder of the machine of the service. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub directory: String,
    /// Globs of the included files of the folder.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The name of a built-in source. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub builtin: String,
    /// Files with their contents in base64.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The sources that are added to each bundle that requires this source.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<Requirement>,
    /// Data that the service fetches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub datasources: Vec<Datasource>,
    /// The webhook that triggers fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub webhook: Option<Webhook>,
}

/// Data that is fetched and mounted at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Datasource {
    /// The name, unique within the source.
    pub name: String,
    /// The path of the data below `data`, with `/` between its steps.
    pub path: String,
    /// The protocol and the address.
    #[serde(flatten)]
    pub config: DatasourceConfig,
    /// The name of the secret with the credentials. Empty if there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub credentials: String,
    /// A query that transforms the fetched data.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub transform_query: String,
}

/// Protocol for fetching data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", content = "config", rename_all = "snake_case")]
pub enum DatasourceConfig {
    /// The response to an HTTP request.
    Http {
        /// The address, a URL.
        url: String,
        /// The method. Defaults to `GET` if it is empty.
        #[serde(skip_serializing_if = "String::is_empty")]
        method: String,
        /// The body of the request. Empty if there is none.
        #[serde(skip_serializing_if = "String::is_empty")]
        body: String,
        /// The headers of the request by name.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// An object store with the S3 protocol.
    S3 {
        /// The bucket, without the address of the service.
        bucket: String,
        /// The key of the object within the bucket.
        key: String,
        /// The region. Defaults to `us-east-1` if it is empty.
        #[serde(skip_serializing_if = "String::is_empty")]
        region: String,
        /// The address of the service if it is not Amazon's.
        #[serde(skip_serializing_if = "String::is_empty")]
        endpoint: String,
    },
    /// Google Cloud Storage.
    Gcp {
        /// The bucket, without the address of the service.
        bucket: String,
        /// The name of the object within the bucket.
        object: String,
    },
    /// Azure Blob Storage.
    Azure {
        /// The address of the account, such as `https://account.blob.core.windows.net`.
        account_url: String,
        /// The container of the blob within the account.
        container: String,
        /// The name of the blob.
        path: String,
    },
}

impl Resource for Source {
    const KIND: Kind = Kind::Source;

    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let source = Self {
            name: members.name(reader, field_path),
            git: members
                .take("git")
                .map(|value| Git::read(reader, &field_path.member("git"), value)),
            directory: members.text(reader, field_path, "directory"),
            paths: members.texts(reader, field_path, "paths"),
            builtin: members.text(reader, field_path, "builtin"),
            files: members
                .take("files")
                .map(|value| reader.texts_by_name(&field_path.member("files"), value))
                .unwrap_or_default(),
            requirements: Requirement::read_all(reader, field_path, &mut members),
            datasources: Datasource::read_all(reader, field_path, members.take("datasources")),
            webhook: members
                .take("webhook")
                .and_then(|value| Webhook::read(reader, &field_path.member("webhook"), value)),
        };
        members.end(reader, field_path);
        reader.check_local(&field_path.member("directory"), &source.directory);
        let paths = field_path.member("paths");
        reader.check_globs(&paths, &source.paths);
        for (index, path) in source.paths.iter().enumerate() {
            reader.check_local(&paths.element(index), path);
        }
        let files = field_path.member("files");
        let mut documents = Vec::new();
        for (path, contents) in &source.files {
            let field_path = files.member(path);
            reader.check_inside(&field_path, path);
            if path.split('/').any(|step| matches!(step, "" | ".")) && !path.starts_with('/') {
                reader.report(
                    &field_path,
                    "must name a file, by its folders with `/` between",
                );
            }
            match FileDocument::read(path, contents) {
                Err(error) => reader.report(&field_path, error.message),
                Ok(Some(document)) => documents.push(document),
                Ok(None) if STANDARD.decode(contents).is_err() => {
                    reader.report(&field_path, "must be base64");
                }
                Ok(None) => {}
            }
        }
        if let Err(error) = FileDocument::merge(&documents) {
            reader.report(&files.member(&error.file), error.message);
        }
        reader.check_inside(&field_path.member("builtin"), &source.builtin);
        source
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    fn references(&self) -> Vec<Reference> {
        let mut references = Requirement::references(&self.requirements);
        references.extend(self.git.as_ref().and_then(Git::reference));
        references.extend(self.webhook.as_ref().map(Webhook::reference));
        for (index, datasource) in self.datasources.iter().enumerate() {
            if !datasource.credentials.is_empty() {
                references.push(Reference {
                    kind: Kind::Secret,
                    name: datasource.credentials.clone(),
                    field: format!("datasources[{index}].credentials"),
                    address: datasource.config.address(),
                });
            }
        }
        references
    }
}

impl DatasourceConfig {
    /// Returns the address that requests are sent to.
    pub fn address(&self) -> Option<Address> {
        match self {
            Self::Http { url, .. } => Address::of_url(url),
            Self::S3 {
                region, endpoint, ..
            } => Address::of_s3(endpoint, region),
            Self::Gcp { .. } => Address::of_service("storage.googleapis.com"),
            Self::Azure { account_url, .. } => Address::of_url(account_url),
        }
    }
}

impl Datasource {
    fn read_all(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        value: Option<&Value>,
    ) -> Vec<Self> {
        let Some(value) = value else {
            return Vec::new();
        };
        let field_path = field_path.member("datasources");
        let mut datasources = Vec::new();
        let mut names = std::collections::BTreeSet::new();
        for (index, item) in reader.array(&field_path, value).iter().enumerate() {
            let field_path = field_path.element(index);
            let Some(datasource) = Self::read(reader, &field_path, item) else {
                continue;
            };
            if !names.insert(datasource.name.clone()) {
                let name = &datasource.name;
                reader.report(
                    &field_path.member("name"),
                    format_args!("is {name:?} again"),
                );
            }
            datasources.push(datasource);
        }
        datasources
    }

    fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Option<Self> {
        let mut members = reader.object(field_path, value);
        let name = members.required(reader, field_path, "name");
        let path = members.text(reader, field_path, "path");
        reader.check_data_reference(&field_path.member("path"), &path);
        let kind = members.required(reader, field_path, "type");
        let credentials = members.text(reader, field_path, "credentials");
        let transform_query = members.text(reader, field_path, "transform_query");
        check_query(
            reader,
            &field_path.member("transform_query"),
            &transform_query,
        );
        let config = members.take("config");
        let is_object = members.is_object();
        members.end(reader, field_path);
        let config_place = field_path.member("config");
        let config = match (kind.as_str(), config) {
            ("http", Some(config)) => read_http(reader, &config_place, config),
            ("s3", Some(config)) => read_s3(reader, &config_place, config),
            ("gcp", Some(config)) => read_gcp(reader, &config_place, config),
            ("azure", Some(config)) => read_azure(reader, &config_place, config),
            ("http" | "s3" | "gcp" | "azure", None) => {
                reader.report(&config_place, "is required");
                return None;
            }
            ("", _) => return None,
            (other, _) => {
                if is_object {
                    let message =
                        format_args!("must be `http`, `s3`, `gcp` or `azure`, not {other:?}");
                    reader.report(&field_path.member("type"), message);
                }
                return None;
            }
        };
        Some(Self {
            name,
            path,
            config,
            credentials,
            transform_query,
        })
    }
}

fn read_http(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> DatasourceConfig {
    let mut members = reader.object(field_path, value);
    let url = members.required(reader, field_path, "url");
    reader.check_web_address(&field_path.member("url"), &url);
    let method = members.text(reader, field_path, "method");
    if http::Method::from_bytes(method.as_bytes()).is_err() && !method.is_empty() {
        reader.report(&field_path.member("method"), "is not an HTTP method");
    }
    let body = members.text(reader, field_path, "body");
    let headers_place = field_path.member("headers");
    let headers = members
        .take("headers")
        .map(|value| reader.texts_by_name(&headers_place, value))
        .unwrap_or_default();
    for (name, value) in &headers {
        let field_path = headers_place.member(name);
        if http::HeaderName::from_bytes(name.as_bytes()).is_err() {
            reader.report(&field_path, "is not a header name");
        } else if http::HeaderValue::from_str(value).is_err() {
            reader.report(&field_path, "is not a header value");
        }
    }
    members.end(reader, field_path);
    // a file may read them from environment variables
    if reader.origin() == Origin::Api {
        for field in credentials::in_config(value) {
            // user information in an address is already reported
            let is_known = field == "url" && url.contains('@');
            match field.strip_prefix("headers.") {
                Some(name) => reader.report(&headers_place.member(name), credentials::ADVICE),
                None if is_known => {}
                None => reader.report(&field_path.member(&field), credentials::ADVICE),
            }
        }
    }
    DatasourceConfig::Http {
        url,
        method,
        body,
        headers,
    }
}

fn read_s3(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> DatasourceConfig {
    let mut members = reader.object(field_path, value);
    let bucket = members.required(reader, field_path, "bucket");
    let key = members.required(reader, field_path, "key");
    let region = members.text(reader, field_path, "region");
    let endpoint = members.text(reader, field_path, "endpoint");
    reader.check_web_address(&field_path.member("endpoint"), &endpoint);
    members.end(reader, field_path);
    DatasourceConfig::S3 {
        bucket,
        key,
        region,
        endpoint,
    }
}

fn read_gcp(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> DatasourceConfig {
    let mut members = reader.object(field_path, value);
    let bucket = members.required(reader, field_path, "bucket");
    let object = members.required(reader, field_path, "object");
    members.end(reader, field_path);
    DatasourceConfig::Gcp { bucket, object }
}

fn read_azure(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> DatasourceConfig {
    let mut members = reader.object(field_path, value);
    let account_url = members.required(reader, field_path, "account_url");
    reader.check_web_address(&field_path.member("account_url"), &account_url);
    let container = members.required(reader, field_path, "container");
    let path = members.required(reader, field_path, "path");
    members.end(reader, field_path);
    DatasourceConfig::Azure {
        account_url,
        container,
        path,
    }
}

/// Reports a text that is not a query in any version of the language.
fn check_query(reader: &mut Reader, field_path: &FieldPath<'_>, query: &str) {
    use solon_syntax::ast::Version;
    use solon_syntax::source::{Source as Text, SourceId};
    if query.is_empty() {
        return;
    }
    let text = Text::new(SourceId(0), "transform_query", query);
    let parse = |version| {
        let options = solon_syntax::ParseOptions::from_version(version);
        solon_syntax::parse_body(&text, &options)
    };
    if let Err(wrong) = parse(Version::V1)
        && parse(Version::V0).is_err()
    {
        let message = wrong.0.first().map_or("", |first| first.message.as_str());
        reader.report(field_path, format_args!("is not a valid query: {message}"));
    }
}
