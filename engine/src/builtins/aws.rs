//! Signed requests to AWS (Signature Version 4).

use std::collections::BTreeMap;

use hmac::digest::common::KeyInit;
use hmac::{Hmac, Mac};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use super::http::is_field;
use super::operands::plain_int;
use super::{Builtin, BuiltinContext, BuiltinError, Operands};
use crate::bug::bug;
use crate::uri::{self, Uri};
use crate::value::{ObjectView, RefRepr, TextView, ValueRef, json};

pub const TABLE: &[Builtin] = &[Builtin::new(
    "providers.aws.sign_req",
    "request: object[string: any], aws_config: object[string: any], time_ns: number => signed_request: object[any: any]",
    "A request for `http.send` with the headers that sign it for AWS.",
    sign_req,
).listed(&["providers.aws"])];

/// Headers that proxies may change and that are therefore not signed.
const UNSIGNED: [&str; 3] = ["authorization", "user-agent", "x-amzn-trace-id"];

/// Placeholder for the digest of an unsigned body.
const UNSIGNED_PAYLOAD: &str = "UNSIGNED-PAYLOAD";

fn unchecked<'t>() -> TextView<'t> {
    bug!("a request that was checked lacks a field")
}

fn sign_req<'e>(
    call: &mut BuiltinContext<'e>,
    operands: &[ValueRef<'e>],
) -> Result<ValueRef<'e>, BuiltinError> {
    // OPA's message names the first operand, whichever operand has the wrong type
    let object = |position| {
        let operand = operands.operand(position);
        operand
            .as_object()
            .ok_or_else(|| BuiltinError::operand(1, &["object"], operand))
    };
    let (request, config) = (object(0)?, object(1)?);
    let signer = Config::read(config)?;
    let time = operands.operand(2);
    let number = time
        .as_number()
        .ok_or_else(|| BuiltinError::operand(1, &["number"], time))?;
    let instant = plain_int(number)
        .and_then(|ns| Timestamp::from_nanosecond(ns.into()).ok())
        .ok_or_else(|| {
            BuiltinError::type_error(
                "operand 3 could not convert time_ns value into a unix timestamp",
            )
        })?;
    check_request(request)?;
    let time = instant.strftime("%Y%m%dT%H%M%SZ").to_string();
    let address = required(request, "url").unwrap_or_else(unchecked);
    let address =
        uri::parse(address.as_bytes()).map_err(|error| BuiltinError::error(error.to_string()))?;
    let headers = headers(request)?;
    let digest = if signs_payload(config)? {
        hex::encode(Sha256::digest(body(request)))
    } else {
        UNSIGNED_PAYLOAD.to_owned()
    };
    let host = String::from_utf8_lossy(&address.host).into_owned();
    let mut generated = vec![("host", host), ("x-amz-date", time.clone())];
    if signer.is_storage() {
        generated.push(("x-amz-content-sha256", digest.clone()));
    }
    if let Some(token) = &signer.session_token {
        generated.push(("x-amz-security-token", token.to_str().into_owned()));
    }
    let method = required(request, "method").unwrap_or_else(unchecked);
    let signature = Signature {
        method: method.as_bytes(),
        address: &address,
        digest: &digest,
        headers: signed_headers(&generated, &headers),
        time: &time,
    };
    let authorization = signature.authorization(&signer);
    generated.push(("Authorization", authorization));
    Ok(with_headers(call, request, &headers, &generated))
}

/// Returns the request with its own headers and the signature headers.
fn with_headers<'e>(
    call: &BuiltinContext<'e>,
    request: ObjectView<'e>,
    headers: &[(String, String)],
    generated: &[(&str, String)],
) -> ValueRef<'e> {
    let arena = call.arena;
    let request_headers = headers.iter().map(|(name, value)| (&**name, value));
    let added = generated.iter().map(|(name, value)| (*name, value));
    let pairs: BTreeMap<&str, &String> = request_headers.chain(added).collect();
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (arena.text(name), arena.text(value)));
    let headers = arena.object_from(pairs);
    let is_headers = |name: ValueRef<'_>| {
        name.as_text()
            .is_some_and(|name| name.as_bytes() == b"headers")
    };
    let other_fields = request.iter().filter(|(name, _)| !is_headers(*name));
    arena.object_from(other_fields.chain([(arena.text("headers"), headers)]))
}

