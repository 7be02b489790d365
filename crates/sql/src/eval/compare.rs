//! Comparisons of two values, by each database's rules of coercion.

use std::borrow::Cow;

use isobath_distance::{Relation, STEP, Truth, date};

use crate::dialect::{Affinity, DialectName};
use crate::expr::{Expr, UnaryOp};
use crate::value::Value;

use super::collate::Collation;
use super::error::{EvalError, RaisedError, raise, unsupported};
use super::evaluator::Evaluator;
use super::number::Number;
use super::static_type::StaticType;
use super::storage_class::{StorageClass, affinity};
use super::{arithmetic, convert, parse, temporal};

/// Stands for a side that names no column.
static NO_COLUMN: Expr = Expr::Literal(Value::Null);

/// One side of a comparison: its value, and the expression that decides its type.
pub(crate) struct Operand<'a> {
    pub(super) value: Cow<'a, Value>,
    pub(super) expr: &'a Expr,
}

impl<'a> Evaluator<'a> {
    /// The outcome of a relation between two operands.
    pub(super) fn compare(
        self,
        relation: Relation,
        left: &Operand<'a>,
        right: &Operand<'a>,
    ) -> Result<Truth, EvalError> {
        match self.dialect {
            DialectName::Ansi | DialectName::Postgres => self.compare_typed(relation, left, right),
            DialectName::MySql => self.compare_mysql(relation, left, right),
            DialectName::Sqlite => self.compare_sqlite(
                relation,
                left,
                right,
                affinity(left.expr),
                affinity(right.expr),
                self.collation(left.expr, right.expr),
            ),
        }
    }

    /// `x = element` inside an IN list; in SQLite, elements have no affinity of their own.
    pub(super) fn compare_member(
        self,
        x: &Operand<'a>,
        element: &Operand<'a>,
    ) -> Result<Truth, EvalError> {
        if self.dialect == DialectName::Sqlite {
            return self.compare_sqlite(
                Relation::Equal,
                x,
                element,
                affinity(x.expr),
                Affinity::Blob,
                self.collation(x.expr, &NO_COLUMN),
            );
        }
        if self.dialect == DialectName::MySql
            && self.family(x) == Some(TypeFamily::Text)
            && self.family(element) == Some(TypeFamily::Moment)
        {
            return unsupported("a date in a list of strings");
        }
        self.compare(Relation::Equal, x, element)
    }

    /// Whether two values are the same to NULLIF, which in SQLite knows no affinity.
    pub(super) fn same(self, left: &Operand<'a>, right: &Operand<'a>) -> Result<Truth, EvalError> {
        if self.dialect == DialectName::Sqlite {
            return self.compare_sqlite(
                Relation::Equal,
                left,
                right,
                Affinity::Blob,
                Affinity::Blob,
                self.collation(left.expr, right.expr),
            );
        }
        self.compare(Relation::Equal, left, right)
    }

