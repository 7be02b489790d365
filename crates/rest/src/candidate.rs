//! A candidate: database rows, mock responses and a sequence of actions, each with its input and
//! user.

use std::collections::BTreeSet;

use isobath_genes::{Gene, NodeRef, Reference, RuleViolation};
use isobath_rows::set::{self, NewRow};

use crate::action::Action;
use crate::exchange::Exchange;
use crate::external::MockResponse;

/// Shorter texts than this are met by accident.
const RECOGNIZABLE: usize = 4;

/// Database rows, mock responses, and a sequence of calls.
///
/// Invariant: the ids of rows and steps are unique; references lead to rows or to earlier steps.
#[derive(Clone, Debug, Default)]
pub struct Candidate {
    /// The rows that are inserted first, in this order.
    pub rows: Vec<NewRow>,
    /// Mock responses of external services while it runs, in order per request.
    pub mock_responses: Vec<MockResponse>,
    /// Its number among the candidates of the run.
    pub number: u64,
    /// The steps, in the order in which they are made.
    pub steps: Vec<Step>,
}

/// One call.
#[derive(Clone, Debug)]
pub struct Step {
    /// What later steps call it by.
    pub id: u32,
    /// What is called.
    pub kind: StepKind,
    /// On whose behalf; `None` is anonymous.
    pub user: Option<usize>,
}

/// The kind of a step.
#[derive(Clone, Debug)]
pub enum StepKind {
    /// An operation of the API.
    Call {
        /// Which, and with what.
        action: Action,
        /// The rule that the input breaks on purpose.
        breach: Option<RuleViolation>,
    },
    /// A GET of the Location that an earlier step was answered with.
    Follow(u32),
}

impl StepKind {
    /// A call that means to break no rule.
    #[must_use]
    pub fn call(operation: usize, gene: Gene) -> Self {
        Self::Call {
            action: Action {
                operation,
                gene,
                undocumented: Vec::new(),
            },
            breach: None,
        }
    }
}

impl Step {
    /// The operation that is called, if it is one.
    #[must_use]
    pub fn operation(&self) -> Option<usize> {
        match &self.kind {
            StepKind::Call { action, .. } => Some(action.operation),
            StepKind::Follow(_) => None,
        }
    }

    /// The input, if an operation is called.
    #[must_use]
    pub fn input(&self) -> Option<&Gene> {
        match &self.kind {
            StepKind::Call { action, .. } => Some(&action.gene),
            StepKind::Follow(_) => None,
        }
    }

    /// Whether its path names something that an earlier step made or found.
    #[must_use]
    pub fn is_about_earlier(&self) -> bool {
        self.input().is_some_and(|input| {
            let references = input.references();
            references
                .iter()
                .any(|(pointer, _)| pointer.starts_with("/path/"))
        })
    }

    /// The steps that this one refers to.
    pub(crate) fn sources(&self) -> Vec<u32> {
        match &self.kind {
            StepKind::Call { action, .. } => action
                .gene
                .references()
                .into_iter()
                .map(|(_, reference)| reference.source)
                .collect(),
            StepKind::Follow(source) => vec![*source],
        }
    }
}

impl Candidate {
    /// The id of the next step.
    #[must_use]
    pub fn next_id(&self) -> u32 {
        let steps = self.steps.iter().map(|step| step.id + 1);
        let rows = self.rows.iter().map(|row| row.id + 1);
        steps.chain(rows).max().unwrap_or(0)
    }

    /// Appends a step, and returns its id.
    pub fn push(&mut self, kind: StepKind, user: Option<usize>) -> u32 {
        let id = self.next_id();
        self.steps.push(Step { id, kind, user });
        id
    }

    /// The candidate without one step; what referred to it uses its own values.
    ///
    /// `None` when there is no such step or no other, or when a later step cannot do without it.
    #[must_use]
    pub fn without(&self, at: usize) -> Option<Self> {
        let removed = self.steps.get(at)?.id;
        if self.steps.len() < 2 {
            return None;
        }
        let mut copy = self.clone();
        copy.steps.remove(at);
        for step in &mut copy.steps {
            match &mut step.kind {
                StepKind::Call { action, .. } => {
                    action.gene.unbind(|reference| reference.source != removed)
                }
                StepKind::Follow(source) if *source == removed => return None,
                StepKind::Follow(_) => {}
            }
        }
        Some(copy)
    }

    /// The candidate without one row and those that refer to it; what referred to them uses its own values.
    #[must_use]
    pub fn without_row(&self, at: usize) -> Option<Self> {
        let mut copy = self.clone();
        copy.rows = set::without(&self.rows, self.rows.get(at)?.id)?;
        let gone: Vec<u32> = self
            .rows
            .iter()
            .map(|row| row.id)
            .filter(|id| copy.rows.iter().all(|row| row.id != *id))
            .collect();
        for step in &mut copy.steps {
            if let StepKind::Call { action, .. } = &mut step.kind {
                action
                    .gene
                    .unbind(|reference| !gone.contains(&reference.source));
            }
        }
        Some(copy)
    }

