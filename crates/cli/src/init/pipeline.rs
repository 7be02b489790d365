//! The pipeline that `isobath init` writes.

use super::settings::Settings;
use super::tree::Tree;

/// A file for a system of continuous integration.
#[derive(Debug)]
pub(super) struct Pipeline {
    /// Where it is written.
    pub path: &'static str,
    /// Why this system.
    pub reason: &'static str,
    /// Its content.
    pub text: String,
    /// What else is needed for it to run.
    pub next: Option<&'static str>,
}

/// Where the program comes from. There is no public repository to name.
const INSTALL: &str = "cargo install --locked --git \"$ISOBATH_REPOSITORY\" isobath";

/// The file for the system that the repository uses; GitHub when it uses none.
pub(super) fn pipeline(tree: &Tree, settings: &Settings) -> Pipeline {
    let jobs: Vec<&str> = ["rest", "schema", "query"]
        .into_iter()
        .filter(|job| settings.has_job(job))
        .collect();
    let is_gitlab = tree.has(".gitlab-ci.yml");
    if is_gitlab {
        Pipeline {
            path: ".gitlab/isobath.yml",
            reason: "the repository has .gitlab-ci.yml",
            text: gitlab(&jobs, settings),
            next: Some("add `include: .gitlab/isobath.yml` to .gitlab-ci.yml"),
        }
    } else {
        let uses_github = tree.files().any(|path| path.starts_with(".github/"));
        Pipeline {
            path: ".github/workflows/isobath.yml",
            reason: if uses_github {
                "the repository has .github"
            } else {
                "no other system is configured"
            },
            text: github(&jobs, settings),
            next: None,
        }
    }
}

/// The command of a job; the search of the REST job is counted in calls, so that machines do not differ.
fn command(job: &str) -> String {
    match job {
        "rest" => "isobath rest --budget 10000calls".to_owned(),
        job => format!("isobath {job}"),
    }
}

fn github(jobs: &[&str], settings: &Settings) -> String {
    let mut text = String::from(
        "# Written by `isobath init`. Set the variable ISOBATH_REPOSITORY to the repository of Isobath that you use.
name: isobath
on: [pull_request]
permissions:
  contents: read
jobs:
  isobath:
    runs-on: ubuntu-latest
    env:
      ISOBATH_REPOSITORY: ${{ vars.ISOBATH_REPOSITORY }}
    steps:
      - uses: actions/checkout@v5
",
    );
    let builds = settings.build.iter().map(String::as_str);
    let jobs_run: Vec<String> = jobs.iter().map(|job| command(job)).collect();
    let commands = builds
        .chain([INSTALL])
        .chain(jobs_run.iter().map(String::as_str));
    for command in commands {
        text.push_str(&format!("      - run: {command}\n"));
    }
    if jobs.contains(&"rest") {
        text.push_str(
            "      - if: always()\n        run: cat isobath-out/rest/report.md >> \"$GITHUB_STEP_SUMMARY\"\n",
        );
    }
    text.push_str(
        "      - if: always()
        uses: actions/upload-artifact@v4
        with:
          name: isobath
          path: isobath-out
",
    );
    text
}

fn gitlab(jobs: &[&str], settings: &Settings) -> String {
    let mut text = String::from(
        "# Written by `isobath init`. Set the variable ISOBATH_REPOSITORY to the repository of Isobath that you use.
isobath:
  script:
",
    );
    let commands = settings.build.iter().cloned();
    let commands = commands
        .chain([INSTALL.to_owned()])
        .chain(jobs.iter().map(|job| command(job)));
    for command in commands {
        text.push_str(&format!("    - {command}\n"));
    }
    text.push_str("  artifacts:\n    when: always\n    paths: [isobath-out]\n");
    if jobs.contains(&"rest") {
        text.push_str("    reports:\n      junit: isobath-out/rest/junit.xml\n");
    }
    text
}
