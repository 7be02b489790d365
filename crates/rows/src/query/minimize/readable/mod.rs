//! Names and numbers that people would choose, where the values do not matter.
//!
//! Rows are built with values that are fresh rather than pretty, so that rows of several candidates
//! can stand side by side: keys 21 and 41, names `l` and `bf`. Here the keys of each table become 1,
//! 2, 3 and such names become words, the same in every column that refers to them and in the
//! parameters; the order of values stays. The judge takes back what uncovers a target.

mod key_family;
mod sample_words;

use std::collections::BTreeMap;

use isobath_sql::schema::Table;
use isobath_sql::{DataType, Schema, Value};
use rust_decimal::Decimal;

use self::key_family::{KeyFamily, families, is_in_key};
use self::sample_words::words;
use super::checker::{CoverageChecker, Edit, ValueSlot};
use super::columns;
use crate::query::candidate::Candidate;
use crate::query::construct::{SolverContext, fresh};

/// Smaller numbers mean something more often than not.
const SMALL: i128 = 10;
/// The longest word that was made up rather than found in a query.
const MADE_UP: usize = 4;

/// How many names have been given to things, by the column that these are named after.
pub(super) type UsedNames = BTreeMap<(usize, usize), usize>;

/// Renames what can be renamed.
pub(super) fn rename(
    checker: &mut CoverageChecker<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
) {
    rename_some(checker, candidate, targets, &mut UsedNames::new(), &|_| {
        true
    });
}

/// Renames what targets look at; names that have been given already are left out. What nobody looks
/// at stays as it is for now, so that candidates can share it.
pub(super) fn rename_used(
    checker: &mut CoverageChecker<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
    given: &mut UsedNames,
) {
    let mut used = Vec::new();
    for target in targets {
        if let Ok(query) = &checker.target(*target).query {
            columns::read(query, &mut used);
            columns::shown(query, &mut used);
        }
    }
    let is_used = |family: &KeyFamily| family.columns.iter().any(|column| used.contains(column));
    rename_some(checker, candidate, targets, given, &is_used);
}

fn rename_some(
    checker: &mut CoverageChecker<'_, '_>,
    candidate: &mut Candidate,
    targets: &[usize],
    given: &mut UsedNames,
    wanted: &dyn Fn(&KeyFamily) -> bool,
) {
    let dates = dates(&checker.context(), candidate);
    checker.edit(candidate, targets, &dates);
    let mut calculated = Vec::new();
    for target in targets {
        if let Ok(query) = &checker.target(*target).query {
            columns::amounts(query, &mut calculated);
        }
    }
    let amounts = amounts(checker.context().schema, candidate, &calculated);
    checker.edit(candidate, targets, &amounts);
    let edits = names(checker, candidate, targets, given, wanted);
    checker.edit(candidate, targets, &edits);
    // A parameter may have had the same value by chance.
    let without: Vec<Edit> = edits
        .into_iter()
        .filter(|edit| {
            let is_bound =
                |(place, _): &(ValueSlot, Value)| matches!(place, ValueSlot::Parameter(_));
            let is_made =
                |(place, value): &(ValueSlot, Value)| value_of(candidate, *place) == Some(value);
            edit.iter().any(is_bound) && !edit.iter().all(is_made)
        })
        .map(|edit| {
            let cells = edit.into_iter();
            cells
                .filter(|(place, _)| matches!(place, ValueSlot::Cell(..)))
                .collect()
        })
        .collect();
    checker.edit(candidate, targets, &without);
}

