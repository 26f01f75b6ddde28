//! Downloads from object stores and registries of images.

use bytes::Bytes;
use solon_outbound::objects::{Object, ObjectAddress};
use solon_outbound::registry::{self, ImageReference, LastManifest};
use solon_outbound::{Client, Error, ErrorKind};

use super::activation::BundleSource;
use super::download::{Download, Downloaded, MOST};
use super::status::BundleFailure;

/// Reads an object unless its entity tag is one of `tags`.
///
/// # Errors
/// Returns why the store did not return the object.
pub async fn read(
    client: &Client,
    object: &ObjectAddress,
    tags: &str,
) -> Result<Downloaded, BundleFailure> {
    let object = Object::open_at_service(client, object).await;
    let object = object.map_err(|error| failed(&error))?;
    let known_tags = Some(tags).filter(|tags| !tags.is_empty());
    let content = object.read(known_tags, max_bytes()).await;
    let Some(content) = content.map_err(|error| failed(&error))? else {
        return Ok(Downloaded::Unchanged);
    };
    Ok(downloaded(content.bytes, content.etag.unwrap_or_default()))
}

/// Pulls the bundle of an image unless its digest is one of `tags`. `last` is the manifest of the download before.
///
/// # Errors
/// Returns why the registry did not return the bundle.
pub async fn pull(
    client: &Client,
    image: &str,
    last: &mut Option<LastManifest>,
    tags: &str,
) -> Result<Downloaded, BundleFailure> {
    let reference = ImageReference::parse(image).map_err(BundleFailure::new)?;
    let is_known = |digest: &str| tags.split(", ").any(|tag| tag == digest);
    let layer = registry::pull(client, &reference, last, is_known, max_bytes()).await;
    let layer = layer.map_err(|error| {
        let message = error.message();
        BundleFailure {
            http_code: error.status().map(|status| status.as_u16()),
            ..BundleFailure::new(format!("failed to pull {image}: {message}"))
        }
    })?;
    Ok(match layer {
        Some(layer) => downloaded(layer.bytes, layer.etag),
        None => Downloaded::Unchanged,
    })
}

fn max_bytes() -> usize {
    usize::try_from(MOST).unwrap_or(usize::MAX)
}

fn downloaded(bytes: Bytes, etag: String) -> Downloaded {
    Downloaded::Bundle(Download {
        size: u64::try_from(bytes.len()).ok(),
        source: BundleSource::Archive(bytes.into()),
        etag,
    })
}

fn failed(error: &Error) -> BundleFailure {
    match error.kind() {
        ErrorKind::Status(status) => BundleFailure {
            log: format!("request failed: {error}"),
            ..BundleFailure::of_status(status)
        },
        ErrorKind::Body | ErrorKind::BodyTooLarge => {
            BundleFailure::new(format!("bundle read failed: {error}"))
        }
        _ => BundleFailure::new(format!("request failed: {error}")),
    }
}