    /// The operands of BETWEEN in the one type in which MariaDB compares all three.
    pub(super) fn alike(self, operands: [Operand<'a>; 3]) -> Result<[Operand<'a>; 3], EvalError> {
        if self.dialect != DialectName::MySql {
            return Ok(operands);
        }
        let families = operands.each_ref().map(|operand| self.family(operand));
        let has = |family| families.contains(&Some(family));
        let strange = has(TypeFamily::Bytes) || has(TypeFamily::Other);
        let (numbers, texts, moments) = (
            has(TypeFamily::Number),
            has(TypeFamily::Text),
            has(TypeFamily::Moment),
        );
        let kinds = [numbers, texts, moments, strange];
        if kinds.into_iter().filter(|there| *there).count() < 2 {
            let all = operands.each_ref().map(|operand| operand.expr);
            let [first, ..] = all;
            if self.collation_of(&all) != self.collation_of(&[first]) {
                return unsupported("a mix of collations");
            }
            return Ok(operands);
        }
        let converted = |operand: Operand<'a>| {
            let Value::Text(text) = &*operand.value else {
                return Ok(operand);
            };
            let value = if moments {
                self.text_as_moment(text)?.into_value()
            } else {
                arithmetic::as_number(self, operand.expr)?;
                if matches!(operand.expr, Expr::Cast { .. }) {
                    return unsupported("a comparison of a number with a cast to text");
                }
                let number = arithmetic::text_as_number(self, text)?;
                // All three meet as doubles.
                if number.to_f64().abs() >= 9.007e15 {
                    return unsupported("a comparison of text with a long number");
                }
                number.into_value()
            };
            Ok(Operand {
                value: Cow::Owned(value),
                expr: &NO_COLUMN,
            })
        };
        match (numbers, moments, strange || self.env.writes) {
            (true, false, false) | (false, true, false) => {
                let [x, low, high] = operands;
                Ok([converted(x)?, converted(low)?, converted(high)?])
            }
            _ => unsupported("BETWEEN over mixed types"),
        }
    }

    /// Refuses lists whose members bring collations of their own (MariaDB finds one for all).
    pub(super) fn one_collation(self, x: &Expr, list: &[Expr]) -> Result<(), EvalError> {
        if self.dialect != DialectName::MySql
            || list
                .iter()
                .all(|element| matches!(element, Expr::Literal(_)))
        {
            return Ok(());
        }
        let alone = self.collation_of(&[x]);
        let mut all: Vec<&Expr> = vec![x];
        all.extend(list);
        if self.collation_of(&all) == alone {
            return Ok(());
        }
        unsupported("a mix of collations")
    }

    /// The family of types that MariaDB compares an operand in, `None` for a bare NULL.
    fn family(self, operand: &Operand<'a>) -> Option<TypeFamily> {
        Some(match (&*operand.value, self.kind(operand.expr)) {
            (Value::Bool(_) | Value::Int(_) | Value::Decimal(_) | Value::Float(_), _) => {
                TypeFamily::Number
            }
            (Value::Text(_) | Value::Json(_), _) => TypeFamily::Text,
            (Value::Bytes(_), _) => TypeFamily::Bytes,
            (Value::Null, StaticType::Unknown) => return None,
            (Value::Null, kind) if kind.is_number() || kind == StaticType::Bool => {
                TypeFamily::Number
            }
            (
                Value::Null,
                StaticType::Text
                | StaticType::Varchar
                | StaticType::Char
                | StaticType::Enum(_)
                | StaticType::Json { .. },
            ) => TypeFamily::Text,
            (Value::Null, StaticType::Bytes) => TypeFamily::Bytes,
            (Value::Null, StaticType::Other) => TypeFamily::Other,
            _ => TypeFamily::Moment,
        })
    }

    fn collation(self, left: &Expr, right: &Expr) -> Collation {
        if self.dialect == DialectName::MySql {
            return self.collation_of(&[left, right]);
        }
        fn name(expr: &Expr) -> Option<&Expr> {
            match expr {
                Expr::Column(_) => Some(expr),
                Expr::Unary {
                    op: UnaryOp::Plus,
                    expr,
                }
                | Expr::Cast { expr, .. } => name(expr),
                _ => None,
            }
        }
        let column = name(left).or_else(|| name(right));
        match column {
            Some(Expr::Column(column)) => Collation::of(column.collation.as_deref(), self.dialect),
            _ => Collation::of(None, self.dialect),
        }
    }

