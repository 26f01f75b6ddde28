//! Folders that are linked into themselves.

use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use solon::bundle::{FileError, FileKind, Files, Links, Loader};
use solon_host::SystemFiles;

/// Files of the system, and how often they are examined.
#[derive(Default)]
struct CountedFiles(AtomicUsize);

impl Files for CountedFiles {
    fn look(&self, path: &Path, links: Links) -> Result<FileKind, FileError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        SystemFiles.look(path, links)
    }

    fn names(&self, folder: &Path) -> Result<Vec<OsString>, FileError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        SystemFiles.names(folder)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        SystemFiles.read(path)
    }
}

/// Without a bound there would be 2^40 paths through two links, which is as deep as the system follows links. A server that watches
/// files makes this search again and again.
#[cfg(unix)]
#[test]
fn the_search_across_links_to_the_same_folder_is_bounded() {
    for links in 1..=3 {
        let name = format!("solon-links-{}-{links}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("d.json"), "{}").unwrap();
        for link in 0..links {
            std::os::unix::fs::symlink(".", folder.join(format!("link{link}"))).unwrap();
        }
        let path = folder.to_str().unwrap();
        let files = CountedFiles::default();
        let found = Loader::new(&files).files(&[path]);
        assert!(found.contains(&folder.join("d.json")), "{found:?}");
        let searched = files.0.swap(0, Ordering::Relaxed);
        assert!(searched < 2000, "{links} links: {searched}");
        assert!(Loader::new(&files).load(&[path]).is_err());
        let loaded = files.0.load(Ordering::Relaxed);
        assert!(loaded < 2000, "{links} links: {loaded}");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
