//! `isobath init` on repositories of ten kinds: what it finds, and that the file it writes is valid.

use std::path::Path;
use std::process::{Command, Output};

use toml::Table;

const DOCUMENT: &str = "openapi: 3.0.3\ninfo: {title: x, version: '1'}\npaths: {}\n";

/// Writes a repository into a temporary folder and runs `isobath init` on it.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("the file can be written");
    }
    folder
}

fn isobath(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(words)
        .current_dir(folder)
        .stdin(std::process::Stdio::null())
        .output()
        .expect("the binary runs")
}

/// The settings that `isobath init` writes, after `isobath config check` has accepted them.
fn settings(files: &[(&str, &str)]) -> Table {
    let folder = repository(files);
    let init = isobath(folder.path(), &["init"]);
    let said = String::from_utf8_lossy(&init.stderr).into_owned();
    assert_eq!(init.status.code(), Some(0), "{said}");
    let check = isobath(folder.path(), &["config", "check"]);
    let said = String::from_utf8_lossy(&check.stderr).into_owned();
    let text = std::fs::read_to_string(folder.path().join("isobath.toml")).expect("a file");
    assert_eq!(check.status.code(), Some(0), "{said}\n{text}");
    text.parse().expect("the file is TOML")
}

/// Checks that the settings are these and no others, as `job.key = value`.
fn check(files: &[(&str, &str)], expected: &[&str]) {
    let settings = settings(files);
    let mut lines = Vec::new();
    for (job, keys) in &settings {
        for (key, value) in keys.as_table().expect("a table") {
            lines.push(format!("{job}.{key} = {value}"));
        }
    }
    let mut expected: Vec<&str> = expected.to_vec();
    lines.sort();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}

#[test]
fn an_axum_service_with_a_document_and_sqlx() {
    check(
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"shop\"\n[dependencies]\naxum = \"0.8\"\nsqlx = { version = \"0.8\", features = [\"postgres\"] }\n",
            ),
            (
                "src/main.rs",
                "fn main() { let port = std::env::var(\"PORT\"); sqlx::query!(\"SELECT 1\"); }\n",
            ),
            ("openapi.yaml", DOCUMENT),
            ("migrations/0001_init.sql", "CREATE TABLE a (b INT);\n"),
            (
                "docker-compose.yml",
                "services:\n  db:\n    image: postgres:16\n    ports: ['5433:5432']\n    environment:\n      POSTGRES_USER: shop\n      POSTGRES_PASSWORD: secret\n      POSTGRES_DB: shop_test\n",
            ),
        ],
        &[
            "rest.spec = \"openapi.yaml\"",
            "rest.rust = \".\"",
            "rest.db = \"postgres://shop:secret@localhost:5433/shop_test\"",
            "schema.paths = [\"migrations\"]",
            "schema.engine = \"postgres\"",
            "query.schema = [\"migrations\"]",
            "query.queries = [\"src\"]",
        ],
    );
}

#[test]
fn a_workspace_whose_service_serves_its_document_on_a_fixed_port() {
    check(
        &[
            (
                "Cargo.toml",
                "[workspace]\nmembers = [\"model\", \"api\"]\n",
            ),
            (
                "model/Cargo.toml",
                "[package]\nname = \"model\"\n[dependencies]\nserde = \"1\"\n",
            ),
            ("model/src/lib.rs", ""),
            (
                "api/Cargo.toml",
                "[package]\nname = \"api\"\n[dependencies]\nactix-web = \"4\"\nutoipa = \"5\"\n",
            ),
            (
                "api/src/main.rs",
                "fn main() { ui().url(\"/api-docs/openapi.json\", doc()); bind(\"127.0.0.1:9090\"); }\n",
            ),
        ],
        &[
            "rest.spec = \"http://127.0.0.1:9090/api-docs/openapi.json\"",
            "rest.rust = \"api\"",
            "rest.port = 9090",
        ],
    );
}

