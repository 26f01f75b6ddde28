//! Huge pages of memory, which the allocator asks the system for (Linux). They make large documents faster, and small servers
//! large: of each two megabytes that one byte is used of, all are taken. So a process begins without them, and a server goes on
//! so until something large is read.

use std::path::Path;

use solon::bundle::{FileError, FileKind, Files, Links};
use solon_host::SystemFiles;

pub use state::{pay, read, spare, take};

/// Bytes of files, of documents that are stored or of one body, from which on huge pages pay.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

#[cfg(target_os = "linux")]
mod state {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    /// Whether this process does without.
    static SPARED: AtomicBool = AtomicBool::new(false);
    /// Bytes of all files that were read.
    static FILES: AtomicUsize = AtomicUsize::new(0);

    /// Does without huge pages from now on. Where the system refuses, they stay.
    pub fn spare() {
        let done = rustix::thread::disable_transparent_huge_pages(true);
        SPARED.store(done.is_ok(), Ordering::Relaxed);
    }

    /// Does with huge pages again.
    pub fn take() {
        if SPARED.swap(false, Ordering::Relaxed) {
            // where that is refused, what is large is a little slower
            let _ = rustix::thread::disable_transparent_huge_pages(false);
        }
    }

    /// Whether something of so many bytes is large.
    pub fn pay(bytes: usize) -> bool {
        bytes >= super::LARGE
    }

    /// Takes note of something of so many bytes that is about to become values.
    pub fn read(bytes: usize) {
        if pay(bytes) {
            take();
        }
    }

    pub fn read_file(bytes: usize) {
        let before = FILES.fetch_add(bytes, Ordering::Relaxed);
        read(before.saturating_add(bytes));
    }
}

#[cfg(not(target_os = "linux"))]
mod state {
    pub fn spare() {}
    pub fn take() {}
    pub fn pay(_: usize) -> bool {
        false
    }
    pub fn read(_: usize) {}
    pub fn read_file(_: usize) {}
}

/// The files of the system, whose bytes are taken note of.
#[derive(Clone, Copy, Debug)]
pub struct NotedFiles;

impl Files for NotedFiles {
    fn look(&self, path: &Path, links: Links) -> Result<FileKind, FileError> {
        SystemFiles.look(path, links)
    }

    fn names(&self, folder: &Path) -> Result<Vec<std::ffi::OsString>, FileError> {
        SystemFiles.names(folder)
    }

    fn read(&self, path: &Path) -> Result<Vec<u8>, FileError> {
        let bytes = SystemFiles.read(path)?;
        state::read_file(bytes.len());
        Ok(bytes)
    }
}
