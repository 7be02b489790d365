//! Functions of texts, with branches that few texts take.

use axum::extract::Path;
use axum::http::StatusCode;

/// A calculator whose operation is a word.
pub(crate) async fn calc(
    Path((op, a, b)): Path<(String, String, String)>,
) -> Result<String, StatusCode> {
    let a: f64 = a.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
    let result = match op.to_lowercase().as_str() {
        "pi" => std::f64::consts::PI,
        "e" => std::f64::consts::E,
        "sqrt" => a.abs().sqrt(),
        "log" => a.abs().ln_1p(),
        "sine" => a.sin(),
        "cosine" => a.cos(),
        other => {
            let b: f64 = b.parse().map_err(|_| StatusCode::BAD_REQUEST)?;
            match other {
                "plus" => a + b,
                "minus" => a - b,
                "times" => a * b,
                "divide" if b != 0.0 => a / b,
                "divide" => return Err(StatusCode::UNPROCESSABLE_ENTITY),
                _ => return Err(StatusCode::NOT_FOUND),
            }
        }
    };
    Ok(result.to_string())
}

/// What a folder may hold, by the end of the file's name.
pub(crate) async fn suffix(Path((folder, file)): Path<(String, String)>) -> &'static str {
    let Some((_, ending)) = file.split_once('.') else {
        return "no ending";
    };
    if folder == "text" && (ending == "txt" || ending == "md") {
        return "text";
    }
    if folder == "image" && ["png", "jpg", "svg"].contains(&ending) {
        return "image";
    }
    if folder.starts_with("lib") && file.ends_with(".so") {
        return "library";
    }
    "something else"
}

/// What a cookie says.
pub(crate) async fn cookie(
    Path((name, value, site)): Path<(String, String, String)>,
) -> Result<&'static str, StatusCode> {
    if name.eq_ignore_ascii_case("userid") {
        return match value.strip_prefix("user") {
            Some("") => Err(StatusCode::UNPROCESSABLE_ENTITY),
            Some(_) => Ok("a user"),
            None => Err(StatusCode::BAD_REQUEST),
        };
    }
    if name == "session" {
        if value == "am" && site == "abc.com" {
            return Ok("known");
        }
        return Ok("unknown");
    }
    Err(StatusCode::NOT_FOUND)
}

/// The number of a day in its week and of a month in its year.
pub(crate) async fn date(Path((day, month)): Path<(String, String)>) -> Result<String, StatusCode> {
    let day = match day.to_lowercase().as_str() {
        "mon" => 1,
        "tue" => 2,
        "wed" => 3,
        "thur" => 4,
        "fri" => 5,
        "sat" => 6,
        "sun" => 7,
        _ => return Err(StatusCode::BAD_REQUEST),
    };
    let month = match month.to_lowercase().as_str() {
        "jan" => 1,
        "feb" => 2,
        "mar" => 3,
        "apr" => 4,
        "may" => 5,
        "jun" => 6,
        "jul" => 7,
        "aug" => 8,
        "sep" => 9,
        "oct" => 10,
        "nov" => 11,
        "dec" => 12,
        _ => return Err(StatusCode::BAD_REQUEST),
    };
    Ok(format!("{day}/{month}"))
}

/// Whether a password will do.
pub(crate) async fn password(
    Path((user, password)): Path<(String, String)>,
) -> Result<&'static str, StatusCode> {
    if password.len() < 8 {
        return Ok("too short");
    }
    if password.contains(&user) {
        return Ok("holds the name");
    }
    if password == user.chars().rev().collect::<String>() {
        return Ok("the name backwards");
    }
    let digits = password.chars().filter(char::is_ascii_digit).count();
    if digits == 0 {
        return Ok("no digit");
    }
    if !password.chars().any(char::is_uppercase) {
        return Ok("no capital");
    }
    if password.starts_with("Admin") {
        return Err(StatusCode::FORBIDDEN);
    }
    Ok("fine")
}
