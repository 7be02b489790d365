//! Mutation of primary keys, UNIQUE and NOT NULL: a column added, removed or exchanged.

use isobath_sql::schema::ConstraintKind;

use super::mutant::MutationSite;

/// Each non-member column joins the key; in a table without a key, each column becomes one.
pub(super) fn add_to_primary_key(site: &mut MutationSite<'_>) {
    let all = 0..site.table.columns.len();
    let Some((index, columns)) = primary_key(site) else {
        for column in all {
            let description = format!(
                "{} becomes the primary key of `{}`",
                site.column(column),
                site.table.name
            );
            site.add(
                ConstraintKind::PrimaryKey {
                    columns: vec![column],
                },
                description,
            );
        }
        return;
    };
    for column in all.filter(|column| !columns.contains(column)) {
        let description = format!(
            "the primary key of `{}` gains {}",
            site.table.name,
            site.column(column)
        );
        let columns = with(&columns, column);
        site.replace(index, ConstraintKind::PrimaryKey { columns }, description);
    }
}

/// Each member column leaves the key; with the last one the key is gone.
pub(super) fn remove_from_primary_key(site: &mut MutationSite<'_>) {
    let Some((index, columns)) = primary_key(site) else {
        return;
    };
    for column in columns.iter().copied() {
        if columns.len() == 1 {
            site.remove(
                index,
                format!("`{}` loses its primary key", site.table.name),
            );
        } else {
            let description = format!(
                "the primary key of `{}` loses {}",
                site.table.name,
                site.column(column)
            );
            let columns = without(&columns, column);
            site.replace(index, ConstraintKind::PrimaryKey { columns }, description);
        }
    }
}

/// Each member column of the key is replaced by each other column.
pub(super) fn exchange_in_primary_key(site: &mut MutationSite<'_>) {
    let Some((index, columns)) = primary_key(site) else {
        return;
    };
    for (old, new) in exchanges(&columns, site.table.columns.len()) {
        let description = format!(
            "the primary key of `{}` has {} in place of {}",
            site.table.name,
            site.column(new),
            site.column(old)
        );
        let columns = exchanged(&columns, old, new);
        site.replace(index, ConstraintKind::PrimaryKey { columns }, description);
    }
}

/// Each nullable column becomes NOT NULL.
pub(super) fn add_not_null(site: &mut MutationSite<'_>) {
    for column in 0..site.table.columns.len() {
        if !site.table.is_not_null(column) {
            let description = format!(
                "{} of `{}` becomes NOT NULL",
                site.column(column),
                site.table.name
            );
            site.add(ConstraintKind::NotNull { column }, description);
        }
    }
}

/// Each NOT NULL is gone.
pub(super) fn remove_not_null(site: &mut MutationSite<'_>) {
    for (index, constraint) in site.constraints() {
        if let ConstraintKind::NotNull { column } = constraint.kind {
            let description = format!(
                "{} of `{}` is no longer NOT NULL",
                site.column(column),
                site.table.name
            );
            site.remove(index, description);
        }
    }
}

/// Each column that is not UNIQUE by itself becomes so; each UNIQUE gains each other column.
pub(super) fn add_to_unique(site: &mut MutationSite<'_>) {
    let uniques = uniques(site);
    for column in 0..site.table.columns.len() {
        if uniques.iter().any(|(_, columns, _)| *columns == [column]) {
            continue;
        }
        let description = format!(
            "{} of `{}` becomes UNIQUE",
            site.column(column),
            site.table.name
        );
        site.add(
            ConstraintKind::Unique {
                columns: vec![column],
                nulls_distinct: true,
            },
            description,
        );
    }
    for (index, columns, nulls_distinct) in uniques {
        for column in 0..site.table.columns.len() {
            if columns.contains(&column) {
                continue;
            }
            let description = format!(
                "UNIQUE ({}) of `{}` gains {}",
                site.columns(&columns),
                site.table.name,
                site.column(column)
            );
            let columns = with(&columns, column);
            site.replace(
                index,
                ConstraintKind::Unique {
                    columns,
                    nulls_distinct,
                },
                description,
            );
        }
    }
}

/// Each member column leaves its UNIQUE; with the last one the UNIQUE is gone.
pub(super) fn remove_from_unique(site: &mut MutationSite<'_>) {
    for (index, columns, nulls_distinct) in uniques(site) {
        for column in columns.iter().copied() {
            let unique = format!(
                "UNIQUE ({}) of `{}`",
                site.columns(&columns),
                site.table.name
            );
            if columns.len() == 1 {
                site.remove(index, format!("{unique} is removed"));
            } else {
                let description = format!("{unique} loses {}", site.column(column));
                let columns = without(&columns, column);
                site.replace(
                    index,
                    ConstraintKind::Unique {
                        columns,
                        nulls_distinct,
                    },
                    description,
                );
            }
        }
    }
}

/// Each member column of each UNIQUE is replaced by each other column.
pub(super) fn exchange_in_unique(site: &mut MutationSite<'_>) {
    for (index, columns, nulls_distinct) in uniques(site) {
        for (old, new) in exchanges(&columns, site.table.columns.len()) {
            let description = format!(
                "UNIQUE ({}) of `{}` has {} in place of {}",
                site.columns(&columns),
                site.table.name,
                site.column(new),
                site.column(old)
            );
            let columns = exchanged(&columns, old, new);
            site.replace(
                index,
                ConstraintKind::Unique {
                    columns,
                    nulls_distinct,
                },
                description,
            );
        }
    }
}

/// Each partial unique index holds all rows.
pub(super) fn remove_index_predicate(site: &mut MutationSite<'_>) {
    for (index, constraint) in site.constraints() {
        if let ConstraintKind::UniqueIndex {
            keys,
            predicate: Some(_),
            nulls_distinct,
        } = constraint.kind
        {
            let description = format!("a unique index of `{}` loses its WHERE", site.table.name);
            site.replace(
                index,
                ConstraintKind::UniqueIndex {
                    keys,
                    predicate: None,
                    nulls_distinct,
                },
                description,
            );
        }
    }
}

fn primary_key(site: &MutationSite<'_>) -> Option<(usize, Vec<usize>)> {
    site.table
        .constraints
        .iter()
        .enumerate()
        .find_map(|(index, constraint)| match &constraint.kind {
            ConstraintKind::PrimaryKey { columns } => Some((index, columns.clone())),
            _ => None,
        })
}

fn uniques(site: &MutationSite<'_>) -> Vec<(usize, Vec<usize>, bool)> {
    site.table
        .constraints
        .iter()
        .enumerate()
        .filter_map(|(index, constraint)| match &constraint.kind {
            ConstraintKind::Unique {
                columns,
                nulls_distinct,
            } => Some((index, columns.clone(), *nulls_distinct)),
            _ => None,
        })
        .collect()
}

fn exchanges(members: &[usize], n_columns: usize) -> Vec<(usize, usize)> {
    members
        .iter()
        .flat_map(|old| {
            (0..n_columns)
                .filter(|new| !members.contains(new))
                .map(move |new| (*old, new))
        })
        .collect()
}

fn with(columns: &[usize], column: usize) -> Vec<usize> {
    columns.iter().copied().chain([column]).collect()
}

fn without(columns: &[usize], column: usize) -> Vec<usize> {
    columns.iter().copied().filter(|c| *c != column).collect()
}

fn exchanged(columns: &[usize], old: usize, new: usize) -> Vec<usize> {
    columns
        .iter()
        .map(|column| if *column == old { new } else { *column })
        .collect()
}