    /// How many parts it has: steps, rows, and answers.
    #[must_use]
    pub fn size(&self) -> usize {
        self.steps.len() + self.rows.len() + self.mock_responses.len()
    }

    /// The candidate without one mock response.
    #[must_use]
    pub fn without_mock_response(&self, at: usize) -> Option<Self> {
        self.mock_responses.get(at)?;
        let mut copy = self.clone();
        copy.mock_responses.remove(at);
        Some(copy)
    }

    /// Drops mock responses that were not used in these exchanges.
    pub fn retain_used_mock_responses<'a>(
        &mut self,
        exchanges: impl Iterator<Item = &'a Exchange>,
    ) {
        let calls = exchanges.flat_map(|exchange| &exchange.trace.outgoing);
        let used: BTreeSet<usize> = calls.filter_map(|call| call.answer).collect();
        let mut at = 0..;
        self.mock_responses
            .retain(|_| at.next().is_some_and(|at| used.contains(&at)));
    }

    /// The candidate without one of its parts, the steps before the rows, and these before the responses.
    #[must_use]
    pub fn without_part(&self, part: usize) -> Option<Self> {
        match part.checked_sub(self.steps.len()) {
            None => self.without(part),
            Some(row) if row < self.rows.len() => self.without_row(row),
            Some(rest) => self.without_mock_response(rest - self.rows.len()),
        }
    }

    /// The candidate with references to rows and these ones only; others become the values that were sent in their place.
    #[must_use]
    pub fn bound_to(&self, is_kept: impl Fn(&Reference) -> bool) -> Self {
        let mut copy = self.clone();
        let is_row = |id: u32| self.rows.iter().any(|row| row.id == id);
        for step in &mut copy.steps {
            if let StepKind::Call { action, .. } = &mut step.kind {
                action
                    .gene
                    .unbind(|reference| is_row(reference.source) || is_kept(reference));
            }
        }
        copy
    }

    /// The texts among its inputs that are long enough to be recognized inside a service.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = Vec::new();
        let mut add = |place: NodeRef<'_>| {
            if let Some(text) = place.text()
                && text.len() >= RECOGNIZABLE
                && !texts.contains(&text)
            {
                texts.push(text);
            }
        };
        for step in &self.steps {
            if let StepKind::Call { action, .. } = &step.kind {
                action.gene.walk(&mut add);
                for extra in &action.undocumented {
                    extra.gene.walk(&mut add);
                }
            }
        }
        for answer in &self.mock_responses {
            if let Some(body) = &answer.body {
                body.walk(&mut add);
            }
        }
        texts
    }

    /// The same rows and answers with other steps.
    fn with(&self, mut steps: Vec<Step>) -> Self {
        steps.shrink_to_fit();
        Self {
            rows: self.rows.clone(),
            mock_responses: self.mock_responses.clone(),
            number: 0,
            steps,
        }
    }

    /// The first `n` steps.
    #[must_use]
    pub fn prefix(&self, n: usize) -> Self {
        self.with(self.steps.iter().take(n).cloned().collect())
    }

    /// The independent parts (without references between them), in the order of their first steps.
    #[must_use]
    pub fn independent_parts(&self) -> Vec<Self> {
        // Per thread, the ids of its steps.
        let mut independent_parts: Vec<Vec<u32>> = Vec::new();
        for step in &self.steps {
            let sources = step.sources();
            let own = |thread: &Vec<u32>| sources.iter().any(|source| thread.contains(source));
            let mut joined: Vec<u32> = vec![step.id];
            let mut place = independent_parts.len();
            let mut index = 0;
            while let Some(part) = independent_parts.get(index) {
                if own(part) {
                    joined.extend(independent_parts.remove(index));
                    place = place.min(index);
                } else {
                    index += 1;
                }
            }
            independent_parts.insert(place.min(independent_parts.len()), joined);
        }
        let part = |ids: &Vec<u32>| {
            let steps = self.steps.iter().filter(|step| ids.contains(&step.id));
            self.with(steps.cloned().collect())
        };
        independent_parts.iter().map(part).collect()
    }

    /// What the step at `at` needs: itself and the steps that it refers to, directly or not.
    #[must_use]
    pub fn slice(&self, at: usize) -> Self {
        let mut wanted: Vec<u32> = Vec::new();
        let mut steps = Vec::new();
        for (index, step) in self.steps.iter().enumerate().take(at + 1).rev() {
            if index == at || wanted.contains(&step.id) {
                wanted.extend(step.sources());
                steps.push(step.clone());
            }
        }
        steps.reverse();
        self.with(steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn independent_parts_share_no_references() {
        let mut candidate = Candidate::default();
        for kind in [7, 0, 8, 2, 0].map(StepKind::Follow) {
            candidate.push(kind, None);
        }
        let ids: Vec<Vec<u32>> = candidate
            .independent_parts()
            .iter()
            .map(|thread| thread.steps.iter().map(|step| step.id).collect())
            .collect();
        assert_eq!(ids, [vec![0, 1, 4], vec![2, 3]]);
    }
}
