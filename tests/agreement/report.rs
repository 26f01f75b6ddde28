//! Report of differences, written to a file with the requests to repeat them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::generate::Request;

pub struct Report {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Report {
    pub fn new(name: &str) -> Result<Self, String> {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let file = File::create(&path)
            .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
        Ok(Self {
            path,
            file: BufWriter::new(file),
        })
    }

    pub fn path(&self) -> PathBuf {
        self.path.clone()
    }

    /// Adds a difference: the reduced program, both results, and the requests.
    pub fn add(
        &mut self,
        name: &str,
        difference: &str,
        reduced: &Request,
        expected: &str,
        actual: &str,
        original: &str,
    ) -> Result<(), String> {
        let mut text = format!("=== {name}: {difference}\n");
        for (file, module) in &reduced.modules {
            text += &format!("--- {file}\n{}\n", module.trim_end());
        }
        text += &format!(
            "--- query\n{}\n--- request\n{}\n",
            reduced.query,
            reduced.json()
        );
        text +=
            &format!("--- oracle\n{expected}\n--- solon\n{actual}\n--- drawn as\n{original}\n\n");
        self.write(&text)
    }

    /// Adds a difference of a recorded case.
    pub fn add_recorded(
        &mut self,
        name: &str,
        difference: &str,
        request: &str,
        expected: &str,
        actual: &str,
    ) -> Result<(), String> {
        let text = format!(
            "=== {name}: {difference}\n--- request\n{request}\n--- oracle\n{expected}\n--- solon\n{actual}\n\n"
        );
        self.write(&text)
    }

    fn write(&mut self, text: &str) -> Result<(), String> {
        let written = self
            .file
            .write_all(text.as_bytes())
            .and_then(|()| self.file.flush());
        written.map_err(|error| format!("cannot write {}: {error}", self.path.display()))
    }
}
