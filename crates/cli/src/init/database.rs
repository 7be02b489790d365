//! Finds the database of a repository, its schema and its queries.

use serde_json::Value as Json;

use super::settings::Settings;
use super::tree::{Tree, file_name, folder};

/// Sets the database of the REST job, and the schema and query jobs.
pub(super) fn find(tree: &Tree, settings: &mut Settings, has_service: bool) {
    let database = from_compose(tree).or_else(|| from_environment(tree));
    let schema = schema(tree);
    let engine = match &database {
        Some(database) => Some((database.engine, database.reason.clone())),
        None => from_dependencies(tree),
    };
    if let Some(database) = database.filter(|_| has_service) {
        settings.rest(
            "db",
            database.url,
            format!(
                "{}. Isobath writes rows and restores them: use a test database",
                database.reason
            ),
        );
        if let Some((variable, file)) = database.variable {
            settings.rest(
                "db-env",
                vec![variable],
                format!("{file} gives the service its database in this variable"),
            );
        }
    }
    let Some((path, reason)) = schema else {
        return;
    };
    settings.set("schema", "paths", vec![path.clone()], reason.clone());
    if let Some((engine, reason)) = engine {
        settings.set("schema", "engine", engine, reason);
    }
    if let Some((queries, why)) = queries(tree) {
        settings.set("query", "schema", vec![path], reason);
        settings.set("query", "queries", vec![queries], why);
    }
}

/// A database that a service is given.
struct Database {
    engine: &'static str,
    url: String,
    reason: String,
    /// The variable with its address, if it is not the usual one, and the file that sets it.
    variable: Option<(String, String)>,
}

/// A database server in a compose file.
fn from_compose(tree: &Tree) -> Option<Database> {
    let mut files: Vec<&str> = tree
        .files()
        .filter(|path| {
            let name = file_name(path);
            let is_yaml = name.ends_with(".yml") || name.ends_with(".yaml");
            is_yaml && (name.starts_with("docker-compose") || name.starts_with("compose"))
        })
        .collect();
    // A file for tests describes the database that tests should use.
    files.sort_by_key(|path| !file_name(path).contains("test"));
    files.into_iter().find_map(|file| {
        let compose = isobath_rest::openapi::parse_text(&tree.text(file)?).ok()?;
        let services = compose.get("services")?.as_object()?;
        services.iter().find_map(|(name, service)| {
            let database = server(file, name, service)?;
            let variable = services.values().find_map(address_variable);
            Some(Database {
                variable: variable.map(|variable| (variable, file.to_owned())),
                ..database
            })
        })
    })
}

/// A service of a compose file that is a database server.
fn server(file: &str, name: &str, service: &Json) -> Option<Database> {
    let image = service.get("image")?.as_str()?;
    let image = file_name(image).split(':').next().unwrap_or(image);
    let (engine, scheme, port, names): (_, _, _, [&[&str]; 3]) = match image {
        "postgres" | "postgresql" | "postgis" | "timescaledb" => (
            "postgres",
            "postgres",
            5432,
            [
                &["POSTGRES_USER", "POSTGRESQL_USERNAME"],
                &["POSTGRES_PASSWORD", "POSTGRESQL_PASSWORD"],
                &["POSTGRES_DB", "POSTGRESQL_DATABASE", "POSTGRES_USER"],
            ],
        ),
        "mysql" | "mariadb" | "percona" => (
            "mariadb",
            "mysql",
            3306,
            [
                &["MYSQL_USER", "MARIADB_USER"],
                &[
                    "MYSQL_PASSWORD",
                    "MARIADB_PASSWORD",
                    "MYSQL_ROOT_PASSWORD",
                    "MARIADB_ROOT_PASSWORD",
                ],
                &["MYSQL_DATABASE", "MARIADB_DATABASE"],
            ],
        ),
        _ => return None,
    };
    let variable = |names: &[&str]| names.iter().find_map(|name| environment(service, name));
    let [users, passwords, databases] = names;
    let user = variable(users).unwrap_or_else(|| {
        let user = if engine == "postgres" {
            "postgres"
        } else {
            "root"
        };
        user.to_owned()
    });
    let password = variable(passwords).map_or_else(String::new, |password| format!(":{password}"));
    let database = variable(databases).unwrap_or_else(|| user.clone());
    let port = published(service, port).unwrap_or(port);
    Some(Database {
        engine,
        url: format!("{scheme}://{user}{password}@localhost:{port}/{database}"),
        reason: format!("{file} has the {image} server `{name}`"),
        variable: None,
    })
}

/// A variable of a compose service, in a map or a list.
fn environment(service: &Json, name: &str) -> Option<String> {
    let value = match service.get("environment")? {
        Json::Object(map) => match map.get(name)? {
            Json::String(text) => text.clone(),
            Json::Number(number) => number.to_string(),
            _ => return None,
        },
        Json::Array(list) => list
            .iter()
            .filter_map(Json::as_str)
            .find_map(|entry| Some(entry.strip_prefix(name)?.strip_prefix('=')?.to_owned()))?,
        _ => return None,
    };
    Some(value)
}

