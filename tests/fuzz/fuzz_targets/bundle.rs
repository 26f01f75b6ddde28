//! Files made from a text become a bundle that reads back as it was written. Files are separated by NUL: a path, a line break and the
//! contents.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon::bundle::{Bundle, BundleFile, BundleReader, Verification};

fn reader() -> BundleReader {
    BundleReader::new("b").verification(Verification::skip())
}

fuzz_target!(|text: &str| {
    let files = text.split('\0').filter_map(|file| {
        let (path, contents) = file.split_once('\n')?;
        Some(BundleFile {
            path: path.to_owned(),
            bytes: contents.into(),
        })
    });
    let Ok(archive) = Bundle::write_archive(&files.collect::<Vec<_>>()) else {
        return;
    };
    let Ok(bundle) = reader().read_archive(&archive) else {
        return;
    };
    let written = bundle.to_files();
    let archive = Bundle::write_archive(&written).expect("files of a bundle are an archive");
    let again = reader()
        .read_archive(&archive)
        .expect("an archive that was written is read");
    assert_eq!(again.to_files(), written);
    assert_eq!(again.documents, bundle.documents);
    assert_eq!(again.patch, bundle.patch);
});