    /// MariaDB's collation of strings that meet: that of the columns they come from.
    pub(super) fn collation_of(self, exprs: &[&Expr]) -> Collation {
        fn gather(expr: &Expr, into: &mut Vec<Collation>) {
            match expr {
                Expr::Column(column)
                    if column.data_type.is_text() || column.collation.is_some() =>
                {
                    into.push(Collation::of(
                        column.collation.as_deref(),
                        DialectName::MySql,
                    ));
                }
                Expr::Case {
                    branches,
                    otherwise,
                    ..
                } => {
                    for result in branches
                        .iter()
                        .map(|(_, then)| then)
                        .chain(otherwise.as_deref())
                    {
                        gather(result, into);
                    }
                }
                // The first argument alone is what may come out.
                Expr::Function { name, args } if name == "nullif" => {
                    args.iter().take(1).for_each(|arg| gather(arg, into));
                }
                Expr::Function { args, .. } => args.iter().for_each(|arg| gather(arg, into)),
                Expr::Binary { left, right, .. } => {
                    gather(left, into);
                    gather(right, into);
                }
                _ => {}
            }
        }
        // A column and a constant need no list.
        if let [Expr::Column(column), Expr::Literal(_)] = exprs {
            return Collation::of(column.collation.as_deref(), DialectName::MySql);
        }
        let mut found = Vec::new();
        for expr in exprs {
            gather(expr, &mut found);
        }
        match found.split_first() {
            None => Collation::of(None, DialectName::MySql),
            Some((first, rest)) if rest.iter().all(|other| other == first) => *first,
            Some(_) if found.contains(&Collation::Unknown) => Collation::Unknown,
            // Of two collations, the binary one wins.
            Some(_) if found.contains(&Collation::BinaryPadded) => Collation::BinaryPadded,
            Some(_) => Collation::Unknown,
        }
    }

    /// The standard's way, as PostgreSQL does it: types first, then values.
    fn compare_typed(
        self,
        relation: Relation,
        left: &Operand<'a>,
        right: &Operand<'a>,
    ) -> Result<Truth, EvalError> {
        let (mut left_kind, mut right_kind) = (self.kind(left.expr), self.kind(right.expr));
        let (mut a, mut b) = (Cow::Borrowed(&*left.value), Cow::Borrowed(&*right.value));
        match (left_kind, right_kind) {
            (StaticType::Unknown, StaticType::Unknown) => {}
            (StaticType::Unknown, kind) => {
                a = convert::untyped(a, kind)?;
                left_kind = kind;
            }
            (kind, StaticType::Unknown) => {
                b = convert::untyped(b, kind)?;
                right_kind = kind;
            }
            _ => {}
        }
        if a.is_null() || b.is_null() {
            let known = |kind| !matches!(kind, StaticType::Unknown | StaticType::Other);
            if known(left_kind) && known(right_kind) && left_kind.unified(right_kind).is_none() {
                return raise(RaisedError::TypeMismatch);
            }
            return Ok(self.unknown());
        }
        match (&*a, &*b) {
            (Value::Bool(a), Value::Bool(b)) => Ok(relation.judge(a.cmp(b), STEP)),
            (Value::Int(_) | Value::Decimal(_) | Value::Float(_), _) => {
                match (Number::of(&a), Number::of(&b)) {
                    (Some(x), Some(y)) if !matches!(&*b, Value::Bool(_)) => {
                        Ok(relation.judge(x.order(y), x.gap(y)))
                    }
                    _ => raise(RaisedError::TypeMismatch),
                }
            }
            (Value::Text(x), Value::Text(y)) => match (left_kind, right_kind) {
                (StaticType::Enum(labels), StaticType::Enum(others)) if labels == others => {
                    let at = |label: &str| labels.iter().position(|known| known == label);
                    match (at(x), at(y)) {
                        (Some(x), Some(y)) => Ok(relation.judge(x.cmp(&y), x.abs_diff(y) as f64)),
                        _ => raise(RaisedError::InvalidText),
                    }
                }
                (StaticType::Enum(_), _) | (_, StaticType::Enum(_)) => {
                    raise(RaisedError::TypeMismatch)
                }
                (StaticType::Other, _) | (_, StaticType::Other) => {
                    unsupported("a comparison of this type")
                }
                _ => {
                    let padded = matches!(
                        (left_kind, right_kind),
                        (StaticType::Char, StaticType::Varchar)
                            | (StaticType::Varchar, StaticType::Char)
                    );
                    let is_padded = |kind| padded || matches!(kind, StaticType::Char);
                    let x = trimmed(x, is_padded(left_kind));
                    let y = trimmed(y, is_padded(right_kind));
                    self.collation(left.expr, right.expr)
                        .judge(relation, x, y, self.with_distances)
                        .ok_or_else(|| EvalError::unsupported("the order of this collation"))
                }
            },
            (Value::Time(x), Value::Time(y)) => Ok(date::compare(
                relation,
                temporal::time_parts(*x),
                temporal::time_parts(*y),
            )),
            (Value::Interval(x), Value::Interval(y)) => {
                let (x, y) = (temporal::micros(*x), temporal::micros(*y));
                Ok(relation.judge(x.cmp(&y), x.abs_diff(y) as f64 / 86_400e6))
            }
            (Value::Uuid(x), Value::Uuid(y)) => Ok(relation.judge(x.cmp(y), bytes_gap(x, y))),
            (Value::Bytes(x), Value::Bytes(y)) => Ok(relation.judge(x.cmp(y), bytes_gap(x, y))),
            (Value::Json(_), Value::Json(_)) => match left_kind {
                StaticType::Json { binary: true } => unsupported("comparisons of JSON"),
                _ => raise(RaisedError::TypeMismatch),
            },
            (x, y) => match (temporal::datetime(x), temporal::datetime(y)) {
                (Some(x), Some(y)) => Ok(date::compare(
                    relation,
                    temporal::parts(x),
                    temporal::parts(y),
                )),
                _ => raise(RaisedError::TypeMismatch),
            },
        }
    }

