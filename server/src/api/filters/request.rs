//! Parsed request for filters: input, options and targets.

use solon::{FilterOptions, FilterTarget, json};

use super::accepted::{Accepted, AcceptedTargets};
use crate::api::ApiError;
use crate::api::members::{Members, Names};

pub struct FilterRequest<'a> {
    pub input: Option<&'a str>,
    /// Text of `options`, as it was sent.
    pub options_text: Option<&'a str>,
    /// Options of the filters, except their targets.
    pub options: FilterOptions,
    /// `true` if the response contains the outcome of each rule.
    pub explains: bool,
    /// Names of several targets.
    dialects: Vec<String>,
}

impl<'a> FilterRequest<'a> {
    /// Parses a body. An empty body has no options, and a member that is `null` is absent.
    ///
    /// # Errors
    /// The body is not a JSON object, or a member does not have its type. Unknown members are ignored.
    pub fn read(text: &'a str, names: Names) -> Result<Self, String> {
        let mut parsed = Self {
            input: None,
            options_text: None,
            options: FilterOptions::default(),
            explains: false,
            dialects: Vec::new(),
        };
        if text.trim().is_empty() {
            return Ok(parsed);
        }
        let members = Members::from_body(text, names)?;
        parsed.input = members.get("input").filter(|input| *input != "null");
        let unknowns = members.strings("unknowns")?;
        parsed.options.unknowns = unknowns.unwrap_or_default();
        let Some(text) = members.get("options").filter(|text| *text != "null") else {
            return Ok(parsed);
        };
        parsed.options_text = Some(text);
        let members = Members::from_text(text)?.matched(names);
        let inlined = members.strings("disableInlining")?;
        parsed.options.disable_inlining = inlined.unwrap_or_default();
        // OPA has no request for several masks
        let several = members
            .get("maskRule")
            .is_some_and(|text| text.starts_with('['));
        if several && (members.flag("extensions")? || members.flag("exact")?) {
            let mut rules = members.strings("maskRule")?.unwrap_or_default().into_iter();
            parsed.options.mask_rule = rules.next();
            parsed.options.more_masks = rules.collect();
        } else {
            let rule = members.string("maskRule")?;
            parsed.options.mask_rule = rule.filter(|rule| !rule.is_empty());
        }
        parsed.dialects = members.strings("targetDialects")?.unwrap_or_default();
        // some clients send the short name
        let mappings = ["targetSQLTableMappings", "tableMappings"];
        let mappings = mappings.iter().find_map(|name| members.get(name));
        if let Some(mappings) = mappings.filter(|mappings| *mappings != "null") {
            Members::from_text(mappings)
                .map_err(|message| format!("`targetSQLTableMappings`: {message}"))?;
            let mappings = json::read(mappings.as_bytes()).map_err(|error| error.to_string())?;
            parsed.options.mappings = Some(mappings);
        }
        parsed.options.parameters = members.flag("params")?;
        parsed.explains = members.flag("explain")?;
        parsed.options.bare = members.flag("bare")?;
        parsed.options.exact = members.flag("exact")?;
        parsed.options.extensions = members.flag("extensions")?;
        Ok(parsed)
    }

    /// Returns the engine options for an accepted format, and `true` if it has several targets.
    ///
    /// # Errors
    /// The format has several targets, and the request names none or an unknown one.
    pub fn options(&self, accepted: &Accepted) -> Result<(FilterOptions, bool), ApiError> {
        let targets = match accepted.kind {
            AcceptedTargets::One(target) => vec![target],
            AcceptedTargets::Several => self.several()?,
        };
        let mut options = self.options.clone();
        options.targets = targets;
        // as in OPA's API
        options.allow_undefined = true;
        Ok((options, accepted.kind == AcceptedTargets::Several))
    }

    fn several(&self) -> Result<Vec<FilterTarget>, ApiError> {
        if self.dialects.is_empty() {
            let message = "multi-target request: missing required 'options.targetDialects'";
            return Err(ApiError::invalid(message));
        }
        let targets = self.dialects.iter().map(|name| {
            let target = name.parse::<FilterTarget>();
            target.map_err(|error| ApiError::invalid(format!("multi-target request: {error}")))
        });
        targets.collect()
    }
}
