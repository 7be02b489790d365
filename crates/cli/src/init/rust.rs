//! Rust services: a package with a web framework and a binary.

use toml::Table;

use super::service::{Service, framework, port_in};
use super::settings::Settings;
use super::tree::{Tree, folder, join, shown};

const FRAMEWORKS: [&str; 9] = [
    "axum",
    "actix-web",
    "rocket",
    "poem",
    "salvo",
    "warp",
    "ntex",
    "tide",
    "hyper",
];

/// Finds a package of a Rust service.
pub(super) fn find(tree: &Tree, settings: &mut Settings) -> Option<Service> {
    let packages: Vec<Package> = tree
        .named("Cargo.toml")
        .filter_map(|path| Package::read(tree, path))
        .collect();
    let (package, name) = packages.iter().find_map(|package| {
        let has = |name: &str| package.dependencies.iter().any(|known| known == name);
        Some((package, framework(&FRAMEWORKS, has)?))
    })?;
    let within = package.folder.as_str();
    settings.rest(
        "rust",
        shown(within),
        format!(
            "{} depends on {name}: white-box search of the package `{}`",
            join(within, "Cargo.toml"),
            package.name
        ),
    );
    if let Some(binary) = &package.binary {
        settings.rest("bin", binary.as_str(), "The package has several binaries");
    }
    let listens = port_in(
        tree,
        within,
        &["rs"],
        &[
            r#"(?:0\.0\.0\.0|127\.0\.0\.1|localhost|\[::\]):(\d{2,5})"#,
            r#"\[\s*(?:0|127)\s*,\s*0\s*,\s*0\s*,\s*[01]\s*\]\s*,\s*(\d{2,5})"#,
        ],
    );
    let flag = tree.search(
        within,
        &["rs"],
        r"#\[(?:arg|clap)\([^\]]*\blong\b[^\]]*\)\]\s*(?:pub(?:\([a-z]+\))? )?(port)\b",
    );
    let variable = tree.search(within, &["rs"], r#"env::var(?:_os)?\(\s*"(PORT)"\s*\)"#);
    if let Some((_, file)) = &flag {
        settings.rest(
            "service",
            vec!["--port".to_owned(), "{port}".to_owned()],
            format!("{file} reads the port from the flag --port"),
        );
    }
    Some(Service {
        what: format!("a Rust service ({name})"),
        folder: within.to_owned(),
        takes_any_port: flag.is_some() || variable.is_some(),
        port: listens.map(|(port, _)| port),
        usual_port: if name == "rocket" { 8000 } else { 8080 },
        document: None,
    })
}

/// A package that has a binary.
struct Package {
    folder: String,
    name: String,
    /// Which binary, when there are several.
    binary: Option<String>,
    dependencies: Vec<String>,
}

impl Package {
    fn read(tree: &Tree, path: &str) -> Option<Self> {
        let manifest: Table = tree.text(path)?.parse().ok()?;
        let name = manifest.get("package")?.get("name")?.as_str()?.to_owned();
        let folder = folder(path).to_owned();
        let mut binaries: Vec<String> = tree
            .sources(&join(&folder, "src/bin"), &["rs"])
            .filter_map(|path| Some(path.rsplit('/').next()?.strip_suffix(".rs")?.to_owned()))
            .collect();
        if tree.has(&join(&folder, "src/main.rs")) {
            binaries.push(name.clone());
        }
        let listed = manifest.get("bin").and_then(|bins| bins.as_array());
        for binary in listed.into_iter().flatten() {
            let binary = binary.get("name").and_then(|name| name.as_str());
            binaries.extend(binary.map(str::to_owned));
        }
        binaries.sort();
        binaries.dedup();
        let binary = match binaries.as_slice() {
            [] => return None,
            [_] => None,
            several => several
                .iter()
                .find(|binary| **binary == name)
                .or(several.first())
                .cloned(),
        };
        let dependencies = manifest.get("dependencies").and_then(|all| all.as_table());
        let dependencies = dependencies.into_iter().flat_map(Table::keys).cloned();
        Some(Self {
            name,
            binary,
            dependencies: dependencies.collect(),
            folder,
        })
    }
}