    /// MariaDB's way: by the types of the values at hand.
    fn compare_mysql(
        self,
        relation: Relation,
        left: &Operand<'a>,
        right: &Operand<'a>,
    ) -> Result<Truth, EvalError> {
        let (a, b) = (&*left.value, &*right.value);
        // MariaDB reads the pattern of a LIKE as a number when the LIKE is compared.
        let like = |operand: &Operand<'a>| matches!(operand.expr, Expr::Like { .. });
        if self.env.writes && (like(left) || like(right)) {
            return unsupported("a comparison of LIKE with a value");
        }
        if self.family(left) == Some(TypeFamily::Number)
            || self.family(right) == Some(TypeFamily::Number)
        {
            arithmetic::as_number(self, left.expr)?;
            arithmetic::as_number(self, right.expr)?;
        }
        match (self.family(left), self.family(right)) {
            (Some(TypeFamily::Number), Some(TypeFamily::Moment | TypeFamily::Other))
            | (Some(TypeFamily::Moment | TypeFamily::Other), Some(TypeFamily::Number)) => {
                return unsupported("a comparison of a number with a date");
            }
            // Constants are read even beside NULL, and columns perhaps.
            (Some(TypeFamily::Text), Some(TypeFamily::Moment | TypeFamily::Number))
                if self.env.writes && b.is_null() =>
            {
                return unsupported("text beside NULL of another type");
            }
            (Some(TypeFamily::Moment | TypeFamily::Number), Some(TypeFamily::Text))
                if self.env.writes && a.is_null() =>
            {
                return unsupported("text beside NULL of another type");
            }
            _ => {}
        }
        if a.is_null() || b.is_null() {
            return Ok(self.unknown());
        }
        match (a, b) {
            (Value::Text(x), Value::Text(y)) => self
                .collation(left.expr, right.expr)
                .judge(relation, x, y, self.with_distances)
                .ok_or_else(|| EvalError::unsupported("a comparison of characters beyond ASCII")),
            (Value::Bytes(x), Value::Bytes(y)) => Ok(relation.judge(x.cmp(y), bytes_gap(x, y))),
            (Value::Bytes(x), Value::Text(y)) => {
                Ok(relation.judge(x.as_slice().cmp(y.as_bytes()), bytes_gap(x, y.as_bytes())))
            }
            (Value::Text(x), Value::Bytes(y)) => {
                Ok(relation.judge(x.as_bytes().cmp(y), bytes_gap(x.as_bytes(), y)))
            }
            (Value::Time(x), Value::Time(y)) => Ok(date::compare(
                relation,
                temporal::time_parts(*x),
                temporal::time_parts(*y),
            )),
            (Value::Time(x), Value::Text(y)) => {
                let y = self.text_as_moment(y)?;
                match (y.date, y.time) {
                    (None, Some(y)) => Ok(date::compare(
                        relation,
                        temporal::time_parts(*x),
                        temporal::time_parts(y),
                    )),
                    _ => unsupported("a comparison of a time with a date"),
                }
            }
            (Value::Text(_), Value::Time(_)) => self.compare_mysql(swapped(relation), right, left),
            (Value::Uuid(x), Value::Uuid(y)) if is_equality(relation) => {
                Ok(relation.judge(x.cmp(y), bytes_gap(x, y)))
            }
            _ => match (Number::of(a), Number::of(b)) {
                (Some(x), Some(y)) => {
                    let x = self.beside(left, x, y);
                    let y = self.beside(right, y, x);
                    Ok(relation.judge(x.order(y), x.gap(y)))
                }
                (Some(x), None) => self.number_with_text(relation, x, left, b, right),
                (None, Some(_)) => match (a, Number::of(b)) {
                    (Value::Text(_), Some(y)) => {
                        self.number_with_text(swapped(relation), y, right, a, left)
                    }
                    _ => unsupported("a comparison of these types"),
                },
                (None, None) => self.moments_mysql(relation, a, b),
            },
        }
    }

