//! Finds the service of a repository: how it starts, on which port, and where its document is.

use super::settings::Settings;
use super::tree::Tree;
use super::{jvm, node, python, rust};

/// A service, as its sources describe it.
#[derive(Debug)]
pub(super) struct Service {
    /// For people: "a Rust service (axum)".
    pub what: String,
    /// The folder of its sources, relative to the root.
    pub folder: String,
    /// The port that its sources name.
    pub port: Option<u16>,
    /// The port that it takes when its sources name none.
    pub usual_port: u16,
    /// Whether it listens on any port that Isobath chooses.
    pub takes_any_port: bool,
    /// The path at which it serves its OpenAPI document, and why we think so.
    pub document: Option<(String, String)>,
}

/// Files in which a path to the document may be named.
const SOURCES: [&str; 9] = ["rs", "py", "js", "ts", "java", "kt", "go", "mjs", "rb"];
/// A path such as "/api-docs/openapi.json" in quotes.
const DOCUMENT_PATH: &str = r#"["'](/[A-Za-z0-9_./-]*(?:openapi|swagger|api-docs|apispec)[A-Za-z0-9_.-]*\.(?:json|ya?ml))["']"#;

/// Finds the service, and says how to start it. The first language with a web framework wins.
pub(super) fn find(tree: &Tree, settings: &mut Settings) -> Option<Service> {
    rust::find(tree, settings)
        .or_else(|| jvm::find(tree, settings))
        .or_else(|| python::find(tree, settings))
        .or_else(|| node::find_node(tree, settings))
        .or_else(|| node::find_go(tree, settings))
}

impl Service {
    /// The port at which the service is called.
    pub(super) fn port(&self) -> u16 {
        self.port.unwrap_or(self.usual_port)
    }

    /// The path of the document: what the framework serves, or what the sources name.
    pub(super) fn served_document(&self, tree: &Tree) -> Option<(String, String)> {
        if self.document.is_some() {
            return self.document.clone();
        }
        let (path, file) = tree.search(&self.folder, &SOURCES, DOCUMENT_PATH)?;
        Some((path, format!("the path is in {file}")))
    }
}

/// The first of these frameworks among the dependencies.
pub(super) fn framework<'f>(frameworks: &[&'f str], has: impl Fn(&str) -> bool) -> Option<&'f str> {
    frameworks.iter().copied().find(|name| has(name))
}

/// The port in the sources below a folder, by patterns whose first group is a number.
pub(super) fn port_in(
    tree: &Tree,
    folder: &str,
    extensions: &[&str],
    patterns: &[&str],
) -> Option<(u16, String)> {
    patterns.iter().find_map(|pattern| {
        let (port, file) = tree.search(folder, extensions, pattern)?;
        Some((port.parse().ok()?, file))
    })
}
