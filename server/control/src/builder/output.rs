//! The archive of an assembled bundle.

use std::collections::BTreeMap;

use aws_lc_rs::digest::{SHA256, digest};
use solon::bundle::{
    Bundle, BundleError, BundleFile, BundleReader, Loader, Manifest, MemoryFiles, SigningKey,
};
use solon::{BundleBuilder, Object, Value, Version, json};
use solon_syntax::ParseOptions;

use super::assembly::{Assembly, language};
use super::plan::build_failed;
use super::roots;
use super::{Built, Input, Signing, documents};
use crate::model::Failure;

/// Compiles and writes a bundle.
pub fn write(input: &Input<'_>, assembly: &Assembly, revision: String) -> Result<Built, Failure> {
    let failed = |problem: String| build_failed(format!("build: {problem}"));
    let version = language(assembly.rego_version);
    let mut notes = assembly.notes.clone();
    let revision = match &assembly.manifest_revision {
        Some(of_source) => {
            if *of_source != revision && !input.bundle.revision.is_empty() {
                notes.push(format!(
                    "builder: source manifest revision {of_source:?} overrides WithRevisionFunc result; using manifest revision"
                ));
            }
            of_source.clone()
        }
        None => revision,
    };
    let bundle = read(assembly).map_err(failed)?;
    let options = input.bundle.options.as_ref();
    let optimization = options.and_then(|options| options.optimization.as_ref());
    let builder = BundleBuilder::new(version)
        .optimize(optimization.map_or(0, |optimization| optimization.level))
        .revision(Some(revision.clone()));
    let built = builder.build(bundle);
    let mut bundle = built.map_err(|error| failed(error.to_string()))?;
    bundle.modules.sort_by(|a, b| a.path.cmp(&b.path));
    bundle.manifest.file_rego_versions = file_versions(&bundle, assembly.rego_version);
    if let Some(signing) = &input.signing {
        sign(&mut bundle, signing).map_err(|problem| failed(format!("signing: {problem}")))?;
    }
    let archive = Bundle::write_archive(&bundle.to_files());
    let archive = archive.map_err(|error| failed(error.to_string()))?;
    let digest = hex::encode(digest(&SHA256, &archive));
    Ok(Built {
        archive,
        revision,
        digest,
        notes,
    })
}

/// Reads the assembled files as a bundle, which checks that everything lies below the roots.
fn read(assembly: &Assembly) -> Result<Bundle, String> {
    let mut manifest = Manifest::default();
    let texts = assembly.roots.iter().map(|root| roots::slashed(root));
    manifest.roots = Some(texts.collect());
    manifest.rego_version = Some(assembly.rego_version);
    let mut files = Vec::new();
    for part in &assembly.subtrees {
        for policy in &part.policies {
            let path = format!("/{}/{}", part.folder, policy.path);
            if number(policy.version) != assembly.rego_version {
                let version = number(policy.version);
                manifest
                    .file_rego_versions
                    .push((pattern_of(&path), version));
            }
            let bytes = policy.text.clone().into_bytes();
            files.push(BundleFile { path, bytes });
        }
    }
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let documents = merge(assembly).map_err(|error| format!("load error: {error}"))?;
    let mut bytes = Vec::new();
    json::write(documents.borrow(), &mut bytes);
    files.push(BundleFile {
        path: "/data.json".to_owned(),
        bytes,
    });
    files.push(BundleFile {
        path: "/.manifest".to_owned(),
        bytes: manifest.text(),
    });
    let options = ParseOptions::from_version(language(assembly.rego_version));
    let reader = BundleReader::new(".").parse_options(options);
    reader
        .read_files(files)
        .map_err(|errors| format!("load error: {errors}"))
}

/// Merges the documents of all trees.
fn merge(assembly: &Assembly) -> Result<Value, String> {
    let mut files = MemoryFiles::default();
    let mut folders = Vec::new();
    for part in assembly
        .subtrees
        .iter()
        .filter(|part| !part.documents.is_empty())
    {
        folders.push(part.folder.clone());
        for (path, bytes) in &part.documents {
            // the loader knows extensions in lower case only
            let path = documents::with_lower_extension(path);
            files.insert(format!("{}/{path}", part.folder), bytes.to_vec());
        }
    }
    let loaded = Loader::new(&files).load(&folders);
    loaded
        .map(|loaded| loaded.documents)
        .map_err(|errors| errors.to_string())
}

/// Returns the versions of the modules that differ from the version of the bundle.
fn file_versions(bundle: &Bundle, rego_version: i64) -> Vec<(String, i64)> {
    let modules = bundle.modules.iter();
    let versions: BTreeMap<String, i64> = modules
        .map(|module| (pattern_of(&module.path), number(module.module.version)))
        .filter(|(_, version)| *version != rego_version)
        .collect();
    versions.into_iter().collect()
}

fn number(version: Version) -> i64 {
    i64::from(version == Version::V1)
}

/// Returns the glob that matches one path.
fn pattern_of(path: &str) -> String {
    let mut pattern = String::new();
    for letter in path.chars() {
        if "*?[]{}!\\,".contains(letter) {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern
}

fn sign(bundle: &mut Bundle, signing: &Signing) -> Result<(), BundleError> {
    let mut key = SigningKey::new(signing.algorithm.as_str(), signing.key.to_vec());
    if signing.scope.is_empty() {
        key = key.id(signing.keyid.as_str());
    } else {
        let mut claims = vec![("scope".into(), Value::string(&signing.scope))];
        if !signing.keyid.is_empty() {
            claims.push(("keyid".into(), Value::string(&signing.keyid)));
        }
        key = key.claims(Object::from_pairs(claims));
    }
    bundle.sign_contents(&key)
}
