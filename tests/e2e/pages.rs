//! What runs leave for browsers and for other tools: pages work in Chromium, SARIF and JUnit XML fit their schemas.
//!
//! `scripts/test` brings schemas and browser; what is not there is said and left out.

#![expect(clippy::print_stderr, reason = "what is left out should be seen")]

use std::path::{Path, PathBuf};
use std::process::Command;

use marina::Faults;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a job in a folder.
fn isobath(folder: &Path, words: &[&str]) {
    let run = Command::new(env!("CARGO_BIN_EXE_isobath"))
        .args(words)
        .current_dir(folder)
        .output()
        .expect("the binary runs");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        matches!(run.status.code(), Some(0 | 1)),
        "{words:?}: {said}"
    );
}

/// Runs the REST job on the example, with all its faults.
fn rest(folder: &Path) {
    let marina = marina::start(Faults::all()).expect("a free port");
    let document = format!("{}/openapi.yaml", marina.url());
    let auth = root().join("examples/marina/auth.yaml");
    let auth = auth.to_str().expect("a plain path");
    let words = ["rest", &document, "--auth", auth, "--reset", "POST /reset"];
    let more = ["--budget", "1200calls", "--no-run", "--out", "out/rest"];
    isobath(folder, &[&words[..], &more].concat());
}

/// A schema that `scripts/test` has put aside.
fn schema(name: &str) -> Option<PathBuf> {
    let path = root().join("target/test-tools/schemas").join(name);
    if path.is_file() {
        return Some(path);
    }
    eprintln!(
        "left out: {} is not there; scripts/test brings it",
        path.display()
    );
    None
}

#[test]
fn sarif_and_junit_fit_their_schemas() {
    let (Some(sarif), Some(junit)) = (schema("sarif-2.1.0.json"), schema("junit-10.xsd")) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    rest(folder.path());
    let out = folder.path().join("out/rest");
    let json = |path: &Path| -> Value {
        let text = std::fs::read_to_string(path).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    };
    let log = json(&out.join("report.sarif"));
    let results = log["runs"][0]["results"].as_array().expect("results");
    assert!(!results.is_empty());
    // As published, two of its patterns are no regular expressions.
    let schema = std::fs::read_to_string(&sarif).expect("a file");
    let schema = schema.replace(
        "^[a-zA-Z]{2}|^[a-zA-Z]{2}-[a-zA-Z]{2}]?$",
        "^[a-zA-Z-]{2,5}$",
    );
    let schema: Value = serde_json::from_str(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let wrong: Vec<String> = validator
        .iter_errors(&log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert_eq!(wrong, Vec::<String>::new());

    // The tests' own Python has what reads such schemas.
    let python = root().join("target/test-tools/python/bin/python3");
    let run = |script: &str| {
        Command::new(&python)
            .args(["-c", script])
            .args([&junit, &out.join("junit.xml")])
            .output()
    };
    if !run("import lxml").is_ok_and(|run| run.status.success()) {
        eprintln!("left out: there is no lxml for {}", python.display());
        return;
    }
    let script = "import sys; from lxml import etree; schema = etree.XMLSchema(etree.parse(sys.argv[1])); \
                  schema.assertValid(etree.parse(sys.argv[2]))";
    let run = run(script).expect("it ran just now");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
}

/// What a reader does with a page: looks for something, opens everything, copies, and reads on a telephone.
const READER: &str = r#"
<script>
(async () => {
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const filter = document.getElementById("filter"), shown = document.getElementById("shown");
  const type = async (text) => { filter.value = text; filter.dispatchEvent(new Event("input")); await pause(300); return shown.value; };
  const seen = { before: shown.value };
  document.dispatchEvent(new KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true }));
  seen.focused = document.activeElement === filter;
  seen.none = await type("nothing is called like this");
  seen.some = await type(WORD);
  seen.all = await type("");
  const sieve = document.querySelector(".sieve");
  if (sieve) {
    sieve.open = true;
    const [words, kind, left] = ["input", "select", "output"].map((name) => sieve.querySelector(name));
    const choose = (word, text) => {
      [kind.value, words.value] = [word, text];
      kind.dispatchEvent(new Event("change"));
      words.dispatchEvent(new Event("input"));
      const rows = [...sieve.querySelectorAll("tbody tr")].filter((row) => row.offsetParent);
      return { said: left.value, kinds: rows.map((row) => row.dataset.kind) };
    };
    seen.mutants = {
      kinds: [...kind.options].map((option) => option.value),
      killed: choose("killed", ""), alive: choose("alive", ""), checks: choose("killed", "check-removal"), all: choose("", ""),
    };
    await type("nothing is called like this");
    const link = sieve.querySelector("a");
    link.click();
    await pause(300);
    const test = document.querySelector(link.getAttribute("href"));
    seen.mutants.led = test.open && test.offsetParent !== null && test.textContent.includes(link.textContent);
    location.hash = "";
  }
  document.getElementById("expand").click();
  for (const part of document.querySelectorAll("details")) part.open = true;
  const button = [...document.querySelectorAll(".copy")].find((button) => button.offsetParent);
  let copied;
  Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { copied = text; } }, configurable: true });
  button.click();
  await pause(50);
  seen.copied = copied === button.parentElement.querySelector("code").textContent && copied.length > 0;
  seen.said = button.textContent;
  seen.fits = document.documentElement.scrollWidth <= innerWidth;
  seen.background = getComputedStyle(document.body).backgroundColor;
  seen.unnamed = [...document.querySelectorAll("button, input, [role=region]")].filter((one) => {
    const label = one.labels && one.labels.length > 0;
    return !label && !one.textContent.trim() && !one.getAttribute("aria-label");
  }).length;
  const out = document.createElement("pre");
  out.id = "seen";
  out.textContent = JSON.stringify(seen);
  document.body.append(out);
})();
</script>
"#;

