//! Services that are hard to watch: the agent must never keep one from starting, and says what it left alone.

use super::*;

const MODULE: &str = "module shop { requires jdk.httpserver; }";
/// A service for any release of Java from 8 on.
pub(super) const MAIN: &str = r#"
package shop;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;

public class Main {
    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", exchange -> {
            String query = exchange.getRequestURI().getQuery();
            int status = query != null && query.startsWith("open=sesame") ? 200 : 404;
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
"#;

/// Runs a tool to its end.
pub(super) fn tool(folder: &Path, name: &str, arguments: &[&str]) {
    let output = Command::new(name)
        .current_dir(folder)
        .args(arguments)
        .output()
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{name}: {said}");
}

#[test]
fn a_signed_jar_is_watched_as_a_named_module_and_on_the_class_path() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir_all(at.join("src/shop")).expect("a folder");
    std::fs::write(at.join("src/module-info.java"), MODULE).expect("a file");
    std::fs::write(at.join("src/shop/Main.java"), MAIN).expect("a file");
    let sources = ["src/module-info.java", "src/shop/Main.java"];
    tool(
        at,
        "javac",
        &["-g", "-d", "classes", sources[0], sources[1]],
    );
    tool(
        at,
        "jar",
        &["--create", "--file", "shop.jar", "-C", "classes", "."],
    );
    let key = [
        "-keystore",
        "keys",
        "-storepass",
        "secret",
        "-alias",
        "shop",
    ];
    let mut make = vec!["-genkeypair", "-keyalg", "RSA", "-dname", "CN=shop"];
    make.extend(key);
    tool(at, "keytool", &make);
    let sign = [&key[..4], &["shop.jar", "shop"]].concat();
    tool(at, "jarsigner", &sign);

    let jar = at.join("shop.jar").display().to_string();
    is_watched("java", &format!("-p '{jar}' -m shop/shop.Main"));
    is_watched("java", &format!("-cp '{jar}' shop.Main"));
}

/// Starts the shop by a `java` with the agent, and fails unless the agent tells how near a call came.
pub(super) fn is_watched(java: &str, what: &str) {
    Shop::start(java, what).is_watched();
}

/// The shop, with the agent in it.
pub(super) struct Shop {
    driver: Driver,
    url: String,
    command: String,
    _process: Service,
    _listener: Listener,
}

impl Shop {
    /// Starts it by a `java` with these arguments, after which its port comes.
    pub(super) fn start(java: &str, what: &str) -> Self {
        let listener = Listener::open_loopback().expect("a place to listen");
        let port = port();
        let url = format!("http://127.0.0.1:{port}/");
        let agent = root().join("drivers/jvm/target/isobath-agent.jar");
        let command = format!(
            "exec '{java}' -javaagent:'{}' {what} {port}",
            agent.display()
        );
        let launch = Launch {
            variables: listener.variables(None),
            timeout: Duration::from_secs(60),
            ..Launch::new(command.clone(), ReadyCheck::Url(url.clone()))
        };
        let process = Service::start(launch).expect("the service starts");
        let driver = listener.accept(Duration::from_secs(10)).expect("a driver");
        Self {
            driver,
            url,
            command,
            _process: process,
            _listener: listener,
        }
    }

    /// The source files that have targets.
    pub(super) fn files(&self) -> Vec<String> {
        let targets = self.driver.table().targets().iter();
        let files: std::collections::BTreeSet<String> =
            targets.map(|target| target.file.clone()).collect();
        files.into_iter().collect()
    }

