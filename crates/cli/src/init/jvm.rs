//! JVM services: Maven and Gradle projects with Spring Boot, Quarkus, Micronaut and others.

use quick_xml::Reader;
use quick_xml::events::Event;

use super::service::{Service, framework};
use super::settings::Settings;
use super::tree::{Tree, folder, join};

/// Frameworks, by a part of the name of a dependency or plugin.
const FRAMEWORKS: [&str; 7] = [
    "spring-boot",
    "quarkus",
    "micronaut",
    "javalin",
    "dropwizard",
    "helidon",
    "ktor-server",
];

/// Finds a Maven or Gradle project with a web framework.
pub(super) fn find(tree: &Tree, settings: &mut Settings) -> Option<Service> {
    let mut maven = tree.named("pom.xml").filter_map(|path| {
        let pom = Pom::read(&tree.text(path)?);
        let has = |name: &str| pom.artifacts.iter().any(|known| known.contains(name));
        let name = framework(&FRAMEWORKS, has)?;
        // A parent of modules has no classes; the service is one of them.
        (pom.packaging != "pom").then_some((path, name, pom))
    });
    if let Some((path, name, pom)) = maven.next() {
        return Some(of_maven(tree, settings, path, name, &pom));
    }
    let mut builds = tree
        .files()
        .filter(|path| path.ends_with("build.gradle") || path.ends_with("build.gradle.kts"));
    builds.find_map(|path| {
        let text = tree.text(path)?;
        // The plugin of Spring Boot is called otherwise than its libraries.
        let has = |name: &str| {
            text.contains(name)
                || (name == "spring-boot" && text.contains("org.springframework.boot"))
        };
        let name = framework(&FRAMEWORKS, has)?;
        Some(of_gradle(tree, settings, path, name, &text))
    })
}

fn of_maven(tree: &Tree, settings: &mut Settings, path: &str, name: &str, pom: &Pom) -> Service {
    let within = folder(path);
    let jar = match name {
        "quarkus" => "target/quarkus-app/quarkus-run.jar".to_owned(),
        _ => match &pom.final_name {
            Some(name) => format!("target/{name}.{}", pom.packaging),
            None => format!("target/{}-{}.{}", pom.artifact, pom.version, pom.packaging),
        },
    };
    settings.rest(
        "jvm",
        join(within, &jar),
        format!("{path} uses {name}: `mvn package` writes this file"),
    );
    let tool = if tree.has("mvnw") { "./mvnw" } else { "mvn" };
    settings
        .build
        .push(format!("{tool} -q -DskipTests package"));
    let has = |part: &str| pom.artifacts.iter().any(|known| known.contains(part));
    service(tree, within, name, path, true, &has)
}

fn of_gradle(tree: &Tree, settings: &mut Settings, path: &str, name: &str, text: &str) -> Service {
    let within = folder(path);
    let tool = if tree.has("gradlew") {
        "./gradlew"
    } else {
        "gradle"
    };
    let task = match name {
        "spring-boot" => "bootRun",
        "quarkus" => "quarkusRun",
        _ => "run",
    };
    let project = match within {
        "" => String::new(),
        within => format!(":{}:", within.replace('/', ":")),
    };
    settings.rest(
        "start",
        format!("{tool} --no-daemon {project}{task}"),
        format!("{path} uses {name}"),
    );
    settings.rest(
        "jvm-agent",
        true,
        "White-box search in the JVM that Gradle starts",
    );
    service(tree, within, name, path, false, &|part: &str| {
        text.contains(part)
    })
}

