//! What a row must be like for two versions of a table to disagree about it.

use isobath_sql::expr::CompareOp;
use isobath_sql::schema::{Column, Constraint, ConstraintKind, Schema, Table};
use isobath_sql::{DataType, Dialect, DialectName, Expr, Value};
use rust_decimal::Decimal;

use crate::schema::criterion::predicates::{satisfied, violated};
use crate::schema::enforced::{EnforcedConstraint, rules};
use crate::schema::predicate::{Predicate, RequiredTruth};
use crate::schema::row_finder::all_hold;

/// A way in which two versions can disagree about a row.
#[derive(Clone, Debug)]
pub(crate) struct VersionDifference {
    /// Which version's columns and other rows the search stands on.
    pub(crate) stands_on: Version,
    /// What the row must be like.
    pub(crate) predicate: Predicate,
    /// Whether a row of the same table must be there.
    pub(crate) compares: bool,
    /// Whether the predicate says exactly this, so that a proof that no row has it counts.
    pub(crate) exact: bool,
}

/// One of two versions of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// The first: the original, the old schema.
    Before,
    /// The second: the mutant, the new schema.
    After,
}

/// Two versions of a table with the same columns.
pub(crate) struct TableVersions<'a> {
    /// Index of the table in the first version.
    pub(crate) table: usize,
    /// The first version.
    pub(crate) before: &'a Table,
    /// Indices of its constraints that the second version lacks.
    pub(crate) removed: &'a [usize],
    /// Constraints that only the second version has, in terms of the first version's columns and tables.
    pub(crate) added: &'a [Constraint],
}

impl TableVersions<'_> {
    /// For each constraint that comes or goes, the rows about which it makes the versions disagree.
    pub(crate) fn differences(&self, dialect: &dyn Dialect) -> Vec<VersionDifference> {
        let added = self.added.iter().map(|c| self.newly_refused(c, dialect));
        let removed = self
            .removed
            .iter()
            .map(|c| self.newly_accepted(*c, dialect));
        added.chain(removed).collect()
    }

    /// Rows that pass all of the first version, and that an added constraint refuses.
    pub(crate) fn newly_refused(
        &self,
        added: &Constraint,
        dialect: &dyn Dialect,
    ) -> VersionDifference {
        let mut parts = Vec::new();
        let mut exact = true;
        match self.lost_condition(added) {
            Some((index, condition)) => {
                parts.extend(self.holding(&[index], dialect));
                parts.push(Predicate::or(
                    [RequiredTruth::False, RequiredTruth::Unknown].map(|wanted| Predicate::Expr {
                        expr: condition.clone(),
                        wanted,
                    }),
                ));
            }
            None => parts.extend(self.holding(&[], dialect)),
        }
        match as_columns(&added.kind) {
            Some((kind, condition)) => {
                let rule = self.rule(&Constraint::unnamed(kind), dialect);
                parts.push(refused(self.table, &rule));
                exact &= condition.is_none() && nulls_distinct(&added.kind);
                parts.extend(condition.map(|expr| Predicate::Expr {
                    expr,
                    wanted: RequiredTruth::True,
                }));
            }
            None => exact = false,
        }
        VersionDifference {
            stands_on: Version::Before,
            predicate: Predicate::and(parts),
            compares: compares(&added.kind),
            exact,
        }
    }

    /// Rows that only removed constraints of the first version refuse, `removed` among them.
    pub(crate) fn newly_accepted(
        &self,
        removed: usize,
        dialect: &dyn Dialect,
    ) -> VersionDifference {
        let mut parts = self.holding(self.removed, dialect);
        let mut exact = true;
        for added in self.added {
            match as_columns(&added.kind) {
                Some((kind, None)) => {
                    let rule = self.rule(&Constraint::unnamed(kind), dialect);
                    parts.push(satisfied(self.table, &rule));
                    exact &= nulls_distinct(&added.kind);
                }
                // Left to the check of what was found.
                Some((_, Some(_))) | None => exact = false,
            }
        }
        let constraint = &self.before.constraints[removed];
        let mut rule = self.rule(constraint, dialect);
        rule.constraint = removed;
        parts.push(refused(self.table, &rule));
        VersionDifference {
            stands_on: Version::Before,
            predicate: Predicate::and(parts),
            compares: compares(&constraint.kind)
                || self.added.iter().any(|added| compares(&added.kind)),
            exact,
        }
    }

    /// The rules of the first version without some constraints, all satisfied.
    fn holding(&self, without: &[usize], dialect: &dyn Dialect) -> Vec<Predicate> {
        // Rules are read off the table that is left, since a key that goes may have implied others.
        let kept: Vec<usize> = (0..self.before.constraints.len())
            .filter(|index| !without.contains(index))
            .collect();
        let mut left = self.before.clone();
        left.constraints = kept
            .iter()
            .map(|index| self.before.constraints[*index].clone())
            .collect();
        rules(&left, dialect)
            .into_iter()
            .map(|mut rule| {
                rule.constraint = kept[rule.constraint];
                satisfied(self.table, &rule)
            })
            .collect()
    }

    /// The partial index that an added one differs from only by having no condition.
    fn lost_condition(&self, added: &Constraint) -> Option<(usize, &Expr)> {
        let ConstraintKind::UniqueIndex {
            keys: added_keys,
            predicate: None,
            ..
        } = &added.kind
        else {
            return None;
        };
        self.removed
            .iter()
            .find_map(|index| match &self.before.constraints[*index].kind {
                ConstraintKind::UniqueIndex {
                    keys,
                    predicate: Some(condition),
                    ..
                } if keys == added_keys => Some((*index, condition)),
                _ => None,
            })
    }

    /// The constraint as the engine enforces it in this table.
    fn rule(&self, constraint: &Constraint, dialect: &dyn Dialect) -> EnforcedConstraint {
        let mut table = self.before.clone();
        table.constraints = vec![constraint.clone()];
        rules(&table, dialect)
            .pop()
            .unwrap_or_else(|| EnforcedConstraint {
                constraint: 0,
                kind: constraint.kind.clone(),
            })
    }
}

