use solon::Value;

use super::{Decision, has_text};

fn read(text: &str) -> Result<Decision, String> {
    let value: Value = solon::json::read(text.as_bytes()).unwrap();
    Decision::read(&value)
}

#[test]
fn booleans_are_decisions() {
    for (text, is_allowed) in [("true", true), ("false", false)] {
        let decision = read(text).unwrap();
        assert!(decision.is_bare);
        assert_eq!(decision.is_allowed, is_allowed);
    }
}

#[test]
fn headers_have_one_or_several_values() {
    let decision = read(
        r#"{"allowed": true, "headers": [{"a": "1"}, {"b": ["2", "3"], "C": []}],
            "response_headers_to_add": {"d": "4"}, "request_headers_to_remove": ["e"],
            "query_parameters_to_set": {"f": "5"}, "query_parameters_to_remove": ["g"],
            "http_status": "ignored", "body": 1}"#,
    )
    .unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(
        decision.headers,
        [pair("a", "1"), pair("b", "2"), pair("b", "3")]
    );
    assert_eq!(decision.response_headers_to_add, [pair("d", "4")]);
    assert_eq!(decision.request_headers_to_remove, ["e"]);
    assert_eq!(decision.query_parameters_to_set, [pair("f", "5")]);
    assert_eq!(decision.query_parameters_to_remove, ["g"]);
    assert_eq!((decision.http_status, decision.body), (None, None));
}

#[test]
fn members_of_a_wrong_type_are_errors() {
    for (text, want) in [
        (
            r#""a""#,
            "failed to get response status: illegal value for policy evaluation result: string",
        ),
        (
            "1",
            "failed to get response status: illegal value for policy evaluation result: json.Number",
        ),
        (
            "null",
            "failed to get response status: illegal value for policy evaluation result: <nil>",
        ),
        (
            "[true]",
            "failed to get response status: illegal value for policy evaluation result: []interface {}",
        ),
        (
            "{}",
            "failed to get response status: unable to determine evaluation result due to missing \"allowed\" key",
        ),
        (
            r#"{"allowed": "true"}"#,
            "failed to get response status: type assertion error, expected allowed to be of type 'boolean' but got 'string'",
        ),
        (
            r#"{"allowed": null}"#,
            "failed to get response status: type assertion error, expected allowed to be of type 'boolean' but got '<nil>'",
        ),
        (
            r#"{"allowed": true, "headers": "x"}"#,
            "failed to get response headers: type assertion error, expected headers to be of type 'object' but got 'string'",
        ),
        (
            r#"{"allowed": true, "headers": {"x": 1}}"#,
            "failed to get response headers: type assertion error for header 'x'",
        ),
        (
            r#"{"allowed": true, "headers": {"x": [1]}}"#,
            "failed to get response headers: invalid value type json.Number for header 'x'",
        ),
        (
            r#"{"allowed": true, "dynamic_metadata": "x"}"#,
            "failed to get dynamic metadata: type assertion error, expected dynamic_metadata to be of type 'object' but got 'string'",
        ),
        (
            r#"{"allowed": true, "request_headers_to_remove": "x"}"#,
            "failed to get request headers to remove: type assertion error, expected request_headers_to_remove to be of type '[]string' but got 'string'",
        ),
        (
            r#"{"allowed": true, "request_headers_to_remove": [1]}"#,
            "failed to get request headers to remove: type assertion error, expected request_headers_to_remove value to be of type 'string' but got 'json.Number'",
        ),
        (
            r#"{"allowed": false, "body": 1}"#,
            "failed to get response body: type assertion error, expected body to be of type 'string' but got 'json.Number'",
        ),
        (
            r#"{"allowed": false, "http_status": "401"}"#,
            "failed to get response http status: type assertion error, expected http_status to be of type 'number' but got 'string'",
        ),
        (
            r#"{"allowed": false, "http_status": 401.0}"#,
            "failed to get response http status: error converting JSON number to int: strconv.ParseInt: parsing \"401.0\": invalid syntax",
        ),
        (
            r#"{"allowed": false, "http_status": 999}"#,
            "failed to get response http status: invalid HTTP status code 999",
        ),
    ] {
        assert_eq!(read(text).unwrap_err(), want, "{text}");
    }
}

#[test]
fn statuses_are_those_of_envoy_with_a_text_in_go() {
    for known in [
        100, 200, 208, 226, 305, 307, 308, 417, 421, 424, 426, 429, 431, 508, 510, 511,
    ] {
        assert!(has_text(known), "{known}");
    }
    for unknown in [
        0, 101, 103, 209, 306, 309, 418, 425, 427, 430, 451, 509, 512, 600,
    ] {
        assert!(!has_text(unknown), "{unknown}");
    }
}
