//! Releases of H2 in the memory of a service: rows come, and go when a candidate ends.

use super::awkward::tool;
use super::*;

/// Keeps items in a table; only a row that something brings makes it answer with 200.
const SHELF: &str = r#"
package shelf;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

public class Main {
    public static class Refuse implements org.h2.api.Trigger {
        public void init(Connection c, String s, String n, String t, boolean b, int k) {}

        public void fire(Connection c, Object[] before, Object[] after) throws SQLException {
            throw new SQLException("nothing is ever taken from this shelf");
        }

        public void close() {}

        public void remove() {}
    }

    static int status(Connection connection, int id) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement("SELECT NAME FROM ITEMS WHERE ID = ?")) {
            select.setInt(1, id);
            try (ResultSet rows = select.executeQuery()) {
                if (rows.next()) {
                    return 200;
                }
            }
        }
        return 404;
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(System.getenv("PORT"));
        Connection connection = DriverManager.getConnection("jdbc:h2:mem:shelf;DB_CLOSE_DELAY=-1", "sa", "");
        connection.createStatement().execute("CREATE TABLE ITEMS (ID INT PRIMARY KEY, NAME VARCHAR(20) NOT NULL)");
        connection.createStatement().execute("CREATE TABLE VISITS (ID IDENTITY PRIMARY KEY, ITEM INT NOT NULL)");
        if (arguments.length > 0 && arguments[0].equals("refuse")) {
            connection.createStatement().execute(
                "CREATE TRIGGER KEEP BEFORE DELETE ON VISITS FOR EACH ROW CALL \"shelf.Main$Refuse\"");
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            String last = path.substring(path.lastIndexOf('/') + 1);
            int status = 400;
            if (last.matches("[0-9]{1,8}")) {
                try {
                    int id = Integer.parseInt(last);
                    connection.createStatement().execute("INSERT INTO VISITS (ITEM) VALUES (" + id + ")");
                    status = status(connection, id);
                } catch (SQLException broken) {
                    status = 500;
                }
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
"#;

const DOCUMENT: &str = r#"{
  "openapi": "3.0.3",
  "info": { "title": "Shelf", "version": "1" },
  "paths": {
    "/items/{id}": { "get": {
      "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer", "minimum": 0 } }],
      "responses": { "200": { "description": "found" }, "400": { "description": "no id" }, "404": { "description": "none" } } } }
  }
}"#;

/// A run on the service with a release of H2; its report, and what it said. Nothing when Maven could not get that release.
#[expect(clippy::print_stderr, reason = "what is left out should be seen")]
fn run(release: &str, arguments: &[&str]) -> Option<(Value, String, Option<i32>)> {
    let h2 = root().join(format!("drivers/jvm/target/releases/h2-{release}.jar"));
    if !is_built() || !h2.is_file() {
        eprintln!("left out: {} is missing", h2.display());
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir_all(at.join("shelf")).expect("a folder");
    std::fs::write(at.join("shelf/Main.java"), SHELF).expect("a file");
    std::fs::write(at.join("openapi.json"), DOCUMENT).expect("a file");
    std::fs::copy(&h2, at.join("h2.jar")).expect("a copy");
    let compile = ["-g", "-cp", "h2.jar", "-d", "classes", "shelf/Main.java"];
    tool(at, "javac", &compile);
    std::fs::write(at.join("manifest"), "Class-Path: h2.jar\n").expect("a file");
    let jar = [
        "cfme",
        "shelf.jar",
        "manifest",
        "shelf.Main",
        "-C",
        "classes",
        ".",
    ];
    tool(at, "jar", &jar);
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .current_dir(at)
        .args(["rest", "openapi.json", "--jvm", "shelf.jar", "--agent"])
        .arg(root().join("drivers/jvm/target/isobath-agent.jar"))
        .args(["--port", &port(), "--no-run", "--budget", "400calls"])
        .args(["--out", "out", "--"])
        .args(arguments)
        .output()
        .expect("the binary runs");
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let text = std::fs::read_to_string(at.join("out/report.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {said}"));
    let report = serde_json::from_str(&text).expect("a report is JSON");
    Some((report, said, output.status.code()))
}

#[test]
fn rows_are_inserted_and_reset_on_old_and_new_releases_of_h2() {
    for release in ["1.4.193", "1.4.200", "2.3.232"] {
        let Some((report, said, code)) = run(release, &[]) else {
            continue;
        };
        assert!(said.contains("h2 inside the service"), "{release}: {said}");
        assert_ne!(code, Some(3), "{release}: {said}");
        let uncovered: Vec<&str> = report["uncovered"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|entry| entry["target"].as_str())
            .filter(|target| target.contains("shelf.Main.status"))
            .collect();
        assert_eq!(uncovered, [] as [&str; 0], "{release}: {said}");
    }
}

#[test]
fn a_database_that_refuses_the_reset_is_told_of_and_the_run_goes_on_without_rows() {
    let Some((report, said, code)) = run("1.4.193", &["refuse"]) else {
        return;
    };
    assert!(
        said.contains("nothing is ever taken from this shelf"),
        "{said}"
    );
    assert!(!said.contains("is unreachable"), "{said}");
    // Without rows no call succeeds, so that is not called tested.
    assert!(matches!(code, Some(1 | 3)), "{code:?}: {said}");
    let calls = report["calls"].as_u64().unwrap_or_default();
    assert!(calls > 100, "{calls}: {said}");
}