fn browser() -> Option<&'static str> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let works = |name: &&str| {
        let told = Command::new(name).arg("--version").output();
        told.is_ok_and(|told| told.status.success())
    };
    let found = names.into_iter().find(works);
    if found.is_none() {
        eprintln!("left out: there is no Chromium here; scripts/test installs it where it can");
    }
    found
}

/// What the reader saw on a page; a message on the console is a failure.
fn seen(browser: &str, page: &Path, look: &[&str]) -> Value {
    let profile = tempfile::tempdir().expect("a folder");
    let run = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=8000"])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args(look)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    let said = String::from_utf8_lossy(&run.stderr);
    let complaints: Vec<&str> = said
        .lines()
        .filter(|line| line.contains("CONSOLE"))
        .collect();
    assert!(complaints.is_empty(), "{}: {complaints:?}", page.display());
    let dom = String::from_utf8_lossy(&run.stdout);
    let after = dom.split("<pre id=\"seen\">").nth(1);
    let text = after.and_then(|after| after.split("</pre>").next());
    let text = text.unwrap_or_else(|| panic!("{} did not get to its end: {said}", page.display()));
    serde_json::from_str(&text.replace("&amp;", "&")).expect("JSON")
}

#[test]
fn pages_are_found_through_copied_from_and_read_on_a_telephone() {
    let Some(browser) = browser() else {
        return;
    };
    let folder = tempfile::tempdir().expect("a folder");
    let example = |name: &str| {
        let path = root().join("examples").join(name);
        path.to_str().expect("a plain path").to_owned()
    };
    let (shop, queries) = (example("shop.sql"), example("shop-queries.sql"));
    rest(folder.path());
    isobath(
        folder.path(),
        &["schema", &shop, "--mutate", "--out", "out"],
    );
    let words = ["query", &queries, "--schema", &shop, "--out", "out/queries"];
    isobath(folder.path(), &words);
    let pages = [
        ("out/rest", "bookings"),
        ("out/shop", "price"),
        ("out/queries", "customer"),
    ];
    for (name, word) in pages {
        let page = folder.path().join(name).join("report.html");
        let text = std::fs::read_to_string(&page).expect("a page");
        let reader = READER.replace("WORD", &format!("{word:?}"));
        let spied = page.with_extension("spied.html");
        std::fs::write(&spied, text.replace("</body>", &format!("{reader}</body>")))
            .expect("room for a page");
        let look = |settings: &str, size: &str| {
            let settings = format!("--blink-settings={settings}");
            let size = format!("--window-size={size}");
            seen(browser, &spied, &[&settings, &size])
        };
        let light = look("preferredColorScheme=1", "1200,900");
        let dark = look("preferredColorScheme=0", "500,900");
        for seen in [&light, &dark] {
            assert_eq!(seen["focused"], true, "{name}: {seen}");
            assert_eq!(seen["copied"], true, "{name}: {seen}");
            assert_eq!(seen["said"], "Copied", "{name}: {seen}");
            assert_eq!(seen["fits"], true, "{name}: {seen}");
            assert_eq!(seen["unnamed"], 0, "{name}: {seen}");
            assert_eq!(seen["before"], seen["all"], "{name}: {seen}");
            let count = |key: &str| {
                let text = seen[key].as_str().unwrap_or_default();
                let number = text.split(' ').next().unwrap_or_default();
                number
                    .parse::<u32>()
                    .unwrap_or_else(|_| panic!("{name}: {seen}"))
            };
            assert_eq!(count("none"), 0, "{name}: {seen}");
            assert!(
                0 < count("some") && count("some") < count("all"),
                "{name}: {seen}"
            );
        }
        assert_ne!(light["background"], dark["background"], "{name}");
        if name == "out/shop" {
            mutants(&light["mutants"], &folder.path().join(name));
        }
    }
}

/// The view of mutants shows what the report has, by outcome, and leads to the tests that kill them.
fn mutants(seen: &Value, out: &Path) {
    let text = std::fs::read_to_string(out.join("report.json")).expect("a report");
    let report: Value = serde_json::from_str(&text).expect("JSON");
    let all = report["mutation"]["all"].as_array().expect("mutants");
    let count = |fate: &str| all.iter().filter(|one| one["status"] == fate).count();
    let killed = report["mutation"]["killed"].as_u64().expect("a number");
    assert_eq!(count("killed") as u64, killed);
    assert!(count("alive") > 0, "the example has survivors: {seen}");
    for fate in ["killed", "alive"] {
        let shown = seen[fate]["kinds"].as_array().expect("rows");
        assert_eq!(shown.len(), count(fate), "{fate}: {seen}");
        assert!(shown.iter().all(|kind| kind == fate), "{seen}");
    }
    assert_eq!(seen["all"]["said"], format!("{} mutants", all.len()));
    let removed = all
        .iter()
        .filter(|one| one["operator"] == "check-removal" && one["status"] == "killed");
    let removed = removed.count();
    assert!(removed > 0);
    let noun = if removed == 1 { "mutant" } else { "mutants" };
    assert_eq!(seen["checks"]["said"], format!("{removed} {noun}"));
    assert_eq!(seen["led"], true, "{seen}");
    // Whatever was killed says by which test, and what does not count says why.
    let tests = report["tests"].as_array().expect("tests");
    for one in all {
        let by = tests.iter().any(|test| test["name"] == one["killed_by"]);
        assert_eq!(by, one["status"] == "killed", "{one}");
        let counts = one["status"] == "killed" || one["status"] == "alive";
        assert_eq!(one["why"].is_null(), counts, "{one}");
    }
}
