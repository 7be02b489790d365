//! Aggregate and window function calls.

use sqlparser::ast::{self, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments};

use crate::dialect::DialectName;
use crate::eval::static_type::{StaticType, kind_of};
use crate::expr::{ColumnRef, Expr};
use crate::syntax::last_part;
use crate::types::DataType;
use crate::value::Value;

use super::model::{
    Aggregate, AggregateFunction, FrameBound, FrameUnits, OrderBy, OrderKey, Window, WindowFrame,
    WindowFunction,
};
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
        let filter = || {
            let filter = function.filter.as_ref();
            filter.map(|filter| self.expr(filter)).transpose()
        };
        let order_inside = || -> Result<Vec<OrderKey>, ResolveError> {
            let FunctionArguments::List(list) = &function.args else {
                return Ok(Vec::new());
            };
            let mut keys = Vec::new();
            for clause in &list.clauses {
                match clause {
                    ast::FunctionArgumentClause::OrderBy(order_by) => {
                        keys.extend(self.window_order(order_by)?);
                    }
                    ast::FunctionArgumentClause::Separator(_) => {}
                    _ => return Err(unsupported("this clause is not supported")),
                }
            }
            Ok(keys)
        };
        let Some(over) = &function.over else {
            let Some(aggregate) = aggregate else {
                return Ok(None);
            };
            let aggregate = Aggregate {
                function: aggregate,
                argument: argument(0)?,
                distinct,
                filter: filter()?,
                order_by: order_inside()?,
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
        let spec = self
            .window_spec(over)
            .ok_or_else(|| unsupported("no window of this name"))?;
        let frame = match &spec.window_frame {
            None => None,
            Some(frame) => Some(frame_of(frame).ok_or_else(|| {
                unsupported(
                    "a frame is evaluated when its bounds are constant numbers of rows or groups",
                )
            })?),
        };
        let constant = |index: usize| -> Result<usize, ResolveError> {
            match argument(index)? {
                Some(Expr::Literal(Value::Int(number))) if number > 0 => {
                    usize::try_from(number).map_err(|_| unsupported("its number is too large"))
                }
                _ => Err(unsupported("its number is not a positive constant")),
            }
        };
        let first = || argument(0)?.ok_or_else(|| unsupported("it has no argument"));
        let window_function = match (name.as_str(), aggregate) {
            ("row_number", _) => WindowFunction::RowNumber,
            ("rank", _) => WindowFunction::Rank,
            ("dense_rank", _) => WindowFunction::DenseRank,
            ("percent_rank", _) => WindowFunction::PercentRank,
            ("cume_dist", _) => WindowFunction::CumeDist,
            ("ntile", _) => WindowFunction::Ntile(constant(0)?),
            ("first_value", _) => WindowFunction::FirstValue(first()?),
            ("last_value", _) => WindowFunction::LastValue(first()?),
            ("nth_value", _) => WindowFunction::NthValue(first()?, constant(1)?),
            ("lag" | "lead", _) => {
                let offset = match argument(1)? {
                    None => 1,
                    Some(Expr::Literal(Value::Int(offset))) => {
                        i64::try_from(offset).map_err(|_| unsupported("its offset is too large"))?
                    }
                    Some(_) => return Err(unsupported("its offset is not a constant")),
                };
                WindowFunction::Shift {
                    expr: first()?,
                    offset: if name == "lag" { -offset } else { offset },
                    otherwise: argument(2)?,
                }
            }
            (_, Some(function)) => WindowFunction::Aggregate(Aggregate {
                function,
                argument: argument(0)?,
                distinct,
                filter: filter()?,
                order_by: order_inside()?,
            }),
            _ => return Err(unsupported("this window function is not supported")),
        };
        let partition_by = spec
            .partition_by
            .iter()
            .map(|key| self.expr(key))
            .collect::<Result<_, _>>()?;
        let order_by = self.window_order(&spec.order_by)?;
        let dialect = self.resolver.dialect;
        let shape = match &window_function {
            WindowFunction::Aggregate(aggregate) => result(aggregate, dialect),
            WindowFunction::Shift { expr, .. }
            | WindowFunction::FirstValue(expr)
            | WindowFunction::LastValue(expr)
            | WindowFunction::NthValue(expr, _) => like(expr, dialect),
            _ if dialect == DialectName::Sqlite => None,
            WindowFunction::PercentRank | WindowFunction::CumeDist => {
                Some(plain(DataType::Float { bits: 64 }))
            }
            WindowFunction::Ntile(_) if dialect == DialectName::Postgres => {
                Some(plain(DataType::INT))
            }
            WindowFunction::RowNumber
            | WindowFunction::Rank
            | WindowFunction::DenseRank
            | WindowFunction::Ntile(_) => Some(plain(DataType::Integer {
                bits: 64,
                unsigned: false,
            })),
        };
        let slot = self.slot();
        self.windows.borrow_mut().push(Window {
            function: window_function,
            partition_by,
            order_by,
            frame,
            slot,
        });
        Ok(Some(computed(slot, &name, shape)))
    }

    fn window_order(&self, keys: &[ast::OrderByExpr]) -> Result<Vec<OrderKey>, ResolveError> {
        keys.iter()
            .map(|key| {
                Ok(OrderKey {
                    by: OrderBy::Expr(self.expr(&key.expr)?),
                    descending: matches!(key.options.sort, Some(ast::OrderBySort::Desc)),
                    nulls_first: key.options.nulls_first,
                })
            })
            .collect()
    }

    /// The window of an OVER clause, with what it takes from a named one.
    fn window_spec(&self, over: &ast::WindowType) -> Option<ast::WindowSpec> {
        // As many names as there are: a definition can name only those before it.
        let mut left = self.named_windows.len();
        let named = |name: &ast::Ident| {
            let definition = self
                .named_windows
                .iter()
                .find(|definition| definition.0.value.eq_ignore_ascii_case(&name.value));
            definition.map(|definition| match &definition.1 {
                ast::NamedWindowExpr::NamedWindow(other) => {
                    ast::WindowType::NamedWindow(other.clone())
                }
                ast::NamedWindowExpr::WindowSpec(spec) => ast::WindowType::WindowSpec(spec.clone()),
            })
        };
        let mut over = over.clone();
        let mut own: Option<ast::WindowSpec> = None;
        loop {
            match over {
                ast::WindowType::NamedWindow(name) => over = named(&name)?,
                ast::WindowType::WindowSpec(spec) => {
                    let base = spec.window_name.clone();
                    own = Some(match own {
                        None => spec,
                        Some(own) => ast::WindowSpec {
                            window_name: None,
                            partition_by: spec.partition_by,
                            order_by: if own.order_by.is_empty() {
                                spec.order_by
                            } else {
                                own.order_by
                            },
                            window_frame: own.window_frame,
                        },
                    });
                    match base {
                        None => return own,
                        Some(name) => over = named(&name)?,
                    }
                }
            }
            left = left.checked_sub(1)?;
        }
    }
}