/// Port and document, which do not depend on the build tool.
fn service(
    tree: &Tree,
    within: &str,
    name: &str,
    path: &str,
    takes_any_port: bool,
    has: &dyn Fn(&str) -> bool,
) -> Service {
    let resources = join(within, "src/main/resources");
    let property = |names: &[&str]| {
        let files = [
            "application.properties",
            "application.yml",
            "application.yaml",
        ];
        files.iter().find_map(|file| {
            let text = tree.text(&join(&resources, file))?;
            names
                .iter()
                .find_map(|name| read_property(file, &text, name))
        })
    };
    let port = property(&["server.port", "quarkus.http.port", "micronaut.server.port"]);
    let prefix = property(&["server.servlet.context-path", "quarkus.http.root-path"]);
    let prefix = prefix.as_deref().unwrap_or("").trim_end_matches('/');
    let document = [
        ("springdoc-openapi", "/v3/api-docs"),
        ("springfox", "/v2/api-docs"),
        ("smallrye-openapi", "/q/openapi"),
    ]
    .into_iter()
    .find(|(part, _)| has(part))
    .map(|(part, served)| {
        let served = property(&["springdoc.api-docs.path"]).unwrap_or_else(|| served.to_owned());
        (
            format!("{prefix}{served}"),
            format!("{part} in {path} serves it there"),
        )
    });
    Service {
        what: format!("a JVM service ({name})"),
        folder: within.to_owned(),
        port: port.and_then(|port| port.parse().ok()),
        usual_port: if name == "javalin" { 7070 } else { 8080 },
        // The port is passed on in the variables of Spring, Quarkus and Micronaut.
        takes_any_port: takes_any_port && matches!(name, "spring-boot" | "quarkus" | "micronaut"),
        document,
    }
}

/// A property in a .properties or YAML file; `${NAME:value}` is its default value.
fn read_property(file: &str, text: &str, name: &str) -> Option<String> {
    let value = if file.ends_with(".properties") {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == name).then(|| value.trim().to_owned())
        })
    } else {
        // Profiles follow in documents of their own.
        let first = text.split("\n---").find(|part| !part.trim().is_empty())?;
        let tree = isobath_rest::openapi::parse_text(first).ok()?;
        let value = tree
            .get(name)
            .or_else(|| name.split('.').try_fold(&tree, |tree, part| tree.get(part)))?;
        match value {
            serde_json::Value::String(text) => Some(text.clone()),
            serde_json::Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }?;
    match value
        .strip_prefix("${")
        .and_then(|rest| rest.strip_suffix('}'))
    {
        Some(variable) => variable
            .split_once(':')
            .map(|(_, default)| default.to_owned()),
        None => Some(value),
    }
}

/// What a pom says about its project.
#[derive(Debug, Default)]
struct Pom {
    artifact: String,
    version: String,
    packaging: String,
    final_name: Option<String>,
    /// Parent, dependencies and plugins.
    artifacts: Vec<String>,
}

impl Pom {
    fn read(text: &str) -> Self {
        let mut pom = Self {
            packaging: "jar".to_owned(),
            ..Self::default()
        };
        let mut parent_version = String::new();
        let mut path: Vec<String> = Vec::new();
        let mut reader = Reader::from_str(text);
        loop {
            match reader.read_event() {
                Ok(Event::Start(tag)) => {
                    path.push(String::from_utf8_lossy(tag.name().as_ref()).into_owned());
                }
                Ok(Event::End(_)) => {
                    path.pop();
                }
                Ok(Event::Text(text)) => {
                    let text = String::from_utf8_lossy(&text).trim().to_owned();
                    let path: Vec<&str> = path.iter().map(String::as_str).collect();
                    match path.as_slice() {
                        ["project", "artifactId"] => pom.artifact.push_str(&text),
                        ["project", "version"] => pom.version.push_str(&text),
                        ["project", "packaging"] if !text.is_empty() => pom.packaging = text,
                        ["project", "parent", "version"] => parent_version.push_str(&text),
                        ["project", "build", "finalName"] => pom.final_name = Some(text),
                        [.., "artifactId"] => pom.artifacts.push(text),
                        _ => {}
                    }
                }
                Ok(Event::Eof) | Err(_) => break,
                Ok(_) => {}
            }
        }
        if pom.version.is_empty() {
            pom.version = parent_version;
        }
        // `${project.artifactId}` is the only property that is common in this place.
        let artifact = pom.artifact.clone();
        let resolve = |text: &str| {
            text.replace("${project.artifactId}", &artifact)
                .replace("${project.version}", &pom.version)
        };
        pom.final_name = pom
            .final_name
            .as_deref()
            .map(resolve)
            .filter(|name| !name.contains("${"));
        pom
    }
}
