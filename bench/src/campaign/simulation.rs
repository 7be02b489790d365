//! A queue at a thousand workers, as a simulation of events: jobs, workers that die, redelivery, messages.
//!
//! It has the rules of the product (three deliveries, redelivery after silence, a message to keep a job every third of
//! that time, checkpoints) and the times of measurements; see `docs/design/scale.md`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::process::ExitCode;

use fastrand::Rng;

/// What is simulated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Company {
    /// Workers.
    pub(crate) workers: usize,
    /// Jobs, with the mean time of each in seconds.
    pub(crate) jobs: [(usize, f64); 3],
    /// Hours between two deaths of a worker.
    pub(crate) hours_between_deaths: f64,
    /// Seconds of silence before a job is delivered again.
    pub(crate) redeliver_after: f64,
    /// Messages that a job takes besides those that keep it: submitted, taken, counted, restored, finished, collected.
    pub(crate) messages_per_job: f64,
}

/// Its result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Night {
    /// Seconds until the last job ended.
    pub(crate) seconds: f64,
    /// Jobs that ended with results.
    pub(crate) ended: usize,
    /// Jobs that ended without, after three deliveries.
    pub(crate) given_up: usize,
    /// Deliveries of jobs whose worker died.
    pub(crate) lost: usize,
    /// Share of the time of workers that went into results.
    pub(crate) busy: f64,
    /// Messages per second, on average.
    pub(crate) messages_per_second: f64,
}

/// Runs a night. Times of jobs are spread evenly from half to one and a half of their mean.
pub(crate) fn simulate(company: &Company, seed: u64) -> Night {
    let mut random = Rng::with_seed(seed);
    let mut jobs: Vec<(f64, u32)> = Vec::new();
    for (count, mean) in company.jobs {
        jobs.extend((0..count).map(|_| (mean * (0.5 + random.f64()), 0)));
    }
    // The longest first would be better; users list jobs in any order.
    random.shuffle(&mut jobs);
    let mut waiting: VecDeque<usize> = (0..jobs.len()).collect();
    let mut free = company.workers;
    // Times in milliseconds, so that they have an order; a job that ends, or is delivered again; or a worker that is back.
    let mut events: BinaryHeap<Reverse<(u64, usize, Event)>> = BinaryHeap::new();
    let mut night = Night::default();
    let (mut now, mut useful, mut messages) = (0.0_f64, 0.0, 0.0);
    let rate = 1.0 / (company.hours_between_deaths * 3600.0);
    loop {
        while free > 0 {
            let Some(job) = waiting.pop_front() else {
                break;
            };
            free -= 1;
            let (left, deliveries) = &mut jobs[job];
            *deliveries += 1;
            messages += company.messages_per_job;
            let death = -(1.0 - random.f64()).ln() / rate;
            let ran = left.min(death);
            // One message keeps a job every third of the time after which it would be delivered again.
            messages += ran / (company.redeliver_after / 3.0);
            useful += ran;
            let at = |seconds: f64| ((now + seconds) * 1000.0) as u64;
            if death < *left {
                // What was done by the last checkpoint need not be done again.
                *left -= (death - company.redeliver_after / 3.0).max(0.0);
                night.lost += 1;
                events.push(Reverse((
                    at(death + company.redeliver_after),
                    job,
                    Event::Redelivered,
                )));
                events.push(Reverse((at(death + 30.0), job, Event::WorkerIsBack)));
            } else {
                events.push(Reverse((at(*left), job, Event::Ended)));
            }
        }
        let Some(Reverse((time, job, event))) = events.pop() else {
            break;
        };
        now = time as f64 / 1000.0;
        match event {
            Event::Ended => {
                free += 1;
                night.ended += 1;
                night.seconds = now;
            }
            Event::WorkerIsBack => free += 1,
            Event::Redelivered if jobs[job].1 >= 3 => {
                night.given_up += 1;
                night.seconds = now;
            }
            Event::Redelivered => waiting.push_back(job),
        }
    }
    night.busy = useful / (night.seconds * company.workers as f64);
    night.messages_per_second = messages / night.seconds;
    night
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Ended,
    WorkerIsBack,
    Redelivered,
}

/// Prints the night of a company with 1,000 services, 100,000 queries (in jobs of 50) and 2,000 schemas.
#[expect(clippy::print_stdout, reason = "a bench prints its table")]
pub(crate) fn table() -> ExitCode {
    println!(
        "| Workers | A worker dies every | Hours | Busy | Lost deliveries | Jobs without results | Messages per second |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for workers in [100, 300, 1_000] {
        for hours in [1.0, 24.0, 240.0] {
            let company = Company {
                workers,
                jobs: [(1_000, 3600.0), (2_000, 30.0), (2_000, 20.0)],
                hours_between_deaths: hours,
                redeliver_after: 30.0,
                messages_per_job: 20.0,
            };
            let night = simulate(&company, 1);
            println!(
                "| {workers} | {hours} h | {:.1} | {:.0} % | {} | {} | {:.0} |",
                night.seconds / 3600.0,
                100.0 * night.busy,
                night.lost,
                night.given_up,
                night.messages_per_second
            );
        }
    }
    ExitCode::SUCCESS
}

