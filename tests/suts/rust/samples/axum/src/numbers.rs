//! Functions of numbers, with branches that few numbers take.

use axum::extract::Path;
use axum::http::StatusCode;

/// What kind of triangle three sides make.
pub(crate) async fn triangle(Path((a, b, c)): Path<(i32, i32, i32)>) -> &'static str {
    if a <= 0 || b <= 0 || c <= 0 {
        return "no sides";
    }
    let (a, b, c) = (i64::from(a), i64::from(b), i64::from(c));
    if a + b <= c || a + c <= b || b + c <= a {
        return "not a triangle";
    }
    if a == b && b == c {
        return "equilateral";
    }
    if a == b || b == c || a == c {
        return "isosceles";
    }
    if a * a + b * b == c * c || a * a + c * c == b * b || b * b + c * c == a * a {
        return "right";
    }
    "scalene"
}

/// A sum in the way of Bessel functions: upward for small orders, downward for large ones.
pub(crate) async fn bessel(Path((n, x)): Path<(i32, f64)>) -> Result<String, StatusCode> {
    if !(2..=1000).contains(&n) {
        return Err(StatusCode::BAD_REQUEST);
    }
    let size = x.abs();
    if size == 0.0 {
        return Ok("0".into());
    }
    let step = 2.0 / size;
    let mut answer;
    if size > f64::from(n) {
        let (mut before, mut value) = (size.cos(), size.sin());
        for order in 1..n {
            let next = f64::from(order) * step * value - before;
            before = value;
            value = next;
        }
        answer = value;
    } else {
        let start = 2 * ((n + f64::from(40 * n).sqrt() as i32) / 2);
        let (mut sum, mut before, mut value, mut is_odd) = (0.0, 0.0, 1.0_f64, false);
        answer = 0.0;
        for order in (1..=start).rev() {
            let next = f64::from(order) * step * value - before;
            before = value;
            value = next;
            if value.abs() > 1.0e10 {
                value *= 1.0e-10;
                before *= 1.0e-10;
                answer *= 1.0e-10;
                sum *= 1.0e-10;
            }
            if is_odd {
                sum += value;
            }
            is_odd = !is_odd;
            if order == n {
                answer = before;
            }
        }
        sum = 2.0 * sum - value;
        answer /= sum;
    }
    if x < 0.0 && n % 2 == 1 {
        answer = -answer;
    }
    Ok(format!("{answer:.6}"))
}

/// The remainder by repeated subtraction, with all signs.
pub(crate) async fn remainder(Path((a, b)): Path<(i32, i32)>) -> Result<String, StatusCode> {
    if a.checked_abs().is_none_or(|a| a > 10_000) || b.checked_abs().is_none_or(|b| b > 10_000) {
        return Err(StatusCode::BAD_REQUEST);
    }
    let mut rest = a;
    if b == 0 {
        return Ok("none".into());
    }
    if a > 0 {
        if b > 0 {
            while rest >= b {
                rest -= b;
            }
        } else {
            while rest >= -b {
                rest += b;
            }
        }
    } else if a < 0 {
        if b > 0 {
            while rest <= -b {
                rest += b;
            }
        } else {
            while rest <= b {
                rest -= b;
            }
        }
    }
    Ok(rest.to_string())
}

/// A share in the way of incomplete gamma functions: a series below, a fraction above.
pub(crate) async fn gamma(Path((a, x)): Path<(f64, f64)>) -> Result<String, StatusCode> {
    if !(x >= 0.0 && a > 0.0) || a > 1000.0 {
        return Err(StatusCode::BAD_REQUEST);
    }
    if x == 0.0 {
        return Ok("0".into());
    }
    let mut value;
    if x < a + 1.0 {
        let (mut term, mut order) = (1.0 / a, a);
        value = term;
        for _ in 0..100 {
            order += 1.0;
            term *= x / order;
            value += term;
            if term.abs() < value.abs() * 3.0e-7 {
                return Ok(format!("{value:.6}"));
            }
        }
    } else {
        let mut below = x + 1.0 - a;
        let (mut above, mut fraction) = (1.0e30, 1.0 / below);
        value = fraction;
        for round in 1..=100 {
            let factor = -f64::from(round) * (f64::from(round) - a);
            below += 2.0;
            fraction = factor * fraction + below;
            if fraction.abs() < 1.0e-30 {
                fraction = 1.0e-30;
            }
            above = below + factor / above;
            if above.abs() < 1.0e-30 {
                above = 1.0e-30;
            }
            fraction = 1.0 / fraction;
            let change = fraction * above;
            value *= change;
            if (change - 1.0).abs() < 3.0e-7 {
                return Ok(format!("{value:.6}"));
            }
        }
    }
    Err(StatusCode::UNPROCESSABLE_ENTITY)
}
