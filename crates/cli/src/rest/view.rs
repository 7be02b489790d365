//! Progress display: three live lines on a terminal, otherwise a plain line every few seconds.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use isobath_rest::fault::FaultKind;
use isobath_rest::job::{Event, Stage};

use super::args::Budget;
use crate::log;
use crate::terminal::note;

/// How often the lines on a terminal are drawn anew.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
/// How often a plain line is printed.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(5);
/// The length of the bar, in steps.
const STEPS: u64 = 1_000;

/// Progress display of a run.
pub(super) struct View {
    look: ViewStyle,
    budget: Budget,
    drawn: Instant,
    logged: Instant,
    stage: Stage,
    findings: BTreeMap<FaultKind, usize>,
    crashes: usize,
    /// What was found last, and when; a fault is worth more than what comes right after it.
    find: Option<(String, Instant, bool)>,
    at: RateSample,
    /// Calls and time when the rate was last taken, and the rate.
    rate: (u64, Instant, f64),
}

#[derive(Clone, Copy, Debug, Default)]
struct RateSample {
    calls: u64,
    used: f64,
    targets: usize,
    covered: usize,
}

enum ViewStyle {
    Quiet,
    Plain,
    Live {
        bar: ProgressBar,
        facts: ProgressBar,
        find: ProgressBar,
    },
}

impl View {
    /// A view as flags and terminal allow.
    pub(super) fn new(quiet: bool, color: bool, budget: Budget) -> Self {
        let now = Instant::now();
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let look = if quiet {
            ViewStyle::Quiet
        } else if std::io::stderr().is_terminal() && !is_dumb {
            live(color)
        } else {
            ViewStyle::Plain
        };
        Self {
            look,
            budget,
            drawn: now,
            logged: now,
            stage: Stage::Explore,
            findings: BTreeMap::new(),
            crashes: 0,
            find: None,
            at: RateSample::default(),
            rate: (0, now, 0.0),
        }
    }

    /// Shows a warning above what is drawn.
    pub(super) fn warn(&self, warning: &str) {
        log::line(warning);
        match &self.look {
            ViewStyle::Live { bar, .. } => bar.println(warning),
            ViewStyle::Quiet | ViewStyle::Plain => note(warning),
        }
    }

    /// Shows what happened.
    pub(super) fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::Stage(stage) => {
                self.stage = *stage;
                log::line(&format!("stage: {}", stage.word()));
            }
            Event::Fault { fault, .. } => {
                *self.findings.entry(fault.kind).or_default() += 1;
                let find = format!("{}: {}", fault.kind.code(), fault.detail);
                log::line(&format!("found {find}"));
                self.find = Some((find, Instant::now(), true));
            }
            Event::Crashed { calls, crash } => {
                self.crashes += 1;
                let back = if crash.is_restarted {
                    "restarted"
                } else {
                    "not restarted"
                };
                let exit_reason = &crash.exit_reason;
                log::line(&format!(
                    "the service crashed after {calls} calls ({exit_reason}); {back}"
                ));
            }
            Event::Covered { target, .. } => {
                self.cover(target);
                return;
            }
            Event::Kept { .. } => return,
            Event::Progress {
                calls,
                used,
                targets,
                covered,
            } => {
                self.at = RateSample {
                    calls: *calls,
                    used: *used,
                    targets: *targets,
                    covered: *covered,
                };
            }
        }
        if self.logged.elapsed() >= PROGRESS_INTERVAL {
            self.logged = Instant::now();
            self.measure();
            log::line(&self.plain());
        }
        let pause = match self.look {
            ViewStyle::Quiet => return,
            ViewStyle::Plain => PROGRESS_INTERVAL,
            ViewStyle::Live { .. } => REDRAW_INTERVAL,
        };
        if self.drawn.elapsed() >= pause {
            self.drawn = Instant::now();
            self.draw();
        }
    }

    /// A target was covered, which is shown unless a fault was found just now.
    fn cover(&mut self, target: &str) {
        let is_recent = |(_, when, is_fault): &(String, Instant, bool)| {
            let worth = if *is_fault {
                PROGRESS_INTERVAL
            } else {
                REDRAW_INTERVAL
            };
            when.elapsed() < worth
        };
        if !self.find.as_ref().is_some_and(is_recent) {
            self.find = Some((target.to_owned(), Instant::now(), false));
        }
    }

    fn draw(&mut self) {
        self.measure();
        let (left, facts) = (self.left(), self.facts());
        match &self.look {
            ViewStyle::Quiet => {}
            ViewStyle::Plain => note(&self.plain()),
            ViewStyle::Live {
                bar,
                facts: line,
                find,
            } => {
                bar.set_position((self.at.used.min(1.0) * STEPS as f64) as u64);
                bar.set_prefix(format!("{:8}", self.stage.word()));
                bar.set_message(left);
                line.set_message(facts);
                if let Some((found, ..)) = &self.find {
                    find.set_message(format!("latest: {}", one_line(found)));
                }
            }
        }
    }

    /// Where the run is, in a line.
    fn plain(&self) -> String {
        format!(
            "{:>3.0} %  {:8}  {}  {}",
            self.at.used.min(1.0) * 100.0,
            self.stage.word(),
            self.facts(),
            self.left()
        )
    }

    /// Takes the rate of the last moments, not of the whole run: that is what one wants to see change.
    fn measure(&mut self) {
        let (calls, since, _) = self.rate;
        let seconds = since.elapsed().as_secs_f64();
        if seconds >= 0.5 {
            let made = self.at.calls.saturating_sub(calls) as f64;
            self.rate = (self.at.calls, Instant::now(), made / seconds);
        }
    }

    fn left(&self) -> String {
        let left = match self.budget {
            Budget::Time(time) => time.mul_f64((1.0 - self.at.used).clamp(0.0, 1.0)),
            // At the pace of the last moments.
            Budget::Calls(most) if self.rate.2 > 0.0 => {
                let calls = (most as f64 * (1.0 - self.at.used)).max(0.0);
                Duration::try_from_secs_f64(calls / self.rate.2).unwrap_or_default()
            }
            Budget::Calls(_) => return String::new(),
        };
        let seconds = left.as_secs();
        format!("{}:{:02} left", seconds / 60, seconds % 60)
    }

    fn facts(&self) -> String {
        let RateSample {
            calls,
            targets,
            covered,
            ..
        } = self.at;
        let mut facts = format!(
            "{covered} of {targets} targets, {calls} calls, {:.0}/s, {}",
            self.rate.2,
            findings(&self.findings)
        );
        if self.crashes > 0 {
            facts.push_str(&format!(", crashed {} times", self.crashes));
        }
        facts
    }

    /// Takes the lines away, so that what is printed next is not mixed with them.
    pub(super) fn end(&self) {
        if let ViewStyle::Live { bar, facts, find } = &self.look {
            for line in [bar, facts, find] {
                line.finish_and_clear();
            }
        }
    }
}

