//! Round trips of Rust types.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{from_value, to_value};
use crate::limits;
use crate::value::{NumberBuf, Value, json};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Request {
    user: String,
    roles: Vec<Role>,
    age: Option<u8>,
    score: f64,
    big: u64,
    limits: BTreeMap<u8, (i64, char)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    unit: (),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Admin,
    Guest(u32),
    Pair(u32, bool),
    Named { name: String },
}

fn request() -> Request {
    Request {
        user: "a user with a long name".into(),
        roles: vec![
            Role::Admin,
            Role::Guest(7),
            Role::Pair(1, true),
            Role::Named { name: "x".into() },
        ],
        age: None,
        score: 0.1,
        big: u64::MAX,
        limits: BTreeMap::from([(1, (-1, 'é')), (20, (i64::MIN, 'b'))]),
        note: None,
        unit: (),
    }
}

#[test]
fn typed_values_round_trip() {
    let value = to_value(&request()).unwrap();
    assert_eq!(
        value.rego_text().to_string(),
        r#"{"age": null, "big": 18446744073709551615, "limits": {"1": [-1, "é"], "20": [-9223372036854775808, "b"]}, "roles": ["admin", {"guest": 7}, {"pair": [1, true]}, {"named": {"name": "x"}}], "score": 0.1, "unit": null, "user": "a user with a long name"}"#
    );
    assert_eq!(from_value::<Request>(value.borrow()).unwrap(), request());
}

#[test]
fn agrees_with_json() {
    let text = r#"{"a":[1,-2,1.5,1e300,null,true,"x",18446744073709551615],"b":{"c":{}}}"#;
    let foreign: serde_json::Value = serde_json::from_str(text).unwrap();
    let value = json::read(text.as_bytes()).unwrap();
    assert_eq!(to_value(&foreign).unwrap(), value);
    assert_eq!(
        from_value::<serde_json::Value>(value.borrow()).unwrap(),
        foreign
    );
    assert_eq!(serde_json::to_value(&value).unwrap(), foreign);
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
}

#[test]
fn values_without_json() {
    let value = Value::object(vec![
        (1.into(), Value::set(vec![2.into(), 1.into()])),
        (Value::array(vec!["a".into()]), Value::bytes(b"\xff")),
    ]);
    assert_eq!(
        serde_json::to_string(&value).unwrap(),
        "{\"1\":[1,2],\"[\\\"a\\\"]\":\"\u{fffd}\"}"
    );
    let map: BTreeMap<String, serde_json::Value> = from_value(value.borrow()).unwrap();
    assert_eq!(map["1"], serde_json::json!([1, 2]));
}

#[test]
fn numbers() {
    let number = |text: &str| Value::number(NumberBuf::parse(text).unwrap());
    assert_eq!(from_value::<u8>(number("1e2").borrow()), Ok(100));
    assert_eq!(from_value::<i32>(number("-7.0").borrow()), Ok(-7));
    assert_eq!(
        from_value::<i128>(number("-18446744073709551616").borrow()),
        Ok(-18_446_744_073_709_551_616)
    );
    assert_eq!(
        from_value::<f64>(number("12345678901234567890123").borrow()),
        Ok(1.234_567_890_123_456_8e22)
    );
    assert_eq!(to_value(&1.0_f64).unwrap().rego_text().to_string(), "1.0");
    assert_eq!(to_value(&0.1_f32).unwrap().rego_text().to_string(), "0.1");
    assert_eq!(
        to_value(&(i128::from(i64::MAX) + 1))
            .unwrap()
            .rego_text()
            .to_string(),
        "9223372036854775808"
    );
    assert_eq!(
        to_value(&f64::NAN).unwrap_err().to_string(),
        "NaN is not a Rego number"
    );
}

#[test]
fn errors_name_the_actual_value() {
    let text = |result: Result<u8, super::ConvertError>| result.unwrap_err().to_string();
    assert_eq!(
        text(from_value(Value::from("a").borrow())),
        "invalid type: string \"a\", expected u8"
    );
    assert_eq!(
        text(from_value(Value::from(300).borrow())),
        "invalid value: integer `300`, expected u8"
    );
    let role = from_value::<Role>(Value::from(1).borrow())
        .unwrap_err()
        .to_string();
    assert_eq!(
        role,
        "invalid type: number, expected a string or an object with one key"
    );
    let missing = from_value::<Request>(Value::object(vec![]).borrow()).unwrap_err();
    assert_eq!(missing.to_string(), "missing field `user`");
}

/// Serde's own values are dropped recursively.
#[test]
fn depth_is_bounded() {
    let thread = std::thread::Builder::new().stack_size(64 << 20);
    let thread = thread.spawn(|| {
        let wrap = |inner| serde_json::Value::Array(vec![inner]);
        let deep = (0..limits::VALUE_NESTING).fold(serde_json::Value::Null, |deep, _| wrap(deep));
        assert!(to_value(&deep).is_ok());
        let deeper = wrap(deep);
        assert_eq!(
            to_value(&deeper).unwrap_err().to_string(),
            "nested too deeply"
        );
        assert!(serde_json::from_value::<Value>(deeper).is_err());
    });
    thread.unwrap().join().unwrap();
}
