//! Bundles that are written and read again.

use solon::bundle::{Bundle, BundleFile, BundleKind, BundleReader, Signatures, Verification};

use solon_syntax::ParseOptions;

use crate::read::recorded_files;

fn read(files: Vec<BundleFile>) -> Option<Bundle> {
    let reader = BundleReader::new("b").verification(Verification::skip());
    reader.read_files(files).ok()
}

/// The contents of a bundle that writing preserves.
fn contents(bundle: &Bundle) -> impl PartialEq + std::fmt::Debug {
    let modules = bundle.modules.iter();
    let modules: Vec<_> = modules
        .map(|one| (one.path.clone(), one.module.source.text.clone()))
        .collect();
    let kept = bundle.files.iter().filter(|file| {
        let name = file.path.rsplit('/').next();
        bundle.kind() == BundleKind::Snapshot && matches!(name, Some("policy.wasm" | "plan.json"))
    });
    let mut kept: Vec<_> = kept
        .map(|file| (file.path.clone(), file.bytes.clone()))
        .collect();
    kept.sort();
    (
        bundle.has_manifest.then(|| bundle.manifest.value()),
        modules,
        bundle.documents.clone(),
        bundle.patch.clone(),
        kept,
        bundle.signatures.clone(),
    )
}

#[test]
fn written_bundles_are_read_as_they_were() {
    let (mut snapshots, mut deltas) = (0, 0);
    for (note, files) in recorded_files() {
        let Some(bundle) = read(files) else { continue };
        match bundle.kind() {
            BundleKind::Snapshot => snapshots += 1,
            BundleKind::Delta => deltas += 1,
        }
        let written = bundle.to_files();
        let archive = Bundle::write_archive(&written).unwrap();
        assert_eq!(
            Bundle::write_archive(&written).unwrap(),
            archive,
            "{note}: not the same bytes"
        );
        let reader = BundleReader::new("b").verification(Verification::skip());
        let again = reader.read_archive(&archive).unwrap();
        assert_eq!(
            format!("{:?}", contents(&again)),
            format!("{:?}", contents(&bundle)),
            "{note}"
        );
        assert_eq!(again.to_files(), written, "{note}");
        assert_eq!(
            read(written.clone()).unwrap().to_files(),
            written,
            "{note}: as files"
        );
    }
    assert!(
        snapshots > 40 && deltas > 10,
        "{snapshots} snapshots, {deltas} deltas"
    );
}

#[test]
fn formatted_policies_keep_their_version_and_meaning() {
    let file = |path: &str, text: &str| BundleFile {
        path: path.to_owned(),
        bytes: text.into(),
    };
    let mut bundle = read(vec![
        file(
            "/.manifest",
            r#"{"rego_version": 1, "file_rego_versions": {"/old.rego": 0}}"#,
        ),
        file("/old.rego", "package a\np   { input.x }  # why"),
        file("/new.rego", "package b\np  if  input.x"),
    ])
    .unwrap();
    bundle.format_modules(&ParseOptions::default()).unwrap();
    let texts: Vec<_> = bundle
        .modules
        .iter()
        .map(|one| one.module.source.text.to_string())
        .collect();
    assert_eq!(
        texts,
        [
            "package a\n\np { # why\n\tinput.x\n}\n",
            "package b\n\np if input.x\n"
        ]
    );
    let written = bundle.to_files();
    assert_eq!(read(written.clone()).unwrap().to_files(), written);
}

#[test]
fn entries_of_archives_are_those_of_opa() {
    let files = [
        BundleFile {
            path: "/data.json".to_owned(),
            bytes: b"{}\n".to_vec(),
        },
        BundleFile {
            path: format!("/{}/é.rego", "long".repeat(40)),
            bytes: b"package p".to_vec(),
        },
    ];
    let archive = Bundle::write_archive(&files).unwrap();
    let mut unpacked = tar::Archive::new(flate2::read::GzDecoder::new(&archive[..]));
    let entries = unpacked.entries().unwrap().map(|entry| {
        let entry = entry.unwrap();
        let header = entry.header();
        assert_eq!(header.entry_type(), tar::EntryType::Regular);
        let numbers = [
            u64::from(header.mode().unwrap()),
            header.uid().unwrap(),
            header.gid().unwrap(),
            header.mtime().unwrap(),
        ];
        assert_eq!(numbers, [0o600, 0, 0, 0]);
        String::from_utf8(entry.path_bytes().into_owned()).unwrap()
    });
    let entries: Vec<String> = entries.collect();
    assert_eq!(entries, files.map(|file| file.path));
}

#[test]
fn signatures_are_written_as_they_were_read() {
    for text in [
        "{\n \"signatures\": [\n  \"a.b.c\"\n ]\n}",
        "{\n \"signatures\": [\n  \"a.b.c\",\n  \"d\"\n ],\n \"plugin\": \"_default\"\n}",
        "{\n \"signatures\": []\n}",
    ] {
        let signatures = Signatures::read(text.as_bytes()).unwrap().unwrap();
        assert_eq!(String::from_utf8(signatures.text()).unwrap(), text);
    }
}
