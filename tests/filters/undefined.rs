//! Names of rules, and rules that do not exist.

use solon::{Engine, Error, FilterOptions, FilterQuery, FilterTarget, Path, Request, Value};

const POLICY: &str = "package f

include if input.rows.n == 1

masks.rows.n.replace.value := 0

list := [false, true]
";

fn engine() -> Engine {
    let engine = Engine::new();
    engine.set_module("f.rego", POLICY).unwrap();
    engine.put("data.open", Value::from(true)).unwrap();
    engine
}

fn options() -> FilterOptions {
    FilterOptions::new([FilterTarget::Sqlite]).unknowns(["input.rows"])
}

/// Returns the SQL of a rule, or `None` if it keeps no row.
fn sql(rule: &str, options: &FilterOptions) -> Result<Option<String>, Error> {
    let filters = engine().filters(rule, options, &Request::new())?;
    let query = filters.filters.into_iter().next().and_then(|one| one.query);
    Ok(query.map(|query| match query {
        FilterQuery::Sql(statement) => statement.text,
        FilterQuery::Ucast(tree) => tree.to_string(),
    }))
}

#[test]
fn a_rule_is_named_by_a_reference_or_a_path() {
    let kept = Some("WHERE rows.n = '1'".to_owned());
    for name in [
        "data.f.include",
        "data[\"f\"].include",
        "f/include",
        "/f/include",
    ] {
        assert_eq!(sql(name, &options()).unwrap(), kept, "{name}");
        for masks in ["masks", "f/masks", "/f/masks", "data.f.masks"] {
            let masked = options().mask_rule(masks);
            let filters = engine().filters(name, &masked, &Request::new()).unwrap();
            let masks_made = filters.masks.unwrap().to_string();
            assert_eq!(masks_made, r#"{"rows":{"n":{"replace":{"value":0}}}}"#);
        }
    }
    // base documents, and elements of a rule's array
    let every = Some(String::new());
    for (name, kept) in [
        ("open", &every),
        ("data.open", &every),
        ("data.f.list[1]", &every),
        ("data.f.list[0]", &None),
    ] {
        assert_eq!(&sql(name, &options()).unwrap(), kept, "{name}");
    }
}

#[test]
fn a_rule_that_does_not_exist_is_an_error() {
    let is_unknown = |error: &Error, path: &str| matches!(error, Error::UnknownPath(unknown) if *unknown == Path::from_slashes(path));
    for (name, path) in [
        ("data.f.includes", "f/includes"),
        ("f/includes", "f/includes"),
        ("g/include", "g/include"),
        ("include", "include"),
        ("data/f/include", "data/f/include"),
    ] {
        let error = sql(name, &options()).unwrap_err();
        assert!(is_unknown(&error, path), "{name}: {error}");
        let lenient = options().allow_undefined(true);
        assert_eq!(sql(name, &lenient).unwrap(), None, "{name}");
    }
    for (masks, path) in [
        ("mask", "f/mask"),
        ("data.f.mask", "f/mask"),
        ("g/masks", "g/masks"),
    ] {
        let error = sql("f/include", &options().mask_rule(masks)).unwrap_err();
        assert!(is_unknown(&error, path), "{masks}: {error}");
        let more = options().extensions(true).more_masks([masks]);
        let error = sql("f/include", &more).unwrap_err();
        assert!(is_unknown(&error, path), "{masks}: {error}");
        let lenient = options().mask_rule(masks).allow_undefined(true);
        assert!(sql("f/include", &lenient).unwrap().is_some(), "{masks}");
    }
    for name in ["f.include", "data.f/include", "data.f[x]"] {
        let error = sql(name, &options()).unwrap_err();
        assert!(matches!(error, Error::Options(_)), "{name}: {error}");
    }
}

#[test]
fn a_rule_that_a_change_removes_is_an_error() {
    let engine = engine();
    let masked = options().mask_rule("masks");
    let filters = engine.prepare_filters("f/include", &masked).unwrap();
    let compile = || filters.compile(&Request::new());
    assert!(compile().unwrap().masks.is_some());
    let without_masks = "package f\n\ninclude if input.rows.n == 1\n";
    engine.set_module("f.rego", without_masks).unwrap();
    assert!(matches!(compile(), Err(Error::UnknownPath(_))));
    engine.set_module("f.rego", "package f\n").unwrap();
    assert!(matches!(compile(), Err(Error::UnknownPath(_))));
    engine.set_module("f.rego", POLICY).unwrap();
    assert!(compile().unwrap().masks.is_some());
}
