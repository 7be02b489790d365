//! Services that take their time to start, or end instead: one limit, and a message with their last output.

use super::awkward::tool;
use super::*;

/// Waits before it listens, ends instead, or ends once it was called; serves its document at another port, later.
const SLOW: &str = r#"
package slow;

import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;

public class Main {
    static void listen(int port) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", exchange -> {
            byte[] body = (exchange.getRequestURI().getPath().equals("/openapi.json") ? DOCUMENT : "{}").getBytes();
            exchange.getResponseHeaders().add("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }

    static final String DOCUMENT = "{\"openapi\": \"3.0.3\", \"info\": {\"title\": \"Slow\", \"version\": \"1\"},"
        + " \"paths\": {\"/things\": {\"get\": {\"responses\": {\"200\": {\"description\": \"fine\"}}}}}}";

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        System.out.println("reading the configuration");
        switch (arguments[1]) {
            case "dies":
                System.out.println("no license was found, giving up");
                System.exit(7);
                break;
            case "late":
                Thread.sleep(Long.parseLong(arguments[2]));
                listen(port);
                break;
            case "later":
                listen(port);
                Thread.sleep(Long.parseLong(arguments[2]));
                listen(Integer.parseInt(arguments[3]));
                break;
            default:
                listen(port);
                Thread.sleep(Long.parseLong(arguments[2]));
                System.out.println("the license has expired, giving up");
                System.exit(8);
        }
    }
}
"#;

/// `isobath rest` on that service; its exit code, and what it said.
fn run(document: &str, flags: &[&str], arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir_all(at.join("slow")).expect("a folder");
    std::fs::write(at.join("slow/Main.java"), SLOW).expect("a file");
    tool(at, "javac", &["-g", "-d", "classes", "slow/Main.java"]);
    let jar = ["cfe", "slow.jar", "slow.Main", "-C", "classes", "."];
    tool(at, "jar", &jar);
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .current_dir(at)
        .args(["rest", document, "--jvm", "slow.jar", "--port", &port()])
        .args(["--agent"])
        .arg(root().join("drivers/jvm/target/isobath-agent.jar"))
        .args(["--budget", "20calls", "--no-run", "--out", "out"])
        .args(flags)
        .args(["--", "{port}"])
        .args(arguments)
        .output()
        .expect("the binary runs");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into())
}

#[test]
fn a_service_that_dies_while_starting_is_shown_with_its_last_lines() {
    if !is_built() {
        return;
    }
    let (code, said) = run("nowhere.json", &[], &["dies"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("no license was found, giving up"), "{said}");
    assert!(said.contains("code 7"), "{said}");
}

#[test]
fn a_service_that_dies_while_its_document_is_waited_for_is_shown_with_its_last_lines() {
    if !is_built() {
        return;
    }
    let document = format!("http://127.0.0.1:{}/openapi.json", port());
    let (code, said) = run(&document, &[], &["expires", "2000"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("the license has expired, giving up"),
        "{said}"
    );
    assert!(said.contains("code 8"), "{said}");
}

#[test]
fn the_start_limit_decides_about_a_slow_service() {
    if !is_built() {
        return;
    }
    let slow = ["late", "6000"];
    let (code, said) = run("nowhere.json", &["--start-timeout", "1"], &slow);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("reading the configuration") || said.contains("did not answer"),
        "{said}"
    );
    // It is up, and only then its document is missed.
    let (code, said) = run("nowhere.json", &[], &slow);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("nowhere.json"), "{said}");
}

#[test]
fn the_start_limit_decides_about_a_document_that_comes_late_too() {
    if !is_built() {
        return;
    }
    let other = port();
    let document = format!("http://127.0.0.1:{other}/openapi.json");
    let (code, said) = run(&document, &["--wait", "0.1"], &["later", "4000", &other]);
    assert_eq!(code, Some(0), "{said}");
}
