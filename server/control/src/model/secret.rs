//! Secrets: write-only credentials.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;
use zeroize::Zeroizing;

use super::hosts::check_allowed_host;
use super::{Address, FieldPath, Reader};

/// Type of a secret's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FieldKind {
    Text,
    Texts,
    Integer,
}

#[derive(Debug)]
struct Field {
    name: &'static str,
    kind: FieldKind,
    required: bool,
}

const fn text(name: &'static str) -> Field {
    Field {
        name,
        kind: FieldKind::Text,
        required: true,
    }
}

const fn optional(name: &'static str) -> Field {
    Field {
        name,
        kind: FieldKind::Text,
        required: false,
    }
}

const fn texts(name: &'static str) -> Field {
    Field {
        name,
        kind: FieldKind::Texts,
        required: false,
    }
}

const fn integer(name: &'static str) -> Field {
    Field {
        name,
        kind: FieldKind::Integer,
        required: true,
    }
}

/// A type of secrets: its fields, and those of which one is required.
#[derive(Debug)]
pub struct SecretType {
    name: &'static str,
    fields: &'static [Field],
    /// At least one of these fields is required.
    one_of: &'static [&'static str],
}

/// Every type. Requests name it in the member `type`.
static TYPES: [SecretType; 12] = [
    SecretType {
        name: "aws_auth",
        fields: &[
            text("access_key_id"),
            text("secret_access_key"),
            optional("session_token"),
        ],
        one_of: &[],
    },
    SecretType {
        name: "azure_auth",
        fields: &[text("account_name"), text("account_key")],
        one_of: &[],
    },
    SecretType {
        name: "gcp_auth",
        fields: &[optional("api_key"), optional("credentials")],
        one_of: &["api_key", "credentials"],
    },
    SecretType {
        name: "github_app_auth",
        fields: &[
            integer("integration_id"),
            integer("installation_id"),
            text("private_key"),
        ],
        one_of: &[],
    },
    SecretType {
        name: "ssh_key",
        fields: &[text("key"), optional("passphrase"), texts("fingerprints")],
        one_of: &[],
    },
    SecretType {
        name: "basic_auth",
        fields: &[text("username"), text("password"), texts("headers")],
        one_of: &[],
    },
    SecretType {
        name: "token_auth",
        fields: &[text("token")],
        one_of: &[],
    },
    SecretType {
        name: "oidc_client_credentials",
        fields: &[
            optional("issuer"),
            optional("token_endpoint"),
            text("client_id"),
            text("client_secret"),
            texts("scopes"),
        ],
        one_of: &["issuer", "token_endpoint"],
    },
    SecretType {
        name: "password",
        fields: &[text("password")],
        one_of: &[],
    },
    SecretType {
        name: "tls_cert",
        fields: &[
            optional("root_ca"),
            optional("tls_cert"),
            optional("tls_key"),
        ],
        one_of: &["root_ca", "tls_cert"],
    },
    SecretType {
        name: "api_key",
        fields: &[text("key"), text("value"), optional("in")],
        one_of: &[],
    },
    SecretType {
        name: "signing_key",
        fields: &[text("key")],
        one_of: &[],
    },
];

impl SecretType {
    fn from_name(name: &str) -> Option<&'static Self> {
        TYPES.iter().find(|kind| kind.name == name)
    }

    /// Every type with the names of its fields.
    pub fn all() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
        TYPES.iter().map(|kind| {
            let names = kind.fields.iter().map(|field| field.name);
            (kind.name, names.collect())
        })
    }
}

/// Value of a field, overwritten before its memory is freed.
#[derive(Clone, PartialEq, Eq)]
pub enum SecretField {
    /// A text.
    Text(Zeroizing<String>),
    /// Several texts.
    Texts(Vec<Zeroizing<String>>),
    /// An integer.
    Integer(i64),
}

/// The value of a secret. Its texts are zeroed when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretValue {
    kind: &'static str,
    fields: BTreeMap<&'static str, SecretField>,
}

impl fmt::Debug for SecretField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

impl fmt::Debug for SecretValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretValue({})", self.kind)
    }
}

/// A secret as the request body describes it.
#[derive(Clone, Debug)]
pub struct Secret {
    /// The name. Empty if the body has none.
    pub name: String,
    /// The value, or `None` if it is invalid.
    pub value: Option<SecretValue>,
    /// The hosts that may receive the secret from items of other owners. If it is empty, only items of its owner may use
    /// it.
    pub allowed_hosts: Vec<String>,
    /// `true` if it was loaded for an item of another owner.
    pub is_foreign: bool,
}

