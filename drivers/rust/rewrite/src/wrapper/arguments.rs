//! The arguments that cargo gives the compiler.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Arguments of the compiler.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// All of them.
    pub all: Vec<OsString>,
}

/// What is compiled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledCrate {
    /// The name of the crate.
    pub name: String,
    /// Its root, relative to the folder that the compiler runs in.
    pub root: PathBuf,
}

impl Arguments {
    /// As given after the compiler's own name.
    pub fn new(all: Vec<OsString>) -> Self {
        Self { all }
    }

    /// What is compiled, if that is something to instrument: no question for the version,
    /// no build script, no procedural macro, no test, and of a known edition.
    pub fn unit(&self) -> Option<CompiledCrate> {
        let name = self.value("--crate-name")?;
        if name.starts_with("build_script_") || self.has("--test") || self.has("--print") {
            return None;
        }
        if self.values("--crate-type").contains(&"proc-macro") {
            return None;
        }
        // Before 2018 a path starts at the crate, and the runtime would not be found.
        if matches!(self.value("--edition"), None | Some("2015")) {
            return None;
        }
        let mut roots = self
            .texts()
            .filter(|word| word.ends_with(".rs") && !word.starts_with('-'));
        let root = Path::new(roots.next()?);
        Some(CompiledCrate {
            name: name.to_owned(),
            root: root.to_path_buf(),
        })
    }

    /// Whether a crate of the service is compiled, in whatever way: not a question, nor a
    /// build script, which is no part of it.
    pub fn compiles(&self) -> bool {
        self.value("--crate-name")
            .is_some_and(|name| !name.starts_with("build_script_"))
            && !self.has("--print")
    }

    /// The words after `--cfg`.
    pub fn cfg(&self) -> Vec<&str> {
        self.values("--cfg")
    }

    /// The target triple, if one is given.
    pub fn target(&self) -> Option<&str> {
        self.value("--target")
    }

    /// Whether errors are wanted as JSON.
    pub fn json(&self) -> bool {
        self.value("--error-format") == Some("json")
    }

    /// Where the list of files that were read is written.
    pub fn dependencies(&self) -> Option<PathBuf> {
        let folder = self.value("--out-dir")?;
        let name = self.value("--crate-name")?;
        let codegen = self.values("-C");
        let extra = codegen
            .iter()
            .find_map(|word| word.strip_prefix("extra-filename="));
        Some(Path::new(folder).join(format!("{name}{}.d", extra.unwrap_or_default())))
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        self.all.iter().filter_map(|word| word.to_str())
    }

    fn has(&self, name: &str) -> bool {
        self.texts().any(|word| {
            word == name
                || word
                    .strip_prefix(name)
                    .is_some_and(|rest| rest.starts_with('='))
        })
    }

    fn value(&self, name: &str) -> Option<&str> {
        self.values(name).into_iter().next()
    }

    /// The values of an option, given as the next word or after `=`.
    fn values(&self, name: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut words = self.texts();
        while let Some(word) = words.next() {
            if word == name {
                found.extend(words.next());
            } else if let Some(value) = word
                .strip_prefix(name)
                .and_then(|rest| rest.strip_prefix('='))
            {
                found.push(value);
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(line: &str) -> Arguments {
        Arguments::new(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn members_are_told_from_scripts_tests_and_questions() {
        let unit = |line| arguments(line).unit().map(|unit| unit.name);
        assert_eq!(
            unit("--crate-name shop --edition=2021 src/main.rs").as_deref(),
            Some("shop")
        );
        assert_eq!(unit("--crate-name shop src/main.rs"), None, "edition 2015");
        assert_eq!(
            unit("--crate-name build_script_build --edition=2021 build.rs"),
            None
        );
        assert_eq!(
            unit("--crate-name shop --edition=2021 src/lib.rs --test"),
            None
        );
        assert_eq!(
            unit("--crate-name m --edition=2021 src/lib.rs --crate-type proc-macro"),
            None
        );
        assert_eq!(unit("-vV"), None);
        assert_eq!(
            unit("- --crate-name ___ --print=file-names --edition=2021"),
            None
        );
    }

    #[test]
    fn tests_and_procedural_macros_are_compiled_too() {
        let compiles = |line| arguments(line).compiles();
        assert!(compiles(
            "--crate-name shop --edition=2021 src/lib.rs --test"
        ));
        assert!(compiles(
            "--crate-name m --edition=2021 src/lib.rs --crate-type proc-macro"
        ));
        assert!(!compiles("--crate-name build_script_build build.rs"));
        assert!(!compiles("-vV"));
    }

    #[test]
    fn values_are_read_in_both_spellings() {
        let arguments = arguments(
            "--crate-name a --cfg unix --cfg=x --out-dir t -C extra-filename=-1f --error-format=json",
        );
        assert_eq!(arguments.cfg(), ["unix", "x"]);
        assert!(arguments.json());
        assert_eq!(arguments.dependencies(), Some("t/a-1f.d".into()));
    }
}
