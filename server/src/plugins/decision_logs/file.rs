//! Sinks for lines: a file with rotation, and standard output.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};

use parking_lot::Mutex;

use crate::config::LogFileOptions;
use solon_common::private_files;

/// File that events are appended to. An event is in the file when its response is sent.
pub struct LogFile {
    options: LogFileOptions,
    open: Mutex<OpenFile>,
}

struct OpenFile {
    file: File,
    bytes: u64,
    line: Vec<u8>,
}

impl LogFile {
    /// Opens the file, or creates it. Only the user of the process can read it.
    ///
    /// # Errors
    /// Fails if the file cannot be opened, with the key of the configuration.
    pub fn open(options: &LogFileOptions) -> Result<Self, String> {
        let open = open(&options.path)
            .map_err(|error| format!("decision_logs.file: {}: {error}", options.path.display()))?;
        Ok(Self {
            options: options.clone(),
            open: Mutex::new(open),
        })
    }

    /// Returns the options that the file was opened with.
    pub fn options(&self) -> &LogFileOptions {
        &self.options
    }

    /// Appends an event as a line.
    ///
    /// # Errors
    /// Fails if the file cannot be written. An incomplete line is removed.
    pub fn append(&self, event: &[u8]) -> io::Result<()> {
        let mut open_file = self.open.lock();
        if open_file.bytes >= self.options.max_bytes {
            rotate(&self.options)?;
            *open_file = open(&self.options.path)?;
        }
        let OpenFile { file, bytes, line } = &mut *open_file;
        line.clear();
        line.extend_from_slice(event);
        line.push(b'\n');
        if let Err(error) = file.write_all(line) {
            // the next line begins where this one did
            let _ = file.set_len(*bytes);
            return Err(error);
        }
        *bytes += line.len() as u64;
        line.shrink_to(64 << 10);
        Ok(())
    }
}

fn open(path: &Path) -> io::Result<OpenFile> {
    let file = private_files::options(OpenOptions::new().append(true).create(true)).open(path)?;
    private_files::protect(&file)?;
    let bytes = file.metadata()?.len();
    Ok(OpenFile {
        file,
        bytes,
        line: Vec::new(),
    })
}

/// Renames `PATH` to `PATH.1`, `PATH.1` to `PATH.2` and so on. The oldest one is replaced.
fn rotate(options: &LogFileOptions) -> io::Result<()> {
    let numbered = |number: usize| {
        let mut name = options.path.clone().into_os_string();
        if number > 0 {
            name.push(format!(".{number}"));
        }
        PathBuf::from(name)
    };
    if options.max_files == 0 {
        return fs::remove_file(&options.path);
    }
    for number in (0..options.max_files).rev() {
        let from = numbered(number);
        if from.exists() {
            fs::rename(from, numbered(number + 1))?;
        }
    }
    Ok(())
}

/// Standard output. A separate thread writes lines, so that a slow reader does not stall decisions.
pub struct Stdout(SyncSender<Vec<u8>>);

/// Maximum number of lines that wait for standard output.
const LINES: usize = 8_192;

impl Stdout {
    /// Starts the thread.
    ///
    /// # Errors
    /// Fails if no thread can be created.
    pub fn start() -> Result<Self, String> {
        let (sender, lines) = sync_channel::<Vec<u8>>(LINES);
        let thread = std::thread::Builder::new().name("decision log".to_owned());
        thread
            .spawn(move || {
                for line in lines {
                    // an error cannot be reported anywhere
                    let _ = io::stdout().write_all(&line);
                }
            })
            .map_err(|error| format!("decision_logs.stdout: {error}"))?;
        Ok(Self(sender))
    }

    /// Writes an event as a line.
    ///
    /// # Errors
    /// Fails if too many lines wait.
    pub fn append(&self, mut event: Vec<u8>) -> io::Result<()> {
        event.push(b'\n');
        self.0.try_send(event).map_err(|error| match error {
            TrySendError::Full(_) => io::Error::other("standard output is not read fast enough"),
            TrySendError::Disconnected(_) => io::Error::other("standard output is closed"),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::LogFile;
    use crate::config::LogFileOptions;

    #[test]
    fn files_are_rotated() {
        let folder = std::env::temp_dir().join(format!("solon-log-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("d.jsonl");
        fs::write(&path, "0\n").unwrap();
        let options = LogFileOptions {
            path: path.clone(),
            max_bytes: 4,
            max_files: 2,
        };
        let file = LogFile::open(&options).unwrap();
        for number in 1..10 {
            file.append(number.to_string().as_bytes()).unwrap();
        }
        let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(text("d.jsonl"), "8\n9\n");
        assert_eq!(text("d.jsonl.1"), "6\n7\n");
        assert_eq!(text("d.jsonl.2"), "4\n5\n");
        assert!(!folder.join("d.jsonl.3").exists());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