/// The variable in which a service gets the address of its database.
fn address_variable(service: &Json) -> Option<String> {
    let is_address = |text: &str| {
        ["postgres://", "postgresql://", "mysql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    };
    let found = match service.get("environment")? {
        Json::Object(map) => map
            .iter()
            .find(|(_, value)| value.as_str().is_some_and(is_address))
            .map(|(name, _)| name.clone()),
        Json::Array(list) => list
            .iter()
            .filter_map(|entry| entry.as_str()?.split_once('='))
            .find(|(_, value)| is_address(value))
            .map(|(name, _)| name.to_owned()),
        _ => None,
    };
    found.filter(|name| name != "DATABASE_URL")
}

/// The port on this machine that leads to a port of the container.
fn published(service: &Json, inside: u16) -> Option<u16> {
    let ports = service.get("ports")?.as_array()?;
    ports.iter().find_map(|port| {
        if let Some(long) = port.as_object() {
            let target = long.get("target")?.as_u64()?;
            let published = long.get("published")?;
            let published = published
                .as_u64()
                .or_else(|| published.as_str()?.parse().ok());
            return (target == u64::from(inside)).then(|| u16::try_from(published?).ok())?;
        }
        let words = port.as_str()?;
        let mut parts = words.rsplit(':');
        let target = parts.next()?.split('/').next()?;
        (target.parse() == Ok(inside)).then_some(())?;
        // `${PORT:-5433}` was split at its colon.
        parts.next()?.trim_matches(['-', '}']).parse().ok()
    })
}

/// A SQLite file in an example of the environment.
fn from_environment(tree: &Tree) -> Option<Database> {
    let files = [".env.test", ".env.example", ".env.sample", ".env"];
    files.iter().find_map(|file| {
        let text = tree.text(file)?;
        let url = text.lines().find_map(|line| {
            let url = line.trim().strip_prefix("DATABASE_URL=")?;
            Some(url.trim_matches(['"', '\'']).to_owned())
        })?;
        // `sqlite:///data.db` is relative to the working directory, `sqlite:////data.db` is not.
        let path = url.strip_prefix("sqlite:")?;
        let path = ["///", "//"]
            .iter()
            .find_map(|slashes| path.strip_prefix(slashes))
            .unwrap_or(path);
        let path = path.split('?').next()?.trim_start_matches("./");
        (!path.is_empty() && path != ":memory:").then(|| Database {
            engine: "sqlite",
            url: format!("sqlite:{path}"),
            reason: format!("{file} sets DATABASE_URL"),
            variable: None,
        })
    })
}

/// The engine that the dependencies of the repository speak to.
fn from_dependencies(tree: &Tree) -> Option<(&'static str, String)> {
    let manifests = [
        "Cargo.toml",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "pyproject.toml",
        "requirements.txt",
        "package.json",
        "go.mod",
    ];
    let clients: [(&str, &[&str]); 3] = [
        (
            "postgres",
            &[
                "postgres",
                "psycopg",
                "asyncpg",
                "\"pg\"",
                "jackc/pgx",
                "lib/pq",
            ],
        ),
        ("mariadb", &["mysql", "mariadb"]),
        ("sqlite", &["sqlite"]),
    ];
    manifests.iter().find_map(|name| {
        tree.named(name).find_map(|path| {
            let text = tree.text(path)?.to_lowercase();
            clients.iter().find_map(|(engine, names)| {
                let client = names.iter().find(|name| text.contains(**name))?;
                let client = client.trim_matches('"');
                Some((*engine, format!("{path} names {client}")))
            })
        })
    })
}

/// The schema: a folder of migrations, or a file.
fn schema(tree: &Tree) -> Option<(String, String)> {
    let is_script = |path: &&str| path.ends_with(".sql") && !path.ends_with(".down.sql");
    let migrations = tree.files().filter(is_script).find_map(|path| {
        // Folders of Prisma and Diesel have one folder per migration.
        let folders = [folder(path), folder(folder(path))];
        let found = folders.into_iter().find(|folder| {
            matches!(
                file_name(folder),
                "migrations" | "migration" | "migrate" | "changelog"
            )
        })?;
        Some((found.to_owned(), format!("{found} has SQL migrations")))
    });
    migrations.or_else(|| {
        let names = [
            "schema.sql",
            "structure.sql",
            "ddl.sql",
            "init.sql",
            "create.sql",
        ];
        names
            .iter()
            .find_map(|name| tree.named(name).next())
            .map(|path| (path.to_owned(), format!("{path} defines the tables")))
    })
}

/// Queries: a folder of them, a file of sqlc's, or Rust sources with sqlx.
fn queries(tree: &Tree) -> Option<(String, String)> {
    let mut scripts = tree.files().filter(|path| path.ends_with(".sql"));
    let named = scripts.find_map(|path| {
        let within = folder(path);
        if matches!(file_name(within), "queries" | "query") {
            Some((within.to_owned(), format!("{within} has SQL queries")))
        } else if matches!(file_name(path), "queries.sql" | "query.sql") {
            Some((path.to_owned(), format!("{path} has SQL queries")))
        } else {
            None
        }
    });
    named.or_else(|| {
        let (_, file) = tree.search("", &["rs"], r"sqlx::(query)(?:_as|_scalar)?!?\s*[(:]")?;
        let within = match file.split_once("src/") {
            Some((before, _)) => format!("{before}src"),
            None => file.clone(),
        };
        Some((within, format!("{file} has queries of sqlx")))
    })
}
