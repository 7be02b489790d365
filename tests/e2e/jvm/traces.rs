//! Stack traces of a service with the agent in it are those of the plain service.

use super::awkward::tool;
use super::*;

/// Answers with the trace of an exception that a call and a reference to a replaced method throw.
const TRACES: &str = r#"
package traces;

import com.sun.net.httpserver.HttpServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Function;

public class Main {
    static String trace(Function<String, Integer> parser) {
        try {
            return "" + parser.apply("x");
        } catch (NumberFormatException refused) {
            StringWriter text = new StringWriter();
            refused.printStackTrace(new PrintWriter(text));
            for (StackTraceElement element : refused.getStackTrace()) {
                text.append(element.toString()).append('\n');
            }
            return text.toString();
        }
    }

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
        server.createContext("/", exchange -> {
            String text = trace(word -> Integer.parseInt(word)) + trace(Integer::parseInt);
            byte[] body = text.getBytes();
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
    }
}
"#;

#[test]
fn traces_that_the_service_sees_have_no_frames_of_the_agent() {
    if !is_built() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    std::fs::create_dir_all(at.join("traces")).expect("a folder");
    std::fs::write(at.join("traces/Main.java"), TRACES).expect("a file");
    tool(at, "javac", &["-g", "-d", "classes", "traces/Main.java"]);
    let listener = Listener::open_loopback().expect("a place to listen");
    let agent = root().join("drivers/jvm/target/isobath-agent.jar");
    let agent = format!("-javaagent:'{}' ", agent.display());
    let classes = at.join("classes");
    let [plain, watched] = ["", &agent].map(|agent| {
        let port = port();
        let url = format!("http://127.0.0.1:{port}/");
        let command = format!(
            "exec java {agent}-cp '{}' traces.Main {port}",
            classes.display()
        );
        let launch = Launch {
            variables: listener.variables(None),
            timeout: Duration::from_secs(60),
            ..Launch::new(command, ReadyCheck::Url(url.clone()))
        };
        let _process = Service::start(launch).expect("the service starts");
        let mut client = Client::new(ClientConfig::default()).expect("a client");
        let call = client.call(&Request::get(url));
        let response = call.response().expect("an answer");
        String::from_utf8_lossy(&response.body).into_owned()
    });
    // Names of classes that lambdas are made into differ from run to run.
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.contains("$$Lambda"));
        lines.map(str::to_owned).collect()
    };
    assert!(watched.contains("traces.Main.trace"), "{watched}");
    assert!(!watched.contains("isobath"), "{watched}");
    assert_eq!(lines(&plain), lines(&watched));
}