/// Every row that a constraint refuses. The requirement of a criterion to violate a CHECK asks for values in all its
/// columns; a row with NULL in some of them can be refused as well.
fn refused(table: usize, rule: &EnforcedConstraint) -> Predicate {
    match &rule.kind {
        ConstraintKind::Check { expr } => Predicate::Expr {
            expr: expr.clone(),
            wanted: RequiredTruth::False,
        },
        _ => violated(table, rule),
    }
}

/// A constraint without expressions as keys; the condition of a partial index is given apart.
fn as_columns(kind: &ConstraintKind) -> Option<(ConstraintKind, Option<Expr>)> {
    match kind {
        ConstraintKind::UniqueIndex {
            keys, predicate, ..
        } => {
            let columns: Option<Vec<usize>> = keys
                .iter()
                .map(|key| match key {
                    Expr::Column(column) => Some(column.slot),
                    _ => None,
                })
                .collect();
            let unique = ConstraintKind::Unique {
                columns: columns?,
                nulls_distinct: true,
            };
            Some((unique, predicate.clone()))
        }
        // Where NULLs are not distinct, values still are duplicates.
        ConstraintKind::Unique { columns, .. } => {
            let unique = ConstraintKind::Unique {
                columns: columns.clone(),
                nulls_distinct: true,
            };
            Some((unique, None))
        }
        kind => Some((kind.clone(), None)),
    }
}

fn nulls_distinct(kind: &ConstraintKind) -> bool {
    match kind {
        ConstraintKind::Unique { nulls_distinct, .. }
        | ConstraintKind::UniqueIndex { nulls_distinct, .. } => *nulls_distinct,
        _ => true,
    }
}

/// The differences that a changed type makes: values that only one of the two holds.
///
/// Empty when limits are not what the types differ in.
pub(crate) fn of_type(
    definitions: (&Table, &Table),
    table: usize,
    column: usize,
    dialect: &dyn Dialect,
) -> Vec<VersionDifference> {
    let (before, after) = (
        &definitions.0.columns[column],
        &definitions.1.columns[column],
    );
    let mut differences = Vec::new();
    for (stands_on, definition, roomy, tight) in [
        (Version::Before, definitions.0, before, after),
        (Version::After, definitions.1, after, before),
    ] {
        let beyond = beyond(column, roomy, &tight.data_type, dialect.name());
        if beyond.is_empty() {
            continue;
        }
        differences.push(VersionDifference {
            stands_on,
            predicate: Predicate::and([
                all_hold(definition, table, dialect),
                Predicate::not_null(column),
                Predicate::or(beyond),
            ]),
            compares: false,
            exact: true,
        });
    }
    differences
}

