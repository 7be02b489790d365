//! Services in JavaScript or TypeScript, and in Go: tested black-box.

use serde_json::Value as Json;

use super::service::{Service, framework, port_in};
use super::settings::Settings;
use super::tree::{Tree, folder, shown};

const NODE_FRAMEWORKS: [&str; 8] = [
    "@nestjs/core",
    "fastify",
    "express",
    "koa",
    "@hapi/hapi",
    "restify",
    "hono",
    "@adonisjs/core",
];
const NODE_SOURCES: [&str; 5] = ["ts", "js", "mjs", "cjs", "mts"];
const GO_FRAMEWORKS: [&str; 7] = [
    "gin-gonic/gin",
    "labstack/echo",
    "go-chi/chi",
    "gofiber/fiber",
    "gorilla/mux",
    "julienschmidt/httprouter",
    "danielgtaylor/huma",
];

/// Finds a service in JavaScript or TypeScript.
pub(super) fn find_node(tree: &Tree, settings: &mut Settings) -> Option<Service> {
    let (path, manifest, name) = tree.named("package.json").find_map(|path| {
        let manifest: Json = serde_json::from_str(&tree.text(path)?).ok()?;
        let dependencies = manifest.get("dependencies")?.as_object()?.clone();
        let name = framework(&NODE_FRAMEWORKS, |name| dependencies.contains_key(name))?;
        Some((path, manifest, name))
    })?;
    let within = folder(path);
    let has_script = |name: &str| {
        let script = manifest
            .get("scripts")
            .and_then(|scripts| scripts.get(name));
        script.is_some_and(Json::is_string)
    };
    let (command, reason) = if has_script("start") {
        (
            "npm start".to_owned(),
            format!("{path} names {name} and has a script `start`"),
        )
    } else {
        let main = manifest.get("main").and_then(Json::as_str);
        let main = main.unwrap_or("index.js");
        (
            format!("node {main}"),
            format!("{path} names {name} and the file {main}"),
        )
    };
    settings.rest("start", in_folder(within, command), reason);
    let prefix = if within.is_empty() {
        String::new()
    } else {
        format!("cd {within} && ")
    };
    settings.build.push(format!("{prefix}npm ci"));
    if has_script("build") {
        settings.build.push(format!("{prefix}npm run build"));
    }
    let port = port_in(
        tree,
        within,
        &NODE_SOURCES,
        &[
            r#"env\.PORT\s*(?:\|\||\?\?)\s*['"]?(\d{2,5})"#,
            r#"\.listen\(\s*\{?\s*(?:port:\s*)?(\d{2,5})"#,
            r#"(?i)\bport\s*=\s*(\d{2,5})"#,
        ],
    );
    let nest = tree
        .search(
            within,
            &NODE_SOURCES,
            r#"SwaggerModule\.setup\(\s*["'`]/?([^"'`]*)["'`]"#,
        )
        .map(|(path, file)| (format!("/{path}-json"), format!("{file} sets up Swagger")));
    let dependencies = manifest.get("dependencies");
    let has = |name: &str| dependencies.is_some_and(|all| all.get(name).is_some());
    let fastify = has("@fastify/swagger-ui").then(|| {
        let named = tree.search(
            within,
            &NODE_SOURCES,
            r#"routePrefix:\s*["'`](/[^"'`]*)["'`]"#,
        );
        let prefix = named.map_or_else(|| "/documentation".to_owned(), |(prefix, _)| prefix);
        (
            format!("{prefix}/json"),
            format!("@fastify/swagger-ui in {path} serves it there"),
        )
    });
    Some(Service {
        what: format!("a Node.js service ({name})"),
        folder: within.to_owned(),
        port: port.map(|(port, _)| port),
        usual_port: 3000,
        takes_any_port: false,
        document: nest.or(fastify),
    })
}

/// Finds a service in Go.
pub(super) fn find_go(tree: &Tree, settings: &mut Settings) -> Option<Service> {
    let (path, text) = tree
        .named("go.mod")
        .find_map(|path| Some((path, tree.text(path)?)))?;
    let within = folder(path);
    let serves = tree.search(within, &["go"], r"(http\.ListenAndServe|http\.Server\{)");
    let name = framework(&GO_FRAMEWORKS, |name| text.contains(name))
        .or_else(|| serves.map(|_| "net/http"))?;
    let main = tree.search(within, &["go"], r"(?m)^(package main)$")?.1;
    let package = folder(&main).strip_prefix(within).unwrap_or_default();
    let package = package.trim_start_matches('/');
    settings.rest(
        "start",
        in_folder(within, format!("go run ./{package}")),
        format!("{path} names {name}, and {main} is a main package"),
    );
    let port = port_in(
        tree,
        within,
        &["go"],
        &[r#""(?:localhost|127\.0\.0\.1|0\.0\.0\.0)?:(\d{2,5})""#],
    );
    Some(Service {
        what: format!("a Go service ({name})"),
        folder: within.to_owned(),
        port: port.map(|(port, _)| port),
        usual_port: 8080,
        takes_any_port: false,
        document: None,
    })
}

/// A command that is run in a folder of the repository.
fn in_folder(folder: &str, command: String) -> String {
    match shown(folder) {
        "." => command,
        folder => format!("cd {folder} && {command}"),
    }
}
