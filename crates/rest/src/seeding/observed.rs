//! Observed SQL statements, and the distance of the rows to matching them.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_exec::driver::Event;
use isobath_sql::query::{
    ColumnComparison, Relations, TargetRows, distance, evaluate_at, shape, target_rows,
};
use isobath_sql::{DialectName, Schema};
use jiff::civil::DateTime;

use super::rules::{CoverageRule, CoverageRules, RuleDistance, RuleReport};
use super::substitution::{RowSubstitution, substitutions};

/// An observed statement that reads rows.
#[derive(Clone, Debug)]
pub struct ObservedQuery {
    /// The text, with its values.
    pub text: Arc<str>,
    /// The text without its values; what it is known by.
    pub shape: Arc<str>,
    /// What it looked for; `None` where we cannot evaluate it.
    pub target_rows: Option<Arc<TargetRows>>,
    /// Its constants, as texts.
    pub constants: Arc<[String]>,
    /// Whether it found something.
    pub found: bool,
    /// How far it was from finding something, over the rows that were there afterwards; `None` where we cannot tell.
    pub distance: Option<f64>,
    /// How far it was from finding nothing.
    pub to_none: Option<f64>,
    /// How near the rows that were there came to its coverage rules, where these are looked at.
    pub rules: Vec<RuleDistance>,
    /// Where it found nothing: what rows that are there have in place of its constants.
    pub(super) substitutions: Vec<RowSubstitution>,
}

/// A statement that looked for rows, and its outcome in a run.
#[derive(Clone, Debug, PartialEq)]
pub struct StatementReport {
    /// The text without its values.
    pub shape: String,
    /// One text of it.
    pub example: String,
    /// How often it was run.
    pub times: u64,
    /// How often it found something.
    pub found: u64,
    /// Its coverage rules; empty where these are not looked at, or there are none.
    pub rules: Vec<RuleReport>,
}

impl StatementReport {
    /// Adds the outcome of the same statement in another instance of the service.
    pub(super) fn merge(&mut self, other: Self) {
        self.times += other.times;
        self.found += other.found;
        for rule in other.rules {
            match self
                .rules
                .iter_mut()
                .find(|known| known.label == rule.label)
            {
                Some(known) if known.nearest <= rule.nearest => {}
                Some(known) => *known = rule,
                None => self.rules.push(rule),
            }
        }
    }
}

/// What statements are read by.
#[derive(Clone, Copy)]
pub(super) struct StatementContext<'a> {
    pub(super) schema: &'a Schema,
    pub(super) dialect: DialectName,
    pub(super) now: DateTime,
    /// Whether the coverage rules of statements are looked at.
    pub(super) rules: bool,
}

/// An unsupported statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnsupportedStatement {
    /// The text without its values.
    pub shape: Arc<str>,
    /// An example of it.
    pub text: String,
    /// Why not.
    pub why: String,
    /// How often it was met.
    pub times: u64,
}

/// Statements that were met, read once each.
#[derive(Debug, Default)]
pub struct Statements {
    /// By text; emptied when it is full, because values make ever new texts.
    known: BTreeMap<String, ParsedStatement>,
    /// By shape.
    unsupported: BTreeMap<Arc<str>, UnsupportedStatement>,
    shapes: BTreeMap<String, Arc<str>>,
    /// By shape: a text, how often it was run, and how often it found something.
    tallies: BTreeMap<Arc<str>, (Arc<str>, u64, u64)>,
    rules: CoverageRules,
    /// How many statements were looked at, and how many of them were read anew.
    pub rule_distance: u64,
    /// How many texts were parsed.
    pub read: u64,
}

#[derive(Clone, Debug)]
struct ParsedStatement {
    text: Arc<str>,
    shape: Arc<str>,
    constants: Arc<[String]>,
    target_rows: Option<Arc<TargetRows>>,
    compared: Arc<[ColumnComparison]>,
    /// Computed on first use.
    rules: Option<Arc<[Arc<CoverageRule>]>>,
}

/// Texts that are kept.
const MAX_KNOWN: usize = 5_000;
/// Maximum number of distinct statements.
const MAX_SHAPES: usize = 2_000;
/// Maximum length of parsed statements.
const LONGEST: usize = 20_000;

impl Statements {
    /// What a statement looked for; `None` when it looked for nothing, or was refused, or found what we cannot evaluate.
    ///
    /// `rows` are those at the end of the candidate, `then` those when it was run.
    pub(super) fn observe(
        &mut self,
        event: &Event,
        setting: &StatementContext<'_>,
        rows: &dyn Relations,
        then: &dyn Relations,
    ) -> Option<ObservedQuery> {
        let Event::Statement {
            text,
            rows: n_rows,
            failure: None,
            ..
        } = event
        else {
            return None;
        };
        if !is_row_query(text) || text.len() > LONGEST {
            return None;
        }
        self.rule_distance += 1;
        let known = self.known(text, setting.schema, setting.dialect)?;
        let mut observed = self.judged(known, *n_rows, setting, rows);
        let tally = self.tallies.entry(Arc::clone(&observed.shape));
        let (_, times, found) = tally.or_insert_with(|| (Arc::clone(&observed.text), 0, 0));
        *times += 1;
        *found += u64::from(observed.found);
        if setting.rules && observed.target_rows.is_some() {
            let rules = self.rules_of(&observed.text, setting);
            let StatementContext { dialect, now, .. } = *setting;
            observed.rules = self
                .rules
                .measure(&observed.shape, &rules, dialect, now, then);
        }
        (observed.target_rows.is_some() || !observed.found).then_some(observed)
    }

