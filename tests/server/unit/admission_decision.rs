use solon::json;

use super::AdmissionDecision;

fn read(text: &str, is_delete: bool) -> Result<AdmissionDecision, String> {
    AdmissionDecision::read(&json::read(text.as_bytes()).unwrap(), is_delete)
}

#[test]
fn packages_admit_without_a_denial() {
    for text in [
        r#"{"deny": []}"#,
        r#"{"violation": [], "allow": true}"#,
        r#"{"allow": true, "helper": 1}"#,
        r#"{"patch": []}"#,
        r#"{"patch": [{"op": "add", "path": "/a", "value": 1}]}"#,
    ] {
        assert!(read(text, false).unwrap().is_allowed, "{text}");
    }
}

#[test]
fn denials_have_their_texts() {
    for (text, denials) in [
        (r#"{"deny": ["a", "b"]}"#, vec!["a", "b"]),
        (
            r#"{"deny": ["a"], "violation": [{"msg": "b", "details": {}}]}"#,
            vec!["a", "b"],
        ),
        (r#"{"allow": false}"#, vec!["the object is not allowed"]),
        (r#"{"allow": false, "deny": ["a"]}"#, vec!["a"]),
        (r#"{"allow": true, "deny": ["a"]}"#, vec!["a"]),
        (r#"{"deny": [""]}"#, vec![""]),
    ] {
        let decision = read(text, false).unwrap();
        assert!(!decision.is_allowed, "{text}");
        assert_eq!(decision.denials, denials, "{text}");
    }
}

#[test]
fn wrong_forms_are_errors() {
    for text in [
        "{}",
        "[]",
        "true",
        r#"{"warn": []}"#,
        r#"{"deny": true}"#,
        r#"{"deny": {}}"#,
        r#"{"deny": [1]}"#,
        r#"{"violation": [{"details": {}}]}"#,
        r#"{"violation": [{"msg": 1}]}"#,
        r#"{"allow": "true"}"#,
        r#"{"allow": null}"#,
        r#"{"deny": [], "warn": "a"}"#,
        r#"{"patch": {"op": "remove", "path": "/a"}}"#,
        r#"{"patch": [1]}"#,
        r#"{"patch": [{"op": "remove"}]}"#,
        r#"{"patch": [{"op": "remove", "path": "a"}]}"#,
        r#"{"patch": [{"op": "add", "path": "/a"}]}"#,
        r#"{"patch": [{"op": "copy", "path": "/a"}]}"#,
        r#"{"patch": [{"op": "erase", "path": "/a"}]}"#,
        r#"{"deny": [], "audit_annotations": {"a": 1}}"#,
        r#"{"deny": [], "audit_annotations": []}"#,
    ] {
        assert!(read(text, false).is_err(), "{text}");
    }
    assert!(read(r#"{"patch": [{"op": "remove", "path": "/a"}]}"#, true).is_err());
}

#[test]
fn lists_of_operations_are_one_patch() {
    let decision = read(
        r#"{"patch": [[{"op": "remove", "path": "/a"}, {"op": "test", "path": "", "value": null}], {"op": "move", "path": "/b", "from": "/c"}]}"#,
        false,
    );
    assert_eq!(decision.unwrap().patch.len(), 3);
}
