//! Names and numbers that people would choose, where the values do not matter.
//!
//! Rows are built with values that are fresh rather than pretty, so that rows of several candidates
//! can stand side by side: keys 21 and 41, names `l` and `bf`. Here the keys of each table become 1,
//! 2, 3 and such names become words, the same in every column that refers to them and in the
//! parameters; the order of values stays. The judge takes back what uncovers a target.

mod family;
mod words;

use std::collections::BTreeMap;

use isobath_sql::schema::Table;
use isobath_sql::{DataType, Value};

use self::family::{Family, families, is_in_key};
use self::words::words;
use super::columns;
use super::judge::{Edit, Judge, Place};
use crate::query::candidate::Candidate;
use crate::query::construct::{Setting, fresh};

/// Smaller numbers mean something more often than not.
const SMALL: i128 = 10;
/// The longest word that was made up rather than found in a query.
const MADE_UP: usize = 4;

/// How many names have been given to things, by the column that these are named after.
pub(super) type Given = BTreeMap<(usize, usize), usize>;

/// Renames what can be renamed.
pub(super) fn rename(judge: &mut Judge<'_, '_>, candidate: &mut Candidate, targets: &[usize]) {
    rename_some(judge, candidate, targets, &mut Given::new(), &|_| true);
}

/// Renames what targets look at; names that have been given already are left out. What nobody looks
/// at stays as it is for now, so that candidates can share it.
pub(super) fn rename_used(
    judge: &mut Judge<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
    given: &mut Given,
) {
    let mut used = Vec::new();
    for target in targets {
        if let Ok(query) = &judge.target(*target).query {
            columns::read(query, &mut used);
            columns::shown(query, &mut used);
        }
    }
    let is_used = |family: &Family| family.columns.iter().any(|column| used.contains(column));
    rename_some(judge, candidate, targets, given, &is_used);
}

fn rename_some(
    judge: &mut Judge<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
    given: &mut Given,
    wanted: &dyn Fn(&Family) -> bool,
) {
    let dates = dates(&judge.setting(), candidate);
    judge.edit(candidate, targets, &dates);
    let edits = names(judge, candidate, targets, given, wanted);
    judge.edit(candidate, targets, &edits);
    // A parameter may have had the same value by chance.
    let without: Vec<Edit> = edits
        .into_iter()
        .filter(|edit| {
            let is_bound = |(place, _): &(Place, Value)| matches!(place, Place::Parameter(_));
            let is_made = |(place, value): &(Place, Value)| holds(candidate, *place) == Some(value);
            edit.iter().any(is_bound) && !edit.iter().all(is_made)
        })
        .map(|edit| {
            let cells = edit.into_iter();
            cells
                .filter(|(place, _)| matches!(place, Place::Cell(..)))
                .collect()
        })
        .collect();
    judge.edit(candidate, targets, &without);
}

/// Other values for keys of a candidate that another candidate has too, so that the rows of both
/// can stand side by side.
pub(super) fn clashes(
    judge: &Judge<'_, '_>,
    there: &Candidate,
    candidate: &Candidate,
    targets: &[usize],
) -> Vec<Edit> {
    let schema = judge.setting().schema;
    let texts = texts(judge, targets);
    let mut edits = Vec::new();
    for family in families(schema, candidate) {
        let keys = || {
            let columns = family.columns.iter();
            columns.filter(|(table, column)| is_in_key(schema, *table, *column))
        };
        let is_taken = |value: &Value| {
            keys().any(|(table, column)| {
                let rows = there.rows.get(table).map_or(&[][..], Vec::as_slice);
                rows.iter().any(|row| row[*column] == *value)
            })
        };
        let mut free = words_of(judge, &family)
            .map(Value::Text)
            .filter(|word| !is_taken(word) && !is_known(word, candidate, &texts));
        let mut next = greatest(&family, there).max(greatest(&family, candidate)) + 1;
        for (old, places) in family.values(candidate) {
            if !is_taken(&old) {
                continue;
            }
            let new = if matches!(old, Value::Int(_)) {
                next += 1;
                Some(Value::Int(next))
            } else {
                free.next()
            };
            if let Some(new) = new {
                edits.push(with_parameters(candidate, &old, &new, places));
            }
        }
    }
    edits
}

/// Keys as small numbers, made-up texts as words.
fn names(
    judge: &Judge<'_, '_>,
    candidate: &Candidate,
    targets: &[usize],
    given: &mut Given,
    wanted: &dyn Fn(&Family) -> bool,
) -> Vec<Edit> {
    let schema = judge.setting().schema;
    let texts = texts(judge, targets);
    let mut edits = Vec::new();
    for family in families(schema, candidate).into_iter().filter(wanted) {
        let given = given.entry(family.name).or_default();
        let mut free = words_of(judge, &family)
            .skip(*given)
            .map(Value::Text)
            .filter(|word| !is_known(word, candidate, &texts));
        for (old, places) in family.values(candidate) {
            let in_key = |place: &Place| matches!(place, Place::Cell(table, _, column) if is_in_key(schema, *table, *column));
            let new = match &old {
                Value::Int(_) if places.iter().any(in_key) => {
                    Some(Value::Int(i128::try_from(*given + 1).unwrap_or(1)))
                }
                Value::Text(text) if is_made_up(text, &texts) => free.next(),
                _ => None,
            };
            *given += usize::from(new.is_some());
            if let Some(new) = new.filter(|new| *new != old) {
                edits.push(with_parameters(candidate, &old, &new, places));
            }
        }
    }
    edits
}