/// Credentials and scope of a signature.
struct Config<'e> {
    service: TextView<'e>,
    access_key: TextView<'e>,
    secret_key: TextView<'e>,
    region: TextView<'e>,
    session_token: Option<TextView<'e>>,
}

impl<'e> Config<'e> {
    const FIELDS: [&'static str; 4] = [
        "aws_access_key",
        "aws_region",
        "aws_secret_access_key",
        "aws_service",
    ];

    fn read(config: ObjectView<'e>) -> Result<Self, BuiltinError> {
        let missing = absent(config, &Self::FIELDS);
        if !missing.is_empty() {
            return Err(BuiltinError::type_error(format!(
                "operand 2 missing required AWS config parameters(s): {missing}"
            )));
        }
        let [
            Some(access_key),
            Some(region),
            Some(secret_key),
            Some(service),
        ] = Self::FIELDS.map(|name| required(config, name))
        else {
            let invalid = no_texts(config, &Self::FIELDS);
            return Err(BuiltinError::type_error(format!(
                "operand 2 invalid values for required AWS config parameters(s): {invalid}"
            )));
        };
        Ok(Self {
            service,
            access_key,
            secret_key,
            region,
            session_token: required(config, "aws_session_token")
                .filter(|token| !token.as_bytes().is_empty()),
        })
    }

    /// Returns `true` if the service requires the digest of the body in a header.
    fn is_storage(&self) -> bool {
        matches!(self.service.as_bytes(), b"s3" | b"glacier")
    }
}

/// Returns `true` if the body is signed, unless the configuration disables that.
fn signs_payload(config: ObjectView<'_>) -> Result<bool, BuiltinError> {
    match config.get_str("disable_payload_signing") {
        None => Ok(true),
        Some(ValueRef(RefRepr::Bool(disabled))) => Ok(!disabled),
        Some(_) => Err(BuiltinError::type_error(
            "operand 2 invalid value for 'disable_payload_signing' in AWS config",
        )),
    }
}

fn required<'e>(object: ObjectView<'e>, name: &str) -> Option<TextView<'e>> {
    object.get_str(name)?.as_text()
}

/// Formats the names that are missing in an object as a set. Returns an empty text if none are.
fn absent(object: ObjectView<'_>, names: &[&str]) -> String {
    let absent = names.iter().filter(|name| object.get_str(name).is_none());
    set(absent.map(|name| (*name).to_owned()))
}

/// Formats the names whose values are not strings as a set. Returns an empty text if there are none.
fn no_texts(object: ObjectView<'_>, names: &[&str]) -> String {
    let wrong = names.iter().filter(|name| required(object, name).is_none());
    set(wrong.map(|name| (*name).to_owned()))
}

fn set(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    if names.is_empty() {
        return String::new();
    }
    format!("{{{}}}", names.join(", "))
}

fn check_request(request: ObjectView<'_>) -> Result<(), BuiltinError> {
    const REQUIRED: [&str; 2] = ["method", "url"];
    let unknown: Vec<String> = request
        .iter()
        .filter(|(name, _)| !is_field(*name))
        .map(|(name, _)| name.rego_text().to_string())
        .collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(", ");
        return Err(BuiltinError::type_error(format!(
            "operand 1 invalid request parameters(s): {{{unknown}}}"
        )));
    }
    let missing = absent(request, &REQUIRED);
    if !missing.is_empty() {
        return Err(BuiltinError::type_error(format!(
            "operand 1 missing required request parameters(s): {missing}"
        )));
    }
    let invalid = no_texts(request, &REQUIRED);
    if !invalid.is_empty() {
        return Err(BuiltinError::type_error(format!(
            "operand 1 invalid values for required request parameters(s): {invalid}"
        )));
    }
    Ok(())
}

