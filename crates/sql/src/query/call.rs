//! Aggregate and window function calls.

use sqlparser::ast::{self, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::dialect::DialectName;
use crate::eval::kind::{Kind, kind_of};
use crate::expr::{ColumnUse, Expr};
use crate::syntax::last_part;
use crate::types::DataType;
use crate::value::Value;

use super::model::{Aggregate, AggregateFunction, OrderBy, OrderKey, Window, WindowFunction};
use super::resolve::ResolveError;
use super::scope::Scope;

impl Scope<'_> {
    /// An aggregate or window function, as the slot of its result; `None` when it is neither.
    pub(super) fn call(&self, function: &ast::Function) -> Result<Option<Expr>, ResolveError> {
        let name = last_part(&function.name).to_lowercase();
        let unsupported = |why: &str| ResolveError::Unsupported {
            what: function.to_string(),
            why: why.to_owned(),
            span: function
                .name
                .0
                .first()
                .and_then(|part| part.as_ident())
                .map(|ident| ident.span),
        };
        let (args, distinct) = match &function.args {
            FunctionArguments::List(list) => {
                let distinct = matches!(
                    list.duplicate_treatment,
                    Some(ast::DuplicateTreatment::Distinct)
                );
                (list.args.as_slice(), distinct)
            }
            FunctionArguments::None | FunctionArguments::Subquery(_) => (&[][..], false),
        };
        let aggregate = match name.as_str() {
            "count" => Some(AggregateFunction::Count),
            "sum" => Some(AggregateFunction::Sum),
            "avg" => Some(AggregateFunction::Avg),
            // SQLite's MIN and MAX of several arguments are plain functions.
            "min" if args.len() == 1 => Some(AggregateFunction::Min),
            "max" if args.len() == 1 => Some(AggregateFunction::Max),
            "total" => Some(AggregateFunction::Total),
            "group_concat" | "string_agg" => {
                let separator = match separator(function, args) {
                    Some(separator) => separator,
                    None => return Err(unsupported("its separator is not a constant")),
                };
                Some(AggregateFunction::Concat(separator))
            }
            "bool_and" | "every" => Some(AggregateFunction::BoolAnd),
            "bool_or" => Some(AggregateFunction::BoolOr),
            _ => None,
        };
        let argument = |index: usize| -> Result<Option<Expr>, ResolveError> {
            match args.get(index) {
                Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(arg))) => self.expr(arg).map(Some),
                Some(FunctionArg::Unnamed(FunctionArgExpr::Wildcard)) | None => Ok(None),
                Some(_) => Err(unsupported("its arguments are not plain expressions")),
            }
        };
        let Some(over) = &function.over else {
            let Some(aggregate) = aggregate else {
                return Ok(None);
            };
            let filter = function
                .filter
                .as_ref()
                .map(|filter| self.expr(filter))
                .transpose()?;
            let aggregate = Aggregate {
                function: aggregate,
                argument: argument(0)?,
                distinct,
                filter,
            };
            let slots: Vec<usize> = aggregate
                .argument
                .iter()
                .chain(&aggregate.filter)
                .flat_map(Expr::columns)
                .collect();
            if slots.iter().any(|slot| self.is_computed(*slot)) {
                return Err(unsupported("an aggregate of an aggregate"));
            }
            if !slots.is_empty() && slots.iter().all(|slot| *slot < self.base) {
                return Err(unsupported("an aggregate of the enclosing query"));
            }
            let mut aggregates = self.aggregates.borrow_mut();
            let known = aggregates
                .iter()
                .find(|(_, known)| *known == aggregate)
                .map(|(slot, _)| *slot);
            let slot = known.unwrap_or_else(|| {
                let slot = self.slot();
                aggregates.push((slot, aggregate.clone()));
                slot
            });
            return Ok(Some(computed(
                slot,
                &name,
                result(&aggregate, self.resolver.dialect),
            )));
        };
        let ast::WindowType::WindowSpec(spec) = over else {
            return Err(unsupported("named windows are not evaluated"));
        };
        if spec.window_frame.is_some() || spec.window_name.is_some() {
            return Err(unsupported("window frames are not evaluated"));
        }
        let window_function = match (name.as_str(), aggregate) {
            ("row_number", _) => WindowFunction::RowNumber,
            ("rank", _) => WindowFunction::Rank,
            ("dense_rank", _) => WindowFunction::DenseRank,
            ("first_value", _) => WindowFunction::FirstValue(
                argument(0)?.ok_or_else(|| unsupported("it has no argument"))?,
            ),
            ("lag" | "lead", _) => {
                let offset = match argument(1)? {
                    None => 1,
                    Some(Expr::Literal(Value::Int(offset))) => {
                        i64::try_from(offset).map_err(|_| unsupported("its offset is too large"))?
                    }
                    Some(_) => return Err(unsupported("its offset is not a constant")),
                };
                WindowFunction::Shift {
                    expr: argument(0)?.ok_or_else(|| unsupported("it has no argument"))?,
                    offset: if name == "lag" { -offset } else { offset },
                    otherwise: argument(2)?,
                }
            }
            (_, Some(function)) => WindowFunction::Aggregate(Aggregate {
                function,
                argument: argument(0)?,
                distinct,
                filter: None,
            }),
            _ => return Err(unsupported("this window function is not evaluated")),
        };
        let partition_by = spec
            .partition_by
            .iter()
            .map(|key| self.expr(key))
            .collect::<Result<_, _>>()?;
        let order_by = spec
            .order_by
            .iter()
            .map(|key| {
                Ok(OrderKey {
                    by: OrderBy::Expr(self.expr(&key.expr)?),
                    descending: matches!(key.options.sort, Some(ast::OrderBySort::Desc)),
                    nulls_first: key.options.nulls_first,
                })
            })
            .collect::<Result<_, ResolveError>>()?;
        let dialect = self.resolver.dialect;
        let shape = match &window_function {
            WindowFunction::Aggregate(aggregate) => result(aggregate, dialect),
            WindowFunction::Shift { expr, .. } | WindowFunction::FirstValue(expr) => {
                like(expr, dialect)
            }
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank
                if dialect == DialectName::Sqlite =>
            {
                None
            }
            WindowFunction::RowNumber | WindowFunction::Rank | WindowFunction::DenseRank => {
                Some(plain(DataType::Integer {
                    bits: 64,
                    unsigned: false,
                }))
            }
        };
        let slot = self.slot();
        self.windows.borrow_mut().push(Window {
            function: window_function,
            partition_by,
            order_by,
            slot,
        });
        Ok(Some(computed(slot, &name, shape)))
    }
}

