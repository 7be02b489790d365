//! Expressions: parentheses dropped, names resolved, special syntaxes made plain calls.

use isobath_walk::expressions;
use sqlparser::ast::{
    self, CeilFloorKind, Expr as Ast, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    Spanned, TrimWhereField, UnaryOperator, Value as AstValue,
};

use super::{NameResolver, UnsupportedSyntax, data_type, last_part, literal};
use crate::dialect::DialectName;
use crate::expr::{BinaryOp, Expr, PatternKind};
use crate::types::DataType;
use crate::value::Value;

/// How deep an expression may be; deeper ones are carried as text.
const DEPTH: usize = 200;

/// Turns syntax trees into expressions, and keeps what it could not turn.
pub(crate) struct ExprConverter<'a> {
    pub(super) names: &'a dyn NameResolver,
    pub(super) dialect: DialectName,
    depth: usize,
    /// What has no form in the model.
    pub(crate) problems: Vec<UnsupportedSyntax>,
}

impl<'a> ExprConverter<'a> {
    /// A converter for expressions in which `names` hold.
    pub(crate) fn new(names: &'a dyn NameResolver, dialect: DialectName) -> Self {
        Self {
            names,
            dialect,
            depth: 0,
            problems: Vec::new(),
        }
    }

    /// Converts an expression; parts without a form become [`Expr::Opaque`].
    pub(crate) fn expr(&mut self, ast: &Ast) -> Expr {
        if self.depth >= DEPTH {
            return self.opaque(ast, "nested too deeply");
        }
        self.depth += 1;
        let expr = self.convert(ast);
        self.depth -= 1;
        expr
    }

    pub(super) fn boxed(&mut self, ast: &Ast) -> Box<Expr> {
        Box::new(self.expr(ast))
    }