    /// Fails unless the agent tells how near a call came.
    pub(super) fn is_watched(&mut self) {
        let driver = &mut self.driver;
        let command = &self.command;
        driver.begin_candidate();
        let mut client = Client::new(ClientConfig::default()).expect("a client");
        let status = client
            .call(&Request::get(format!("{}?open=sesamx", self.url)))
            .status();
        assert_eq!(status, Some(404));
        driver.events().expect("the service lives");
        assert_eq!(driver.unwatched(), [] as [String; 0], "{command}");
        let mut reached = Vec::new();
        driver.read(&mut reached);
        let table = driver.table().targets();
        let near = reached.iter().any(|reached| {
            let target = table.iter().find(|target| target.id == reached.target);
            let is_call = target.is_some_and(|target| target.text == "String.startsWith");
            is_call && reached.score > 0.5 && reached.score < 1.0
        });
        assert!(near, "{command}: {reached:?}");
    }
}

/// A service whose classes are as newer compilers make them, and one of whose methods is nearly as long as any may be.
const FORMS: &str = r#"
package forms;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;

public class Main {
    sealed interface Form permits Circle, Square {}

    record Circle(int radius) implements Form {}

    record Square(int side) implements Form {}

    static final class Tally {
        static int of(int n) {
            STEPS
            return n;
        }
    }

    static int area(Form form) {
        if (form instanceof Circle circle && circle.radius() > 0) {
            return 3 * circle.radius() * circle.radius();
        }
        return form instanceof Square square && square.equals(new Square(12)) ? 144 : 0;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            String last = path.substring(path.lastIndexOf('/') + 1);
            int size = last.matches("[0-9]{1,9}") ? Integer.parseInt(last) : 0;
            int area = area(path.startsWith("/circles") ? new Circle(size) : new Square(size));
            int status = area == 144 || Tally.of(area) < area ? 200 : 404;
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
"#;

const FORMS_DOCUMENT: &str = r#"{
  "openapi": "3.0.3",
  "info": { "title": "Forms", "version": "1" },
  "paths": {
    "/circles/{size}": { "get": {
      "parameters": [{ "name": "size", "in": "path", "required": true, "schema": { "type": "integer" } }],
      "responses": { "200": { "description": "fits" }, "404": { "description": "does not" } } } },
    "/squares/{size}": { "get": {
      "parameters": [{ "name": "size", "in": "path", "required": true, "schema": { "type": "integer" } }],
      "responses": { "200": { "description": "fits" }, "404": { "description": "does not" } } } }
  }
}"#;

#[test]
fn sealed_classes_and_records_are_covered_and_a_method_near_the_limit_is_left_and_named() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    // Three bytes each; a method may have 65,535.
    let steps = "n += 1;\n".repeat(21_000);
    std::fs::create_dir_all(at.join("forms")).expect("a folder");
    std::fs::write(at.join("forms/Main.java"), FORMS.replace("STEPS", &steps)).expect("a file");
    std::fs::write(at.join("openapi.json"), FORMS_DOCUMENT).expect("a file");
    tool(
        at,
        "javac",
        &["-g", "--release", "17", "-d", "classes", "forms/Main.java"],
    );
    let jar = ["--create", "--file", "forms.jar", "--main-class"];
    let jar = [&jar[..], &["forms.Main", "-C", "classes", "."]].concat();
    tool(at, "jar", &jar);
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .current_dir(at)
        .args(["rest", "openapi.json", "--jvm", "forms.jar", "--agent"])
        .arg(root().join("drivers/jvm/target/isobath-agent.jar"))
        .args([
            "--port",
            &port(),
            "--no-run",
            "--budget",
            "2000calls",
            "--out",
            "out",
        ])
        .output()
        .expect("the binary runs");
    let run = Run { folder, output };
    let text = std::fs::read_to_string(run.folder.path().join("out/report.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", run.said()));
    let report: Value = serde_json::from_str(&text).expect("a report is JSON");
    let left = report["code"]["not_instrumented"]
        .as_array()
        .expect("a list");
    assert!(
        left.len() == 1 && left[0].to_string().contains("forms.Main$Tally.of"),
        "{left:?}"
    );
    let uncovered: Vec<&str> = report["uncovered"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["target"].as_str())
        .filter(|target| target.contains("forms.Main.area"))
        .collect();
    assert_eq!(uncovered, [] as [&str; 0], "{}", run.said());
}
