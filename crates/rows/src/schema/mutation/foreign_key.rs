//! Mutation of foreign keys: other column pairs or other actions.

use isobath_sql::schema::{Action, ConstraintKind, ForeignKey, Table};

use super::mutant::MutationSite;

/// Each local column outside the key is paired with each parent column outside it, types ignored.
pub(super) fn add_pairs(site: &mut MutationSite<'_>) {
    for (index, key) in foreign_keys(site) {
        let parent = parent(site, &key);
        for own in outside(&key.columns, site.table) {
            for theirs in outside(&key.parent_columns, parent) {
                let description = format!(
                    "{} gains the pair {} and `{}`",
                    phrase(site, &key),
                    site.column(own),
                    parent.columns[theirs].name
                );
                let mut key = key.clone();
                key.columns.push(own);
                key.parent_columns.push(theirs);
                site.replace(index, ConstraintKind::ForeignKey(key), description);
            }
        }
    }
}

/// Each pair leaves its key; with the last one the key is gone.
pub(super) fn remove_pairs(site: &mut MutationSite<'_>) {
    for (index, key) in foreign_keys(site) {
        for pair in 0..key.columns.len() {
            if key.columns.len() == 1 {
                let description = format!("{} is removed", phrase(site, &key));
                site.remove(index, description);
            } else {
                let description = format!(
                    "{} loses the pair {} and `{}`",
                    phrase(site, &key),
                    site.column(key.columns[pair]),
                    parent(site, &key).columns[key.parent_columns[pair]].name
                );
                let mut key = key.clone();
                key.columns.remove(pair);
                key.parent_columns.remove(pair);
                site.replace(index, ConstraintKind::ForeignKey(key), description);
            }
        }
    }
}

/// Each pair has one side replaced by a column outside the key, types ignored.
pub(super) fn exchange_pairs(site: &mut MutationSite<'_>) {
    for (index, key) in foreign_keys(site) {
        for pair in 0..key.columns.len() {
            for own in outside(&key.columns, site.table) {
                let description = format!(
                    "{} has {} in place of {}",
                    phrase(site, &key),
                    site.column(own),
                    site.column(key.columns[pair])
                );
                let mut key = key.clone();
                key.columns[pair] = own;
                site.replace(index, ConstraintKind::ForeignKey(key), description);
            }
            let parent = parent(site, &key);
            for theirs in outside(&key.parent_columns, parent) {
                let description = format!(
                    "{} refers to `{}` in place of `{}`",
                    phrase(site, &key),
                    parent.columns[theirs].name,
                    parent.columns[key.parent_columns[pair]].name
                );
                let mut key = key.clone();
                key.parent_columns[pair] = theirs;
                site.replace(index, ConstraintKind::ForeignKey(key), description);
            }
        }
    }
}

/// Each action becomes each other one; NO ACTION and RESTRICT count as one, since only deferral tells them apart.
pub(super) fn change_actions(site: &mut MutationSite<'_>) {
    const ACTIONS: [Action; 4] = [
        Action::NoAction,
        Action::Cascade,
        Action::SetNull,
        Action::SetDefault,
    ];
    let refuses = |action| matches!(action, Action::NoAction | Action::Restrict);
    for (index, key) in foreign_keys(site) {
        for action in ACTIONS {
            let other = |now: Action| now != action && !(refuses(now) && refuses(action));
            if other(key.on_delete) {
                let description =
                    format!("{} says ON DELETE {}", phrase(site, &key), spelled(action));
                let mut key = key.clone();
                key.on_delete = action;
                site.replace(index, ConstraintKind::ForeignKey(key), description);
            }
            if other(key.on_update) {
                let description =
                    format!("{} says ON UPDATE {}", phrase(site, &key), spelled(action));
                let mut key = key.clone();
                key.on_update = action;
                site.replace(index, ConstraintKind::ForeignKey(key), description);
            }
        }
    }
}

fn spelled(action: Action) -> &'static str {
    match action {
        Action::NoAction => "NO ACTION",
        Action::Restrict => "RESTRICT",
        Action::Cascade => "CASCADE",
        Action::SetNull => "SET NULL",
        Action::SetDefault => "SET DEFAULT",
    }
}

fn foreign_keys(site: &MutationSite<'_>) -> Vec<(usize, ForeignKey)> {
    site.constraints()
        .into_iter()
        .filter_map(|(index, constraint)| match constraint.kind {
            ConstraintKind::ForeignKey(key) => Some((index, key)),
            _ => None,
        })
        .collect()
}

fn parent<'a>(site: &MutationSite<'a>, key: &ForeignKey) -> &'a Table {
    &site.schema.tables[key.parent]
}

fn phrase(site: &MutationSite<'_>, key: &ForeignKey) -> String {
    format!(
        "the foreign key ({}) of `{}` to `{}`",
        site.columns(&key.columns),
        site.table.name,
        parent(site, key).name
    )
}

fn outside(columns: &[usize], table: &Table) -> Vec<usize> {
    (0..table.columns.len())
        .filter(|column| !columns.contains(column))
        .collect()
}