/// Other values for keys of a candidate that another candidate has too, so that the rows of both
/// can stand side by side.
pub(super) fn clashes(
    checker: &CoverageChecker<'_, '_>,
    there: &Candidate,
    candidate: &Candidate,
    targets: &[usize],
) -> Vec<Edit> {
    let schema = checker.context().schema;
    let texts = texts(checker, targets);
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
        let mut free = words_of(checker, &family)
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
    checker: &CoverageChecker<'_, '_>,
    candidate: &Candidate,
    targets: &[usize],
    given: &mut UsedNames,
    wanted: &dyn Fn(&KeyFamily) -> bool,
) -> Vec<Edit> {
    let schema = checker.context().schema;
    let texts = texts(checker, targets);
    let mut edits = Vec::new();
    for family in families(schema, candidate).into_iter().filter(wanted) {
        let given = given.entry(family.name).or_default();
        let mut free = words_of(checker, &family)
            .skip(*given)
            .map(Value::Text)
            .filter(|word| !is_known(word, candidate, &texts));
        for (old, places) in family.values(candidate) {
            let in_key = |place: &ValueSlot| matches!(place, ValueSlot::Cell(table, _, column) if is_in_key(schema, *table, *column));
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

/// Different positive numbers in place of zeros and of numbers that a column has already, in columns that a query
/// calculates with, so that sums, averages, counts and extremes differ and quotients exist.
fn amounts(schema: &Schema, candidate: &Candidate, calculated: &[columns::Column]) -> Vec<Edit> {
    let mut edits = Vec::new();
    let is_amount = |(table, column): &&columns::Column| !is_in_key(schema, *table, *column);
    for (table, column) in calculated.iter().filter(is_amount) {
        let rows = candidate.rows.get(table).map_or(&[][..], Vec::as_slice);
        let mut taken: Vec<Value> = Vec::new();
        // Each amount is greater than the one before by another step.
        let (mut amount, mut step) = (2, 1);
        for (row, values) in rows.iter().enumerate() {
            let value = &values[*column];
            if !is_zero(value) && !taken.contains(value) {
                taken.push(value.clone());
                continue;
            }
            while let Some(new) = number_like(value, amount) {
                (amount, step) = (amount + step, amount);
                if !rows.iter().any(|row| row[*column] == new) {
                    edits.push(vec![(ValueSlot::Cell(*table, row, *column), new)]);
                    break;
                }
            }
        }
    }
    edits
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Int(number) => *number == 0,
        Value::Decimal(number) => number.is_zero(),
        Value::Float(number) => *number == 0.0,
        _ => false,
    }
}

/// An amount as a number of the kind of another; `None` for what is no number.
fn number_like(value: &Value, amount: i64) -> Option<Value> {
    match value {
        Value::Int(_) => Some(Value::from(amount)),
        Value::Decimal(number) => {
            let mut amount = Decimal::from(amount);
            amount.rescale(number.scale());
            Some(Value::Decimal(amount))
        }
        Value::Float(_) => Some(Value::Float(amount as f64)),
        _ => None,
    }
}

/// Dates where SQLite would take numbers as well; all at once, because they are compared.
fn dates(context: &SolverContext<'_>, candidate: &Candidate) -> Vec<Edit> {
    let is_time = |table: &Table, column: usize| {
        matches!(
            table.columns[column].data_type,
            DataType::Date | DataType::Timestamp { .. }
        )
    };
    let mut edit = Edit::new();
    let mut example = None;
    for (index, rows) in &candidate.rows {
        let table = &context.schema.tables[*index];
        for (row, values) in rows.iter().enumerate() {
            for (column, value) in values.iter().enumerate() {
                if let Value::Int(number) = value
                    && is_time(table, column)
                    && let Some(date) = day(context, table, column, *number)
                {
                    example = Some((table, column));
                    edit.push((ValueSlot::Cell(*index, row, column), date));
                }
            }
        }
    }
    let Some((table, column)) = example else {
        return Vec::new();
    };
    for (number, value) in candidate.parameters.iter().enumerate() {
        if let Value::Int(value) = value
            && let Some(date) = day(context, table, column, *value)
        {
            edit.push((ValueSlot::Parameter(number), date));
        }
    }
    vec![edit]
}

/// The day of a number, as a column stores it.
fn day(context: &SolverContext<'_>, table: &Table, column: usize, number: i128) -> Option<Value> {
    let number = usize::try_from(number + 31).ok()?;
    let value = fresh(&table.columns[column].data_type, number);
    context.dialect.store_in(&value, table, column).ok()
}

fn words_of(
    checker: &CoverageChecker<'_, '_>,
    family: &KeyFamily,
) -> impl Iterator<Item = String> + use<> {
    let schema = checker.context().schema;
    let (table, column) = family.name;
    let table = &schema.tables[table];
    words(
        &table.name,
        &table.columns[column].name,
        family.limit(schema),
    )
}

fn greatest(family: &KeyFamily, candidate: &Candidate) -> i128 {
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
fn with_parameters(
    candidate: &Candidate,
    old: &Value,
    new: &Value,
    places: Vec<ValueSlot>,
) -> Edit {
    let small = matches!(old, Value::Int(number) if *number <= SMALL);
    let parameters = candidate.parameters.iter().enumerate();
    let parameters = parameters.filter(|(_, value)| !small && *value == old);
    let places = places
        .into_iter()
        .chain(parameters.map(|(number, _)| ValueSlot::Parameter(number)));
    places.map(|place| (place, new.clone())).collect()
}

fn value_of(candidate: &Candidate, place: ValueSlot) -> Option<&Value> {
    match place {
        ValueSlot::Cell(table, row, column) => candidate.rows.get(&table)?.get(row)?.get(column),
        ValueSlot::Parameter(number) => candidate.parameters.get(number),
    }
}

fn texts<'a>(checker: &CoverageChecker<'_, 'a>, targets: &[usize]) -> Vec<&'a str> {
    let targets = targets.iter();
    targets
        .map(|target| checker.target(*target).sql.as_str())
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
