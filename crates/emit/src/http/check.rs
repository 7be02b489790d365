//! Validates a suite, which may come from a file, before it is printed.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::request::{Body, PartContent, Placeholder, Request};
use super::suite::{Auth, ExpectedOutcome, HttpSuite, HttpTest, ResetHook};
use super::{BodyCheck, Text};

/// Why a suite cannot be printed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// There is no such writer.
    #[error("unknown test language `{name}` (expected one of: {known})")]
    UnknownWriter {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A call is made on behalf of nobody we know.
    #[error("{place}: unknown user `{user}`")]
    UnknownUser {
        /// The test, or what else makes the call.
        place: String,
        /// The user.
        user: String,
    },
    /// A value is used that no earlier step captured.
    #[error("{place}: `{variable}` is not captured by an earlier step")]
    UnknownVariable {
        /// The test, or what else makes the call.
        place: String,
        /// The variable.
        variable: String,
    },
    /// A captured value is used inside text, and its sample is neither string nor integer.
    #[error("{place}: `{variable}` is used inside text, but its sample is {sample}")]
    NotText {
        /// The test.
        place: String,
        /// The variable.
        variable: String,
        /// What was seen.
        sample: String,
    },
    /// Something is to be captured where no answer is expected.
    #[error("{place}: `{variable}` is captured from a call without a response")]
    CaptureWithoutAnswer {
        /// The test.
        place: String,
        /// The variable.
        variable: String,
    },
    /// A method is no token of HTTP.
    #[error("{place}: `{method}` is not an HTTP method")]
    Method {
        /// The test, or what else makes the call.
        place: String,
        /// The method.
        method: String,
    },
    /// A path is neither below the base URL nor a reference.
    #[error("{place}: path `{path}` starts with neither `/` nor a captured value")]
    Path {
        /// The test, or what else makes the call.
        place: String,
        /// The path.
        path: String,
    },
    /// Bytes are not in base64.
    #[error("{place}: invalid base64 ({cause})")]
    Base64 {
        /// The test, or what else makes the call.
        place: String,
        /// What the decoder found.
        cause: base64::DecodeError,
    },
    /// A hole is at a place that the body does not have.
    #[error("{place}: the JSON body has no value at `{at}` to fill in")]
    Placeholder {
        /// The test, or what else makes the call.
        place: String,
        /// The place, as a JSON Pointer.
        at: String,
    },
    /// The whole body is said to be present or absent.
    #[error("{place}: a presence check needs a path inside the body; check its type instead")]
    WholeBody {
        /// The test.
        place: String,
    },
    /// Rows are brought or looked for, and the suite does not say in which database.
    #[error("{place}: the test has rows, but the suite has no database")]
    Rows {
        /// The test.
        place: String,
    },
}

/// What an earlier step captured, and what was seen there.
type Captured<'a> = BTreeMap<&'a str, Option<&'a Value>>;

impl HttpSuite {
    /// Checks what a suite from a file may get wrong; every writer does this first.
    ///
    /// # Errors
    ///
    /// The first thing that no writer could print.
    pub fn check(&self) -> Result<(), SuiteError> {
        let nothing = Captured::new();
        if let Some(ResetHook::Call(request)) = &self.service.reset {
            self.check_request("the reset hook", request, &nothing)?;
        }
        for user in &self.users {
            let unique_values = user.unique_values.iter();
            let unique_values: Captured<'_> = unique_values
                .map(|unique_values| (&*unique_values.variable, None))
                .collect();
            if let Some(create) = &user.create {
                let place = format!("the creation of {}", user.name);
                self.check_request(&place, create, &unique_values)?;
            }
            match &user.auth {
                Auth::Login(login) => {
                    let place = format!("the log-in of {}", user.name);
                    self.check_request(&place, &login.request, &unique_values)?;
                }
                Auth::Headers(headers) => {
                    let place = format!("the headers of {}", user.name);
                    for (_, value) in headers {
                        check_text(&place, value, &unique_values, false)?;
                    }
                }
            }
        }
        self.tests.iter().try_for_each(|test| self.check_test(test))
    }

