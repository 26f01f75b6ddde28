//! Hostile archives are rejected: each with its own error, quickly, and with little memory.

use std::io::Write as _;
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use solon::bundle::{BundleLimits, BundleReader};

use crate::processor;
use crate::tarball::{Tarball, compressed};

const A: &[u8] = b"package a\np := 1\n";

fn error(archive: &[u8]) -> String {
    let read = BundleReader::new("b").read_archive(archive);
    match read {
        Ok(bundle) => panic!("accepted: {bundle:?}"),
        Err(error) => error.to_string(),
    }
}

/// Compares each error with the expected one after `bundle b: bundle read failed: `.
fn rejected(cases: &[(&str, Vec<u8>, &str)]) {
    for (note, archive, want) in cases {
        let got = error(archive);
        let got = got.strip_prefix("bundle b: bundle read failed: ");
        assert_eq!(got, Some(*want), "{note}");
    }
}

#[test]
fn paths_that_leave_the_bundle() {
    let cases = [
        ("../a.rego", "`..` is not allowed"),
        ("/../a.rego", "`..` is not allowed"),
        ("a/../../b.rego", "`..` is not allowed"),
        ("a/..", "`..` is not allowed"),
        ("./../a.rego", "`..` is not allowed"),
        ("a/b/../c.rego", "`..` is not allowed"),
        ("//etc/a.rego", "it begins with two slashes"),
        ("..\\a.rego", "backslashes and NUL are not allowed"),
        ("a\\..\\..\\b.rego", "backslashes and NUL are not allowed"),
        ("\\\\host\\a.rego", "backslashes and NUL are not allowed"),
        ("C:/a.rego", "it names a drive"),
        ("/c:a.rego", "it names a drive"),
    ];
    for (path, reason) in cases {
        let want = format!("bundle b: bundle read failed: invalid path `{path}`: {reason}");
        assert_eq!(error(&Tarball::default().file(path, A).finish()), want);
        let extended = Tarball::default().extended("path", path).file("ok.rego", A);
        assert_eq!(error(&extended.finish()), want, "extended");
        let folder = Tarball::default().entry(b'5', path.as_bytes(), "", 0, b"");
        assert_eq!(error(&folder.finish()), want, "folder");
        let mut name = path.as_bytes().to_vec();
        name.push(0);
        let size = u64::try_from(name.len()).unwrap();
        let long = Tarball::default().entry(b'L', b"././@LongLink", "", size, &name);
        assert_eq!(error(&long.file("ok.rego", A).finish()), want, "long name");
    }
    let utf8 = Tarball::default().entry(b'0', b"a\xff.rego", "", 0, b"");
    assert!(error(&utf8.finish()).contains("is not valid UTF-8"));
}

#[test]
fn entries_that_are_not_files() {
    let kinds = [
        (b'1', "a hard link"),
        (b'2', "a symbolic link"),
        (b'3', "a device"),
        (b'4', "a device"),
        (b'6', "a pipe"),
        (b'S', "a sparse file"),
        (b'K', "a symbolic link"),
        (b'D', "an entry of an unknown kind"),
        (b'V', "an entry of an unknown kind"),
    ];
    for (kind, name) in kinds {
        for target in ["/etc/passwd", "../../outside", "a.rego", ""] {
            let archive = Tarball::default()
                .file("a.rego", A)
                .entry(kind, b"l.rego", target, 0, b"");
            assert_eq!(
                error(&archive.finish()),
                format!(
                    "bundle b: bundle read failed: `l.rego` is {name}; only files and folders are allowed"
                )
            );
        }
    }
}

#[test]
fn headers_that_override_entries() {
    let records = [
        ("size", "1"),
        ("linkpath", "/etc/passwd"),
        ("GNU.sparse.major", "1"),
        ("GNU.sparse.size", "10737418240"),
        ("GNU.sparse.name", "../x"),
    ];
    for (key, value) in records {
        let archive = Tarball::default().extended(key, value).file("a.rego", A);
        assert_eq!(
            error(&archive.finish()),
            format!("bundle b: bundle read failed: extended header `{key}` is not supported")
        );
    }
    let two = Tarball::default()
        .extended("path", "a.rego")
        .extended("path", "b.rego")
        .file("c.rego", A);
    let last = Tarball::default().file("a.rego", A).extended("path", "b");
    let large = Tarball::default().extended("comment", &"x".repeat(1 << 17));
    rejected(&[
        ("two paths", two.finish(), "an entry has two extended paths"),
        ("no entry follows", last.finish(), "unexpected EOF"),
        (
            "a large header",
            large.file("a.rego", A).finish(),
            "an extended header is larger than 65536 bytes",
        ),
    ]);
    // Times, owners and comments have no effect.
    let harmless = Tarball::default()
        .extended("mtime", "1.5")
        .extended("comment", "../../x")
        .file("a.rego", A);
    assert!(
        BundleReader::new("b")
            .read_archive(&harmless.finish())
            .is_ok()
    );
}

