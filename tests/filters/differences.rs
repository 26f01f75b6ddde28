//! Reasons for differences between Solon's and OPA's filters. `docs/differences.md` explains each.

use serde_json::Value;

/// Returns the reason for a difference, if there is one.
pub fn reason(dialect: &str, theirs: &Value, ours: &Value) -> Option<&'static str> {
    let message = |answer: &Value| {
        let errors = answer.get("errors")?.as_array()?;
        let messages = errors
            .iter()
            .map(|error| error["message"].as_str().unwrap_or(""));
        Some(messages.collect::<Vec<_>>().join("\n"))
    };
    match (message(theirs), message(ours)) {
        (Some(_), Some(_)) => Some("places and words of refusals"),
        (Some(words), None) => {
            let asked = words.contains("existence-ref") && unequal(&ours["filter"]) > 0;
            asked.then_some("keys that may be equal")
        }
        (None, Some(words)) => rejection_reason(&words),
        (None, None) => texts(dialect, theirs, ours),
    }
}

fn rejection_reason(words: &str) -> Option<&'static str> {
    const REASONS: [(&str, &str); 11] = [
        ("rules may conflict for a row", "rules that may conflict"),
        ("\"with\" not permitted", "with"),
        ("value of a comparison used", "the value of a comparison"),
        ("NUL character", "NUL in texts"),
        ("depends on the row", "masks that depend on the row"),
        ("cannot be written exactly", "numbers beyond the database's"),
        (
            "invalid ref operand",
            "names that are not plain identifiers",
        ),
        ("null value can only be used", "order of null"),
        ("must be known", "values that are columns"),
        ("requires collection argument", "`in` with a non-collection"),
        ("holds a point", "points in names"),
    ];
    let found = REASONS.iter().find(|(part, _)| words.contains(part));
    found.map(|(_, reason)| *reason)
}

fn texts(dialect: &str, theirs: &Value, ours: &Value) -> Option<&'static str> {
    if unequal(&ours["filter"]) > unequal(&theirs["filter"]) {
        return Some("keys that may be equal");
    }
    let (Some(theirs), Some(ours)) = (theirs["filter"].as_str(), ours["filter"].as_str()) else {
        if is_near(theirs, ours) {
            return Some("numbers of UCAST");
        }
        return is_near(&theirs["filter"], &without_guards(&ours["filter"]))
            .then_some("null in UCAST");
    };
    let mut found = None;
    let (mut theirs, mut ours) = (theirs.to_owned(), ours.to_owned());
    let mut step = |reason: &'static str, change: &dyn Fn(&str) -> String| {
        let made = (change(&theirs), change(&ours));
        if made != (theirs.clone(), ours.clone()) && found.is_none() && theirs != ours {
            let before = theirs.len().abs_diff(ours.len());
            if made.0.len().abs_diff(made.1.len()) != before || made.0 == made.1 {
                found = Some(reason);
            }
        }
        (theirs, ours) = made;
    };
    step("NULL in lists", &|text| {
        let text = text.replace("NOT fruits.x IN (NULL)", "fruits.x IS NOT NULL");
        without_nulls(&text)
    });
    if ["sqlite", "sqlserver"].contains(&dialect) {
        step("TRUE and FALSE", &|text| {
            text.replace("TRUE", "1").replace("FALSE", "0")
        });
    }
    step("LIKE of SQL Server", &|text| {
        text.replace(" ESCAPE N'\\'", "").replace("\\[", "[")
    });
    step("numbers in SQL", &bare_numbers);
    step("control characters of PostgreSQL", &|text| {
        text.replace("\\Z", "\u{1a}")
    });
    step("names that are keywords, or hold points", &|text| {
        text.replace(['"', '`'], "")
    });
    (theirs == ours).then_some(found?)
}

/// Number of columns that must differ from something, not counting NULL.
fn unequal(filter: &Value) -> usize {
    match filter {
        Value::String(text) => text.matches(" <> ").count(),
        Value::Object(tree) => {
            let own = tree
                .get("operator")
                .is_some_and(|operator| operator == "ne")
                && !tree.get("value").is_some_and(Value::is_null);
            usize::from(own) + tree.get("value").map_or(0, unequal)
        }
        Value::Array(trees) => trees.iter().map(unequal).sum(),
        _ => 0,
    }
}

/// Returns `true` if trees differ only in the notation and rounding of floats.
fn is_near(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .zip(others)
                    .all(|(one, other)| is_near(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len() == others.len()
                && ones
                    .iter()
                    .all(|(key, one)| others.get(key).is_some_and(|other| is_near(one, other)))
        }
        _ => one == other,
    }
}

/// Returns a tree without the null tests before comparisons.
fn without_guards(tree: &Value) -> Value {
    let parts = tree["value"].as_array().map(Vec::as_slice);
    match parts {
        Some([guard, compared])
            if tree["operator"] == "and"
                && guard["operator"] == "ne"
                && guard["value"].is_null()
                && is_about(compared, &guard["field"]) =>
        {
            compared.clone()
        }
        Some(parts) if tree["type"] == "compound" => {
            let mut made = tree.clone();
            made["value"] = parts.iter().map(without_guards).collect();
            made
        }
        _ => tree.clone(),
    }
}

/// Returns `true` if a test, or a negated one, is about a field.
fn is_about(tree: &Value, field: &Value) -> bool {
    let test = if tree["operator"] == "not" {
        &tree["value"][0]
    } else {
        tree
    };
    test["field"] == *field || test["value"]["field"] == *field
}

/// Removes NULL from negated lists.
fn without_nulls(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("NOT ") {
        let (before, behind) = rest.split_at(at);
        made.push_str(before);
        let list = behind
            .find(" IN (")
            .filter(|at| !behind[4..*at].contains(' '));
        let Some(end) = list.and_then(|_| behind.find(')')) else {
            made.push_str("NOT ");
            rest = &behind[4..];
            continue;
        };
        let (list, behind) = behind.split_at(end);
        let list = list.replace(", NULL", "").replace("(NULL, ", "(");
        match list.strip_suffix(" IN (NULL") {
            Some(column) => {
                made.push_str(&column[4..]);
                made.push_str(" IS NOT NULL");
                rest = &behind[1..];
            }
            None => {
                made.push_str(&list);
                rest = behind;
            }
        }
    }
    made.push_str(rest);
    made
}

/// Replaces quoted numbers by floats.
fn bare_numbers(text: &str) -> String {
    let mut made = String::new();
    for word in text.split_inclusive([' ', ',', ')']) {
        let (word, end) = word.split_at(word.len() - usize::from(word.ends_with([' ', ',', ')'])));
        let inner = word.trim_start_matches(['E', 'N', '(']);
        let opened = word.len() - word.trim_start_matches('(').len();
        let inner = inner
            .strip_prefix('\'')
            .and_then(|it| it.strip_suffix('\''))
            .unwrap_or(inner);
        match inner.parse::<f64>() {
            Ok(number) if !inner.is_empty() => {
                made.push_str(&"(".repeat(opened));
                made.push_str(&number.to_string());
            }
            _ => made.push_str(word),
        }
        made.push_str(end);
    }
    made
}
