//! Decisions: a boolean, or an object with `allowed` and changes of the request or the response.

use solon::{Value, ValueRef};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    pub is_allowed: bool,
    /// `true` if the policy returned only a boolean, without headers or a body.
    pub is_bare: bool,
    /// Headers: of the request to the upstream if it is allowed, otherwise of the response.
    pub headers: Vec<(String, String)>,
    pub request_headers_to_remove: Vec<String>,
    /// Headers that are added to the response to an allowed request.
    pub response_headers_to_add: Vec<(String, String)>,
    pub query_parameters_to_remove: Vec<String>,
    pub query_parameters_to_set: Vec<(String, String)>,
    /// Body of the response to a denied request.
    pub body: Option<String>,
    /// Status of the response to a denied request.
    pub http_status: Option<u16>,
    /// Metadata for later filters.
    pub dynamic_metadata: Vec<(String, Value)>,
}

/// Statuses that Envoy can send.
const STATUSES: [std::ops::RangeInclusive<u16>; 11] = [
    100..=100,
    200..=208,
    226..=226,
    300..=305,
    307..=308,
    400..=417,
    421..=424,
    426..=426,
    428..=429,
    431..=431,
    500..=511,
];

impl Decision {
    /// Reads a decision.
    ///
    /// # Errors
    /// The value is not a decision. The message says which member is wrong, in the words of OPA's plugin.
    pub fn read(value: &Value) -> Result<Self, String> {
        if let Some(is_allowed) = value.as_bool() {
            return Ok(Self {
                is_allowed,
                is_bare: true,
                ..Self::default()
            });
        }
        if value.as_object().is_none() {
            return Err(format!(
                "failed to get response status: illegal value for policy evaluation result: {}",
                go_type(value)
            ));
        }
        let members = DecisionMembers(value);
        let in_part =
            |part: &'static str| move |error: String| format!("failed to get {part}: {error}");
        let mut decision = Self {
            is_allowed: members.allowed().map_err(in_part("response status"))?,
            headers: members
                .headers("headers")
                .map_err(in_part("response headers"))?,
            dynamic_metadata: members
                .metadata("dynamic_metadata")
                .map_err(in_part("dynamic metadata"))?,
            ..Self::default()
        };
        if decision.is_allowed {
            decision.request_headers_to_remove = members
                .texts("request_headers_to_remove")
                .map_err(in_part("request headers to remove"))?;
            decision.response_headers_to_add = members
                .headers("response_headers_to_add")
                .map_err(in_part("response headers to send to client"))?;
            decision.query_parameters_to_remove = members
                .texts("query_parameters_to_remove")
                .map_err(in_part("request query parameters to remove"))?;
            decision.query_parameters_to_set = members
                .headers("query_parameters_to_set")
                .map_err(in_part("request query parameters to set"))?;
        } else {
            decision.body = members.body().map_err(in_part("response body"))?;
            decision.http_status = members.status().map_err(in_part("response http status"))?;
        }
        Ok(decision)
    }
}

struct DecisionMembers<'v>(&'v Value);

