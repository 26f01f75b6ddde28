//! Settings of the plugins that download policies and configurations, and report the status, from their sections.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use solon::bundle::BundleLimits;
use solon_common::duration;
use solon_outbound::KeyConfig;
use solon_outbound::objects::ObjectAddress;

use super::distribution::{
    BundleSection, DiscoverySection, PollingSection, SigningSection, SingleBundleSection,
    StageDurationsSection, StatusSection,
};
use crate::config::{
    BundleLocation, BundleSettings, DiscoverySettings, Polling, RequiredSignature, Signing,
    StatusSettings,
};

/// Prefix of resources that are files.
const FILE: &str = "file://";

impl StageDurationsSection {
    /// Returns the bounds, or `None` for the default.
    fn bounds(&self) -> Result<Option<Vec<f64>>, String> {
        let bounds = self.buckets.clone().filter(|bounds| !bounds.is_empty());
        if let Some(bounds) = &bounds
            && !bounds.is_sorted_by(|a, b| a < b)
        {
            return Err("status.prometheus_config.collectors.bundle_loading_duration_ns.buckets: expected numbers in ascending order".to_owned());
        }
        Ok(bounds)
    }
}

/// Checks the trigger of a plugin. `manual` is for programs that embed OPA.
fn check_trigger(mode: Option<&str>) -> Result<(), String> {
    match mode {
        None | Some("" | "periodic") => Ok(()),
        Some(mode @ ("manual" | "immediate")) => Err(format!(
            "trigger mode {mode:?} is not supported: nothing can trigger a plugin over HTTP"
        )),
        Some(other) => Err(format!(
            "invalid trigger mode {other:?} (want \"periodic\", \"manual\" or \"immediate\")"
        )),
    }
}

pub struct SectionContext<'c> {
    /// Names of services in their order.
    pub services: Vec<String>,
    /// Keys of signatures by id.
    pub keys: &'c BTreeMap<String, KeyConfig>,
}

impl SectionContext<'_> {
    /// Returns the settings of all bundles.
    ///
    /// # Errors
    /// Fails if a value is not valid, in OPA's words.
    pub fn bundles(
        &self,
        single: &SingleBundleSection,
        sections: &BTreeMap<String, BundleSection>,
    ) -> Result<BTreeMap<String, BundleSettings>, String> {
        let mut bundles = BTreeMap::new();
        for (name, section) in sections {
            let settings = self
                .bundle(name, section)
                .map_err(|reason| format!("invalid configuration for bundle {name:?}: {reason}"))?;
            bundles.insert(name.clone(), settings);
        }
        if single.name.is_none() && single.service.is_none() && single.prefix.is_none() {
            return Ok(bundles);
        }
        let name = single.name.as_deref().unwrap_or_default();
        if name.is_empty() {
            return Err("invalid bundle name \"\"".to_owned());
        }
        let section = BundleSection {
            service: single.service.clone(),
            resource: Some(match single.resource.as_deref() {
                None | Some("") => join_prefix(single.prefix.as_deref(), name),
                Some(resource) => resource.to_owned(),
            }),
            polling: single.polling.clone(),
            persist: single.persist,
            signing: single.signing.clone(),
            trigger: single.trigger.clone(),
            ..BundleSection::default()
        };
        let settings = self
            .bundle(name, &section)
            .map_err(|reason| format!("invalid configuration for bundle {name:?}: {reason}"))?;
        bundles.entry(name.to_owned()).or_insert(settings);
        Ok(bundles)
    }

    fn bundle(&self, name: &str, section: &BundleSection) -> Result<BundleSettings, String> {
        let resource = section.resource.as_deref().filter(|text| !text.is_empty());
        let location = if let Some(file) = resource.filter(|text| text.starts_with(FILE)) {
            let path = solon::bundle::file_path(file).map_err(|error| error.to_string())?;
            BundleLocation::File(PathBuf::from(&*path))
        } else {
            let service = self.service(section.service.as_deref())?;
            match resource.and_then(ObjectAddress::parse).transpose()? {
                Some(object) => BundleLocation::Object { service, object },
                None => BundleLocation::Service {
                    service,
                    resource: match resource {
                        Some(resource) => resource.to_owned(),
                        None => join_prefix(None, name),
                    },
                },
            }
        };
        check_trigger(section.trigger.as_deref())?;
        if section.persist {
            check_folder_name(name)?;
        }
        Ok(BundleSettings {
            location,
            polling: polling(&section.polling)?,
            is_persisted: section.persist,
            signing: self.signing(section.signing.as_ref())?,
            file_limit: match section.size_limit_bytes {
                Some(limit) if limit > 0 => u64::try_from(limit).unwrap_or(u64::MAX),
                _ => BundleLimits::default().file_bytes,
            },
        })
    }

    /// Returns a service by its name, or the first one without a name.
    fn service(&self, name: Option<&str>) -> Result<String, String> {
        let name = name.unwrap_or_default();
        let service = match name {
            "" => self.services.first(),
            name => self.services.iter().find(|service| *service == name),
        };
        service
            .cloned()
            .ok_or_else(|| format!("service name {name:?} not found"))
    }

    fn signing(&self, section: Option<&SigningSection>) -> Result<Signing, String> {
        let keys = self.keys;
        let required = section.map(|section| {
            Ok::<_, String>(RequiredSignature {
                key_id: section.keyid.clone().unwrap_or_default(),
                scope: section.scope.clone().unwrap_or_default(),
                exclude: section.exclude_files.clone(),
                allows_deltas: section.allow_unsigned_delta_bundles,
                max_age: section.max_age.as_deref().map(max_age).transpose()?,
            })
        });
        let required = required.transpose()?;
        if let Some(required) = &required {
            let id = &required.key_id;
            if !id.is_empty() && !keys.contains_key(id) {
                return Err(format!("key id {id} not found"));
            }
            if keys.is_empty() {
                return Err("`signing` needs a key in `keys`".to_owned());
            }
        }
        Ok(Signing {
            keys: keys.clone(),
            required,
        })
    }

    /// Returns the settings of discovery, if it is configured.
    ///
    /// # Errors
    /// Fails if a value is not valid, in OPA's words.
    pub fn discovery(
        &self,
        section: &DiscoverySection,
    ) -> Result<Option<DiscoverySettings>, String> {
        let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        let (resource, name) = (non_empty(&section.resource), non_empty(&section.name));
        if resource.is_none() && name.is_none() {
            if non_empty(&section.service).is_some() || non_empty(&section.decision).is_some() {
                return Err("missing required discovery.resource field".to_owned());
            }
            return Ok(None);
        }
        check_trigger(section.trigger.as_deref())?;
        let service = match (non_empty(&section.service), self.services.as_slice()) {
            (None, [_]) => None,
            (None, _) => {
                return Err(
                    "invalid configuration for discovery service: more than one service is defined"
                        .to_owned(),
                );
            }
            (service, _) => service,
        };
        let name = name.unwrap_or_default();
        let bundle = BundleSection {
            service,
            resource: Some(
                resource.unwrap_or_else(|| join_prefix(section.prefix.as_deref(), &name)),
            ),
            polling: section.polling.clone(),
            persist: section.persist,
            signing: section.signing.clone(),
            ..BundleSection::default()
        };
        let bundle = self
            .bundle("discovery", &bundle)
            .map_err(|reason| format!("invalid configuration for discovery service: {reason}"))?;
        let decision = section.decision.as_deref().unwrap_or_default();
        Ok(Some(DiscoverySettings {
            bundle,
            decision: decision.trim_matches('/').to_owned(),
        }))
    }

    /// Returns the settings of the status, if it is sent or logged.
    ///
    /// # Errors
    /// Fails if a value is not valid, in OPA's words.
    pub fn status(&self, section: &StatusSection) -> Result<Option<StatusSettings>, String> {
        let service = section.service.clone().filter(|name| !name.is_empty());
        if let Some(name) = service
            .as_ref()
            .filter(|name| !self.services.contains(name))
        {
            return Err(format!("invalid service name {name:?} in status"));
        }
        check_trigger(section.trigger.as_deref())
            .map_err(|reason| format!("invalid status config: {reason}"))?;
        let partition = section.partition_name.clone().unwrap_or_default();
        let collectors = &section.prometheus_config.collectors;
        let stage_buckets = collectors.bundle_loading_duration_ns.bounds()?;
        if service.is_none() && !section.console && !section.prometheus {
            return Ok(None);
        }
        Ok(Some(StatusSettings {
            service,
            partition,
            is_logged: section.console,
            is_counted: section.prometheus,
            stage_buckets,
        }))
    }
}