/// Dates where SQLite would take numbers as well; all at once, because they are compared.
fn dates(setting: &Setting<'_>, candidate: &Candidate) -> Vec<Edit> {
    let is_time = |table: &Table, column: usize| {
        matches!(
            table.columns[column].data_type,
            DataType::Date | DataType::Timestamp { .. }
        )
    };
    let mut edit = Edit::new();
    let mut example = None;
    for (index, rows) in &candidate.rows {
        let table = &setting.schema.tables[*index];
        for (row, values) in rows.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                if let Value::Int(number) = value
                    && is_time(table, column)
                    && let Some(date) = day(setting, table, column, *number)
                {
                    example = Some((table, column));
                    edit.push((Place::Cell(*index, row, column), date));
                }
            }
        }
    }
    let Some((table, column)) = example else {
        return Vec::new();
    };
    for (number, value) in candidate.parameters.iter().enumerate() {
        if let Value::Int(value) = value
            && let Some(date) = day(setting, table, column, *value)
        {
            edit.push((Place::Parameter(number), date));
        }
    }
    vec![edit]
}

/// The day of a number, as a column stores it.
fn day(setting: &Setting<'_>, table: &Table, column: usize, number: i128) -> Option<Value> {
    let number = usize::try_from(number + 31).ok()?;
    let value = fresh(&table.columns[column].data_type, number);
    setting.dialect.store_in(&value, table, column).ok()
}

fn words_of(judge: &Judge<'_, '_>, family: &Family) -> impl Iterator<Item = String> + use<> {
    let schema = judge.setting().schema;
    let (table, column) = family.name;
    let table = &schema.tables[table];
    words(
        &table.name,
        &table.columns[column].name,
        family.limit(schema),
    )
}

fn greatest(family: &Family, candidate: &Candidate) -> i128 {
    let columns = family.columns.iter();
    let rows = columns.filter_map(|(table, column)| Some((candidate.rows.get(table)?, *column)));
    rows.flat_map(|(rows, column)| rows.iter().map(move |row| &row[column]))
        .filter_map(|value| match value {
            Value::Int(number) => Some(*number),
            _ => None,
        })
        .max()
        .unwrap_or(0)
}

/// An edit of all places that hold a value, parameters included.
fn with_parameters(candidate: &Candidate, old: &Value, new: &Value, places: Vec<Place>) -> Edit {
    let small = matches!(old, Value::Int(number) if *number <= SMALL);
    let parameters = candidate.parameters.iter().enumerate();
    let parameters = parameters.filter(|(_, value)| !small && *value == old);
    let places = places
        .into_iter()
        .chain(parameters.map(|(number, _)| Place::Parameter(number)));
    places.map(|place| (place, new.clone())).collect()
}

fn holds(candidate: &Candidate, place: Place) -> Option<&Value> {
    match place {
        Place::Cell(table, row, column) => candidate.rows.get(&table)?.get(row)?.get(column),
        Place::Parameter(number) => candidate.parameters.get(number),
    }
}

fn texts<'a>(judge: &Judge<'_, 'a>, targets: &[usize]) -> Vec<&'a str> {
    let targets = targets.iter();
    targets
        .map(|target| judge.target(*target).sql.as_str())
        .collect()
}

/// Whether a text stands where any would do.
fn is_filler(text: &str) -> bool {
    text.trim_end() == "a"
}

/// Whether a text looks like one that nobody wrote.
fn is_made_up(text: &str, texts: &[&str]) -> bool {
    // CHAR pads with blanks.
    let text = text.trim_end();
    // What patterns are filled with.
    let filler = |c: char| c == 'a' || !c.is_alphanumeric();
    let filled = text.contains('a') && text.len() <= 2 * MADE_UP && text.chars().all(filler);
    if text.contains('%') || filled && text.len() > 1 {
        return true;
    }
    let letters = !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase());
    let quoted = || format!("'{text}'");
    letters && text.len() <= MADE_UP && !texts.iter().any(|sql| sql.contains(&quoted()))
}

/// Whether a word means something already.
fn is_known(word: &Value, candidate: &Candidate, texts: &[&str]) -> bool {
    let mut rows = candidate.rows.values().flatten();
    rows.any(|row| row.contains(word))
        || candidate.parameters.contains(word)
        || matches!(word, Value::Text(word) if texts.iter().any(|sql| sql.contains(word)))
}