/// A frame whose bounds are constants.
fn frame_of(frame: &ast::WindowFrame) -> Option<WindowFrame> {
    let units = match frame.units {
        ast::WindowFrameUnits::Rows => FrameUnits::Rows,
        ast::WindowFrameUnits::Range => FrameUnits::Range,
        ast::WindowFrameUnits::Groups => FrameUnits::Groups,
    };
    let bound = |bound: &ast::WindowFrameBound| -> Option<FrameBound> {
        let number = |expr: &Option<Box<Ast>>| -> Option<Option<usize>> {
            match expr.as_deref() {
                None => Some(None),
                // How far values lie apart depends on their type.
                Some(_) if units == FrameUnits::Range => None,
                Some(Ast::Value(value)) => match &value.value {
                    ast::Value::Number(number, _) => number.parse().ok().map(Some),
                    _ => None,
                },
                Some(_) => None,
            }
        };
        Some(match bound {
            ast::WindowFrameBound::CurrentRow => FrameBound::CurrentRow,
            ast::WindowFrameBound::Preceding(by) => FrameBound::Preceding(number(by)?),
            ast::WindowFrameBound::Following(by) => FrameBound::Following(number(by)?),
        })
    };
    Some(WindowFrame {
        units,
        start: bound(&frame.start_bound)?,
        end: match &frame.end_bound {
            Some(end) => bound(end)?,
            None => FrameBound::CurrentRow,
        },
    })
}

/// The result of an aggregate or window function as a column of the row.
fn computed(slot: usize, name: &str, result: Option<ColumnRef>) -> Expr {
    Expr::Column(match result {
        Some(column) => ColumnRef { slot, ..column },
        None => ColumnRef {
            slot,
            name: name.to_owned(),
            data_type: DataType::Other(String::new()),
            collation: None,
        },
    })
}

/// A value like that of an expression; `None` where nothing is known, as always in SQLite, whose results have no type.
fn like(expr: &Expr, dialect: DialectName) -> Option<ColumnRef> {
    match expr {
        _ if dialect == DialectName::Sqlite => None,
        Expr::Column(column) => Some(column.clone()),
        other => kind_of(other, dialect).data_type().map(plain),
    }
}

fn plain(data_type: DataType) -> ColumnRef {
    ColumnRef {
        slot: 0,
        name: String::new(),
        data_type,
        collation: None,
    }
}

/// A value like the result of an aggregate.
fn result(aggregate: &Aggregate, dialect: DialectName) -> Option<ColumnRef> {
    if dialect == DialectName::Sqlite {
        return None;
    }
    let kind = aggregate
        .argument
        .as_ref()
        .map_or(StaticType::Other, |argument| kind_of(argument, dialect));
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
            StaticType::Int {
                bits: 8..=32,
                unsigned: false,
            },
        ) if dialect != DialectName::MySql => Some(plain(long)),
        (
            AggregateFunction::Sum | AggregateFunction::Avg,
            StaticType::Float { .. } | StaticType::Text | StaticType::Varchar,
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