/// Targets of a service, found by chance: some by one call in a hundred, some by one in a million.
const TARGETS: usize = 2_000;
const CALLS_PER_SECOND: f64 = 50.0;
/// Calls of a candidate that came from another island.
const CALLS_PER_IMPORT: f64 = 3.0;
/// Seconds from one island to the others.
const DELAY: usize = 2;

/// Seconds until so many islands together have covered `wanted` targets, or the most within a number of seconds.
pub(crate) fn islands(n_islands: usize, wanted: usize, most: usize, seed: u64) -> (usize, usize) {
    let mut random = Rng::with_seed(seed);
    let chances: Vec<f64> = (0..TARGETS)
        .map(|_| 10_f64.powf(-2.0 - 4.0 * random.f64()))
        .collect();
    let mut has = vec![vec![false; TARGETS]; n_islands];
    let (mut is_covered, mut n_covered) = (vec![false; TARGETS], 0);
    // What each has still to run, with the second from which it is there.
    let mut imports: Vec<VecDeque<(usize, usize)>> = vec![VecDeque::new(); n_islands];
    for second in 1..=most {
        let mut found = Vec::new();
        for island in 0..n_islands {
            let mut calls = CALLS_PER_SECOND;
            // At most one candidate in eight comes from others.
            while calls > 0.875 * CALLS_PER_SECOND
                && let Some((target, _)) = imports[island].front().filter(|(_, at)| *at <= second)
            {
                let target = *target;
                imports[island].pop_front();
                // What is covered here need not be run again.
                if !std::mem::replace(&mut has[island][target], true) {
                    calls -= CALLS_PER_IMPORT;
                }
            }
            for (target, chance) in chances.iter().enumerate() {
                if !has[island][target] && random.f64() > (1.0 - chance).powf(calls) {
                    has[island][target] = true;
                    n_covered += usize::from(!std::mem::replace(&mut is_covered[target], true));
                    found.push((island, target));
                }
            }
        }
        for (from, target) in found {
            for (island, queue) in imports.iter_mut().enumerate() {
                if island != from {
                    queue.push_back((target, second + DELAY));
                }
            }
        }
        if n_covered >= wanted {
            return (second, n_covered);
        }
    }
    (most, n_covered)
}

/// Prints how much faster islands reach what one search covers in an hour, and what a thousand workers ask a server.
#[expect(clippy::print_stdout, reason = "a bench prints its table")]
pub(crate) fn island_table() -> ExitCode {
    println!("| Islands | Seconds | Times as fast | Requests per second of 1,000 workers |");
    println!("| --- | --- | --- | --- |");
    let (hour, wanted) = islands(1, TARGETS, 3600, 1);
    for n_islands in [2, 4, 8, 16, 32, 64] {
        let (seconds, _) = islands(n_islands, wanted, hour, 2);
        let faster = hour as f64 / seconds as f64;
        // Each asks all others once a second.
        let requests = 1_000 * (n_islands - 1);
        println!("| {n_islands} | {seconds} | {faster:.1} | {requests} |");
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn islands_are_faster_the_more_there_are_but_never_more_than_their_number() {
        let (most, wanted) = islands(1, TARGETS, 600, 1);
        let (two, _) = islands(2, wanted, most, 2);
        let (eight, _) = islands(8, wanted, most, 2);
        assert!(eight < two && two < most, "{eight} {two} {most}");
        assert!(eight * 9 > most, "{eight} {most}");
    }

    fn company(hours: f64) -> Company {
        Company {
            workers: 10,
            jobs: [(100, 600.0), (50, 30.0), (0, 0.0)],
            hours_between_deaths: hours,
            redeliver_after: 30.0,
            messages_per_job: 20.0,
        }
    }

    #[test]
    fn every_job_ends_and_deaths_only_cost_time() {
        let calm = simulate(&company(1e9), 1);
        assert_eq!((calm.ended, calm.given_up, calm.lost), (150, 0, 0));
        assert!(calm.busy > 0.9, "{calm:?}");
        let rough = simulate(&company(1.0), 1);
        assert_eq!(rough.ended + rough.given_up, 150);
        assert!(rough.lost > 0 && rough.seconds > calm.seconds, "{rough:?}");
    }
}