    /// A number as MariaDB compares it with another: beside a float, a quotient keeps all its digits.
    fn beside(self, operand: &Operand<'a>, own: Number, other: Number) -> Number {
        match (operand.expr, own, other) {
            (Expr::Binary { .. } | Expr::Unary { .. }, Number::Decimal(_), Number::Float(_)) => {
                // Without its row, the value was stored before, and lost its digits there.
                let raw = arithmetic::raw(self, operand.expr).ok();
                raw.and_then(|raw| Number::of(&raw)).unwrap_or(own)
            }
            _ => own,
        }
    }

    fn number_with_text(
        self,
        relation: Relation,
        number: Number,
        number_side: &Operand<'a>,
        text: &Value,
        text_side: &Operand<'a>,
    ) -> Result<Truth, EvalError> {
        let Value::Text(text) = text else {
            return unsupported("a comparison of these types");
        };
        if matches!(self.kind(text_side.expr), StaticType::Enum(_))
            || matches!(
                self.kind(number_side.expr),
                StaticType::Enum(_) | StaticType::Year
            )
        {
            return unsupported("a comparison of a number with an ENUM or YEAR");
        }
        arithmetic::as_number(self, text_side.expr)?;
        if matches!(text_side.expr, Expr::Cast { .. }) {
            // MariaDB reads only the digits before the point there, sometimes.
            return unsupported("a comparison of a number with a cast to text");
        }
        let other = arithmetic::text_as_number(self, text)?;
        let number = self.beside(number_side, number, Number::Float(other.to_f64()));
        // The common type is a double or a decimal; they agree up to 2^53 and fifteen digits.
        if number.to_f64().abs() >= 9.007e15 || other.to_f64().abs() >= 9.007e15 {
            return unsupported("a comparison of text with a long number");
        }
        Ok(relation.judge(number.order(other), number.gap(other)))
    }