/// A text without its line breaks, so that it takes one line of the view.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `3 findings (2 server-error, 1 timed-out)`, in the order of reports.
fn findings(found: &BTreeMap<FaultKind, usize>) -> String {
    let all: usize = found.values().sum();
    let kinds: Vec<String> = FaultKind::ALL
        .iter()
        .filter_map(|kind| Some(format!("{} {}", found.get(kind)?, kind.code())))
        .collect();
    match all {
        0 => "no findings".to_owned(),
        1 => format!("1 finding ({})", kinds.join(", ")),
        _ => format!("{all} findings ({})", kinds.join(", ")),
    }
}

fn live(color: bool) -> ViewStyle {
    // Lines that are too long are cut, and the bar shrinks first.
    let (bar_style, facts_style) = if color {
        (
            "{spinner:.cyan} {prefix:.bold} {wide_bar:.cyan/dim} {msg}",
            "  {wide_msg:.dim}",
        )
    } else {
        ("{spinner} {prefix} {wide_bar} {msg}", "  {wide_msg}")
    };
    let style = |template: &str| {
        ProgressStyle::with_template(template).map(|style| style.progress_chars("━╸─"))
    };
    let (Ok(bar_style), Ok(facts_style)) = (style(bar_style), style(facts_style)) else {
        return ViewStyle::Plain;
    };
    let lines = MultiProgress::with_draw_target(ProgressDrawTarget::stderr());
    let bar = lines.add(ProgressBar::new(STEPS).with_style(bar_style));
    let facts = lines.add(ProgressBar::new(STEPS).with_style(facts_style.clone()));
    let find = lines.add(ProgressBar::new(STEPS).with_style(facts_style));
    bar.enable_steady_tick(REDRAW_INTERVAL * 2);
    ViewStyle::Live { bar, facts, find }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_are_told_by_kind() {
        let mut found = BTreeMap::new();
        assert_eq!(findings(&found), "no findings");
        found.insert(FaultKind::ResponseMismatch, 1);
        assert_eq!(findings(&found), "1 finding (1 response-mismatch)");
        found.insert(FaultKind::ServerError, 2);
        assert_eq!(
            findings(&found),
            "3 findings (2 server-error, 1 response-mismatch)"
        );
    }
}
