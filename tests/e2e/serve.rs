//! `isobath serve`: the pages over HTTP, who may ask for them, and what Chromium shows.

#![expect(clippy::print_stderr, reason = "what is left out should be seen")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use isobath_emit::findings::{FaultView, RestReport, Severity};

/// The report of a run with faults, by fingerprint and message.
fn put_run(folder: &Path, started: &str, covered: u64, faults: &[(&str, &str)]) {
    let fault = |(fingerprint, message): &(&str, &str)| FaultView {
        code: "server-error".into(),
        fingerprint: (*fingerprint).into(),
        operation: "GET /boats".into(),
        message: (*message).into(),
        severity: Severity::Error,
        ..FaultView::default()
    };
    let report = RestReport {
        title: "Marina".into(),
        started: Some(started.into()),
        seconds: 12.5,
        covered,
        targets: 200,
        faults: faults.iter().map(fault).collect(),
        ..RestReport::default()
    };
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join("report.json"), report.to_json()).expect("a report");
    std::fs::write(folder.join("report.html"), "<p>the report</p>").expect("a page");
}

/// A server over two runs; it ends with the test.
struct Served {
    process: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Served {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let run = |name: &str| folder.path().join(name);
        let first = [("one", "panicked at <script>"), ("two", "out of berths")];
        put_run(&run("monday/rest"), "2020-11-16T08:00:00Z", 100, &first);
        let second = [("two", "out of berths"), ("three", "division by zero")];
        put_run(&run("tuesday/rest"), "2020-11-17T08:00:00Z", 150, &second);
        std::fs::write(folder.path().join("secret.txt"), "secret").expect("a file");
        // The newest run is of another job.
        let demo = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .args(["demo", "--query", "--out", "queries"])
            .current_dir(folder.path())
            .output()
            .expect("the binary runs");
        assert!(demo.status.success(), "{demo:?}");
        let mut process = Command::new(env!("CARGO_BIN_EXE_isobath"))
            .args(["serve", "--port", "0"])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        let mut line = String::new();
        let stdout = process.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        assert!(line.starts_with("3 reports"), "{line}");
        let address = line.split("http://").nth(1).expect("an address");
        let address = address.split(' ').next().expect("an address").to_owned();
        Self {
            process,
            address,
            _folder: folder,
        }
    }

    /// The response to a request with these headers.
    fn ask(&self, line: &str, headers: &[&str]) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        let headers: String = headers
            .iter()
            .map(|header| format!("{header}\r\n"))
            .collect();
        let request = format!("{line} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("it is sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }

    fn get(&self, path: &str) -> String {
        self.ask(
            &format!("GET {path}"),
            &[&format!("Host: {}", self.address)],
        )
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn reports_are_served_to_this_machine_alone() {
    let served = Served::start();
    let runs = served.get("/runs.json");
    let (monday, tuesday) = (runs.find("monday/rest"), runs.find("tuesday/rest"));
    assert!(
        monday.is_some() && monday < tuesday,
        "the oldest first: {runs}"
    );
    assert!(
        served
            .get("/report?run=monday%2Frest")
            .contains("the report")
    );
    for path in ["/report?run=..", "/report?run=/", "/secret.txt", "/report"] {
        let response = served.get(path);
        assert!(response.starts_with("HTTP/1.1 404"), "{path}: {response}");
    }
    let host = format!("Host: {}", served.address);
    let refused = [
        served.ask("GET /runs.json", &["Host: rebound.example"]),
        served.ask("GET /runs.json", &[&host, "Origin: http://evil.example"]),
    ];
    for response in refused {
        assert!(response.starts_with("HTTP/1.1 403"), "{response}");
    }
    let posted = served.ask("POST /runs.json", &[&host, "Content-Length: 0"]);
    assert!(posted.starts_with("HTTP/1.1 405"), "{posted}");
}

/// The page as Chromium has it after its scripts; nothing where there is no Chromium.
fn shown(served: &Served, query: &str) -> Option<String> {
    let profile = tempfile::tempdir().expect("a folder");
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let run = names.iter().find_map(|name| {
        Command::new(name)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
            .args(["--enable-logging=stderr", "--virtual-time-budget=8000"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(format!("http://{}/{query}", served.address))
            .output()
            .ok()
    });
    let Some(run) = run else {
        eprintln!("left out: there is no Chromium here; scripts/test installs it where it can");
        return None;
    };
    let said = String::from_utf8_lossy(&run.stderr);
    let complaints: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(complaints.is_empty(), "{complaints:?}");
    let dom = String::from_utf8_lossy(&run.stdout).into_owned();
    assert!(dom.contains("data-ready=\"yes\""), "{dom}");
    Some(dom)
}

#[test]
fn the_page_shows_trends_differences_and_findings() {
    let served = Served::start();
    let Some(dom) = shown(&served, "?to=tuesday/rest") else {
        return;
    };
    assert!(
        dom.contains("1 new, 1 gone, 1 in both. Targets: 50 % → 75 %"),
        "{dom}"
    );
    assert!(dom.matches("<polyline").count() >= 3, "{dom}");
    assert!(dom.contains("3 of 3 findings"), "{dom}");
    assert!(
        dom.contains("panicked at &lt;script&gt;"),
        "texts stay texts: {dom}"
    );
    let newest = shown(&served, "").expect("a page");
    assert!(newest.contains("There is only one run."), "{newest}");
    assert!(newest.contains(">queries</a>"), "{newest}");
    let back = shown(&served, "?from=tuesday/rest&to=monday/rest&search=zero").expect("a page");
    assert!(back.contains("Targets: 75 % → 50 %"), "{back}");
    assert!(back.contains("1 of 3 findings"), "{back}");
}