/// Returns the `allowed_hosts` in the stored body of a secret. Bodies of earlier versions have none.
pub fn allowed_hosts(body: &str) -> Vec<String> {
    let body: Option<Value> = serde_json::from_str(body).ok();
    let hosts = body
        .as_ref()
        .and_then(|body| body.get("allowed_hosts")?.as_array());
    let texts = hosts.into_iter().flatten().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

impl Secret {
    /// Parses a secret in either syntax: `{"name": …, "value": {"type": …}}`, or flat with `type` at the top.
    pub fn read(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Self {
        let mut members = reader.object(field_path, value);
        let name = members.name(reader, field_path);
        let allowed_hosts = members.texts(reader, field_path, "allowed_hosts");
        let hosts_place = field_path.member("allowed_hosts");
        for (index, host) in allowed_hosts.iter().enumerate() {
            if let Err(message) = check_allowed_host(host) {
                reader.report(&hosts_place.element(index), message);
            }
        }
        if members.has("type") {
            let value = SecretValue::read(reader, field_path, value, true);
            return Self {
                name,
                value,
                allowed_hosts,
                is_foreign: false,
            };
        }
        let is_object = members.is_object();
        let value = match members.take("value") {
            Some(value) => SecretValue::read(reader, &field_path.member("value"), value, false),
            None => {
                if is_object {
                    reader.report(&field_path.member("value"), "is required");
                }
                None
            }
        };
        members.end(reader, field_path);
        Self {
            name,
            value,
            allowed_hosts,
            is_foreign: false,
        }
    }

    /// Returns the value for a connection to an address. The hosts may have changed since the item that names the secret was
    /// written, so they are checked again for each connection.
    ///
    /// # Errors
    /// The secret has no value, or may not be sent to the address.
    pub fn value_for(&self, address: Option<&Address>) -> Result<&SecretValue, String> {
        let name = &self.name;
        if self.allowed_hosts.is_empty() && self.is_foreign {
            return Err(format!(
                "secret {name:?} has no `allowed_hosts`: only items of its owner may use it"
            ));
        }
        let is_listed = address.is_some_and(|address| address.is_in(&self.allowed_hosts));
        if !self.allowed_hosts.is_empty() && !is_listed {
            let host = address.map_or("an ambiguous address", |address| &address.host);
            return Err(format!(
                "secret {name:?} may not be sent to {host}: its `allowed_hosts` do not include this host with this port"
            ));
        }
        let value = self.value.as_ref();
        value.ok_or_else(|| format!("secret {name:?} is not configured"))
    }
}

impl SecretValue {
    fn read(
        reader: &mut Reader,
        field_path: &FieldPath<'_>,
        value: &Value,
        is_flat: bool,
    ) -> Option<Self> {
        let mut members = reader.object(field_path, value);
        if is_flat {
            members.take("name");
            members.take("allowed_hosts");
        }
        let kind = members.required(reader, field_path, "type");
        if kind.is_empty() {
            return None;
        }
        let Some(kind) = SecretType::from_name(&kind) else {
            let type_names: Vec<&str> = TYPES.iter().map(|kind| kind.name).collect();
            let known_types = type_names.join(", ");
            // the value may be anything, such as a misplaced credential, so the message does not contain it
            reader.report(
                &field_path.member("type"),
                format_args!("must be one of {known_types}"),
            );
            return None;
        };
        let mut fields = BTreeMap::new();
        for field in kind.fields {
            let field_path = field_path.member(field.name);
            let Some(value) = members.take(field.name) else {
                if field.required {
                    reader.report(&field_path, "is required");
                }
                continue;
            };
            let contents = match field.kind {
                FieldKind::Text => {
                    let text = reader.text(&field_path, value);
                    if field.required && value.as_str() == Some("") {
                        reader.report(&field_path, "is required");
                    }
                    SecretField::Text(Zeroizing::new(text))
                }
                FieldKind::Texts => {
                    let items = reader.array(&field_path, value).iter().enumerate();
                    let read_text = |(index, item)| {
                        Zeroizing::new(reader.text(&field_path.element(index), item))
                    };
                    SecretField::Texts(items.map(read_text).collect())
                }
                FieldKind::Integer => SecretField::Integer(reader.integer(&field_path, value)),
            };
            fields.insert(field.name, contents);
        }
        members.end(reader, field_path);
        let secret = Self {
            kind: kind.name,
            fields,
        };
        if !kind.one_of.is_empty() && !kind.one_of.iter().any(|name| secret.has(name)) {
            let names = kind.one_of.join("` or `");
            reader.report(field_path, format_args!("must have `{names}`"));
        }
        secret.check(reader, field_path);
        Some(secret)
    }

    /// Checks the constraints of single types.
    fn check(&self, reader: &mut Reader, field_path: &FieldPath<'_>) {
        match self.kind {
            "api_key" => {
                let known_places = ["", "header", "query"];
                if !known_places.contains(&self.text("in").unwrap_or_default()) {
                    reader.report(&field_path.member("in"), "must be `header` or `query`");
                }
            }
            "tls_cert" if self.has("tls_cert") != self.has("tls_key") => {
                reader.report(field_path, "must have `tls_cert` and `tls_key` together");
            }
            "basic_auth" => {
                let field_path = field_path.member("headers");
                for (index, header) in self.texts("headers").iter().enumerate() {
                    if !header.contains(':') {
                        reader.report(&field_path.element(index), "must be `Name: value`");
                    }
                }
            }
            "ssh_key" => {
                if !self.text("key").unwrap_or_default().contains("-----BEGIN ") && self.has("key")
                {
                    reader.report(&field_path.member("key"), "must be a key in PEM form");
                }
                let field_path = field_path.member("fingerprints");
                for (index, print) in self.texts("fingerprints").iter().enumerate() {
                    if !print.starts_with("SHA256:") {
                        reader.report(&field_path.element(index), "must begin with `SHA256:`");
                    }
                }
            }
            "oidc_client_credentials" => {
                for field in ["issuer", "token_endpoint"] {
                    reader.check_web_address(
                        &field_path.member(field),
                        self.text(field).unwrap_or_default(),
                    );
                }
            }
            _ => {}
        }
    }

    /// Returns the type, such as `basic_auth`.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Returns the text of a field, or `None` if it is missing or of another type.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.fields.get(name) {
            Some(SecretField::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns the texts of a field. The slice is empty if the field is missing or of another type.
    pub fn texts(&self, name: &str) -> &[Zeroizing<String>] {
        match self.fields.get(name) {
            Some(SecretField::Texts(texts)) => texts,
            _ => &[],
        }
    }

    /// Replaces the secret fields in a message, in case a server repeated them.
    pub fn redact(&self, message: String) -> String {
        const SECRET: [&str; 12] = [
            "access_key_id",
            "account_key",
            "api_key",
            "client_secret",
            "credentials",
            "key",
            "passphrase",
            "password",
            "private_key",
            "secret_access_key",
            "session_token",
            "token",
        ];
        // of an API key, the key is the name and the value the secret.
        let (other_name, is_api_key) = ("value", self.kind == "api_key");
        let names = SECRET
            .iter()
            .filter(|name| !(is_api_key && **name == "key"));
        let mut message = message;
        for name in names.chain([&other_name]) {
            let text = self.text(name).unwrap_or_default();
            // shorter texts are parts of words
            if text.len() >= 4 && message.contains(text) {
                message = message.replace(text, "REDACTED");
            }
        }
        message
    }

    /// Returns the integer of a field, or `None` if it is missing or of another type.
    pub fn integer(&self, name: &str) -> Option<i64> {
        match self.fields.get(name) {
            Some(SecretField::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    fn has(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| !text.is_empty())
    }

    /// Returns the JSON text to encrypt.
    pub fn to_json(&self) -> Zeroizing<Vec<u8>> {
        let quote = |text: &str| Zeroizing::new(serde_json::to_string(text).unwrap_or_default());
        // reserves the whole size: a reallocation would leave a copy of the secret in freed memory
        let parts = self.fields.iter().map(|(name, field)| {
            let bytes = match field {
                SecretField::Text(text) => text.len(),
                SecretField::Texts(texts) => texts.iter().map(|text| text.len() + 8).sum(),
                SecretField::Integer(_) => 20,
            };
            name.len() + 8 + 6 * bytes
        });
        let mut out = Zeroizing::new(Vec::with_capacity(64 + parts.sum::<usize>()));
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(self.kind.as_bytes());
        out.push(b'"');
        for (name, field) in &self.fields {
            out.extend_from_slice(format!(",\"{name}\":").as_bytes());
            match field {
                SecretField::Text(text) => out.extend_from_slice(quote(text).as_bytes()),
                SecretField::Integer(number) => {
                    out.extend_from_slice(number.to_string().as_bytes());
                }
                SecretField::Texts(texts) => {
                    out.push(b'[');
                    for (index, text) in texts.iter().enumerate() {
                        if index > 0 {
                            out.push(b',');
                        }
                        out.extend_from_slice(quote(text).as_bytes());
                    }
                    out.push(b']');
                }
            }
        }
        out.push(b'}');
        out
    }
}