    fn check_test(&self, test: &HttpTest) -> Result<(), SuiteError> {
        let place = || format!("test `{}`", test.id);
        if !(test.rows.is_empty() && test.expected_rows.is_empty()) && self.database.is_none() {
            return Err(SuiteError::Rows { place: place() });
        }
        let mut captured = Captured::new();
        for unique in &test.unique_values {
            captured.insert(&unique.variable, None);
        }
        for row in &test.rows {
            for (_, value) in &row.cells {
                check_text(&place(), value, &captured, false)?;
            }
            if let Some(key) = &row.key {
                captured.insert(&key.variable, key.sample.as_ref());
            }
        }
        for step in &test.steps {
            self.check_request(&place(), &step.request, &captured)?;
            let mut after = captured.clone();
            for capture in &step.captures {
                after.insert(&capture.variable, capture.sample.as_ref());
            }
            if let ExpectedOutcome::Response(answer) = &step.expect {
                for check in &answer.body {
                    if let BodyCheck::Equals {
                        value,
                        placeholders,
                        ..
                    } = check
                    {
                        check_holes(&place(), value, placeholders)?;
                        for placeholder in placeholders {
                            check_text(&place(), &placeholder.value, &after, true)?;
                        }
                    }
                    if let BodyCheck::Present { at } | BodyCheck::Absent { at } = check
                        && at.is_root()
                    {
                        return Err(SuiteError::WholeBody { place: place() });
                    }
                    if let BodyCheck::Same { variable, .. } = check
                        && !after.contains_key(variable.as_str())
                    {
                        return Err(SuiteError::UnknownVariable {
                            place: place(),
                            variable: variable.clone(),
                        });
                    }
                }
            } else if let Some(capture) = step.captures.first() {
                return Err(SuiteError::CaptureWithoutAnswer {
                    place: place(),
                    variable: capture.variable.clone(),
                });
            }
            captured = after;
        }
        for (_, value) in test.expected_rows.iter().flat_map(|row| &row.cells) {
            check_text(&place(), value, &captured, false)?;
        }
        Ok(())
    }

    fn check_request(
        &self,
        place: &str,
        request: &Request,
        captured: &Captured<'_>,
    ) -> Result<(), SuiteError> {
        if let Some(user) = &request.user
            && self.user(user).is_none()
        {
            return Err(SuiteError::UnknownUser {
                place: place.into(),
                user: user.clone(),
            });
        }
        let is_token = |c: char| c.is_ascii_alphanumeric() || "-_!#$%&'*+.^`|~".contains(c);
        if request.method.is_empty() || !request.method.chars().all(is_token) {
            return Err(SuiteError::Method {
                place: place.into(),
                method: request.method.clone(),
            });
        }
        if let Some(path) = request.path.literal()
            && !["/", "http://", "https://"]
                .iter()
                .any(|start| path.starts_with(start))
        {
            return Err(SuiteError::Path {
                place: place.into(),
                path,
            });
        }
        for text in request.texts() {
            let keeps_type = matches!(&request.body, Some(Body::Json { placeholders, .. })
                if placeholders.iter().any(|placeholder| std::ptr::eq(&placeholder.value, text)));
            check_text(
                place,
                text,
                captured,
                keeps_type && text.as_captured().is_some(),
            )?;
        }
        match &request.body {
            Some(Body::Json {
                value,
                placeholders,
                ..
            }) => check_holes(place, value, placeholders)?,
            Some(Body::Binary { base64, .. }) => check_base64(place, base64)?,
            Some(Body::Multipart(parts)) => {
                for part in parts {
                    if let PartContent::Base64(base64) = &part.content {
                        check_base64(place, base64)?;
                    }
                }
            }
            Some(Body::Form(_) | Body::Text { .. }) | None => {}
        }
        Ok(())
    }
}

fn check_text(
    place: &str,
    text: &Text,
    captured: &Captured<'_>,
    keeps_type: bool,
) -> Result<(), SuiteError> {
    for variable in text.variables() {
        match captured.get(variable) {
            None => {
                return Err(SuiteError::UnknownVariable {
                    place: place.into(),
                    variable: variable.into(),
                });
            }
            Some(Some(sample)) if !keeps_type => {
                let fits = sample.is_string() || sample.is_i64() || sample.is_u64();
                if !fits {
                    return Err(SuiteError::NotText {
                        place: place.into(),
                        variable: variable.into(),
                        sample: sample.to_string(),
                    });
                }
            }
            Some(_) => {}
        }
    }
    Ok(())
}

fn check_holes(place: &str, value: &Value, placeholders: &[Placeholder]) -> Result<(), SuiteError> {
    match placeholders
        .iter()
        .find(|placeholder| placeholder.at.find(value).is_none())
    {
        None => Ok(()),
        Some(placeholder) => Err(SuiteError::Placeholder {
            place: place.into(),
            at: placeholder.at.to_string(),
        }),
    }
}

fn check_base64(place: &str, base64: &str) -> Result<(), SuiteError> {
    match BASE64_STANDARD.decode(base64) {
        Ok(_) => Ok(()),
        Err(cause) => Err(SuiteError::Base64 {
            place: place.into(),
            cause,
        }),
    }
}

/// The bytes, of which [`HttpSuite::check`] has made sure.
pub(crate) fn bytes(base64: &str) -> Vec<u8> {
    BASE64_STANDARD.decode(base64).unwrap_or_default()
}