#[test]
fn a_spring_boot_service_of_maven_with_springdoc() {
    let pom = "<project><parent><artifactId>spring-boot-starter-parent</artifactId><version>3.3.0</version></parent>
        <artifactId>orders</artifactId><version>1.2</version>
        <dependencies><dependency><artifactId>springdoc-openapi-starter-webmvc-ui</artifactId></dependency>
        <dependency><artifactId>postgresql</artifactId></dependency></dependencies></project>";
    check(
        &[
            ("pom.xml", pom),
            (
                "src/main/resources/application.yml",
                "server:\n  port: 8085\n  servlet: {context-path: /shop}\n",
            ),
            (
                "src/main/resources/db/migration/V1__init.sql",
                "CREATE TABLE a (b INT);\n",
            ),
        ],
        &[
            "rest.spec = \"http://127.0.0.1:8085/shop/v3/api-docs\"",
            "rest.jvm = \"target/orders-1.2.jar\"",
            "rest.port = 8085",
            "schema.paths = [\"src/main/resources/db/migration\"]",
            "schema.engine = \"postgres\"",
        ],
    );
}

#[test]
fn a_quarkus_module_below_a_parent() {
    let parent = "<project><artifactId>all</artifactId><packaging>pom</packaging>
        <build><plugins><plugin><artifactId>quarkus-maven-plugin</artifactId></plugin></plugins></build></project>";
    let module = "<project><artifactId>api</artifactId><version>1</version><dependencies>
        <dependency><artifactId>quarkus-rest</artifactId></dependency>
        <dependency><artifactId>quarkus-smallrye-openapi</artifactId></dependency></dependencies></project>";
    check(
        &[("pom.xml", parent), ("service/pom.xml", module)],
        &[
            "rest.spec = \"http://127.0.0.1:8080/q/openapi\"",
            "rest.jvm = \"service/target/quarkus-app/quarkus-run.jar\"",
            "rest.port = 8080",
        ],
    );
}

#[test]
fn a_spring_boot_service_of_gradle_with_mariadb() {
    check(
        &[
            (
                "build.gradle.kts",
                "plugins { id(\"org.springframework.boot\") version \"3.3.0\" }\n",
            ),
            ("gradlew", ""),
            ("api/swagger.json", "{\"swagger\": \"2.0\", \"paths\": {}}"),
            (
                "src/main/resources/application.properties",
                "server.port=${PORT:8099}\n",
            ),
            (
                "compose.yaml",
                "services:\n  app:\n    build: .\n    environment:\n      - DB_URL=mysql://app:pw@db:3306/app\n  db:\n    image: mariadb:11\n    environment:\n      - MARIADB_USER=app\n      - MARIADB_PASSWORD=pw\n      - MARIADB_DATABASE=app\n",
            ),
        ],
        &[
            "rest.spec = \"api/swagger.json\"",
            "rest.start = \"./gradlew --no-daemon bootRun\"",
            "rest.jvm-agent = true",
            "rest.url = \"http://127.0.0.1:8099\"",
            "rest.db = \"mysql://app:pw@localhost:3306/app\"",
            "rest.db-env = [\"DB_URL\"]",
        ],
    );
}

#[test]
fn a_fastapi_service_in_a_package() {
    check(
        &[
            (
                "pyproject.toml",
                "[project]\nname = \"x\"\ndependencies = [\"fastapi>=0.115\", \"uvicorn\"]\n",
            ),
            (
                "app/main.py",
                "from fastapi import FastAPI\n\napp = FastAPI(title='x')\n",
            ),
            (".env.example", "DATABASE_URL=sqlite:///./data/app.db\n"),
            ("schema.sql", "CREATE TABLE a (b INT);\n"),
        ],
        &[
            "rest.spec = \"http://127.0.0.1:8000/openapi.json\"",
            "rest.python = \"app.main:app\"",
            "rest.port = 8000",
            "rest.db = \"sqlite:data/app.db\"",
            "schema.paths = [\"schema.sql\"]",
            "schema.engine = \"sqlite\"",
        ],
    );
}

#[test]
fn a_flask_service_with_a_factory_and_a_document() {
    check(
        &[
            ("requirements.txt", "Flask==3.0\nrequests\n"),
            (
                "shop/__init__.py",
                "from flask import Flask\n\ndef create_app():\n    return Flask(__name__)\n",
            ),
            ("docs/api.yml", DOCUMENT),
        ],
        &[
            "rest.spec = \"docs/api.yml\"",
            "rest.python = \"shop:create_app()\"",
        ],
    );
}

