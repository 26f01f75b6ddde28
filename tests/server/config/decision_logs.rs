//! Members of `decision_logs`: what each of them changes, and which values are rejected.

use serde_json::{Value, json};

use super::super::Settings;
use super::keys::nested_at;
use super::read;
use crate::config::{BufferLimit, DecisionLogOptions, ReportingOptions, ReportingTrigger};

type Check = fn(&Settings) -> bool;

/// Returns members of `decision_logs` with the settings that they change.
pub fn decision_logs() -> Vec<(Value, Check)> {
    fn logs(settings: &Settings) -> &DecisionLogOptions {
        settings.decision_logs.as_ref().unwrap()
    }
    fn reporting(settings: &Settings) -> &ReportingOptions {
        &logs(settings).reporting
    }
    vec![
        (json!({}), |s| logs(s).console),
        (json!({"resource": "/x"}), |s| logs(s).resource == "/x"),
        (json!({"partition_name": "x"}), |s| {
            logs(s).resource == "/logs/x"
        }),
        (json!({"mask_decision": "x"}), |s| {
            logs(s).mask_decision == "x"
        }),
        (json!({"drop_decision": "x"}), |s| {
            logs(s).drop_decision == "x"
        }),
        (json!({"nd_builtin_cache": true}), |s| {
            !logs(s).nd_builtin_cache
        }),
        (
            json!({"request_context": {"http": {"headers": ["X-A"]}}}),
            |s| logs(s).headers == ["X-A"],
        ),
        (json!({"reporting": {"buffer_size_limit_bytes": 5}}), |s| {
            reporting(s).buffer == BufferLimit::Bytes(Some(5))
        }),
        (json!({"reporting": {"buffer_type": "event"}}), |s| {
            reporting(s).buffer == BufferLimit::Events(10_000)
        }),
        (
            json!({"reporting": {"buffer_type": "event", "buffer_size_limit_events": 5}}),
            |s| reporting(s).buffer == BufferLimit::Events(5),
        ),
        (json!({"reporting": {"upload_size_limit_bytes": 5}}), |s| {
            reporting(s).upload_bytes == 90
        }),
        (
            json!({"reporting": {"min_delay_seconds": 1, "max_delay_seconds": 2}}),
            |s| {
                (
                    reporting(s).min_delay.as_secs(),
                    reporting(s).max_delay.as_secs(),
                ) == (1, 2)
            },
        ),
        (
            json!({"reporting": {"max_decisions_per_second": 0.5}}),
            |s| reporting(s).per_second == Some(0.5),
        ),
        (json!({"stdout": true}), |s| logs(s).stdout),
        (json!({"file": {"path": "/x", "max_bytes": 0}}), |s| {
            logs(s)
                .file
                .as_ref()
                .is_some_and(|file| file.max_bytes == u64::MAX)
        }),
        (json!({"reporting": {"trigger": "immediate"}}), |s| {
            reporting(s).trigger == ReportingTrigger::Immediate
        }),
    ]
}

/// Values that OPA rejects, with its messages, and unknown keys.
#[test]
fn decision_logs_that_are_not_valid_are_rejected() {
    for (section, want) in [
        (
            json!({"service": "x"}),
            "invalid service name \"x\" in decision_logs",
        ),
        (
            json!({"reporting": {"min_delay_seconds": 2, "max_delay_seconds": 1}}),
            "max reporting delay must be >= min reporting delay in decision_logs",
        ),
        (
            json!({"reporting": {"min_delay_seconds": 2}}),
            "reporting configuration missing 'max_delay_seconds' in decision_logs",
        ),
        (
            json!({"reporting": {"max_delay_seconds": 2}}),
            "reporting configuration missing 'min_delay_seconds' in decision_logs",
        ),
        (
            json!({"resource": "%zz"}),
            "invalid resource path \"%zz\": parse \"%zz\": invalid URL escape \"%zz\"",
        ),
        (
            json!({"resource": "/logs/%2"}),
            "invalid resource path \"/logs/%2\": parse \"/logs/%2\": invalid URL escape \"%2\"",
        ),
        (
            json!({"resource": "://x"}),
            "invalid resource path \"://x\": parse \"://x\": missing protocol scheme",
        ),
        (
            json!({"reporting": {"buffer_type": "x"}}),
            "invalid buffer type \"x\", expected \"event\" or \"size\"",
        ),
        (
            json!({"reporting": {"buffer_type": "event", "buffer_size_limit_bytes": 1}}),
            "invalid decision_log config, 'buffer_size_limit_bytes' isn't supported for the event buffer type",
        ),
        (
            json!({"reporting": {"buffer_size_limit_events": 1}}),
            "invalid decision_log config, 'buffer_size_limit_events' isn't supported for the size buffer type",
        ),
        (
            json!({"reporting": {"buffer_size_limit_bytes": 1, "max_decisions_per_second": 1}}),
            "invalid decision_log config, specify either 'buffer_size_limit_bytes' or 'max_decisions_per_second'",
        ),
        (
            json!({"reporting": {"buffer_size_limit_bytes": -1}}),
            "invalid decision_log config, 'buffer_size_limit_bytes' must be higher than 0",
        ),
        (
            json!({"reporting": {"buffer_type": "event", "buffer_size_limit_events": 0}}),
            "invalid decision_log config, 'buffer_size_limit_entries' must be higher than 0",
        ),
        (
            json!({"reporting": {"trigger": "manual"}}),
            "decision_logs.reporting.trigger: `manual` is not supported, nothing begins an upload",
        ),
        (
            json!({"spool": {"directory": "/x"}}),
            "decision_logs.spool needs decision_logs.service",
        ),
        (
            json!({"spool": {"fsync": "x"}}),
            "decision_logs.spool.fsync: expected `always`, `interval` or `never`, got `x`",
        ),
        (
            json!({"spool": {"when_full": "x"}}),
            "decision_logs.spool.when_full: expected `drop` or `reject`, got `x`",
        ),
        (
            json!({"mask_decisions": "/a"}),
            "unknown configuration option \"decision_logs.mask_decisions\", did you mean \"mask_decision\"?",
        ),
        (
            json!({"reporting": {"delay": 1}}),
            "unknown configuration option \"decision_logs.reporting.delay\"",
        ),
        (
            json!({"console": "yes"}),
            "decision_logs.console: expected a boolean, got a string",
        ),
    ] {
        let mut section = section;
        if section.get("console").is_none() {
            section["console"] = true.into();
        }
        let error = read(&nested_at("decision_logs", section).to_string(), &[], &[]).unwrap_err();
        assert_eq!(error, want);
    }
}
