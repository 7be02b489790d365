//! Query coverage rules of observed statements.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_sql::coverage::{CoverageOptions, QueryCriterion, targets};
use isobath_sql::query::{Query, Relations, distance, parse};
use isobath_sql::{DialectName, Schema};
use jiff::civil::DateTime;

/// A rule of a statement, with the values of one text of it.
#[derive(Clone, Debug)]
pub struct CoverageRule {
    /// What it is known by among the rules of its statement, whatever the values: the label of the rule, and a number where
    /// there are several.
    pub label: Arc<str>,
    /// What the rows must show.
    pub description: String,
    /// Returns a row where they do.
    pub query: Query,
}

/// How near the rows came to a rule when its statement was run.
#[derive(Clone, Debug)]
pub struct RuleDistance {
    /// The rule.
    pub rule: Arc<CoverageRule>,
    /// How far they were from it; zero when it is covered.
    pub distance: f64,
}

/// Coverage of a rule in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleReport {
    /// The label.
    pub label: String,
    /// What the rows must show, by the values of the nearest statement.
    pub description: String,
    /// How far the nearest rows were from it; zero when it is covered.
    pub nearest: f64,
}

/// Rules of one statement that are targets.
const MAX_RULES: usize = 40;
/// Texts whose rules are made; values make ever new texts.
const MAX_READINGS: u64 = 20_000;

/// The rules of all statements, and their outcome.
#[derive(Debug, Default)]
pub(super) struct CoverageRules {
    /// By shape of the statement, in the order in which rules were met.
    nearest: BTreeMap<Arc<str>, Vec<RuleReport>>,
    /// How many texts had their rules made.
    pub(super) read: u64,
}

impl CoverageRules {
    /// The rules of a text; none where they cannot be made, or enough texts were read.
    pub(super) fn of(
        &mut self,
        text: &str,
        schema: &Schema,
        dialect: DialectName,
    ) -> Arc<[Arc<CoverageRule>]> {
        if self.read >= MAX_READINGS {
            return Arc::default();
        }
        self.read += 1;
        let made = targets(
            text,
            schema,
            dialect,
            QueryCriterion::default(),
            CoverageOptions::default(),
        );
        let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
        let rules = made.unwrap_or_default().into_iter().filter_map(|target| {
            let label = target.label();
            let number = numbers.entry(label.clone()).or_default();
            *number += 1;
            let label = match *number {
                1 => label,
                number => format!("{label} {number}"),
            };
            Some(Arc::new(CoverageRule {
                label: label.into(),
                description: target.description.to_string(),
                query: parse(&target.sql, schema, dialect).ok()?,
            }))
        });
        rules.take(MAX_RULES).collect()
    }

    /// How near rows come to the rules of a statement.
    pub(super) fn measure(
        &mut self,
        shape: &Arc<str>,
        rules: &[Arc<CoverageRule>],
        dialect: DialectName,
        now: DateTime,
        rows: &dyn Relations,
    ) -> Vec<RuleDistance> {
        let known = self.nearest.entry(Arc::clone(shape)).or_default();
        let rule_distance = rules.iter().filter_map(|rule| {
            let far = distance(&rule.query, rows, &[], Some(now), dialect.dialect());
            let distance = far.ok()?;
            match known.iter_mut().find(|known| *known.label == *rule.label) {
                Some(known) if known.nearest <= distance => {}
                Some(known) => {
                    known.nearest = distance;
                    known.description.clone_from(&rule.description);
                }
                None => known.push(RuleReport {
                    label: rule.label.to_string(),
                    description: rule.description.clone(),
                    nearest: distance,
                }),
            }
            Some(RuleDistance {
                rule: Arc::clone(rule),
                distance,
            })
        });
        rule_distance.collect()
    }

    /// Coverage of the rules of a statement.
    pub(super) fn report(&self, shape: &str) -> Vec<RuleReport> {
        self.nearest.get(shape).cloned().unwrap_or_default()
    }
}