/// The result of an aggregate or window function as a column of the row.
fn computed(slot: usize, name: &str, result: Option<ColumnUse>) -> Expr {
    Expr::Column(match result {
        Some(column) => ColumnUse { slot, ..column },
        None => ColumnUse {
            slot,
            name: name.to_owned(),
            data_type: DataType::Other(String::new()),
            collation: None,
        },
    })
}

/// A value like that of an expression; `None` where nothing is known, as always in SQLite, whose results have no type.
fn like(expr: &Expr, dialect: DialectName) -> Option<ColumnUse> {
    match expr {
        _ if dialect == DialectName::Sqlite => None,
        Expr::Column(column) => Some(column.clone()),
        other => kind_of(other, dialect).data_type().map(plain),
    }
}

fn plain(data_type: DataType) -> ColumnUse {
    ColumnUse {
        slot: 0,
        name: String::new(),
        data_type,
        collation: None,
    }
}

/// A value like the result of an aggregate.
fn result(aggregate: &Aggregate, dialect: DialectName) -> Option<ColumnUse> {
    if dialect == DialectName::Sqlite {
        return None;
    }
    let kind = aggregate
        .argument
        .as_ref()
        .map_or(Kind::Other, |argument| kind_of(argument, dialect));
    let decimal = DataType::Decimal {
        precision: None,
        scale: None,
    };
    let long = DataType::Integer {
        bits: 64,
        unsigned: false,
    };
    match (&aggregate.function, kind) {
        (AggregateFunction::Count, _) => Some(plain(long)),
        (AggregateFunction::Min | AggregateFunction::Max, _) => aggregate
            .argument
            .as_ref()
            .and_then(|argument| like(argument, dialect)),
        (
            AggregateFunction::Sum,
            Kind::Int {
                bits: 8..=32,
                unsigned: false,
            },
        ) if dialect != DialectName::MySql => Some(plain(long)),
        (
            AggregateFunction::Sum | AggregateFunction::Avg,
            Kind::Float { .. } | Kind::Text | Kind::Varchar,
        ) => Some(plain(DataType::Float { bits: 64 })),
        (AggregateFunction::Sum | AggregateFunction::Avg, _) => Some(plain(decimal)),
        (AggregateFunction::Concat(_), _) => Some(plain(DataType::Text)),
        (AggregateFunction::Total, _) => Some(plain(DataType::Float { bits: 64 })),
        (AggregateFunction::BoolAnd | AggregateFunction::BoolOr, _) => {
            Some(plain(DataType::Boolean))
        }
    }
}

/// The separator of GROUP_CONCAT or STRING_AGG; `None` when it is not a constant.
fn separator(function: &ast::Function, args: &[FunctionArg]) -> Option<String> {
    if let FunctionArguments::List(list) = &function.args {
        for clause in &list.clauses {
            if let ast::FunctionArgumentClause::Separator(value) = clause {
                return value.value.clone().into_string();
            }
        }
    }
    match args.get(1) {
        None => Some(",".to_owned()),
        Some(FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Value(value)))) => {
            value.value.clone().into_string()
        }
        Some(_) => None,
    }
}