    fn convert(&mut self, ast: &Ast) -> Expr {
        if let Some(expr) = self.names.special(ast) {
            return expr;
        }
        match ast {
            Ast::Nested(inner) => self.expr(inner),
            Ast::Identifier(ident) => self.name(ast, std::slice::from_ref(ident)),
            Ast::CompoundIdentifier(path) => self.name(ast, path),
            Ast::Value(value) => self.value(ast, &value.value),
            Ast::TypedString(typed) => {
                let data_type = self.data_type(&typed.data_type);
                match typed.value.value.clone().into_string() {
                    Some(text) => typed_text(text, data_type),
                    None => self.opaque(ast, "it is a literal of an unknown kind"),
                }
            }
            Ast::Interval(interval) => self.interval(ast, interval),
            Ast::UnaryOp { op, expr } => self.unary(ast, *op, expr),
            Ast::BinaryOp { left, op, right } => self.binary(ast, left, op, right),
            Ast::IsNull(expr) => self.is_null(expr, false),
            Ast::IsNotNull(expr) => self.is_null(expr, true),
            Ast::IsTrue(expr) => self.is_truth(expr, Some(true), false),
            Ast::IsNotTrue(expr) => self.is_truth(expr, Some(true), true),
            Ast::IsFalse(expr) => self.is_truth(expr, Some(false), false),
            Ast::IsNotFalse(expr) => self.is_truth(expr, Some(false), true),
            Ast::IsUnknown(expr) => self.is_truth(expr, None, false),
            Ast::IsNotUnknown(expr) => self.is_truth(expr, None, true),
            Ast::IsDistinctFrom(left, right) => self.is_distinct(left, right, false),
            Ast::IsNotDistinctFrom(left, right) => self.is_distinct(left, right, true),
            Ast::Between {
                expr,
                negated,
                low,
                high,
            } => {
                // `repair` writes BETWEEN SYMMETRIC as BETWEEN NOT NOT.
                let (low, symmetric) = match twice_negated(low) {
                    Some(inner) => (inner, true),
                    None => (low.as_ref(), false),
                };
                Expr::Between {
                    expr: self.boxed(expr),
                    low: self.boxed(low),
                    high: self.boxed(high),
                    negated: *negated,
                    symmetric,
                }
            }
            Ast::InList {
                expr,
                list,
                negated,
            } if matches!(**expr, Ast::Tuple(_)) => self.rows_in(ast, expr, list, *negated),
            Ast::InList {
                expr,
                list,
                negated,
            } => Expr::InList {
                expr: self.boxed(expr),
                list: list.iter().map(|item| self.expr(item)).collect(),
                negated: *negated,
            },
            Ast::AnyOp {
                left,
                compare_op,
                right,
                ..
            } => self.beside_array(ast, (left, compare_op, right), false),
            Ast::AllOp {
                left,
                compare_op,
                right,
            } => self.beside_array(ast, (left, compare_op, right), true),
            Ast::Like {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            } => self.like(ast, PatternKind::Like, *negated, expr, pattern, escape_char),
            Ast::ILike {
                negated,
                any: false,
                expr,
                pattern,
                escape_char,
            } => self.like(
                ast,
                PatternKind::Ilike,
                *negated,
                expr,
                pattern,
                escape_char,
            ),
            Ast::SimilarTo {
                negated,
                expr,
                pattern,
                escape_char,
            } => self.like(
                ast,
                PatternKind::SimilarTo,
                *negated,
                expr,
                pattern,
                escape_char,
            ),
            Ast::RLike {
                negated,
                expr,
                pattern,
                ..
            } => self.like(ast, PatternKind::Regex, *negated, expr, pattern, &None),
            Ast::Case {
                operand,
                conditions,
                else_result,
                ..
            } => Expr::Case {
                operand: operand.as_ref().map(|operand| self.boxed(operand)),
                branches: conditions
                    .iter()
                    .map(|when| (self.expr(&when.condition), self.expr(&when.result)))
                    .collect(),
                otherwise: else_result.as_ref().map(|result| self.boxed(result)),
            },
            Ast::Cast {
                kind: ast::CastKind::Cast | ast::CastKind::DoubleColon,
                expr,
                data_type,
                format: None,
            } => {
                let data_type = self.data_type(data_type);
                let inner = self.expr(expr);
                cast(inner, data_type)
            }
            Ast::Convert {
                is_try: false,
                expr,
                data_type: Some(data_type),
                charset: None,
                ..
            } => {
                let data_type = self.data_type(data_type);
                let inner = self.expr(expr);
                cast(inner, data_type)
            }
            Ast::Collate { expr, collation } => match self.expr(expr) {
                Expr::Column(mut column) => {
                    column.collation = Some(last_part(collation));
                    Expr::Column(column)
                }
                _ => self.opaque(ast, "a collation of anything but a column is not supported"),
            },
            Ast::Function(function) => self.function(ast, function),
            Ast::Extract { field, expr, .. } => {
                let field = Expr::Literal(Value::Text(field.to_string().to_lowercase()));
                let of = self.expr(expr);
                call("extract", vec![field, of])
            }
            Ast::Ceil {
                expr,
                field: CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime),
            } => call("ceil", vec![self.expr(expr)]),
            Ast::Floor {
                expr,
                field: CeilFloorKind::DateTimeField(ast::DateTimeField::NoDateTime),
            } => call("floor", vec![self.expr(expr)]),
            Ast::Position { expr, r#in } => {
                call("position", vec![self.expr(expr), self.expr(r#in)])
            }
            Ast::Substring {
                expr,
                substring_from,
                substring_for,
                ..
            } => {
                let mut args = vec![self.expr(expr)];
                match (substring_from, substring_for) {
                    (Some(from), _) => args.push(self.expr(from)),
                    (None, Some(_)) => args.push(Expr::int(1)),
                    (None, None) => {}
                }
                args.extend(substring_for.as_ref().map(|length| self.expr(length)));
                call("substring", args)
            }
            Ast::Trim {
                trim_where,
                trim_what,
                expr,
                trim_characters,
            } => {
                let name = match trim_where {
                    Some(TrimWhereField::Leading) => "ltrim",
                    Some(TrimWhereField::Trailing) => "rtrim",
                    Some(TrimWhereField::Both) | None => "trim",
                };
                let mut args = vec![self.expr(expr)];
                args.extend(trim_what.as_ref().map(|what| self.expr(what)));
                args.extend(trim_characters.iter().flatten().map(|what| self.expr(what)));
                call(name, args)
            }
            Ast::Overlay {
                expr,
                overlay_what,
                overlay_from,
                overlay_for,
            } => {
                let mut args = vec![
                    self.expr(expr),
                    self.expr(overlay_what),
                    self.expr(overlay_from),
                ];
                args.extend(overlay_for.as_ref().map(|length| self.expr(length)));
                call("overlay", args)
            }
            Ast::AtTimeZone {
                timestamp,
                time_zone,
            } => call("timezone", vec![self.expr(time_zone), self.expr(timestamp)]),
            Ast::Exists { .. } | Ast::Subquery(_) | Ast::InSubquery { .. } => {
                self.opaque(ast, "a query inside an expression is not supported")
            }
            _ => self.opaque(ast, "this kind of expression is not supported"),
        }
    }

    fn name(&mut self, ast: &Ast, path: &[Ident]) -> Expr {
        if let Some(column) = self.names.column(path) {
            return Expr::Column(column);
        }
        let lenient = matches!(self.dialect, DialectName::MySql | DialectName::Sqlite);
        if let [
            Ident {
                value,
                quote_style: Some('"'),
                ..
            },
        ] = path
            && lenient
        {
            return Expr::Literal(Value::Text(value.clone()));
        }
        if let [
            Ident {
                value,
                quote_style: None,
                ..
            },
        ] = path
        {
            // SQLite reads TRUE and FALSE as names first, and so may the parser.
            match value.to_ascii_lowercase().as_str() {
                "true" => return Expr::Literal(Value::Bool(true)),
                "false" => return Expr::Literal(Value::Bool(false)),
                "current_timestamp" | "current_date" | "current_time" | "localtimestamp"
                | "localtime" | "current_user" | "session_user" => {
                    return call(&value.to_ascii_lowercase(), Vec::new());
                }
                _ => {}
            }
        }
        self.opaque(ast, "no such column")
    }

    fn value(&mut self, ast: &Ast, value: &AstValue) -> Expr {
        let found = match value {
            AstValue::Number(text, _) => literal::number(text),
            AstValue::Null => Some(Value::Null),
            AstValue::Boolean(value) => Some(Value::Bool(*value)),
            AstValue::HexStringLiteral(digits) if self.dialect != DialectName::Postgres => {
                literal::hex(digits).map(Value::Bytes)
            }
            // b'101': a bit string, which MySQL stores as a number.
            AstValue::SingleQuotedByteStringLiteral(bits) if self.dialect == DialectName::MySql => {
                i128::from_str_radix(bits, 2).ok().map(Value::Int)
            }
            AstValue::DoubleQuotedString(text) => Some(Value::Text(text.clone())),
            AstValue::SingleQuotedString(text)
            | AstValue::EscapedStringLiteral(text)
            | AstValue::UnicodeStringLiteral(text)
            | AstValue::NationalStringLiteral(text) => Some(Value::Text(text.clone())),
            AstValue::DollarQuotedString(text) => Some(Value::Text(text.value.clone())),
            _ => None,
        };
        match found {
            Some(value) => Expr::Literal(value),
            None => self.opaque(ast, "it is a literal of an unknown kind"),
        }
    }

    fn interval(&mut self, ast: &Ast, interval: &ast::Interval) -> Expr {
        let value = match (self.expr(&interval.value), &interval.leading_field) {
            (Expr::Literal(Value::Text(text)), None) => literal::interval(&text),
            (Expr::Literal(Value::Text(text)), Some(field)) => text
                .trim()
                .parse()
                .ok()
                .and_then(|amount| literal::interval_of(amount, field)),
            (Expr::Literal(Value::Int(amount)), Some(field)) => i64::try_from(amount)
                .ok()
                .and_then(|amount| literal::interval_of(amount, field)),
            _ => None,
        };
        match value {
            Some(value) if interval.last_field.is_none() => Expr::Literal(Value::Interval(value)),
            _ => self.opaque(ast, "this form of interval is not supported"),
        }
    }

    fn function(&mut self, ast: &Ast, function: &ast::Function) -> Expr {
        if function.filter.is_some() || function.over.is_some() || !function.within_group.is_empty()
        {
            return self.opaque(ast, "aggregates and windows are not supported");
        }
        let name = last_part(&function.name).to_lowercase();
        let list = match &function.args {
            FunctionArguments::None => return call(&name, Vec::new()),
            FunctionArguments::Subquery(_) => {
                return self.opaque(ast, "a query inside an expression is not supported");
            }
            FunctionArguments::List(list) => list,
        };
        if list.duplicate_treatment.is_some() || !list.clauses.is_empty() {
            return self.opaque(ast, "aggregates and windows are not supported");
        }
        let mut args = Vec::with_capacity(list.args.len());
        // Its first argument is a unit, which looks like a name.
        let unit = matches!(name.as_str(), "timestampdiff" | "timestampadd");
        for arg in &list.args {
            match arg {
                FunctionArg::Unnamed(FunctionArgExpr::Expr(Ast::Identifier(word)))
                    if unit && args.is_empty() =>
                {
                    args.push(Expr::Literal(Value::Text(word.value.to_lowercase())));
                }
                FunctionArg::Unnamed(FunctionArgExpr::Expr(arg)) => args.push(self.expr(arg)),
                _ => return self.opaque(ast, "its arguments are not plain expressions"),
            }
        }
        // SQLite's and MySQL's function forms of operators.
        match (name.as_str(), args.len()) {
            ("mod", 2) => binary_call(BinaryOp::Modulo, args),
            _ => call(&name, args),
        }
    }

    fn data_type(&mut self, ast: &ast::DataType) -> DataType {
        let names = self.names;
        data_type(ast, self.dialect, &|name| names.user_type(name))
    }

    pub(super) fn opaque(&mut self, ast: &Ast, why: &str) -> Expr {
        let sql = ast.to_string();
        let mut columns = Vec::new();
        expressions(ast, &mut |expr| {
            let column = match expr {
                Ast::Identifier(ident) => self.names.column(std::slice::from_ref(ident)),
                Ast::CompoundIdentifier(path) => self.names.column(path),
                _ => None,
            };
            if let Some(column) = column
                && !columns.contains(&column.slot)
            {
                columns.push(column.slot);
            }
        });
        self.problems.push(UnsupportedSyntax {
            span: ast.span(),
            input: sql.clone(),
            why: why.to_owned(),
        });
        Expr::Opaque { sql, columns }
    }
}

fn twice_negated(ast: &Ast) -> Option<&Ast> {
    let once = |ast: &'_ Ast| {
        matches!(
            ast,
            Ast::UnaryOp {
                op: UnaryOperator::Not,
                ..
            }
        )
    };
    match ast {
        Ast::UnaryOp { expr, .. } if once(ast) && once(expr) => match expr.as_ref() {
            Ast::UnaryOp { expr, .. } => Some(expr),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn call(name: &str, args: Vec<Expr>) -> Expr {
    Expr::Function {
        name: name.to_owned(),
        args,
    }
}

pub(super) fn binary_call(op: BinaryOp, args: Vec<Expr>) -> Expr {
    let mut args = args.into_iter();
    match (args.next(), args.next()) {
        (Some(left), Some(right)) => Expr::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        },
        _ => Expr::Literal(Value::Null),
    }
}

fn typed_text(text: String, data_type: DataType) -> Expr {
    match literal::typed(&text, &data_type) {
        Some(value) => Expr::Literal(value),
        None => Expr::Cast {
            expr: Box::new(Expr::Literal(Value::Text(text))),
            data_type,
        },
    }
}

/// A conversion, unless it changes nothing or its outcome is known.
fn cast(expr: Expr, data_type: DataType) -> Expr {
    match (expr, &data_type) {
        // What PostgreSQL writes for a default of "now", evaluated on insertion.
        (Expr::Literal(Value::Text(text)), DataType::Date) if text == "now" => {
            call("current_date", Vec::new())
        }
        (Expr::Literal(Value::Text(text)), DataType::Timestamp { zoned: true, .. })
            if text == "now" =>
        {
            call("current_timestamp", Vec::new())
        }
        (Expr::Literal(Value::Text(text)), DataType::Timestamp { zoned: false, .. })
            if text == "now" =>
        {
            call("localtimestamp", Vec::new())
        }
        (Expr::Literal(Value::Text(text)), _) => typed_text(text, data_type),
        (Expr::Literal(Value::Null), _) => Expr::Literal(Value::Null),
        (Expr::Column(column), DataType::Text | DataType::Varchar { length: None })
            if matches!(column.data_type, DataType::Varchar { .. } | DataType::Text) =>
        {
            Expr::Column(column)
        }
        (expr, _) => Expr::Cast {
            expr: Box::new(expr),
            data_type,
        },
    }
}