#[test]
fn entries_of_the_same_name() {
    for (first, second) in [
        ("a.rego", "a.rego"),
        ("a.rego", "./a.rego"),
        ("a.rego", "/a.rego"),
        ("/a.rego", "./a.rego"),
        ("d/a.rego", "d//a.rego"),
        ("d/a.rego", "/d/./a.rego"),
        ("data.json", "/data.json"),
        (".manifest", "./.manifest"),
        (".signatures.json", "/.signatures.json"),
    ] {
        let archive = Tarball::default().file(first, b"{}").file(second, b"{}");
        let got = error(&archive.finish());
        let want = "bundle b: bundle read failed: duplicate entry `";
        assert!(got.starts_with(want), "{first} {second}: {got}");
    }
    // Names that differ in case are different names.
    let archive = Tarball::default()
        .file("a.rego", A)
        .file("A.rego", b"package b\np := 1\n");
    let bundle = BundleReader::new("b")
        .read_archive(&archive.finish())
        .unwrap();
    assert_eq!(bundle.modules.len(), 2);
}

#[test]
fn truncated_archives_and_trailing_data() {
    let whole = Tarball::default().file("a.rego", A);
    let archive = whole.clone().finish();
    for length in 0..archive.len() {
        let got = error(&archive[..length]);
        assert!(
            got.contains("EOF") || got.contains("invalid header"),
            "{length}: {got}"
        );
    }
    let cut = |length: usize| compressed(&whole.0[..length]);
    let mut tail = archive.clone();
    tail.extend(b"x");
    let mut second = archive.clone();
    second.extend(compressed(b"hello"));
    let mut damaged = archive.clone();
    let at = damaged.len() - 6;
    damaged[at] ^= 1;
    let mut after = Tarball(whole.0.clone());
    after.0.resize(after.0.len() + 1024, 0);
    after.0.extend(b"hello");
    let nested = compressed(&archive);
    let lie = Tarball::default().entry(b'0', b"a.rego", "", 1 << 20, A);
    let mut sum = whole.0.clone();
    sum[0] = b'b';
    rejected(&[
        ("half a header", cut(100), "unexpected EOF"),
        (
            "no content",
            cut(512),
            "failed to copy file a.rego: unexpected EOF",
        ),
        (
            "half a content",
            cut(515),
            "failed to copy file a.rego: unexpected EOF",
        ),
        (
            "bytes behind",
            tail,
            "trailing data after the compressed stream",
        ),
        (
            "a second stream",
            second,
            "trailing data after the compressed stream",
        ),
        (
            "bytes after the end",
            compressed(&after.0),
            "trailing data after the last entry",
        ),
        ("compressed twice", nested, "unexpected EOF"),
        (
            "a size that is a lie",
            lie.finish(),
            "failed to copy file a.rego: unexpected EOF",
        ),
        (
            "a wrong checksum of a header",
            compressed(&sum),
            "archive header checksum mismatch",
        ),
        (
            "a text",
            b"hello world".to_vec(),
            "archive read failed: gzip: invalid header",
        ),
        ("nothing", Vec::new(), "archive read failed: EOF"),
    ]);
    assert!(error(&damaged).contains("checksum"));
}

/// Compresses the same bytes `count` times.
fn repeated(block: &[u8], count: usize) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    for _ in 0..count {
        gzip.write_all(block).unwrap();
    }
    gzip.finish().unwrap()
}

#[test]
fn decompression_bombs() {
    let zeros = vec![0; 1 << 20];
    // An archive that ends at once, followed by a gigabyte of zeros.
    rejected(&[(
        "zeros",
        repeated(&zeros, 1 << 10),
        "trailing data after the last entry",
    )]);
    // A file of 10 GB is detected by its header.
    let large = Tarball::default().entry(b'0', b"data.json", "", 10 << 30, b"");
    rejected(&[(
        "a large file",
        large.finish(),
        "bundle file data.json size (10737418240 bytes) exceeds configured size_limit_bytes (1073741824 bytes)",
    )]);
    // A file within the limit, whose zeros compress to almost nothing.
    let mut inner = Tarball::default()
        .entry(b'0', b"data.json", "", 1 << 30, b"")
        .0;
    inner.resize(1 << 20, 0);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&inner).unwrap();
    for _ in 0..64 {
        gzip.write_all(&zeros).unwrap();
    }
    rejected(&[(
        "zeros in a file",
        gzip.finish().unwrap(),
        "failed to copy file data.json: archive decompresses to more than 250 times its size",
    )]);
    // Many folders with the same header.
    let folder = Tarball::default().entry(b'5', b"d/", "", 0, b"").0;
    let count = BundleLimits::default().entries + 1;
    let got = error(&repeated(&folder, count));
    assert!(
        got.contains("more than 250 times") || got.contains("more than 262144 entries"),
        "{got}"
    );
}

#[test]
fn decompression_bombs_end_quickly() {
    let zeros = vec![0; 1 << 20];
    let mut inner = Tarball::default()
        .entry(b'0', b"data.json", "", 1 << 30, b"")
        .0;
    inner.resize(1 << 20, 0);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&inner).unwrap();
    for _ in 0..256 {
        gzip.write_all(&zeros).unwrap();
    }
    let archive = gzip.finish().unwrap();
    let ((), took) = processor::timed(|| drop(error(&archive)));
    assert!(took < Duration::from_secs(5), "{took:?}");
}