#[test]
fn a_django_project_with_drf_spectacular() {
    check(
        &[
            (
                "requirements.txt",
                "django\ndjangorestframework\ndrf-spectacular\n",
            ),
            ("manage.py", ""),
            (
                "site/urls.py",
                "urlpatterns = [path('api/schema/', SpectacularAPIView.as_view())]\n",
            ),
        ],
        &[
            "rest.spec = \"http://127.0.0.1:8000/api/schema/\"",
            "rest.python-start = \"python manage.py runserver --noreload {port}\"",
            "rest.port = 8000",
        ],
    );
}

#[test]
fn a_nest_service_on_gitlab() {
    let files = [
        (
            "package.json",
            "{\"dependencies\": {\"@nestjs/core\": \"^11\", \"pg\": \"^8\"}, \"scripts\": {\"start\": \"nest start\", \"build\": \"nest build\"}}",
        ),
        (
            "src/main.ts",
            "SwaggerModule.setup('docs', app, document);\nawait app.listen(process.env.PORT ?? 3333);\n",
        ),
        (".gitlab-ci.yml", "stages: [test]\n"),
    ];
    check(
        &files,
        &[
            "rest.spec = \"http://127.0.0.1:3333/docs-json\"",
            "rest.start = \"npm start\"",
            "rest.url = \"http://127.0.0.1:3333\"",
        ],
    );
    let folder = repository(&files);
    isobath(folder.path(), &["init"]);
    let pipeline = std::fs::read_to_string(folder.path().join(".gitlab/isobath.yml"));
    let pipeline = pipeline.expect("a pipeline for GitLab");
    let at = |words: &str| {
        pipeline
            .find(words)
            .unwrap_or_else(|| panic!("{words}: {pipeline}"))
    };
    assert!(at("npm ci") < at("npm run build") && at("npm run build") < at("isobath rest"));
}

#[test]
fn a_go_service_with_swaggo() {
    check(
        &[
            (
                "go.mod",
                "module x\nrequire github.com/gin-gonic/gin v1.10.0\n",
            ),
            (
                "cmd/server/main.go",
                "package main\n\nfunc main() { r.Run(\":9000\") }\n",
            ),
            ("docs/swagger.yaml", "swagger: '2.0'\npaths: {}\n"),
            ("db/migrations/1_a.up.sql", "CREATE TABLE a (b INT);\n"),
            ("db/migrations/1_a.down.sql", "DROP TABLE a;\n"),
            ("db/queries/a.sql", "-- name: A :many\nSELECT b FROM a;\n"),
        ],
        &[
            "rest.spec = \"docs/swagger.yaml\"",
            "rest.start = \"go run ./cmd/server\"",
            "rest.url = \"http://127.0.0.1:9000\"",
            "schema.paths = [\"db/migrations\"]",
            "query.schema = [\"db/migrations\"]",
            "query.queries = [\"db/queries\"]",
        ],
    );
}

#[test]
fn a_repository_with_a_schema_alone() {
    check(
        &[("db/structure.sql", "CREATE TABLE a (b INT);\n")],
        &["schema.paths = [\"db/structure.sql\"]"],
    );
}

#[test]
fn every_setting_is_explained_and_existing_files_are_kept() {
    let folder = repository(&[("schema.sql", "CREATE TABLE a (b INT);\n")]);
    let printed = isobath(folder.path(), &["init", "--dry-run"]);
    let said = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(said.contains("schema.sql defines the tables"), "{said}");
    assert!(!folder.path().join("isobath.toml").exists());

    assert_eq!(
        isobath(folder.path(), &["init", "--no-ci"]).status.code(),
        Some(0)
    );
    assert!(!folder.path().join(".github").exists());
    let text = std::fs::read_to_string(folder.path().join("isobath.toml")).expect("a file");
    assert!(
        text.contains("# schema.sql defines the tables\npaths = "),
        "{text}"
    );

    let again = isobath(folder.path(), &["init"]);
    assert_eq!(again.status.code(), Some(2));
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("--force"), "{said}");
    assert_eq!(
        isobath(folder.path(), &["init", "--force"]).status.code(),
        Some(0)
    );
}

#[test]
fn an_empty_repository_is_refused_with_a_hint() {
    let folder = repository(&[("README.md", "nothing\n")]);
    let init = isobath(folder.path(), &["init"]);
    assert_eq!(init.status.code(), Some(2));
    let said = String::from_utf8_lossy(&init.stderr).into_owned();
    assert!(said.contains("docs/config.md"), "{said}");
}
