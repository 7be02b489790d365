//! Runs a search to its end, with one worker or several.

use std::sync::mpsc;
use std::thread;

use crate::budget::StopReason;
use crate::problem::Problem;
use crate::search::{Ask, Search, Trial};

/// Evaluates one candidate after the other until the search ends.
///
/// # Errors
///
/// The first error of `evaluate`; the search then still has what was found before.
pub fn run<P: Problem, E>(
    search: &mut Search<P>,
    mut evaluate: impl FnMut(&P::Candidate) -> Result<P::Answer, E>,
) -> Result<StopReason, E> {
    loop {
        match search.ask() {
            Ask::Evaluate(trial) => match evaluate(&trial.candidate) {
                Ok(answer) => search.tell(trial.number, answer),
                Err(error) => {
                    search.abandon(trial.number);
                    return Err(error);
                }
            },
            Ask::Done(stop_reason) => return Ok(stop_reason),
            Ask::Wait => unreachable!("every candidate is answered before the next is asked for"),
        }
    }
}

/// Evaluates as many candidates at once as there are workers, each in a thread of its own.
///
/// Each candidate goes to the worker that was given the least so far, by the sizes of candidates. So a worker may have a state
/// of its own, as an instance of a service has: which one runs a candidate does not depend on who was quicker.
///
/// For the workers to be busy, the search must be configured with at least as
/// many candidates in flight; four times as many keep them busy also when some
/// evaluations take longer than others. What is found depends on that number
/// and on the answers, not on time.
///
/// When the search ends, evaluations that have begun are brought to their end
/// and count; a worker that should not make an interruption wait watches the
/// same flag.
///
/// # Errors
///
/// The first error of a worker; the search then still has what was found before.
pub fn run_with_workers<P, W, E>(search: &mut Search<P>, workers: Vec<W>) -> Result<StopReason, E>
where
    P: Problem,
    P::Candidate: Send + Sync,
    P::Answer: Send,
    W: FnMut(&P::Candidate) -> Result<P::Answer, E> + Send,
    E: Send,
{
    thread::scope(|scope| {
        let (answers, inbox) = mpsc::channel();
        let mut queues = Vec::new();
        for mut worker in workers {
            let (queue, trials) = mpsc::channel::<Trial<P::Candidate>>();
            queues.push((0_u64, queue));
            let answers = answers.clone();
            scope.spawn(move || {
                for trial in trials {
                    let answer = worker(&trial.candidate);
                    if answers.send((trial.number, answer)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(answers);
        let mut n_running = 0_usize;
        let mut ended = None;
        loop {
            if ended.is_none() {
                match search.ask() {
                    Ask::Evaluate(trial) => {
                        // The first of those that were given the least.
                        let Some((given, queue)) =
                            queues.iter_mut().min_by_key(|(given, _)| *given)
                        else {
                            search.abandon(trial.number);
                            break;
                        };
                        n_running += 1;
                        *given += trial.size.max(1) as u64;
                        // Fails only when the worker panicked, which ends the run anyway.
                        let _ = queue.send(trial);
                        continue;
                    }
                    Ask::Wait => {}
                    Ask::Done(stop_reason) => ended = Some(Ok(stop_reason)),
                }
            }
            if n_running == 0 {
                break;
            }
            let Ok((number, answer)) = inbox.recv() else {
                break;
            };
            n_running -= 1;
            match answer {
                Ok(answer) => search.tell(number, answer),
                Err(error) => {
                    search.abandon(number);
                    ended = Some(ended.and_then(Result::err).map_or(Err(error), Err));
                }
            }
        }
        // Without workers nothing can be evaluated; the same holds for a budget that is used up.
        ended.unwrap_or(Ok(StopReason::Budget))
    })
}