    fn judged(
        &mut self,
        known: ParsedStatement,
        n_rows: u64,
        setting: &StatementContext<'_>,
        rows: &dyn Relations,
    ) -> ObservedQuery {
        let mut observed = ObservedQuery {
            text: known.text,
            shape: known.shape,
            target_rows: known.target_rows,
            constants: known.constants,
            found: n_rows > 0,
            distance: None,
            to_none: None,
            rules: Vec::new(),
            substitutions: Vec::new(),
        };
        let Some(target_rows) = observed.target_rows.clone() else {
            self.count(&observed.shape);
            return observed;
        };
        let (now, dialect) = (Some(setting.now), setting.dialect.dialect());
        if observed.found && !target_rows.always_returns_row {
            observed.distance = Some(0.0);
            return observed;
        }
        match distance(&target_rows.query, rows, &[], now, dialect) {
            Ok(far) if target_rows.always_returns_row => {
                observed.found = far == 0.0;
                observed.distance = Some(far);
            }
            // What is there now was not there then: as near as can be, and not there.
            Ok(far) => observed.distance = Some(far.max(f64::MIN_POSITIVE)),
            Err(stop) => {
                let why = stop.to_string();
                self.unsupported(&observed.shape, &observed.text, why);
                observed.target_rows = None;
                return observed;
            }
        }
        if observed.found {
            let evaluated = evaluate_at(&target_rows.query, rows, &[], now, dialect);
            observed.to_none = evaluated.ok().map(|evaluated| evaluated.to_empty);
        } else {
            observed.substitutions = substitutions(&known.compared, rows);
        }
        observed
    }

    /// The coverage rules of a text.
    fn rules_of(&mut self, text: &str, setting: &StatementContext<'_>) -> Arc<[Arc<CoverageRule>]> {
        if let Some(rules) = self.known.get(text).and_then(|known| known.rules.clone()) {
            return rules;
        }
        let rules = self.rules.of(text, setting.schema, setting.dialect);
        if let Some(known) = self.known.get_mut(text) {
            known.rules = Some(Arc::clone(&rules));
        }
        rules
    }

    /// Reports statements by shape, and the number of texts with coverage rules.
    pub(super) fn report(&self) -> (Vec<StatementReport>, u64) {
        let statements = self.tallies.iter().map(|(shape, (text, times, found))| {
            let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            StatementReport {
                shape: one_line(shape),
                example: one_line(text),
                times: *times,
                found: *found,
                rules: self.rules.report(shape),
            }
        });
        (statements.collect(), self.rules.read)
    }

    /// Statements that we cannot evaluate, by shape.
    pub fn unsupported_statements(&self) -> impl Iterator<Item = &UnsupportedStatement> {
        self.unsupported.values()
    }

    /// How many shapes of statements were met.
    #[must_use]
    pub fn n_shapes(&self) -> usize {
        self.shapes.len()
    }

    fn known(
        &mut self,
        text: &str,
        schema: &Schema,
        dialect: DialectName,
    ) -> Option<ParsedStatement> {
        if let Some(known) = self.known.get(text) {
            return Some(known.clone());
        }
        let found = shape(text, dialect);
        let shape = match self.shapes.get(&found.text) {
            Some(shape) => Arc::clone(shape),
            None if self.shapes.len() >= MAX_SHAPES => return None,
            None => {
                let shape: Arc<str> = found.text.as_str().into();
                self.shapes.insert(found.text, Arc::clone(&shape));
                shape
            }
        };
        self.read += 1;
        let target_rows = match target_rows(text, schema, dialect) {
            Ok(None) => return None,
            Ok(Some(target_rows)) => Some(Arc::new(target_rows)),
            Err(error) => {
                self.unsupported(&shape, text, error.to_string());
                None
            }
        };
        let compared = target_rows
            .as_ref()
            .map(|target_rows| target_rows.query.column_comparisons());
        let known = ParsedStatement {
            text: text.into(),
            compared: compared.unwrap_or_default().into(),
            shape,
            constants: found.constants.into(),
            target_rows,
            rules: None,
        };
        if self.known.len() >= MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(text.to_owned(), known.clone());
        Some(known)
    }

    fn unsupported(&mut self, shape: &Arc<str>, text: &str, why: String) {
        let entry = self
            .unsupported
            .entry(Arc::clone(shape))
            .or_insert_with(|| UnsupportedStatement {
                shape: Arc::clone(shape),
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                why,
                times: 0,
            });
        entry.times += 1;
    }

    fn count(&mut self, shape: &Arc<str>) {
        if let Some(unsupported) = self.unsupported.get_mut(shape) {
            unsupported.times += 1;
        }
    }
}

/// Whether a statement may look for rows.
fn is_row_query(text: &str) -> bool {
    let first = text
        .trim_start_matches(|c: char| c.is_whitespace() || c == '(')
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    ["SELECT", "WITH", "UPDATE", "DELETE"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word))
}
