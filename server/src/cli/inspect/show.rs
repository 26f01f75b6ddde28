//! Contents of bundles as tables and as JSON.

use serde_json::Value as Json;
use solon::json;
use solon_syntax::json::lay_out;

use super::InspectedContents;
use super::annotations::Annotated;
use crate::cli::table::TextTable;
use crate::json::escape_html;

/// Length in bytes above which a table value is truncated, and above which folders are omitted from a path.
const WIDEST: usize = 50;
/// Replacement of an omitted part.
const ELLIPSIS: &str = "...";

/// Returns tables of the manifest, the namespaces and the annotations, if they exist.
pub fn tables(contents: &InspectedContents, annotations: &[Annotated<'_>]) -> String {
    let mut out = String::new();
    if let Some(manifest) = contents.manifest.as_ref().filter(|_| contents.has_manifest) {
        let mut table = TextTable::new(vec!["FIELD".to_owned(), "VALUE".to_owned()]);
        let mut has_rows = false;
        let mut row = |field: &str, value: String| {
            if !value.is_empty() {
                has_rows = true;
                table.row(vec![field.to_owned(), value]);
            }
        };
        let version = manifest.rego_version.map(|version| version.to_string());
        row("Rego Version", version.unwrap_or_default());
        row("Revision", cut(&manifest.revision));
        let mut roots = manifest.roots();
        roots.sort();
        for (index, root) in roots.into_iter().enumerate() {
            row(if index == 0 { "Roots" } else { "" }, truncate(&root));
        }
        let metadata = manifest.metadata.as_ref().map(|metadata| {
            let mut text = Vec::new();
            json::write(metadata.borrow(), &mut text);
            cut(&String::from_utf8_lossy(&escape_html(text)))
        });
        let metadata = metadata.filter(|metadata| metadata != "{}");
        row("Metadata", metadata.unwrap_or_default());
        if has_rows {
            out.push_str("MANIFEST:\n");
            out.push_str(&table.render());
        }
    }
    if !contents.namespaces.is_empty() {
        let mut table = TextTable::new(vec!["NAMESPACE".to_owned(), "FILE".to_owned()]);
        for (namespace, files) in &contents.namespaces {
            for (index, file) in files.iter().enumerate() {
                let namespace = if index == 0 { namespace.as_str() } else { "" };
                table.row(vec![namespace.to_owned(), truncate(file)]);
            }
        }
        out.push_str("NAMESPACES:\n");
        out.push_str(&table.render());
    }
    if !annotations.is_empty() {
        out.push_str("ANNOTATIONS:\n");
        for annotation in annotations {
            annotation.write(&mut out);
        }
    }
    out
}

/// Returns one indented JSON object and a line feed. `capabilities` is a JSON object.
pub fn json(
    contents: &InspectedContents,
    annotations: Option<&[Annotated<'_>]>,
    capabilities: &[u8],
) -> Vec<u8> {
    let mut members: Vec<(&str, Vec<u8>)> = Vec::new();
    if let Some(manifest) = &contents.manifest {
        members.push(("manifest", manifest.text().trim_ascii_end().to_vec()));
    }
    let signatures = contents.signatures.as_ref().map(|signatures| {
        let mut fields = vec![format!("\"signatures\":{}", texts(&signatures.tokens))];
        if !signatures.plugin.is_empty() {
            fields.push(format!("\"plugin\":{}", Json::from(&*signatures.plugin)));
        }
        fields.join(",")
    });
    let signatures = format!("{{{}}}", signatures.unwrap_or_default());
    members.push(("signatures_config", signatures.into_bytes()));
    if !contents.wasm.is_empty() {
        let modules = contents.wasm.iter().map(|module| {
            format!(
                "{{\"entrypoints\":{},\"path\":{},\"url\":{}}}",
                texts(&module.entry_points),
                Json::from(&*module.path),
                Json::from(&*module.url)
            )
        });
        members.push(("wasm_modules", list(modules)));
    }
    if !contents.namespaces.is_empty() {
        let namespaces = contents.namespaces.iter();
        let namespaces: Vec<String> = namespaces
            .map(|(namespace, files)| format!("{}:{}", Json::from(&**namespace), texts(files)))
            .collect();
        let namespaces = format!("{{{}}}", namespaces.join(","));
        members.push(("namespaces", namespaces.into_bytes()));
    }
    if let Some(annotations) = annotations.filter(|annotations| !annotations.is_empty()) {
        members.push(("annotations", list(annotations.iter().map(Annotated::json))));
    }
    members.push(("capabilities", capabilities.to_vec()));
    let mut compact = b"{".to_vec();
    for (index, (name, value)) in members.into_iter().enumerate() {
        let comma = if index == 0 { "" } else { "," };
        compact.extend(format!("{comma}\"{name}\":").bytes());
        compact.extend(value);
    }
    compact.push(b'}');
    let mut out = Vec::new();
    lay_out(
        &escape_html(compact),
        0,
        &mut out,
        usize::MAX,
        |byte, out| {
            out.push(byte);
        },
    );
    out.push(b'\n');
    out
}

/// Truncates a long text.
fn cut(text: &str) -> String {
    if text.len() < WIDEST {
        return text.to_owned();
    }
    let mut end = WIDEST - ELLIPSIS.len();
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{ELLIPSIS}", text.get(..end).unwrap_or_default())
}

/// Shortens a long path: as many folders after the first are omitted as necessary.
fn truncate(path: &str) -> String {
    let unshortened = || path.to_owned();
    if path.len() <= WIDEST {
        return unshortened();
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let folder = folder.strip_prefix('/').unwrap_or(folder);
    let inner = match folder.split_once('/') {
        Some((first, rest)) if !first.is_empty() => rest,
        _ => folder,
    };
    let kept_bytes = (WIDEST + inner.len()).saturating_sub(path.len() + ELLIPSIS.len());
    let Some(mut end) = inner.len().checked_sub(kept_bytes) else {
        return unshortened();
    };
    while !inner.is_char_boundary(end) {
        end += 1;
    }
    match inner.get(..end) {
        Some(part) if part.len() > ELLIPSIS.len() => path.replacen(part, ELLIPSIS, 1),
        _ => unshortened(),
    }
}

fn texts(list: &[String]) -> String {
    Json::from(list.to_vec()).to_string()
}

fn list(items: impl Iterator<Item = String>) -> Vec<u8> {
    format!("[{}]", items.collect::<Vec<_>>().join(",")).into_bytes()
}
