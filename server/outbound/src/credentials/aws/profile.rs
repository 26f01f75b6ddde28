//! Keys in a credentials file.

use std::path::PathBuf;
use std::time::Duration;

use super::AwsKeys;
use super::source::region;
use crate::config::{AwsProfileConfig, Secret};
use crate::credentials::cache::Obtained;
use crate::credentials::endpoint::{Environment, failed};
use crate::error::Error;
use crate::files;

/// Returns the keys of a profile. The file is read for each request because other programs may replace it.
///
/// # Errors
/// The file cannot be read, or it has no such profile.
pub async fn obtain(
    config: &AwsProfileConfig,
    environment: &Environment,
) -> Result<Obtained<AwsKeys>, Error> {
    let non_empty = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
    let path = non_empty(&config.path).or_else(|| environment.get("AWS_SHARED_CREDENTIALS_FILE"));
    let path = match path {
        Some(path) => PathBuf::from(path),
        None => {
            let home = environment
                .get("HOME")
                .or_else(|| environment.get("USERPROFILE"));
            let home = home.ok_or_else(|| failed("no home directory with `.aws/credentials`"))?;
            PathBuf::from(home).join(".aws").join("credentials")
        }
    };
    let name = non_empty(&config.profile).or_else(|| environment.get("AWS_PROFILE"));
    let name = name.unwrap_or_else(|| "default".to_owned());
    let text = files::read_token(path.clone()).await?;
    let text = zeroize::Zeroizing::new(text);
    let value = |key: &str| {
        let value = value(&text, &name, key);
        value.ok_or_else(|| {
            failed(format!(
                "{}: profile `{name}` has no `{key}`",
                path.display()
            ))
        })
    };
    Ok(Obtained {
        value: AwsKeys {
            id: value("aws_access_key_id")?.to_owned(),
            secret: value("aws_secret_access_key")?.into(),
            token: value("aws_session_token").ok().map(Secret::from),
            region: region(config.aws_region.as_ref(), environment)?,
        },
        validity: Duration::ZERO,
    })
}

/// Returns the value of a key in a section of an INI text. `[profile name]` is equal to `[name]`. Returns `None` if it is
/// missing.
fn value<'t>(text: &'t str, section: &str, key: &str) -> Option<&'t str> {
    let mut is_inside = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(header) = line.strip_prefix('[') {
            let name = header.split(']').next().unwrap_or_default().trim();
            is_inside = name.strip_prefix("profile ").map_or(name, str::trim) == section;
            continue;
        }
        if let Some((name, value)) = line.split_once('=')
            && is_inside
            && name.trim() == key
        {
            return Some(value.trim()).filter(|value| !value.is_empty());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::value;

    #[test]
    fn values_of_profiles() {
        let text = "# c\n[default]\naws_access_key_id = A\n aws_secret_access_key=B=C \n; d\n[profile other] # e\naws_access_key_id=D\nempty=\n";
        assert_eq!(value(text, "default", "aws_access_key_id"), Some("A"));
        assert_eq!(value(text, "default", "aws_secret_access_key"), Some("B=C"));
        assert_eq!(value(text, "other", "aws_access_key_id"), Some("D"));
        assert_eq!(value(text, "other", "aws_secret_access_key"), None);
        assert_eq!(value(text, "other", "empty"), None);
        assert_eq!(value(text, "none", "aws_access_key_id"), None);
    }
}