impl DecisionMembers<'_> {
    fn allowed(&self) -> Result<bool, String> {
        let value = self
            .0
            .get("allowed")
            .ok_or("unable to determine evaluation result due to missing \"allowed\" key")?;
        value
            .as_bool()
            .ok_or_else(|| wrong("allowed", "boolean", value))
    }

    /// Returns the pairs of an object of texts or of arrays of texts, or of an array of such objects.
    fn headers(&self, name: &str) -> Result<Vec<(String, String)>, String> {
        let mut pairs = Vec::new();
        match self.0.get(name) {
            None => {}
            Some(value) => match value.as_array() {
                Some(items) => {
                    for item in items {
                        add_headers(name, item, &mut pairs)?;
                    }
                }
                None => add_headers(name, value, &mut pairs)?,
            },
        }
        Ok(pairs)
    }

    fn texts(&self, name: &str) -> Result<Vec<String>, String> {
        let Some(value) = self.0.get(name) else {
            return Ok(Vec::new());
        };
        let items = elements(value).ok_or_else(|| wrong(name, "[]string", value))?;
        let text = |item: &Value| {
            let text = item.as_str().map(str::to_owned);
            text.ok_or_else(|| wrong(&format!("{name} value"), "string", item))
        };
        items.iter().map(text).collect()
    }

    fn body(&self) -> Result<Option<String>, String> {
        let text = |value: &Value| {
            let text = value.as_str().map(str::to_owned);
            text.ok_or_else(|| wrong("body", "string", value))
        };
        self.0.get("body").map(text).transpose()
    }

    fn status(&self) -> Result<Option<u16>, String> {
        let Some(value) = self.0.get("http_status") else {
            return Ok(None);
        };
        if value.borrow().as_number().is_none() {
            return Err(wrong("http_status", "number", value));
        }
        // the text of a number is kept, and only integers are written without a fraction and an exponent
        let text = value.to_json();
        let status: i64 = text.parse().map_err(|_| {
            format!("error converting JSON number to int: strconv.ParseInt: parsing \"{text}\": invalid syntax")
        })?;
        let http_status = u16::try_from(status).ok();
        let http_status = http_status.filter(|status| has_text(*status));
        http_status
            .map(Some)
            .ok_or_else(|| format!("invalid HTTP status code {text}"))
    }

    fn metadata(&self, name: &str) -> Result<Vec<(String, Value)>, String> {
        let Some(value) = self.0.get(name) else {
            return Ok(Vec::new());
        };
        let object = value
            .as_object()
            .ok_or_else(|| wrong(name, "object", value))?;
        Ok(object
            .iter()
            .map(|(name, value)| (key_text(name), value.clone()))
            .collect())
    }
}

fn has_text(status: u16) -> bool {
    // Go has no text for 509
    status != 509 && STATUSES.iter().any(|range| range.contains(&status))
}

fn add_headers(
    field: &str,
    value: &Value,
    pairs: &mut Vec<(String, String)>,
) -> Result<(), String> {
    let object = value
        .as_object()
        .ok_or_else(|| wrong(field, "object", value))?;
    for (name, value) in object.iter() {
        let name = key_text(name);
        if let Some(text) = value.as_str() {
            pairs.push((name, text.to_owned()));
            continue;
        }
        let Some(items) = elements(value) else {
            return Err(format!("type assertion error for header '{name}'"));
        };
        for item in &items {
            let Some(text) = item.as_str() else {
                return Err(format!(
                    "invalid value type {} for header '{name}'",
                    go_type(item)
                ));
            };
            pairs.push((name.clone(), text.to_owned()));
        }
    }
    Ok(())
}

/// Returns the elements of an array or a set. A set is an array in JSON.
fn elements(value: &Value) -> Option<Vec<Value>> {
    if let Some(items) = value.as_array() {
        return Some(items.to_vec());
    }
    let set = value.borrow().as_set()?;
    Some(set.iter().map(ValueRef::to_value).collect())
}

/// Returns the name of a member. A key that is not a string is named by its JSON text.
pub fn key_text(key: &Value) -> String {
    key.as_str()
        .map_or_else(|| key.rego_text().to_string(), str::to_owned)
}

fn wrong(name: &str, expected: &str, value: &Value) -> String {
    format!(
        "type assertion error, expected {name} to be of type '{expected}' but got '{}'",
        go_type(value)
    )
}

/// Returns the name of the type that OPA's plugin reports for a value.
fn go_type(value: &Value) -> &'static str {
    match value.kind().as_str() {
        "null" => "<nil>",
        "boolean" => "bool",
        "number" => "json.Number",
        "string" => "string",
        "object" => "map[string]interface {}",
        _ => "[]interface {}",
    }
}

#[cfg(test)]
#[path = "../../../tests/server/unit/envoy_decision.rs"]
mod tests;
