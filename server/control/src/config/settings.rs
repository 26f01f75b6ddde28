//! Settings of the service: its database, its paths, its metrics.

use std::time::Duration;

use serde_json::Value;

use crate::db::{DatabaseOptions, DatabaseTls};
use crate::model::{FieldPath, Reader, SecretValue, read_retention};

/// Settings of the service.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The database, if the files specify one.
    pub database: Option<DatabaseOptions>,
    /// The prefix of each path, without a trailing slash.
    pub api_prefix: Option<String>,
    /// Parts that are measured, and their buckets.
    pub metrics: MetricsSettings,
    /// The section `distributed_tracing`, which the program reads.
    pub tracing: Option<Value>,
    /// Retention of audit entries: unlimited if it is absent or `Some(None)`.
    pub audit_retention: Option<Option<Duration>>,
}

/// The settings of metrics.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricsSettings {
    /// `true` if the durations of requests are not measured.
    pub without_requests: bool,
    /// Upper bounds of the buckets of requests, in seconds. The defaults apply if it is empty.
    pub request_buckets: Vec<f64>,
    /// `true` if statements of the database are not counted.
    pub without_statement_counts: bool,
    /// `true` if the duration of statements is not measured.
    pub without_statement_times: bool,
    /// Upper bounds of the buckets of statements, in seconds. The defaults apply if it is empty.
    pub statement_buckets: Vec<f64>,
    /// `true` if fetches of repositories are not counted.
    pub without_git_counts: bool,
    /// `true` if the duration of fetches of repositories is not measured.
    pub without_git_times: bool,
    /// Upper bounds of the buckets of fetches of repositories, in seconds. The defaults apply if it is empty.
    pub git_buckets: Vec<f64>,
    /// `true` if builds of bundles are not counted.
    pub without_build_counts: bool,
    /// `true` if the duration of builds is not measured.
    pub without_build_times: bool,
    /// Upper bounds of the buckets of builds, in seconds. The defaults apply if it is empty.
    pub build_buckets: Vec<f64>,
}

/// Reads `service`: the prefix of each path. A prefix that is not valid is reported.
pub(super) fn read_service(
    reader: &mut Reader,
    path: &FieldPath<'_>,
    value: &Value,
) -> Option<String> {
    let mut members = reader.object(path, value);
    let has_prefix = members.has("api_prefix");
    let prefix = members.text(reader, path, "api_prefix");
    members.end(reader, path);
    if has_prefix && let Err(message) = check_prefix(&prefix) {
        reader.report(&path.member("api_prefix"), message);
    }
    has_prefix.then(|| prefix.trim_end_matches('/').to_owned())
}

/// Checks the prefix of the paths. `/` is equivalent to an empty prefix.
///
/// # Errors
/// The problem of the prefix.
pub fn check_prefix(prefix: &str) -> Result<(), &'static str> {
    let inner = prefix.strip_prefix('/').unwrap_or_default();
    let is_path = !inner.is_empty() && !inner.starts_with('/') && !inner.ends_with('/');
    if is_path || prefix == "/" {
        Ok(())
    } else {
        Err("must begin with `/` and not end with it")
    }
}

/// Reads `audit`: the retention of its entries.
pub(super) fn read_audit(
    reader: &mut Reader,
    path: &FieldPath<'_>,
    value: &Value,
) -> Option<Option<Duration>> {
    let mut members = reader.object(path, value);
    let retention = members.text(reader, path, "retention");
    members.end(reader, path);
    if retention.is_empty() {
        return None;
    }
    match read_retention(&retention) {
        Ok(retention) => Some(retention),
        Err(message) => {
            reader.report(&path.member("retention"), message);
            None
        }
    }
}

/// Reads `database`. Problems are reported. `secret` returns the value of a secret by name.
pub(super) fn read_database(
    reader: &mut Reader,
    path: &FieldPath<'_>,
    value: &Value,
    secret: impl Fn(&str) -> Option<SecretValue>,
) -> Option<DatabaseOptions> {
    let mut members = reader.object(path, value);
    if members.take("aws_rds").is_some() {
        let message = "is not known to this service: name the server by `sql`, with a password or a certificate";
        reader.report(&path.member("aws_rds"), message);
    }
    let sql = members.take("sql");
    members.end(reader, path);
    let field_path = path.member("sql");
    let mut members = reader.object(&field_path, sql?);
    let driver = members.required(reader, &field_path, "driver");
    let dsn = members.text(reader, &field_path, "dsn");
    let credentials = members.text(reader, &field_path, "credentials");
    members.end(reader, &field_path);
    let mut tls = DatabaseTls::default();
    if !credentials.is_empty() {
        match secret(&credentials) {
            Some(secret) if secret.kind() == "tls_cert" => {
                let text = |name| secret.text(name).unwrap_or_default().to_owned();
                tls = DatabaseTls {
                    root_ca: text("root_ca"),
                    certificate: text("tls_cert"),
                    key: text("tls_key").into(),
                };
            }
            Some(_) => reader.report(
                &field_path.member("credentials"),
                "must name a secret of type `tls_cert`",
            ),
            None => reader.report(
                &field_path.member("credentials"),
                "names a secret that these files do not describe",
            ),
        }
    }
    match driver.as_str() {
        "sqlite" | "sqlite3" => {
            let path = dsn.strip_prefix("file:").unwrap_or(&dsn);
            let path = path.split('?').next().unwrap_or_default();
            match path {
                "" => None,
                ":memory:" => Some(DatabaseOptions::Memory),
                path => Some(DatabaseOptions::Sqlite(path.into())),
            }
        }
        "postgres" | "pgx" | "postgresql" | "mysql" if dsn.is_empty() => {
            reader.report(&field_path.member("dsn"), "is required");
            None
        }
        "postgres" | "pgx" | "postgresql" => Some(DatabaseOptions::Postgres(dsn, tls)),
        "mysql" => Some(DatabaseOptions::Mysql(dsn, tls)),
        "" => None,
        other => {
            let message = format_args!("must be `sqlite`, `postgres` or `mysql`, not {other:?}");
            reader.report(&field_path.member("driver"), message);
            None
        }
    }
}

