//! Files that are loaded again when they change.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use solon::store::Path as DocumentPath;
use solon::{Change, Engine, bundle::Loaded};
use tracing::{error, info};

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(500);

/// What tells whether files have changed: name, time and length of each.
type Look = BTreeSet<(PathBuf, Option<SystemTime>, u64)>;

/// Calls something each time that files change, from a thread of its own; paths are as the command line has them.
pub fn on_change(paths: Vec<PathBuf>, mut changed: impl FnMut() + Send + 'static) {
    let mut last = look(&paths);
    // without a thread nothing is watched, which is no reason not to serve
    let _ = std::thread::Builder::new()
        .name("watch".into())
        .spawn(move || {
            loop {
                std::thread::sleep(EVERY);
                let now = look(&paths);
                if now != last {
                    last = now;
                    changed();
                }
            }
        });
}

fn look(paths: &[PathBuf]) -> Look {
    let mut seen = Look::new();
    for path in paths {
        note(path, &mut seen, 0);
    }
    seen
}

/// Deepest folder that is looked into: links may lead in a circle.
const DEPTH: usize = 64;

fn note(path: &Path, seen: &mut Look, depth: usize) {
    let Ok(file) = std::fs::metadata(path) else {
        return;
    };
    if file.is_dir() && depth < DEPTH {
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        for entry in entries {
            note(&entry.path(), seen, depth + 1);
        }
    } else {
        seen.insert((path.to_owned(), file.modified().ok(), file.len()));
    }
}

/// The file or folder of a path of the command line, which may stand behind a place in `data`: `a.b:PATH`.
pub fn file_of(path: &str) -> PathBuf {
    let behind = path.split_once(':').map(|(_, behind)| behind);
    let plain = path.strip_prefix("file://").unwrap_or(path);
    match behind.filter(|_| !Path::new(plain).exists()) {
        Some(behind) => PathBuf::from(behind),
        None => PathBuf::from(plain),
    }
}

/// What files held when they were loaded last.
pub struct Files {
    modules: BTreeSet<String>,
    documents: BTreeSet<String>,
}

impl Files {
    /// What was loaded first.
    pub fn of(loaded: &Loaded) -> Self {
        let documents = loaded
            .documents
            .as_object()
            .into_iter()
            .flat_map(|object| object.iter());
        Self {
            modules: loaded.modules.keys().cloned().collect(),
            documents: documents
                .filter_map(|(name, _)| name.as_str().map(str::to_owned))
                .collect(),
        }
    }

    /// Takes over what files hold now. What no file holds any more goes; what is wrong changes nothing.
    pub fn renew(&mut self, engine: &Engine, loaded: &Loaded) {
        let next = Self::of(loaded);
        let mut change = Change::default();
        for gone in self.modules.difference(&next.modules) {
            if engine.module(gone).is_some() {
                change.remove_module(gone);
            }
        }
        for (name, text) in &loaded.modules {
            change.set_module(name, text);
        }
        for name in self.documents.difference(&next.documents) {
            let path = DocumentPath::new([name.as_str()]);
            if engine.snapshot().read(&path).is_ok() {
                change.write(solon::store::Operation::Remove, path, solon::Value::Null);
            }
        }
        let documents = loaded
            .documents
            .as_object()
            .into_iter()
            .flat_map(|object| object.iter());
        for (name, value) in documents {
            if let Some(name) = name.as_str() {
                change.put(DocumentPath::new([name]), value.clone());
            }
        }
        match engine.apply(change) {
            Ok(()) => {
                *self = next;
                info!("Processed file watch event.");
            }
            Err(error) => error!(err = %error, "Files changed, and are not taken over."),
        }
    }
}
