//! Huge pages of memory, which the allocator asks the system for (Linux). They make large documents faster, and small servers
//! large: of each two megabytes that one byte is used of, all are taken. So a process begins without them, does with them while
//! its files are loaded, if they are large, and a server goes on without until something large is read.

use std::path::Path;

use solon::bundle::{FileError, FileKind, Files, Links};
use solon_host::SystemFiles;

pub use state::{are_taken, give_back_first, leave, pay, read, spare, take};

/// Bytes of files, of documents that are stored or of one body, from which on huge pages pay.
#[cfg(target_os = "linux")]
const LARGE: usize = 4 << 20;

#[cfg(target_os = "linux")]
mod state {
    use std::convert::Infallible;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::time::Duration;

    use parking_lot::Mutex;

    /// Bytes of a block that the allocator holds by itself, and how many of them are a huge page.
    const BLOCK: usize = 256 << 10;
    const BLOCKS: usize = 8;

    /// The first huge page, which is there before `main`: blocks that are never written to.
    static FIRST: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    /// Whether this process does without.
    static SPARED: AtomicBool = AtomicBool::new(false);
    /// Bytes of all files that were read.
    static FILES: AtomicUsize = AtomicUsize::new(0);

    /// Does without huge pages from now on. Where the system refuses, they stay.
    pub fn spare() {
        leave();
        let block = |_| Vec::with_capacity(BLOCK);
        *FIRST.lock() = (0..BLOCKS).map(block).collect();
    }

    /// Whether something large was read.
    pub fn are_taken() -> bool {
        !SPARED.load(Ordering::Relaxed)
    }

    /// Gives back what there is of the first huge page, on the thread that has spared the others, when what the start needs
    /// is done. The allocator hands a block to the system when another one is freed some time after it.
    pub async fn give_back_first() -> Infallible {
        /// The allocator waits for a hundredth of a second.
        const PAUSE: Duration = Duration::from_millis(100);
        loop {
            tokio::time::sleep(PAUSE).await;
            let block = FIRST.lock().pop();
            if block.is_none() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Does without huge pages again; what lies in them stays.
    pub fn leave() {
        let done = rustix::thread::disable_transparent_huge_pages(true);
        SPARED.store(done.is_ok(), Ordering::Relaxed);
    }

    /// Does with huge pages again.
    pub fn take() {
        if SPARED.swap(false, Ordering::Relaxed) {
            FIRST.lock().clear();
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
    pub fn leave() {}
    pub async fn give_back_first() -> std::convert::Infallible {
        std::future::pending().await
    }
    pub fn take() {}
    pub fn are_taken() -> bool {
        false
    }
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
