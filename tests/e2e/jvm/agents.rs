//! Another agent in the same JVM, loaded before or after ours: both work.

use super::awkward::{MAIN, Shop, tool};
use super::*;

/// An agent or a tool of JaCoCo, when Maven could get it.
#[expect(clippy::print_stderr, reason = "what is left out should be seen")]
fn jacoco(name: &str) -> Option<PathBuf> {
    let jar = root().join(format!("tests/suts/jvm/target/agents/jacoco-{name}.jar"));
    if jar.is_file() {
        return Some(jar);
    }
    eprintln!(
        "left out: {} is missing; `mvn -f tests/suts/jvm/pom.xml package` gets it",
        jar.display()
    );
    None
}

/// Fails unless JaCoCo covered some lines of each of these classes of a sample.
fn is_measured(folder: &Path, sample: &str, classes: &[&str]) {
    let Some(tool_jar) = jacoco("cli") else {
        return;
    };
    let files = root().join(format!("tests/suts/jvm/{sample}/target/classes"));
    let [tool_jar, files] = [tool_jar, files].map(|path| path.to_string_lossy().into_owned());
    let report = ["-jar", &tool_jar, "report", "jacoco.exec"];
    let report = [
        &report[..],
        &["--classfiles", &files, "--csv", "jacoco.csv"],
    ]
    .concat();
    tool(folder, "java", &report);
    let table = std::fs::read_to_string(folder.join("jacoco.csv")).expect("a report of JaCoCo");
    for class in classes {
        let line = table
            .lines()
            .find(|line| line.split(',').nth(2) == Some(class));
        let line = line.unwrap_or_else(|| panic!("{class} is not in {table}"));
        let covered: u32 = line
            .split(',')
            .nth(8)
            .and_then(|n| n.parse().ok())
            .expect("a number");
        assert!(covered > 0, "JaCoCo measured nothing: {line}");
    }
}

const CLASSES: [&str; 3] = ["Figure1", "Figure7", "Figure9"];

#[test]
fn a_service_with_jacoco_loaded_first_is_watched_and_measured() {
    let Some(agent) = is_built().then(|| jacoco("agent")).flatten() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let option = format!(
        "--jvm-option=-javaagent:{}=destfile={}",
        agent.display(),
        folder.path().join("jacoco.exec").display()
    );
    let run = Run::of("papers", &["--budget", "600calls", &option]);
    for class in CLASSES {
        run.sees(&format!("papers/{class}.java"));
    }
    assert_eq!(
        run.report()["code"]["not_instrumented"],
        serde_json::json!([])
    );
    is_measured(folder.path(), "papers", &CLASSES);
}

#[test]
fn a_service_with_jacoco_loaded_last_is_watched_and_measured() {
    let Some(agent) = is_built().then(|| jacoco("agent")).flatten() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let out = tempfile::tempdir().expect("a folder for the results");
    let sample = root().join("tests/suts/jvm/papers");
    let jar = sample.join("target/papers.jar");
    let port = port();
    // Agents of JAVA_TOOL_OPTIONS are loaded before those of the command line.
    let output = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .arg("rest")
        .arg(sample.join("openapi.json"))
        .arg("--jvm-agent")
        .args(["--url", &format!("http://127.0.0.1:{port}")])
        .arg("--start")
        .arg(format!(
            "exec java -javaagent:'{}'=destfile='{}' -jar '{}' --server.port={port}",
            agent.display(),
            folder.path().join("jacoco.exec").display(),
            jar.display()
        ))
        .args(["--start-timeout", "120"])
        .args(["--budget", "600calls", "--no-run", "--out"])
        .arg(out.path())
        .output()
        .expect("the binary runs");
    let run = Run {
        folder: out,
        output,
    };
    for class in CLASSES {
        run.sees(&format!("papers/{class}.java"));
    }
    is_measured(folder.path(), "papers", &CLASSES);
}

/// An agent that changes the code of the shop by a transformer that comes first, and asks for all classes again when the
/// service is called.
const OTHER: &str = r#"
package other;

import com.sun.net.httpserver.HttpServer;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.security.ProtectionDomain;

public class Agent {
    public static void premain(String port, Instrumentation instrumentation) throws Exception {
        instrumentation.addTransformer(new ClassFileTransformer() {
            public byte[] transform(ClassLoader l, String name, Class<?> c, ProtectionDomain d, byte[] bytes) {
                return null;
            }
        }, true);
        HttpServer server = HttpServer.create(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(port)), 0);
        server.createContext("/", exchange -> {
            int status = 200;
            for (Class<?> type : instrumentation.getAllLoadedClasses()) {
                if (type.getName().startsWith("shop.")) {
                    try {
                        instrumentation.retransformClasses(type);
                        status = 201;
                    } catch (Throwable refused) {
                        status = 500;
                        refused.printStackTrace();
                    }
                }
            }
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }
}
"#;

#[test]
fn a_class_that_another_agent_retransforms_stays_watched() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (name, text) in [("shop/Main.java", MAIN), ("other/Agent.java", OTHER)] {
        let file = at.join(name);
        std::fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        std::fs::write(file, text).expect("a file");
    }
    tool(at, "javac", &["-g", "-d", "classes", "shop/Main.java"]);
    tool(at, "javac", &["-g", "-d", "agent", "other/Agent.java"]);
    let manifest = "Premain-Class: other.Agent\nCan-Retransform-Classes: true\n";
    std::fs::write(at.join("manifest"), manifest).expect("a file");
    tool(
        at,
        "jar",
        &["cfm", "other.jar", "manifest", "-C", "agent", "."],
    );
    let control = port();
    let other = at.join("other.jar").display().to_string();
    let classes = at.join("classes").display().to_string();
    let mut shop = Shop::start(
        "java",
        &format!("-javaagent:'{other}'={control} -cp '{classes}' shop.Main"),
    );
    shop.is_watched();
    let again = Request::get(format!("http://127.0.0.1:{control}/"));
    let mut client = Client::new(ClientConfig::default()).expect("a client");
    assert_eq!(
        client.call(&again).status(),
        Some(201),
        "classes were retransformed"
    );
    shop.is_watched();
}