    fn moments_mysql(self, relation: Relation, a: &Value, b: &Value) -> Result<Truth, EvalError> {
        let moment = |value: &Value| match value {
            Value::Text(text) => match self.text_as_moment(text)?.datetime() {
                Some(at) => Ok(at),
                None => unsupported("a comparison of a date with a time"),
            },
            other => match temporal::datetime(other) {
                Some(at) => Ok(at),
                None => unsupported("a comparison of these types"),
            },
        };
        Ok(date::compare(
            relation,
            temporal::parts(moment(a)?),
            temporal::parts(moment(b)?),
        ))
    }

    /// Text that MariaDB compares with a moment; in a statement that writes, nonsense is an error.
    fn text_as_moment(self, text: &str) -> Result<parse::IsoDateTime, EvalError> {
        match parse::moment(text) {
            Ok(moment) if moment.offset.is_none() => Ok(moment),
            // A time out of range can be read as a date by MariaDB.
            Err(parse::TextError::Range) if !text.contains('-') => {
                unsupported(format!("'{text}' as a date"))
            }
            Err(parse::TextError::Invalid | parse::TextError::Range) if self.env.writes => {
                raise(RaisedError::InvalidText)
            }
            _ => unsupported(format!("'{text}' as a date")),
        }
    }

    /// SQLite's way: affinity, then storage classes.
    fn compare_sqlite(
        self,
        relation: Relation,
        left: &Operand<'a>,
        right: &Operand<'a>,
        left_affinity: Affinity,
        right_affinity: Affinity,
        collation: Collation,
    ) -> Result<Truth, EvalError> {
        let (Some(mut a), Some(mut b)) = (
            StorageClass::of(&left.value),
            StorageClass::of(&right.value),
        ) else {
            return Ok(self.unknown());
        };
        let unsure = || EvalError::unsupported("the text of this number");
        if left_affinity.is_numeric() && !right_affinity.is_numeric() {
            b = b.numeric();
        } else if right_affinity.is_numeric() && !left_affinity.is_numeric() {
            a = a.numeric();
        } else if left_affinity == Affinity::Text && right_affinity == Affinity::Blob {
            b = b.text().ok_or_else(unsure)?;
        } else if right_affinity == Affinity::Text && left_affinity == Affinity::Blob {
            a = a.text().ok_or_else(unsure)?;
        }
        Ok(match (&a, &b) {
            (StorageClass::Number(x), StorageClass::Number(y)) => {
                relation.judge(x.order_exactly(*y), x.gap(*y))
            }
            (StorageClass::Text(x), StorageClass::Text(y)) => {
                match collation.judge(relation, x, y, self.with_distances) {
                    Some(truth) => truth,
                    None => return unsupported("this collation"),
                }
            }
            (StorageClass::Blob(x), StorageClass::Blob(y)) => {
                relation.judge(x.cmp(y), bytes_gap(x, y))
            }
            _ => relation.judge(a.rank().cmp(&b.rank()), STEP),
        })
    }
}

/// Families of types in which MariaDB compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum TypeFamily {
    Number,
    Text,
    Bytes,
    Moment,
    Other,
}

fn is_equality(relation: Relation) -> bool {
    matches!(relation, Relation::Equal | Relation::NotEqual)
}

fn swapped(relation: Relation) -> Relation {
    match relation {
        Relation::Equal | Relation::NotEqual => relation,
        Relation::Less => Relation::Greater,
        Relation::LessOrEqual => Relation::GreaterOrEqual,
        Relation::Greater => Relation::Less,
        Relation::GreaterOrEqual => Relation::LessOrEqual,
    }
}

fn bytes_gap(a: &[u8], b: &[u8]) -> f64 {
    isobath_distance::text::positions(
        a.iter().copied().map(char::from),
        b.iter().copied().map(char::from),
    )
}

/// A text without the blanks that CHAR adds.
fn trimmed(text: &str, is_padded: bool) -> &str {
    if is_padded {
        text.trim_end_matches(' ')
    } else {
        text
    }
}
