//! Mutation of columns: another size, or no DEFAULT.

use isobath_sql::DataType;

use super::mutant::MutationSite;
use crate::schema::phrase;

/// Each type with a size becomes one step narrower, and one step wider.
pub(super) fn change_types(site: &mut MutationSite<'_>) {
    for index in 0..site.table.columns.len() {
        let column = site.table.columns[index].clone();
        for data_type in sizes(&column.data_type) {
            let spelled = phrase::data_type(&data_type, site.dialect);
            let description = format!(
                "{} of `{}` is {spelled} in place of {}",
                site.column(index),
                site.table.name,
                phrase::data_type(&column.data_type, site.dialect)
            );
            let mut column = column.clone();
            column.data_type = data_type;
            column.declared = spelled;
            site.replace_column(index, column, description);
        }
    }
}

/// Each DEFAULT is gone.
pub(super) fn remove_defaults(site: &mut MutationSite<'_>) {
    for index in 0..site.table.columns.len() {
        let mut column = site.table.columns[index].clone();
        if column.default.take().is_some() {
            let description = format!(
                "{} of `{}` loses its DEFAULT",
                site.column(index),
                site.table.name
            );
            site.replace_column(index, column, description);
        }
    }
}

/// The neighbouring sizes of a type.
fn sizes(data_type: &DataType) -> Vec<DataType> {
    let lengths = |length: u32| {
        let shorter = (length > 1).then(|| length - 1);
        [shorter, length.checked_add(1)].into_iter().flatten()
    };
    match *data_type {
        DataType::Char { length } => lengths(length)
            .map(|length| DataType::Char { length })
            .collect(),
        DataType::Varchar {
            length: Some(length),
        } => lengths(length)
            .map(|length| DataType::Varchar {
                length: Some(length),
            })
            .collect(),
        DataType::Integer { bits, unsigned } => {
            const WIDTHS: [u8; 3] = [16, 32, 64];
            let narrower = WIDTHS.iter().rev().find(|width| **width < bits);
            let wider = WIDTHS.iter().find(|width| **width > bits);
            narrower
                .into_iter()
                .chain(wider)
                .map(|bits| DataType::Integer {
                    bits: *bits,
                    unsigned,
                })
                .collect()
        }
        DataType::Decimal {
            precision: Some(precision),
            scale,
        } => {
            let digits = scale.unwrap_or(0);
            // A digit less or more before the point, then a digit less or more after it.
            let mut found = Vec::new();
            if precision > digits.max(1) {
                found.push((precision - 1, digits));
            }
            found.push((precision + 1, digits));
            if digits > 0 {
                found.push((precision - 1, digits - 1));
            }
            found.push((precision + 1, digits + 1));
            found
                .into_iter()
                .filter(|(precision, _)| *precision > 0)
                .map(|(precision, scale)| DataType::Decimal {
                    precision: Some(precision),
                    scale: Some(scale),
                })
                .collect()
        }
        _ => Vec::new(),
    }
}
