//! Variables of the environment within texts: `$NAME` and `${NAME}`; `$$` is a dollar.

use serde_json::Value;
use zeroize::Zeroize as _;

/// Where variables come from.
pub type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

/// Puts variables into every text of a value. What is not set is an error: the names of what is missing.
pub fn expand(value: &mut Value, variables: Variables<'_>, missing: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains('$') => {
            let expanded = expand_text(text, variables, missing);
            text.zeroize();
            *text = expanded;
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| expand(item, variables, missing)),
        Value::Object(members) => {
            members
                .values_mut()
                .for_each(|item| expand(item, variables, missing));
        }
        _ => {}
    }
}

fn expand_text(text: &str, variables: Variables<'_>, missing: &mut Vec<String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        rest = behind;
        if let Some(behind) = rest.strip_prefix('$') {
            out.push('$');
            rest = behind;
            continue;
        }
        let (name, behind) = match rest.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
            Some(found) => found,
            None => {
                let word = |c: char| c == '_' || c.is_ascii_alphanumeric();
                let end = rest.find(|c| !word(c)).unwrap_or(rest.len());
                rest.split_at_checked(end).unwrap_or((rest, ""))
            }
        };
        let is_name = !name.is_empty()
            && !name.starts_with(|c: char| c.is_ascii_digit())
            && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric());
        if !is_name {
            // a dollar before anything else is one
            out.push('$');
            continue;
        }
        match variables(name) {
            Some(value) => out.push_str(&value),
            None => missing.push(name.to_owned()),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::expand_text;

    #[test]
    fn variables_are_put_in() {
        let variables = |name: &str| (name == "A_1").then(|| "value".to_owned());
        let expand = |text: &str| {
            let mut missing = Vec::new();
            (expand_text(text, &variables, &mut missing), missing)
        };
        for (text, expanded) in [
            ("x", "x"),
            ("$A_1", "value"),
            ("${A_1}b $A_1.", "valueb value."),
            ("pa$$word", "pa$word"),
            ("$$A_1 $$${A_1}", "$A_1 $value"),
            ("5$ $ ${} $1 ${a b} $", "5$ $ ${} $1 ${a b} $"),
        ] {
            assert_eq!(expand(text), (expanded.to_owned(), vec![]), "{text}");
        }
        assert_eq!(expand("a${B}c").1, ["B"]);
    }
}