fn join_prefix(prefix: Option<&str>, name: &str) -> String {
    let prefix = prefix.unwrap_or("bundles").trim_matches('/');
    if prefix.is_empty() {
        name.to_owned()
    } else {
        format!("{prefix}/{name}")
    }
}

fn polling(section: &PollingSection) -> Result<Polling, String> {
    let seconds = |number: i64| Duration::from_secs(u64::try_from(number).unwrap_or(0));
    let mut polling = Polling::default();
    match (section.min_delay_seconds, section.max_delay_seconds) {
        (None, None) => {}
        (Some(_), None) => {
            return Err("polling configuration missing 'max_delay_seconds'".to_owned());
        }
        (None, Some(_)) => {
            return Err("polling configuration missing 'min_delay_seconds'".to_owned());
        }
        (Some(min), Some(max)) if max < min => {
            return Err("max polling delay must be >= min polling delay".to_owned());
        }
        (Some(min), Some(max)) => (polling.min, polling.max) = (seconds(min), seconds(max)),
    }
    if let Some(number) = section.long_polling_timeout_seconds {
        let number = u64::try_from(number).ok().filter(|number| *number > 0);
        let number = number.ok_or("'long_polling_timeout_seconds' must be at least 1")?;
        polling.long = Some(number);
    }
    if let Some(number) = section.superseded_etag_ttl_seconds {
        if number < 0 {
            return Err("'superseded_etag_ttl_seconds' must not be negative".to_owned());
        }
        polling.superseded = seconds(number);
    }
    Ok(polling)
}

/// Checks that the name of a persisted bundle is a path below the directory of persisted bundles.
fn check_folder_name(name: &str) -> Result<(), String> {
    let is_safe =
        |step: &str| !matches!(step, "" | "." | "..") && !step.contains(['\\', '\0', ':']);
    if name.split('/').all(is_safe) {
        Ok(())
    } else {
        Err("`persist` needs a name that is a relative path without `.` and `..`".to_owned())
    }
}

/// Parses the maximum age of a signature.
fn max_age(text: &str) -> Result<Duration, String> {
    let age = duration::parse(text).map_err(|error| format!("`signing.max_age`: {error}"))?;
    match u64::try_from(age) {
        Ok(age) if age > 0 => Ok(Duration::from_nanos(age)),
        _ => Err("`signing.max_age`: expected a positive duration".to_owned()),
    }
}