/// Returns the headers of the request. Values that are not strings count as empty.
fn headers(request: ObjectView<'_>) -> Result<Vec<(String, String)>, BuiltinError> {
    let Some(headers) = request.get_str("headers") else {
        return Ok(Vec::new());
    };
    let object = headers
        .as_object()
        .ok_or_else(|| BuiltinError::operand(0, &["object"], headers))?;
    let text = |value: ValueRef<'_>| {
        let text = value.as_text();
        text.map_or_else(String::new, |text| text.to_str().into_owned())
    };
    let pairs = object.iter();
    Ok(pairs
        .map(|(name, value)| (text(name), text(value)))
        .collect())
}

/// Returns the bytes that will be sent: a raw body verbatim, any other as JSON.
fn body(request: ObjectView<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    match (request.get_str("raw_body"), request.get_str("body")) {
        (Some(raw), _) => {
            if let Some(text) = raw.as_text() {
                bytes.extend(text.as_bytes());
            }
        }
        (None, Some(body)) => json::write_go(body, &mut bytes),
        (None, None) => {}
    }
    bytes
}

/// Returns the headers to sign by name. Headers of the request override generated ones.
fn signed_headers(
    generated: &[(&str, String)],
    request_headers: &[(String, String)],
) -> BTreeMap<String, String> {
    let mut signed = BTreeMap::new();
    for (name, value) in generated {
        signed.insert((*name).to_owned(), value.clone());
    }
    for (name, value) in request_headers {
        let name = name.to_lowercase();
        if !UNSIGNED.contains(&&*name) {
            signed.insert(name, value.clone());
        }
    }
    signed
}

/// Input of a signature.
struct Signature<'r> {
    method: &'r [u8],
    address: &'r Uri,
    digest: &'r str,
    headers: BTreeMap<String, String>,
    time: &'r str,
}

impl Signature<'_> {
    /// Returns the value of the header `Authorization`: the credential scope, the names of the signed headers and the
    /// signature.
    fn authorization(&self, config: &Config<'_>) -> String {
        let names: Vec<&str> = self.headers.keys().map(String::as_str).collect();
        let names = names.join(";");
        let mut request = self.method.to_vec();
        request.push(b'\n');
        request.extend(&*self.address.escaped_path());
        request.push(b'\n');
        request.extend(&self.address.query);
        request.push(b'\n');
        for (name, value) in &self.headers {
            request.extend(format!("{name}:{value}\n").into_bytes());
        }
        request.extend(format!("\n{names}\n{}", self.digest).into_bytes());

        let date: String = self.time.chars().take("YYYYMMDD".len()).collect();
        let (region, service) = (config.region.to_str(), config.service.to_str());
        let scope = format!("{date}/{region}/{service}/aws4_request");
        let digest = hex::encode(Sha256::digest(&request));
        let to_sign = format!("AWS4-HMAC-SHA256\n{}\n{scope}\n{digest}", self.time);

        let secret = [b"AWS4", config.secret_key.as_bytes()].concat();
        let steps = [&*date, &*region, &*service, "aws4_request", &*to_sign];
        let signature = steps
            .iter()
            .fold(secret, |key, step| code(&key, step.as_bytes()));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope},SignedHeaders={names},Signature={}",
            config.access_key.to_str(),
            hex::encode(signature)
        )
    }
}

fn code(key: &[u8], message: &[u8]) -> Vec<u8> {
    <Hmac<Sha256> as KeyInit>::new_from_slice(key).map_or_else(
        |_| Vec::new(),
        |mac| mac.chain_update(message).finalize().into_bytes().to_vec(),
    )
}