/// Values near `good` that only one of two types holds as it is, if sizes are what they differ in.
pub(crate) fn telling_values(types: [&DataType; 2], good: Option<&Value>) -> Vec<Value> {
    if let [Some(a), Some(b)] = types.map(DataType::integer_range) {
        let mut values = Vec::new();
        if a.end() != b.end() {
            values.push(Value::Int(*a.end().min(b.end()) + 1));
        }
        if a.start() != b.start() {
            values.push(Value::Int(*a.start().max(b.start()) - 1));
        }
        return values;
    }
    if let ([Some(a), Some(b)], true) = (
        types.map(DataType::max_chars),
        types.iter().all(|data_type| data_type.is_text()),
    ) {
        let wanted = a.min(b) as usize + 1;
        let text = match good {
            Some(Value::Text(text)) => text.as_str(),
            _ => "",
        };
        let missing = wanted.saturating_sub(text.chars().count());
        // Blanks at the end are what some engines cut off instead of refusing the value.
        return ["x", " "]
            .map(|filler| Value::Text(format!("{text}{}", filler.repeat(missing))))
            .to_vec();
    }
    let parts = types.map(|data_type| match *data_type {
        DataType::Decimal {
            precision: Some(precision),
            scale,
        } => Some((precision, scale.unwrap_or(0))),
        _ => None,
    });
    let [Some((a_precision, a_scale)), Some((b_precision, b_scale))] = parts else {
        return Vec::new();
    };
    let near = match good {
        Some(Value::Decimal(value)) => *value,
        Some(Value::Int(value)) => Decimal::from(i64::try_from(*value).unwrap_or(0)),
        _ => Decimal::ZERO,
    };
    let mut values = Vec::new();
    if a_scale != b_scale && a_scale.max(b_scale) <= Decimal::MAX_SCALE {
        // A digit that one of them keeps and the other rounds away.
        let unit = Decimal::new(1, a_scale.max(b_scale));
        values.extend([near.checked_add(unit), near.checked_sub(unit), Some(unit)]);
    }
    let whole = a_precision
        .saturating_sub(a_scale)
        .min(b_precision.saturating_sub(b_scale));
    // The least number with a digit more before the point than the smaller type has.
    values.push(power_of_ten(whole));
    values.into_iter().flatten().map(Value::Decimal).collect()
}

/// The values that the CHECKs of a table list for a column, where they list them.
pub(crate) fn listed_values(table: &Table, column: usize) -> Vec<Value> {
    let lists = table
        .constraints
        .iter()
        .filter_map(|constraint| match &constraint.kind {
            ConstraintKind::Check { expr } => listed(expr, column),
            _ => None,
        });
    lists.flatten().cloned().collect()
}

/// Conditions on a column of one type under which a value is beyond another type.
fn beyond(slot: usize, column: &Column, limit: &DataType, engine: DialectName) -> Vec<Predicate> {
    let used = || {
        Expr::Column(isobath_sql::expr::ColumnRef {
            slot,
            name: column.name.clone(),
            data_type: column.data_type.clone(),
            collation: column.collation.clone(),
        })
    };
    let holds = |left: Expr, op, right: Expr| Predicate::Expr {
        expr: Expr::Compare {
            op,
            left: Box::new(left),
            right: Box::new(right),
        },
        wanted: RequiredTruth::True,
    };
    if let (Some(roomy), Some(tight)) = (column.data_type.integer_range(), limit.integer_range()) {
        let bound = |value: &i128| Expr::Literal(Value::Int(*value));
        let mut found = Vec::new();
        if roomy.end() > tight.end() {
            found.push(holds(used(), CompareOp::Greater, bound(tight.end())));
        }
        if roomy.start() < tight.start() {
            found.push(holds(used(), CompareOp::Less, bound(tight.start())));
        }
        return found;
    }
    if let (true, Some(most)) = (column.data_type.is_text(), limit.max_chars()) {
        if column
            .data_type
            .max_chars()
            .is_some_and(|room| room <= most)
        {
            return Vec::new();
        }
        let name = match engine {
            DialectName::MySql => "char_length",
            DialectName::Ansi | DialectName::Postgres | DialectName::Sqlite => "length",
        };
        let length = Expr::Function {
            name: name.to_owned(),
            args: vec![used()],
        };
        return vec![holds(
            length,
            CompareOp::Greater,
            Expr::int(i64::from(most)),
        )];
    }
    if let (Some(roomy), Some(tight)) = (whole_digits(&column.data_type), whole_digits(limit)) {
        let bound = power_of_ten(tight).filter(|_| roomy > tight);
        return bound
            .into_iter()
            .flat_map(|bound| {
                let literal = |value| Expr::Literal(Value::Decimal(value));
                [
                    holds(used(), CompareOp::GreaterOrEqual, literal(bound)),
                    holds(used(), CompareOp::LessOrEqual, literal(-bound)),
                ]
            })
            .collect();
    }
    Vec::new()
}

