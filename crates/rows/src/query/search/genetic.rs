//! The paper's genetic algorithm, with its parameters.

use super::operators::CandidateFactory;
use crate::query::candidate::Candidate;

/// How many candidates live at a time.
const POPULATION: usize = 50;
/// How many compete to become a parent.
const TOURNAMENT: usize = 4;
/// How often two parents exchange tables.
const CROSSOVER: f64 = 0.75;
/// How often a candidate of the previous target's population is taken over.
const CLONING: f64 = 0.6;

/// Candidates that outlive the target that they were bred for.
#[derive(Debug, Default)]
pub(in crate::query) struct Population {
    members: Vec<Candidate>,
}

impl Population {
    /// Breeds candidates until `distance` is zero or the budget is spent.
    pub(in crate::query) fn evolve(
        &mut self,
        factory: &mut CandidateFactory<'_, '_>,
        budget: u64,
        distance: &mut dyn FnMut(&Candidate) -> f64,
    ) -> (Option<Candidate>, u64) {
        let mut spent = 0;
        let mut living: Vec<(f64, Candidate)> = Vec::with_capacity(2 * POPULATION);
        let previous = std::mem::take(&mut self.members);
        for index in 0..POPULATION {
            let candidate = match previous.get(index) {
                Some(old) if factory.rng.f64() < CLONING => repaired(factory, old),
                _ => factory.sample(),
            };
            if spent == budget {
                break;
            }
            spent += 1;
            let score = distance(&candidate);
            living.push((score, candidate));
        }
        while spent < budget && living.iter().all(|(score, _)| *score > 0.0) {
            let mut offspring = Vec::with_capacity(POPULATION);
            for _ in 0..10 * POPULATION {
                if offspring.len() >= POPULATION || spent >= budget {
                    break;
                }
                let (a, b) = (chosen(factory, &living), chosen(factory, &living));
                let (mut a, mut b) = if factory.rng.f64() < CROSSOVER {
                    factory.cross(a, b)
                } else {
                    (a.clone(), b.clone())
                };
                for child in [&mut a, &mut b] {
                    // A child that changed nothing is its parent.
                    if factory.mutate(child) && spent < budget {
                        spent += 1;
                        let score = distance(child);
                        offspring.push((score, std::mem::take(child)));
                    }
                }
            }
            if offspring.is_empty() {
                // There is nothing to change.
                break;
            }
            living.append(&mut offspring);
            living.sort_by(|a, b| a.0.total_cmp(&b.0));
            living.truncate(POPULATION);
        }
        let best = living
            .iter()
            .find(|(score, _)| *score == 0.0)
            .map(|(_, candidate)| candidate.clone());
        self.members = living.into_iter().map(|(_, candidate)| candidate).collect();
        (best, spent)
    }
}

fn chosen<'l>(
    factory: &mut CandidateFactory<'_, '_>,
    living: &'l [(f64, Candidate)],
) -> &'l Candidate {
    let mut best = &living[factory.rng.usize(..living.len())];
    for _ in 1..TOURNAMENT {
        let other = &living[factory.rng.usize(..living.len())];
        if other.0 < best.0 {
            best = other;
        }
    }
    &best.1
}

/// A candidate of another target, with the tables and parameters of this one.
fn repaired(factory: &mut CandidateFactory<'_, '_>, old: &Candidate) -> Candidate {
    let mut candidate = factory.sample();
    for (table, _) in &factory.space.tables {
        if let Some(rows) = old.rows.get(table) {
            candidate.rows.insert(*table, rows.clone());
        }
    }
    for (number, _) in &factory.space.parameters {
        if let Some(value) = old.parameters.get(*number) {
            candidate.bind(*number, value.clone());
        }
    }
    candidate
}
