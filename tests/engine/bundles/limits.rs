//! Each limit of a bundle: the largest allowed value and the next one.

use solon::bundle::{BundleFile, BundleLimits, BundleReader, Loader, MemoryFiles};

use crate::tarball::{Tarball, compressed};

fn read(limits: BundleLimits, archive: &[u8]) -> Result<(), String> {
    let reader = BundleReader::new("b").limits(limits);
    let read = reader.read_archive(archive);
    read.map(drop).map_err(|error| error.to_string())
}

fn read_folder(limits: BundleLimits, files: &MemoryFiles) -> Result<(), String> {
    let reader = BundleReader::new("b").limits(limits);
    let read = reader.read_path(files, "b");
    read.map(drop).map_err(|error| error.to_string())
}

fn error(message: &str) -> Result<(), String> {
    Err(format!("bundle b: {message}"))
}

#[test]
fn bytes_of_one_file() {
    let limits = BundleLimits::default().file_bytes(10);
    let archive = |length: usize| Tarball::default().file("x", &vec![b'x'; length]).finish();
    let folder = |length: usize| MemoryFiles::from([("b/x", vec![b'x'; length])]);
    assert_eq!(read(limits, &archive(10)), Ok(()));
    let message = "bundle file x size (11 bytes) exceeds configured size_limit_bytes (10 bytes)";
    let in_archive = format!("bundle read failed: {message}");
    assert_eq!(read(limits, &archive(11)), error(&in_archive));
    assert_eq!(read_folder(limits, &folder(10)), Ok(()));
    let in_folder = "bundle file /x size (11 bytes) exceeds configured size_limit_bytes (10 bytes)";
    assert_eq!(read_folder(limits, &folder(11)), error(in_folder));
}

#[test]
fn bytes_of_all_files() {
    // a header, a block of content, two blocks at the end
    let archive = Tarball::default().file("x", b"x").finish();
    assert_eq!(
        read(BundleLimits::default().total_bytes(2048), &archive),
        Ok(())
    );
    assert_eq!(
        read(BundleLimits::default().total_bytes(2047), &archive),
        error("bundle read failed: archive is larger than 2047 bytes after decompression")
    );
    let folder = MemoryFiles::from([("b/x", "12345"), ("b/y", "67890")]);
    assert_eq!(
        read_folder(BundleLimits::default().total_bytes(10), &folder),
        Ok(())
    );
    assert_eq!(
        read_folder(BundleLimits::default().total_bytes(9), &folder),
        error("the files are larger than 9 bytes")
    );
}

#[test]
fn entries() {
    let archive = Tarball::default()
        .entry(b'5', b"d", "", 0, b"")
        .file("d/x", b"")
        .file("d/y", b"")
        .finish();
    assert_eq!(read(BundleLimits::default().entries(3), &archive), Ok(()));
    assert_eq!(
        read(BundleLimits::default().entries(2), &archive),
        error("bundle read failed: more than 2 entries")
    );
    let folder = MemoryFiles::from([("b/d/x", ""), ("b/d/y", "")]);
    assert_eq!(
        read_folder(BundleLimits::default().entries(2), &folder),
        Ok(())
    );
    assert_eq!(
        read_folder(BundleLimits::default().entries(1), &folder),
        error("more than 1 files")
    );
}

#[test]
fn bytes_of_a_path() {
    let long = "d/".repeat(60) + "x";
    let archive = BundleFile {
        path: long.clone(),
        bytes: Vec::new(),
    };
    let archive = solon::bundle::Bundle::write_archive(&[archive]).unwrap();
    assert_eq!(
        read(BundleLimits::default().path_bytes(121), &archive),
        Ok(())
    );
    assert_eq!(
        read(BundleLimits::default().path_bytes(120), &archive),
        error("bundle read failed: a path is longer than 120 bytes")
    );
    let folder = MemoryFiles::from([(format!("b/{long}"), "")]);
    // the path within the bundle starts with a slash
    assert_eq!(
        read_folder(BundleLimits::default().path_bytes(122), &folder),
        Ok(())
    );
    assert_eq!(
        read_folder(BundleLimits::default().path_bytes(121), &folder),
        error("a path is longer than 121 bytes")
    );
}

#[test]
fn ratio_of_decompressed_bytes() {
    let archive = |length: usize| {
        let content = vec![b' '; length];
        Tarball::default().file("x", &content).finish()
    };
    // small archives may have any ratio
    assert_eq!(
        read(
            BundleLimits::default().ratio(1),
            &archive((32 << 20) - 2048)
        ),
        Ok(())
    );
    let large = archive(32 << 20);
    assert_eq!(
        read(BundleLimits::default().ratio(1), &large),
        error(
            "bundle read failed: failed to copy file x: archive decompresses to more than 1 times its size"
        )
    );
    let ratio = u64::try_from((32 << 20) / large.len() * 2).unwrap();
    assert_eq!(read(BundleLimits::default().ratio(ratio), &large), Ok(()));
}

#[test]
fn padding_after_the_last_entry() {
    let padded = |length: usize| {
        let mut tar = Tarball::default().file("x", b"x").0;
        tar.resize(tar.len() + 512 + length, 0);
        compressed(&tar)
    };
    assert_eq!(read(BundleLimits::default(), &padded(1 << 20)), Ok(()));
    assert_eq!(
        read(BundleLimits::default(), &padded((1 << 20) + 1)),
        error("bundle read failed: trailing data after the last entry")
    );
}

#[test]
fn folders_in_folders() {
    let files = |depth: usize| MemoryFiles::from([("b/".repeat(depth) + "x", "")]);
    // the first entry is the bundle itself
    assert!(Loader::new(&files(401)).load_bundles(&["b"]).is_ok());
    let error = Loader::new(&files(403)).load_bundles(&["b"]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "bundle b: folders are nested more than 400 deep"
    );
}