/// Why no row tells two sizes of a column apart, where its other constraints see to that.
pub(crate) fn same_values(
    schema: &Schema,
    table: usize,
    column: usize,
    after: &DataType,
    dialect: &dyn Dialect,
) -> Option<String> {
    let definition = &schema.tables[table];
    let before = &definition.columns[column];
    let sizes = [&before.data_type, after].map(DataType::max_chars);
    let shorter = sizes[0]?.min(sizes[1]?) as usize;
    let blank_padded = matches!(before.data_type, DataType::Char { .. });
    for constraint in &definition.constraints {
        match &constraint.kind {
            ConstraintKind::Check { expr } => {
                let Some(values) = listed(expr, column) else {
                    continue;
                };
                // A value that fills the shorter type may also be what is left when blanks are cut off.
                let fits = |text: &str| {
                    let length = text.chars().count();
                    length < shorter || (blank_padded && length == shorter)
                };
                if values
                    .iter()
                    .all(|value| matches!(value, Value::Text(text) if fits(text)))
                {
                    return Some(format!(
                        "only the listed values of `{}` are accepted, and both types hold them",
                        before.name
                    ));
                }
            }
            ConstraintKind::ForeignKey(key) => {
                let Some(position) = key.columns.iter().position(|own| *own == column) else {
                    continue;
                };
                let parent = &schema.tables[key.parent];
                let referred = &parent.columns[key.parent_columns[position]].data_type;
                let alone = key.columns.iter().all(|own| {
                    *own == column
                        || rules(definition, dialect).iter().any(|rule| {
                            matches!(&rule.kind, ConstraintKind::NotNull { column } if column == own)
                                || matches!(&rule.kind, ConstraintKind::PrimaryKey { columns } if columns.contains(own))
                        })
                });
                if alone
                    && referred
                        .max_chars()
                        .is_some_and(|most| most as usize <= shorter)
                {
                    return Some(format!(
                        "`{}` refers to `{}`, which holds no longer values",
                        before.name, parent.name
                    ));
                }
            }
            ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::NotNull { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::UniqueIndex { .. } => {}
        }
    }
    None
}

/// The only values that a condition lets a column have, if it lists them.
fn listed(expr: &Expr, column: usize) -> Option<Vec<&Value>> {
    fn bare(expr: &Expr) -> &Expr {
        match expr {
            Expr::Cast { expr, .. } => bare(expr),
            expr => expr,
        }
    }
    let is_column = |expr: &Expr| matches!(bare(expr), Expr::Column(used) if used.slot == column);
    let literal = |expr: &'_ Expr| matches!(bare(expr), Expr::Literal(_));
    let value = |expr| match bare(expr) {
        Expr::Literal(value) => Some(value),
        _ => None,
    };
    match expr {
        Expr::InList {
            expr,
            list,
            negated: false,
        } if is_column(expr) => list.iter().map(value).collect(),
        Expr::Compare {
            op: CompareOp::Equal,
            left,
            right,
        } if is_column(left) && literal(right) => Some(vec![value(right)?]),
        Expr::Compare {
            op: CompareOp::Equal,
            left,
            right,
        } if literal(left) && is_column(right) => Some(vec![value(left)?]),
        Expr::Or(parts) => {
            let lists: Option<Vec<Vec<&Value>>> =
                parts.iter().map(|part| listed(part, column)).collect();
            Some(lists?.into_iter().flatten().collect())
        }
        Expr::And(parts) => parts.iter().find_map(|part| listed(part, column)),
        _ => None,
    }
}

fn power_of_ten(digits: u32) -> Option<Decimal> {
    (0..digits).try_fold(Decimal::ONE, |power, _| power.checked_mul(Decimal::TEN))
}

/// Digits before the point.
fn whole_digits(data_type: &DataType) -> Option<u32> {
    match *data_type {
        DataType::Decimal {
            precision: Some(precision),
            scale,
        } => precision.checked_sub(scale.unwrap_or(0)),
        _ => None,
    }
}

fn compares(kind: &ConstraintKind) -> bool {
    matches!(
        kind,
        ConstraintKind::PrimaryKey { .. }
            | ConstraintKind::Unique { .. }
            | ConstraintKind::UniqueIndex { .. }
    )
}
