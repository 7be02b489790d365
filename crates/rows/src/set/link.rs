//! Links rows: equal keys become references to earlier rows, and generated numbers are left to the
//! database.

use isobath_sql::Value;

use super::{ExistingRows, Inserted, NewCell, NewRow};

/// What is known of the test that rows are added to.
pub struct LinkContext<'a> {
    /// The rows that it has.
    pub rows: &'a [NewRow],
    /// What they became when they were inserted.
    pub inserted: &'a Inserted,
    /// The constants of the statement that the new rows are for, as texts.
    pub constants: &'a [String],
    /// Whether an input of the test has this text.
    pub is_input: &'a dyn Fn(&str) -> bool,
}

/// A cell that holds a constant of the statement.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkedConstant {
    /// The row, by its id.
    pub row: u32,
    /// The column.
    pub column: usize,
    /// The constant, as a text.
    pub constant: String,
}

impl ExistingRows {
    /// Makes rows of a test of built ones, numbered from `next`; says which of their cells hold constants of the statement.
    ///
    /// A foreign key to a row of the test is a reference. A column that the database numbers is left to it, unless the
    /// statement asks for a number that no input has.
    pub fn link(
        &self,
        built: &[(usize, Vec<Value>)],
        links: &LinkContext<'_>,
        next: u32,
    ) -> (Vec<NewRow>, Vec<LinkedConstant>) {
        let mut rows: Vec<NewRow> = Vec::with_capacity(built.len());
        let mut linked = Vec::new();
        for (number, (table, values)) in built.iter().enumerate() {
            let id = next + u32::try_from(number).unwrap_or(u32::MAX - next);
            let mut cells: Vec<NewCell> = Vec::with_capacity(values.len());
            for (column, value) in values.iter().enumerate() {
                let text = value.to_string();
                let is_constant = !value.is_null() && links.constants.contains(&text);
                if is_constant {
                    linked.push(LinkedConstant {
                        row: id,
                        column,
                        constant: text.clone(),
                    });
                }
                let reference = self
                    .parent(*table, column, values, &built[..number], next, links)
                    .or_else(|| is_constant.then(|| numbered(self, &text, links)).flatten());
                cells.push(match reference {
                    Some((row, column)) => NewCell::Of { row, column },
                    None if self.counts(*table, column)
                        && (!is_constant || (links.is_input)(&text)) =>
                    {
                        NewCell::Default
                    }
                    None if self.is_generated(*table, column) => NewCell::Default,
                    None => NewCell::Value(value.clone()),
                });
            }
            rows.push(NewRow {
                id,
                table: *table,
                cells,
            });
        }
        (rows, linked)
    }

    /// The cell of a row of the test that a cell of a foreign key refers to.
    fn parent(
        &self,
        table: usize,
        column: usize,
        values: &[Value],
        before: &[(usize, Vec<Value>)],
        next: u32,
        links: &LinkContext<'_>,
    ) -> Option<(u32, usize)> {
        let of = self.schema.tables.get(table)?;
        let key = of
            .foreign_keys()
            .find(|key| key.columns.contains(&column))?;
        let at = key.columns.iter().position(|of| *of == column)?;
        let wanted: Vec<&Value> = key.columns.iter().map(|column| &values[*column]).collect();
        if wanted.iter().any(|value| value.is_null()) {
            return None;
        }
        let pairs = || key.parent_columns.iter().zip(&wanted);
        let new = before.iter().position(|(of, row)| {
            *of == key.parent && pairs().all(|(column, value)| row[*column] == **value)
        });
        let parent = match new {
            Some(number) => next + u32::try_from(number).ok()?,
            None => {
                let own = links.rows.iter().find(|row| {
                    row.table == key.parent
                        && links.inserted.get(&row.id).is_some_and(|stored| {
                            pairs().all(|(column, value)| stored[*column].as_ref() == Some(*value))
                        })
                });
                own?.id
            }
        };
        Some((parent, key.parent_columns[at]))
    }

    /// Whether only the database may fill a column.
    pub(super) fn is_generated(&self, table: usize, column: usize) -> bool {
        use isobath_sql::schema::Filled;
        let filled = &self.schema.tables[table].columns[column].filled;
        matches!(filled, Filled::CounterAlways | Filled::Generated(_))
    }
}

/// A row of the test whose number, given out by the database, is this constant.
fn numbered(
    existing_rows: &ExistingRows,
    constant: &str,
    links: &LinkContext<'_>,
) -> Option<(u32, usize)> {
    links.rows.iter().find_map(|row| {
        let column = existing_rows.counter(row.table)?;
        let stored = links.inserted.get(&row.id)?.get(column)?.as_ref()?;
        let is_given_out = row.cells.get(column) == Some(&NewCell::Default);
        (is_given_out && stored.to_string() == constant).then_some((row.id, column))
    })
}
