//! Any bytes as an archive: a bundle within the limits, or an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use solon::bundle::{BundleLimits, BundleReader, Verification};

fuzz_target!(|bytes: &[u8]| {
    let limits = BundleLimits::default()
        .file_bytes(1 << 20)
        .total_bytes(8 << 20)
        .entries(1 << 10);
    let reader = BundleReader::new("b")
        .limits(limits)
        .verification(Verification::skip());
    if let Ok(bundle) = reader.read_archive(bytes) {
        let total: usize = bundle.files.iter().map(|file| file.bytes.len()).sum();
        assert!(total <= 8 << 20, "{total} bytes");
    }
});
