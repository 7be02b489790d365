//! Targets over time as inline SVG.

use std::fmt::Write;

use super::model::{Progress, RestReport};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 56.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 40.0;
/// More points than pixels show nothing.
const POINTS: usize = 720;

/// Covered targets over calls, or nothing where there is too little to draw.
pub(super) fn progress(report: &RestReport) -> Option<String> {
    let points = thinned(&report.progress);
    let last = points.last()?;
    if points.len() < 2 || last.calls == 0 {
        return None;
    }
    let most_calls = points.iter().map(|point| point.calls).max()?.max(1);
    let most = points.iter().map(|point| point.covered).max()?.max(1);
    let top = rounded_up(most);
    let x = |calls: u64| LEFT + (WIDTH - LEFT - RIGHT) * calls as f64 / most_calls as f64;
    let y = |covered: u64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * covered as f64 / top as f64;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg class=\"plot\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         aria-labelledby=\"plot-title plot-text\">\n<title id=\"plot-title\">Targets over time</title>\n\
         <desc id=\"plot-text\">{} of {} targets are covered after {} calls and {:.1} seconds.</desc>\n",
        last.covered, report.targets, last.calls, last.seconds
    );
    for part in 0..=4 {
        let value = top * part / 4;
        let at = y(value);
        let _ = writeln!(
            out,
            "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\
             <text class=\"axis\" x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0
        );
    }
    for part in 0..=4 {
        let calls = most_calls * part / 4;
        let anchor = match part {
            0 => "start",
            4 => "end",
            _ => "middle",
        };
        let _ = writeln!(
            out,
            "<text class=\"axis\" x=\"{:.1}\" y=\"{}\" text-anchor=\"{anchor}\">{calls}{}</text>",
            x(calls),
            HEIGHT - BOTTOM + 20.0,
            if part == 4 { " calls" } else { "" }
        );
    }
    // Between two points the number stays what it was: a step, not a slope.
    let mut path = String::new();
    let mut found = 0;
    let mut marks = String::new();
    for (idx, point) in points.iter().enumerate() {
        let (px, py) = (x(point.calls), y(point.covered));
        let _ = if idx == 0 {
            write!(path, "M{px:.1} {py:.1}")
        } else {
            write!(path, "H{px:.1}V{py:.1}")
        };
        if point.faults > found {
            let n = point.faults;
            let _ = writeln!(
                marks,
                "<circle class=\"mark\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"4\"><title>{n} {} after {} calls</title></circle>",
                if n == 1 { "fault" } else { "faults" },
                point.calls
            );
            found = n;
        }
    }
    let _ = write!(out, "<path class=\"line\" d=\"{path}\"/>\n{marks}</svg>\n");
    Some(out)
}

fn thinned(points: &[Progress]) -> Vec<Progress> {
    if points.len() <= POINTS {
        return points.to_vec();
    }
    let step = points.len().div_ceil(POINTS);
    let mut kept: Vec<Progress> = points.iter().copied().step_by(step).collect();
    if let Some(last) = points.last()
        && kept.last() != Some(last)
    {
        kept.push(*last);
    }
    kept
}

/// The next number that four equal parts read well with.
fn rounded_up(n: u64) -> u64 {
    let mut unit = 4;
    loop {
        for factor in [1, 2, 5] {
            let top = unit * factor;
            if top >= n {
                return top;
            }
        }
        unit *= 10;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_at_numbers_that_read_well() {
        let ends = [1, 4, 5, 9, 21, 41, 250, 401].map(rounded_up);
        assert_eq!(ends, [4, 4, 8, 20, 40, 80, 400, 800]);
    }

    #[test]
    fn a_run_without_calls_has_no_plot() {
        assert_eq!(progress(&RestReport::default()), None);
    }

    #[test]
    fn many_points_are_thinned_and_the_last_one_stays() {
        let points: Vec<Progress> = (0..10_000)
            .map(|calls| Progress {
                calls,
                ..Progress::default()
            })
            .collect();
        let kept = thinned(&points);
        assert!(kept.len() <= POINTS + 1, "{}", kept.len());
        assert_eq!(kept.last(), points.last());
    }
}