/// Reads `metrics`. Everything is enabled unless `enabled` is `false`.
pub(super) fn read_metrics(
    reader: &mut Reader,
    path: &FieldPath<'_>,
    value: &Value,
) -> MetricsSettings {
    let mut settings = MetricsSettings::default();
    let mut members = reader.object(path, value);
    let is_on = switch(reader, path, &mut members);
    settings.without_requests = !is_on;
    settings.without_statement_counts = !is_on;
    settings.without_statement_times = !is_on;
    settings.without_git_counts = !is_on;
    settings.without_git_times = !is_on;
    settings.without_build_counts = !is_on;
    settings.without_build_times = !is_on;
    let groups: [(&'static str, &[&'static str]); 4] = [
        ("http", &["request_duration"]),
        ("gitsync", &["git_sync_duration", "git_sync_count"]),
        ("worker", &["bundle_build_duration", "bundle_build_count"]),
        (
            "database",
            &["database_query_duration", "database_query_count"],
        ),
    ];
    for (group, metrics) in groups {
        let Some(value) = members.take(group) else {
            continue;
        };
        let field_path = path.member(group);
        let mut members = reader.object(&field_path, value);
        let group_is_on = switch(reader, &field_path, &mut members);
        for name in metrics {
            let Some(value) = members.take(name) else {
                continue;
            };
            let field_path = field_path.member(name);
            let mut members = reader.object(&field_path, value);
            let metric_is_on = switch(reader, &field_path, &mut members);
            let buckets = members
                .take("buckets_seconds")
                .map_or_else(Vec::new, |value| {
                    read_buckets(reader, &field_path.member("buckets_seconds"), value)
                });
            members.end(reader, &field_path);
            match *name {
                "request_duration" => {
                    settings.without_requests |= !metric_is_on;
                    settings.request_buckets = buckets;
                }
                "database_query_duration" => {
                    settings.without_statement_times |= !metric_is_on;
                    settings.statement_buckets = buckets;
                }
                "database_query_count" => settings.without_statement_counts |= !metric_is_on,
                "git_sync_duration" => {
                    settings.without_git_times |= !metric_is_on;
                    settings.git_buckets = buckets;
                }
                "git_sync_count" => settings.without_git_counts |= !metric_is_on,
                "bundle_build_duration" => {
                    settings.without_build_times |= !metric_is_on;
                    settings.build_buckets = buckets;
                }
                "bundle_build_count" => settings.without_build_counts |= !metric_is_on,
                _ => {}
            }
        }
        settings.without_requests |= group == "http" && !group_is_on;
        settings.without_statement_times |= group == "database" && !group_is_on;
        settings.without_statement_counts |= group == "database" && !group_is_on;
        settings.without_git_times |= group == "gitsync" && !group_is_on;
        settings.without_git_counts |= group == "gitsync" && !group_is_on;
        settings.without_build_times |= group == "worker" && !group_is_on;
        settings.without_build_counts |= group == "worker" && !group_is_on;
        members.end(reader, &field_path);
    }
    members.end(reader, path);
    settings
}

/// Reads `enabled`, which defaults to `true`.
fn switch(
    reader: &mut Reader,
    path: &FieldPath<'_>,
    members: &mut crate::model::Members<'_>,
) -> bool {
    let value = members.take("enabled");
    value.is_none_or(|value| reader.boolean(&path.member("enabled"), value))
}

fn read_buckets(reader: &mut Reader, field_path: &FieldPath<'_>, value: &Value) -> Vec<f64> {
    let mut bounds: Vec<f64> = Vec::new();
    for (index, item) in reader.array(field_path, value).iter().enumerate() {
        match item.as_f64() {
            Some(upper_bound) if bounds.last().is_none_or(|last| *last < upper_bound) => {
                bounds.push(upper_bound);
            }
            Some(_) => reader.report(
                &field_path.element(index),
                "must be larger than the one before",
            ),
            None => reader.expected(&field_path.element(index), "a number", item),
        }
    }
    bounds
}
