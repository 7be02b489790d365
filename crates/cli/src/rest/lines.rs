//! A file of lines that grows while a run continues. That a line could not be written is told once.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::log;

/// A file that lines are added to.
pub(super) struct LineFile {
    file: File,
    path: PathBuf,
    /// What users lose with a line.
    loss: &'static str,
    /// Whether a part of a line may be the last that was written.
    is_torn: bool,
    warning: Warning,
}

#[derive(Debug, Default, PartialEq)]
enum Warning {
    #[default]
    None,
    Waiting(String),
    Told,
}

impl LineFile {
    /// Opens a file of lines to add to it, without a last line that is not whole. `loss` says what users lose with a line.
    pub(super) fn open(path: PathBuf, loss: &'static str) -> io::Result<Self> {
        Ok(Self {
            file: appended(&path)?,
            path,
            loss,
            is_torn: false,
            warning: Warning::None,
        })
    }

    /// Adds a line, which ends with a line break, without its secrets. The run continues when the disk has no room for it.
    pub(super) fn write(&mut self, line: &str) {
        let torn = if self.is_torn { "\n" } else { "" };
        let text = format!("{torn}{}", log::redacted(line));
        let written = self.file.write_all(text.as_bytes());
        self.is_torn = written.is_err();
        if let Err(error) = written
            && self.warning == Warning::None
        {
            self.warning = Warning::Waiting(format!(
                "warning: cannot write {}: {error}; {}",
                self.path.display(),
                self.loss
            ));
        }
    }

    /// The warning about the first line that could not be written; once.
    pub(super) fn warning(&mut self) -> Option<String> {
        match std::mem::take(&mut self.warning) {
            Warning::None => None,
            Warning::Told => {
                self.warning = Warning::Told;
                None
            }
            Warning::Waiting(text) => {
                self.warning = Warning::Told;
                Some(text)
            }
        }
    }
}

fn appended(path: &Path) -> io::Result<File> {
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let whole = bytes.iter().rposition(|byte| *byte == b'\n');
    let end = whole.map_or(0, |at| at as u64 + 1);
    file.set_len(end)?;
    file.seek(SeekFrom::Start(end))?;
    file.flush()?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_not_whole_is_cut_off() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        std::fs::write(&path, "{\"a\":1}\n{\"b").expect("a file");
        let mut file = LineFile::open(path.clone(), "").expect("it opens");
        file.write("{}\n");
        let text = std::fs::read_to_string(&path).expect("a file");
        assert_eq!((&*text, file.warning()), ("{\"a\":1}\n{}\n", None));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_full_disk_is_told_once() {
        let mut file = LineFile {
            file: File::options()
                .write(true)
                .open("/dev/full")
                .expect("Linux has it"),
            path: "candidates.ndjson".into(),
            loss: "a loss",
            is_torn: false,
            warning: Warning::None,
        };
        file.write("{}\n");
        let told = file.warning().expect("a warning");
        assert!(told.starts_with("warning: cannot write candidates.ndjson: "));
        assert!(told.ends_with("; a loss"), "{told}");
        file.write("{}\n");
        assert_eq!(file.warning(), None);
        // Where there is room again, what was torn is a line of its own.
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("lines");
        file.file = File::create(&path).expect("a file");
        file.write("{}\n");
        let text = std::fs::read_to_string(&path).expect("a file");
        assert_eq!(text, "\n{}\n");
    }
}
