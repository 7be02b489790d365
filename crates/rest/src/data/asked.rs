//! What a service asked of its database, and how near the rows that are there came to it.

use std::collections::BTreeMap;
use std::sync::Arc;

use isobath_exec::driver::Event;
use isobath_sql::query::{Relations, Sought, distance, evaluate_at, shape, sought};
use isobath_sql::{DialectName, Schema};
use jiff::civil::DateTime;

/// A statement that looked for rows.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The text, with its values.
    pub text: Arc<str>,
    /// The text without its values; what it is known by.
    pub shape: Arc<str>,
    /// What it looked for; `None` where we cannot evaluate it.
    pub sought: Option<Arc<Sought>>,
    /// Its constants, as texts.
    pub constants: Arc<[String]>,
    /// Whether it found something.
    pub found: bool,
    /// How far it was from finding something, over the rows that were there afterwards; `None` where we cannot tell.
    pub distance: Option<f64>,
    /// How far it was from finding nothing.
    pub to_none: Option<f64>,
}

/// A statement that we cannot evaluate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unable {
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
    known: BTreeMap<String, Known>,
    /// By shape.
    unable: BTreeMap<Arc<str>, Unable>,
    shapes: BTreeMap<String, Arc<str>>,
    /// How many statements were looked at, and how many of them were read anew.
    pub met: u64,
    /// How many texts were parsed.
    pub read: u64,
}

#[derive(Clone, Debug)]
struct Known {
    text: Arc<str>,
    shape: Arc<str>,
    constants: Arc<[String]>,
    sought: Option<Arc<Sought>>,
}

/// Texts that are kept.
const MOST_KNOWN: usize = 5_000;
/// Shapes that are told apart; a service that writes its values in a way of its own has no end of them.
const MOST_SHAPES: usize = 2_000;
/// Longer texts are not read: nobody waits for these.
const LONGEST: usize = 20_000;

impl Statements {
    /// What a statement looked for; `None` when it looked for nothing, or was refused.
    pub fn asked(
        &mut self,
        event: &Event,
        schema: &Schema,
        dialect: DialectName,
        now: DateTime,
        rows: &dyn Relations,
    ) -> Option<Asked> {
        let Event::Statement {
            text,
            rows: n_rows,
            failure: None,
            ..
        } = event
        else {
            return None;
        };
        if !looks(text) || text.len() > LONGEST {
            return None;
        }
        self.met += 1;
        let known = self.known(text, schema, dialect)?;
        let mut asked = Asked {
            text: known.text,
            shape: Arc::clone(&known.shape),
            sought: known.sought,
            constants: known.constants,
            found: *n_rows > 0,
            distance: None,
            to_none: None,
        };
        let Some(sought) = &asked.sought else {
            self.count(&known.shape);
            return (!asked.found).then_some(asked);
        };
        let behaviour = dialect.dialect();
        if *n_rows > 0 && !sought.always_answers {
            asked.distance = Some(0.0);
            return Some(asked);
        }
        match distance(&sought.query, rows, &[], Some(now), behaviour) {
            Ok(far) if sought.always_answers => {
                asked.found = far == 0.0;
                asked.distance = Some(far);
            }
            // What is there now was not there then: as near as can be, and not there.
            Ok(far) => asked.distance = Some(far.max(f64::MIN_POSITIVE)),
            Err(stop) => {
                let why = stop.to_string();
                self.unable(&asked.shape, &asked.text, why);
                asked.sought = None;
            }
        }
        if asked.found {
            let evaluated = evaluate_at(
                &asked.sought.as_ref()?.query,
                rows,
                &[],
                Some(now),
                behaviour,
            );
            asked.to_none = evaluated.ok().map(|evaluated| evaluated.to_empty);
        }
        Some(asked)
    }

    /// Statements that we cannot evaluate, by shape.
    pub fn unables(&self) -> impl Iterator<Item = &Unable> {
        self.unable.values()
    }

    /// How many shapes of statements were met.
    #[must_use]
    pub fn n_shapes(&self) -> usize {
        self.shapes.len()
    }

    fn known(&mut self, text: &str, schema: &Schema, dialect: DialectName) -> Option<Known> {
        if let Some(known) = self.known.get(text) {
            return Some(known.clone());
        }
        let found = shape(text, dialect);
        let shape = match self.shapes.get(&found.text) {
            Some(shape) => Arc::clone(shape),
            None if self.shapes.len() >= MOST_SHAPES => return None,
            None => {
                let shape: Arc<str> = found.text.as_str().into();
                self.shapes.insert(found.text, Arc::clone(&shape));
                shape
            }
        };
        self.read += 1;
        let sought = match sought(text, schema, dialect) {
            Ok(None) => return None,
            Ok(Some(sought)) => Some(Arc::new(sought)),
            Err(error) => {
                self.unable(&shape, text, error.to_string());
                None
            }
        };
        let known = Known {
            text: text.into(),
            shape,
            constants: found.constants.into(),
            sought,
        };
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(text.to_owned(), known.clone());
        Some(known)
    }

    fn unable(&mut self, shape: &Arc<str>, text: &str, why: String) {
        let entry = self
            .unable
            .entry(Arc::clone(shape))
            .or_insert_with(|| Unable {
                text: text.split_whitespace().collect::<Vec<_>>().join(" "),
                why,
                times: 0,
            });
        entry.times += 1;
    }

    fn count(&mut self, shape: &Arc<str>) {
        if let Some(unable) = self.unable.get_mut(shape) {
            unable.times += 1;
        }
    }
}

/// Whether a statement may look for rows.
fn looks(text: &str) -> bool {
    let first = text
        .trim_start_matches(|c: char| c.is_whitespace() || c == '(')
        .split(|c: char| !c.is_ascii_alphabetic())
        .next()
        .unwrap_or_default();
    ["SELECT", "WITH", "UPDATE", "DELETE"]
        .iter()
        .any(|word| first.eq_ignore_ascii_case(word))
}
