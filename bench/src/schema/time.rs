//! CPU seconds of whole processes, against the budgets of the product.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::cpu::children_seconds;

/// One thing that is timed.
struct Timed<'a> {
    what: &'a str,
    paths: &'a [PathBuf],
    flags: &'a [&'a str],
    /// Seconds; infinite where nothing was promised.
    budget: f64,
    /// How often it is measured, and over how many runs in a row.
    ///
    /// The system counts CPU in hundredths of a second, so short runs are measured by the handful.
    measured: usize,
    runs: u32,
}

/// Prints what the runs took; true when all of them succeed within their budgets.
#[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
pub(super) fn table(folder: &Path, binary: &Path) -> bool {
    let mut paths: Vec<_> = std::fs::read_dir(folder.join("data/schemas"))
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .collect();
    paths.sort();
    let itrust: Vec<_> = paths
        .iter()
        .filter(|path| path.ends_with("iTrust.sql"))
        .cloned()
        .collect();
    println!(
        "\nCPU of one process, its start included: the least of several measurements, because other work on the machine only adds"
    );
    let mut reached = true;
    for timed in [
        Timed {
            what: "all suites generated",
            paths: &paths,
            flags: &["--engine", "none"],
            budget: 0.3,
            measured: 5,
            runs: 4,
        },
        Timed {
            what: "all suites generated and confirmed on SQLite",
            paths: &paths,
            flags: &["--engine", "sqlite"],
            budget: f64::INFINITY,
            measured: 3,
            runs: 2,
        },
        Timed {
            what: "all suites generated and analysed",
            paths: &paths,
            flags: &["--engine", "none", "--mutate"],
            budget: 2.0,
            measured: 3,
            runs: 1,
        },
        Timed {
            what: "iTrust generated and analysed",
            paths: &itrust,
            flags: &["--engine", "none", "--mutate"],
            budget: 1.0,
            measured: 3,
            runs: 2,
        },
    ] {
        reached &= timed.print(binary);
    }
    reached
}

impl Timed<'_> {
    #[expect(clippy::print_stdout, reason = "a benchmark prints its table")]
    fn print(&self, binary: &Path) -> bool {
        let seconds: Option<Vec<f64>> = (0..self.measured).map(|_| self.measure(binary)).collect();
        let Some(seconds) = seconds else {
            println!("{:45} failed", self.what);
            return false;
        };
        let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
        let most = seconds.iter().copied().fold(0.0, f64::max);
        let budget = if self.budget.is_finite() {
            format!("budget {} s", self.budget)
        } else {
            "no budget".to_owned()
        };
        println!(
            "{:45} {least:6.3} s ({budget}; the most was {most:.3} s; {} measurements over {} runs each)",
            self.what, self.measured, self.runs
        );
        least < self.budget
    }

    /// CPU seconds of one run, averaged over runs in a row; `None` when one of them fails.
    fn measure(&self, binary: &Path) -> Option<f64> {
        let before = children_seconds()?;
        for _ in 0..self.runs {
            let done = Command::new(binary)
                .arg("schema")
                .args(self.paths)
                .args(self.flags)
                .args(["--json", "--quiet"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .ok()?;
            if !done.success() {
                return None;
            }
        }
        Some((children_seconds()? - before) / f64::from(self.runs))
    }
}
