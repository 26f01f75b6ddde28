//! The status of a bundle, as `GET /v1/status` returns it.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use http::StatusCode;
use jiff::Timestamp;
use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::config::Spelling;

/// Status of a bundle in `GET /v1/status`. Times that are not known yet are in year 1.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BundleStatus {
    /// Name in the configuration.
    pub name: String,
    /// Active revision, if its manifest names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_revision: Option<String>,
    /// Time of the last successful activation. `None` if there was none.
    #[serde(serialize_with = "timestamp")]
    pub last_successful_activation: Option<SystemTime>,
    /// `snapshot` or `delta`: the kind of the last downloaded bundle.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Size in bytes of the last downloaded archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Time of the last successful download. `None` if there was none.
    #[serde(serialize_with = "timestamp")]
    pub last_successful_download: Option<SystemTime>,
    /// Time of the last response of a service.
    #[serde(serialize_with = "timestamp")]
    pub last_successful_request: Option<SystemTime>,
    /// Time of the last request to a service, also a failed one.
    #[serde(serialize_with = "timestamp")]
    pub last_request: Option<SystemTime>,
    /// Timers of the last activation, in nanoseconds by their public names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, u64>,
    /// Code of the last error: `bundle_error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Message of the last error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Errors of policies that do not parse or compile.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<Value>,
    /// HTTP status of a response other than 200 and 304.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_code: Option<u16>,
}

/// Reason why a bundle was not downloaded, parsed or activated.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BundleFailure {
    pub message: String,
    /// Log message, which contains all errors.
    pub log: String,
    /// Errors of policies, as objects of the API.
    pub errors: Vec<Value>,
    /// HTTP status of the response, if one was received.
    pub http_code: Option<u16>,
    /// Delay that the service requested.
    pub retry_after: Option<Duration>,
    /// Timers of the steps before the failure, in nanoseconds by their public names.
    pub metrics: BTreeMap<String, u64>,
}

impl BundleFailure {
    /// Creates a failure without errors of policies.
    pub fn new(message: String) -> Self {
        Self {
            log: message.clone(),
            message,
            ..Self::default()
        }
    }

    /// Creates a failure for the status of a response.
    pub(crate) fn of_status(status: StatusCode) -> Self {
        let name = status.canonical_reason().unwrap_or_default();
        Self {
            http_code: Some(status.as_u16()),
            ..Self::new(format!("server replied with {name}"))
        }
    }
}

impl BundleStatus {
    /// Creates the initial status of a bundle.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            ..Self::default()
        }
    }

    /// Changes names of metrics and codes of errors, which are OPA's, to a spelling.
    #[must_use]
    pub fn spelled(mut self, spelling: Spelling) -> Self {
        let metrics = self.metrics.into_iter();
        self.metrics = metrics
            .map(|(name, value)| (spelling.metric(&name).into_owned(), value))
            .collect();
        self.message = self
            .message
            .map(|message| spelling.message(&message).into_owned());
        for error in self.errors.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(Value::String(code)) = error.get_mut("code") {
                *code = spelling.code(code).into_owned();
            }
            if let Some(Value::String(message)) = error.get_mut("message") {
                *message = spelling.message(message).into_owned();
            }
        }
        self
    }

    /// Returns `true` if the bundle was activated at least once.
    pub fn is_active(&self) -> bool {
        self.last_successful_activation.is_some()
    }

    /// Returns `true` if the last download or activation failed.
    pub(crate) fn has_failed(&self) -> bool {
        self.code.is_some()
    }

    /// Sets the last error.
    pub(crate) fn fail(&mut self, failure: &BundleFailure) {
        self.code = Some("bundle_error".to_owned());
        self.message = Some(failure.message.clone());
        self.errors.clone_from(&failure.errors);
        self.http_code = failure.http_code;
        self.metrics.extend(failure.metrics.clone());
    }

    /// Removes the last error.
    pub(crate) fn succeed(&mut self) {
        self.code = None;
        self.message = None;
        self.errors.clear();
        self.http_code = None;
    }
}

#[expect(clippy::ref_option, reason = "serde passes a reference")]
fn timestamp<S: Serializer>(value: &Option<SystemTime>, out: S) -> Result<S::Ok, S::Error> {
    let Some(value) = value else {
        return out.serialize_str("0001-01-01T00:00:00Z");
    };
    match Timestamp::try_from(*value) {
        Ok(time) => out.collect_str(&time),
        Err(error) => Err(S::Error::custom(error)),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use serde_json::json;

    use super::BundleStatus;
    use crate::config::Spelling;

    #[test]
    fn spellings() {
        let mut status = BundleStatus::new("rego_type_error");
        status.metrics = [
            ("timer_bundle_request_ns", 1),
            ("timer_rego_load_bundles_ns", 2),
            ("timer_rego_module_compile_ns", 3),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        status.message = Some("f: rego_parse_error: x".to_owned());
        let error = |code: &str, message: &str| json!({"code": code, "message": message, "location": {"file": "rego_parse_error"}});
        status.errors = vec![
            error("rego_unsafe_var_error", "var rego_x is unsafe"),
            error("eval_conflict_error", "a: rego_type_error: b"),
            json!("rego_type_error"),
        ];
        assert_eq!(json!(status.clone().spelled(Spelling::Opa)), json!(status));
        let standard = json!(status.spelled(Spelling::Standard));
        assert_eq!(standard["name"], "rego_type_error");
        assert_eq!(standard["message"], "f: lang_parse_error: x");
        assert_eq!(
            standard["metrics"],
            json!({
                "timer_bundle_request_ns": 1,
                "timer_lang_load_bundles_ns": 2,
                "timer_lang_module_compile_ns": 3,
            })
        );
        assert_eq!(
            standard["errors"],
            json!([
                error("lang_unsafe_var_error", "var rego_x is unsafe"),
                error("eval_conflict_error", "a: lang_type_error: b"),
                "rego_type_error",
            ])
        );
    }

    #[test]
    fn times() {
        let mut status = BundleStatus::new("authz");
        assert!(!status.is_active());
        status.last_successful_activation =
            Some(UNIX_EPOCH + Duration::new(951_782_400, 120_000_000));
        status.last_request = Some(UNIX_EPOCH);
        assert_eq!(
            serde_json::to_value(&status).unwrap(),
            serde_json::json!({
                "name": "authz",
                "last_successful_activation": "2000-02-29T00:00:00.12Z",
                "last_successful_download": "0001-01-01T00:00:00Z",
                "last_successful_request": "0001-01-01T00:00:00Z",
                "last_request": "1970-01-01T00:00:00Z",
            })
        );
        assert!(status.is_active());
    }
}
