//! Python services: FastAPI and other ASGI applications, Flask, Django.

use toml::Table;

use super::service::{Service, framework, port_in};
use super::settings::Settings;
use super::tree::{Tree, file_name, folder};

const FRAMEWORKS: [&str; 6] = [
    "fastapi",
    "litestar",
    "starlette",
    "flask",
    "quart",
    "django",
];
const SOURCES: [&str; 1] = ["py"];

/// Finds a Python service.
pub(super) fn find(tree: &Tree, settings: &mut Settings) -> Option<Service> {
    let mut manifests = tree.files().filter(|path| {
        let name = file_name(path);
        let is_list = name.starts_with("requirements") && name.ends_with(".txt");
        is_list
            || matches!(
                name,
                "pyproject.toml" | "Pipfile" | "setup.cfg" | "setup.py"
            )
    });
    let (manifest, name) = manifests.find_map(|path| {
        let packages = packages(path, &tree.text(path)?);
        let has = |name: &str| packages.iter().any(|package| package == name);
        // Django comes with others as an extra; a project of Django's has manage.py.
        let name = framework(&FRAMEWORKS, has)?;
        (name != "django" || tree.named("manage.py").next().is_some()).then_some((path, name))
    })?;
    let within = folder(manifest);
    let reason = format!("{manifest} names {name}");
    let mut service = Service {
        what: format!("a Python service ({name})"),
        folder: within.to_owned(),
        port: None,
        usual_port: if matches!(name, "flask" | "quart") {
            5000
        } else {
            8000
        },
        takes_any_port: true,
        document: None,
    };
    if name == "django" {
        find_django(tree, settings, &mut service, &reason);
        return Some(service);
    }
    if let Some((application, file)) = application(tree, within, name) {
        settings.rest(
            "python",
            application,
            format!("{reason}, and {file} creates the application: white-box search"),
        );
    } else {
        settings.open.push(format!(
            "{reason}, but no application was found; set `python = \"module:app\"`"
        ));
    }
    if matches!(name, "fastapi" | "litestar") {
        let named = tree.search(within, &SOURCES, r#"openapi_url\s*=\s*["'](/[^"']+)["']"#);
        service.document = Some(match (named, name) {
            (Some((path, file)), _) => (path, format!("{file} sets openapi_url")),
            (None, "litestar") => (
                "/schema/openapi.json".into(),
                "Litestar serves it there".into(),
            ),
            (None, _) => ("/openapi.json".into(), "FastAPI serves it there".into()),
        });
    }
    if let Some((port, _)) = port_in(tree, within, &SOURCES, &[r"\.run\([^)]*port\s*=\s*(\d+)"]) {
        service.port = Some(port);
    }
    Some(service)
}

fn find_django(tree: &Tree, settings: &mut Settings, service: &mut Service, reason: &str) {
    let manage = tree.named("manage.py").next().unwrap_or("manage.py");
    service.folder = folder(manage).to_owned();
    settings.rest(
        "python-start",
        format!("python {manage} runserver --noreload {{port}}"),
        format!("{reason}, and {manage} starts it: white-box search"),
    );
    let route = r#"path\(\s*r?["']([^"']*)["']\s*,\s*(?:\w+\.)?SpectacularAPIView"#;
    let yasg = r#"path\(\s*r?["']([^"'<]*)["']\s*,\s*\w+\.without_ui"#;
    let found = [route, yasg]
        .iter()
        .find_map(|pattern| tree.search(&service.folder, &SOURCES, pattern));
    service.document = found.map(|(path, file)| {
        let path = format!("/{}", path.trim_start_matches('/'));
        (path, format!("{file} routes it there"))
    });
}

/// The application as `module:name` or `module:factory()`, and the file that creates it.
fn application(tree: &Tree, within: &str, name: &str) -> Option<(String, String)> {
    let class = match name {
        "fastapi" => "FastAPI",
        "litestar" => "Litestar",
        "starlette" => "Starlette",
        "quart" => "Quart",
        _ => "Flask",
    };
    let variable = format!(r"(?m)^(\w+)\s*(?::\s*[\w.]+\s*)?=\s*(?:\w+\.)?{class}\(");
    let made = r"(?m)^(\w+)\s*=\s*(?:create_app|make_app|get_app|get_application|build_app)\(";
    let factory = r"(?m)^def (create_app|make_app|get_app|get_application|build_app)\(";
    let found = [variable.as_str(), made, factory]
        .iter()
        .find_map(|pattern| {
            let (found, file) = tree.search(within, &SOURCES, pattern)?;
            let call = if *pattern == factory { "()" } else { "" };
            Some((format!("{found}{call}"), file))
        });
    let (name, file) = found?;
    // Modules are imported from the folder of the configuration; packages below src are installed.
    let inside = file.strip_suffix(".py")?;
    let inside = inside.strip_prefix("src/").unwrap_or(inside);
    let module = inside.strip_suffix("/__init__").unwrap_or(inside);
    Some((format!("{}:{name}", module.replace('/', ".")), file))
}

/// The names of the packages that a manifest asks for, in lower case.
fn packages(path: &str, text: &str) -> Vec<String> {
    let name = |requirement: &str| {
        let is_of_name = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = requirement.chars().take_while(is_of_name).collect();
        name.to_lowercase().replace('_', "-")
    };
    if !path.ends_with("pyproject.toml") {
        // Requirements, and near enough the lists in Pipfile, setup.cfg and setup.py.
        let words = text
            .split(['\n', ','])
            .map(|word| name(word.trim().trim_start_matches(['"', '\'', '[', ' '])));
        return words.filter(|word| !word.is_empty()).collect();
    }
    let Ok(manifest) = text.parse::<Table>() else {
        return Vec::new();
    };
    let listed = manifest
        .get("project")
        .and_then(|project| project.get("dependencies")?.as_array());
    let poetry = manifest
        .get("tool")
        .and_then(|tools| tools.get("poetry")?.get("dependencies")?.as_table());
    let listed = listed
        .into_iter()
        .flatten()
        .filter_map(|requirement| Some(name(requirement.as_str()?)));
    let keys = poetry
        .into_iter()
        .flat_map(Table::keys)
        .map(|key| name(key));
    listed.chain(keys).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_read_from_every_kind_of_manifest() {
        let text = "[project]\ndependencies = [\"FastAPI>=0.1\", \"psycopg[binary]\"]\n[tool.poetry.dependencies]\nflask_cors = \"*\"\n";
        assert_eq!(
            packages("pyproject.toml", text),
            ["fastapi", "psycopg", "flask-cors"]
        );
        assert_eq!(
            packages(
                "requirements.txt",
                "Django==5.0\n# x\ndjangorestframework\n"
            ),
            ["django", "djangorestframework"]
        );
    }
}
