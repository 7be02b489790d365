//! Users and their authentication.
//!
//! Reads the format of the Web Fuzzing Commons (YAML, TOML or JSON): a list of users under `auth`,
//! with defaults for all of them under `authTemplate`.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::openapi;

/// One user of the service.
#[derive(Clone, Debug, PartialEq)]
pub struct User {
    /// What the file calls it.
    pub name: String,
    /// Headers that are sent as they are.
    pub headers: Vec<(String, String)>,
    /// A call that creates the user first.
    pub create: Option<UserCreation>,
    /// A call that logs the user in.
    pub login: Option<Login>,
}

impl User {
    /// A user who sends these headers with every call.
    #[must_use]
    pub fn with_headers(name: impl Into<String>, headers: Vec<(String, String)>) -> Self {
        Self {
            name: name.into(),
            headers,
            create: None,
            login: None,
        }
    }
}

/// The call that logs a user in.
#[derive(Clone, Debug, PartialEq)]
pub struct Login {
    /// Where to, what and how.
    pub call: AuthCall,
    /// What its response is good for.
    pub take: LoginCredential,
}

/// A call that is written out.
#[derive(Clone, Debug, PartialEq)]
pub struct AuthCall {
    /// A path of the service, or a whole URL.
    pub endpoint: String,
    /// The HTTP method, in capitals.
    pub method: String,
    /// The content type of the body.
    pub content_type: Option<String>,
    /// The body.
    pub body: Option<String>,
    /// Headers beside the content type.
    pub headers: Vec<(String, String)>,
    /// Secret parts of the call.
    pub secrets: Vec<Secret>,
}

/// A part of a call that only the service may know: a password, a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The name of the field or header that has it.
    pub field: String,
    /// Its value.
    pub value: String,
}

/// Credentials that a login returns.
#[derive(Clone, Debug, PartialEq)]
pub enum LoginCredential {
    /// Cookies, sent back with every call.
    Cookies,
    /// A token, sent with every call.
    Token {
        /// Where in the response it is.
        from: TokenSource,
        /// Where in the calls it goes.
        to: TokenLocation,
        /// What is sent, with `{token}` in it.
        template: String,
    },
}

/// Where in a response a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenSource {
    /// At this JSON Pointer of the body.
    Body(String),
    /// In this header.
    Header(String),
}

/// Where a token is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum TokenLocation {
    /// In this header.
    Header(String),
    /// In this query parameter.
    Query(String),
}

/// A call that creates a user, with parts that must be new each time.
#[derive(Clone, Debug, PartialEq)]
pub struct UserCreation {
    /// The call; its body has placeholders.
    pub call: AuthCall,
    /// How the placeholders are filled.
    pub generators: Vec<Generator>,
}

/// Fills a placeholder with a text that has not been used before.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Generator {
    /// What is replaced, in the creation and in the log-in.
    #[serde(alias = "placeholder")]
    pub place_holder: String,
    /// At least as many characters.
    #[serde(default)]
    pub min_length: usize,
    /// At most as many characters.
    pub max_length: Option<usize>,
    /// Comes first.
    #[serde(default)]
    pub prefix: String,
    /// Comes last.
    #[serde(default)]
    pub postfix: String,
}

impl Generator {
    /// A text with `number` in it, of the wanted length where that is possible.
    #[must_use]
    pub fn text(&self, number: u64) -> String {
        let mut middle = format!("u{number}");
        let fixed = self.prefix.chars().count() + self.postfix.chars().count();
        while fixed + middle.chars().count() < self.min_length {
            middle.push('x');
        }
        let mut text = format!("{}{middle}{}", self.prefix, self.postfix);
        if let Some(most) = self.max_length {
            while text.chars().count() > most && !text.is_empty() {
                text.remove(0);
            }
        }
        text
    }
}

/// Why an authentication file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// It is neither YAML nor JSON nor TOML.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// The line of the mistake.
        line: usize,
        /// The column of the mistake.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// There is no list of users.
    #[error("list `auth` is missing; add one entry per user")]
    NoUsers,
    /// A user lacks something, or has it in a wrong shape.
    #[error("user `{user}`: {problem}")]
    User {
        /// The user's name, or its number when it has none.
        user: String,
        /// What is wrong, and what to do.
        problem: String,
    },
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML, or JSON, which is YAML too.
    Yaml,
    /// TOML.
    Toml,
}

impl Format {
    /// The format that the name of a file tells.
    #[must_use]
    pub fn of_file(name: &str) -> Self {
        if name.to_ascii_lowercase().ends_with(".toml") {
            Self::Toml
        } else {
            Self::Yaml
        }
    }
}

/// Reads the users of an authentication file.
///
/// # Errors
///
/// When the text cannot be parsed, or a user lacks what a call needs.
pub fn read(text: &str, format: Format) -> Result<Vec<User>, AuthError> {
    let file = parse(text, format)?;
    let template = file.get("authTemplate").cloned().unwrap_or(Value::Null);
    let entries = file
        .get("auth")
        .and_then(Value::as_array)
        .filter(|list| !list.is_empty())
        .ok_or(AuthError::NoUsers)?;
    entries
        .iter()
        .enumerate()
        .map(|(at, entry)| user(at, merge(template.clone(), entry)))
        .collect()
}

fn parse(text: &str, format: Format) -> Result<Value, AuthError> {
    match format {
        Format::Yaml => {
            openapi::parse_text(text).map_err(|(line, column, message)| AuthError::Syntax {
                line,
                column,
                message,
            })
        }
        Format::Toml => toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error
                .span()
                .and_then(|span| text.get(..span.start))
                .unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before
                .rsplit('\n')
                .next()
                .unwrap_or_default()
                .chars()
                .count()
                + 1;
            AuthError::Syntax {
                line,
                column,
                message: error.message().to_owned(),
            }
        }),
    }
}

/// The entry, with what it lacks taken from the template.
fn merge(template: Value, entry: &Value) -> Value {
    match (template, entry) {
        (Value::Object(mut template), Value::Object(entry)) => {
            for (key, value) in entry {
                let merged = merge(template.remove(key).unwrap_or(Value::Null), value);
                template.insert(key.clone(), merged);
            }
            Value::Object(template)
        }
        (_, entry) => entry.clone(),
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserEntry {
    name: Option<String>,
    #[serde(default)]
    fixed_headers: Vec<Header>,
    login_endpoint_auth: Option<LoginEntry>,
    create_users: Option<CallEntry>,
}

#[derive(Deserialize)]
struct Header {
    name: String,
    value: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct LoginEntry {
    #[serde(flatten)]
    call: CallEntry,
    #[serde(default)]
    expect_cookies: bool,
    token: Option<TokenEntry>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallEntry {
    endpoint: Option<String>,
    #[serde(alias = "externalEndpointURL")]
    external_endpoint_url: Option<String>,
    verb: Option<String>,
    content_type: Option<String>,
    payload_raw: Option<String>,
    payload_user_pwd: Option<UserPassword>,
    #[serde(default)]
    headers: Vec<Header>,
    #[serde(default)]
    generators: Vec<Generator>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserPassword {
    username: Option<String>,
    password: Option<String>,
    username_field: Option<String>,
    password_field: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenEntry {
    extract_from: Option<String>,
    extract_selector: Option<String>,
    #[serde(alias = "extractFromField")]
    extract_from_field: Option<String>,
    send_in: Option<String>,
    send_name: Option<String>,
    send_template: Option<String>,
}

fn user(at: usize, entry: Value) -> Result<User, AuthError> {
    let label = entry
        .get("name")
        .and_then(Value::as_str)
        .map_or_else(|| format!("number {}", at + 1), str::to_owned);
    let wrong = |problem: String| AuthError::User {
        user: label.clone(),
        problem,
    };
    let entry: UserEntry =
        serde_json::from_value(entry).map_err(|error| wrong(error.to_string()))?;
    let name = entry
        .name
        .ok_or_else(|| wrong("`name` is missing".into()))?;
    let headers = pairs(entry.fixed_headers);
    let create = match entry.create_users {
        Some(mut create) => {
            let generators = std::mem::take(&mut create.generators);
            Some(UserCreation {
                call: call(create, "createUsers").map_err(wrong)?,
                generators,
            })
        }
        None => None,
    };
    let login = entry
        .login_endpoint_auth
        .map(login)
        .transpose()
        .map_err(wrong)?;
    if headers.is_empty() && login.is_none() {
        return Err(wrong("add `fixedHeaders` or `loginEndpointAuth`".into()));
    }
    Ok(User {
        name,
        headers,
        create,
        login,
    })
}

fn pairs(headers: Vec<Header>) -> Vec<(String, String)> {
    headers
        .into_iter()
        .map(|header| (header.name, header.value))
        .collect()
}

fn login(entry: LoginEntry) -> Result<Login, String> {
    let take = match (entry.token, entry.expect_cookies) {
        (Some(token), false) => take(token)?,
        (None, true) => LoginCredential::Cookies,
        (Some(_), true) => return Err("`expectCookies` and `token` exclude each other".into()),
        (None, false) => {
            return Err("add `expectCookies: true` or `token`".into());
        }
    };
    Ok(Login {
        call: call(entry.call, "loginEndpointAuth")?,
        take,
    })
}

fn take(token: TokenEntry) -> Result<LoginCredential, String> {
    let selector = token.extract_selector.or(token.extract_from_field).ok_or(
        "`token` requires `extractSelector`: a JSON Pointer such as /token, or a header name",
    )?;
    let from = match token.extract_from.as_deref().unwrap_or("body") {
        "body" => TokenSource::Body(if selector.starts_with('/') {
            selector
        } else {
            format!("/{selector}")
        }),
        "header" => TokenSource::Header(selector),
        other => {
            return Err(format!(
                "`extractFrom` is `body` or `header`, not `{other}`"
            ));
        }
    };
    let name = token.send_name.unwrap_or_else(|| "Authorization".into());
    let to = match token.send_in.as_deref().unwrap_or("header") {
        "header" => TokenLocation::Header(name),
        "query" => TokenLocation::Query(name),
        other => return Err(format!("`sendIn` is `header` or `query`, not `{other}`")),
    };
    let template = token.send_template.unwrap_or_else(|| "{token}".into());
    if !template.contains("{token}") {
        return Err(format!(
            "`sendTemplate` `{template}` does not contain {{token}}"
        ));
    }
    Ok(LoginCredential::Token { from, to, template })
}

fn call(entry: CallEntry, place: &str) -> Result<AuthCall, String> {
    let endpoint = entry
        .external_endpoint_url
        .or(entry.endpoint)
        .ok_or_else(|| format!("`{place}` needs `endpoint`"))?;
    let method = entry
        .verb
        .ok_or_else(|| format!("`{place}` requires `verb`, for example POST"))?
        .to_ascii_uppercase();
    let mut content_type = entry.content_type;
    let mut secrets = Vec::new();
    let body = match (entry.payload_raw, entry.payload_user_pwd) {
        (Some(raw), _) => {
            let is_json = serde_json::from_str::<Value>(&raw).is_ok();
            content_type.get_or_insert_with(|| match is_json {
                true => "application/json".into(),
                false => "application/x-www-form-urlencoded".into(),
            });
            in_text(&raw, &mut secrets);
            Some(raw)
        }
        (None, Some(pair)) => {
            let kind = content_type.get_or_insert_with(|| "application/json".into());
            if let (Some(field), Some(value)) = (&pair.password_field, &pair.password) {
                secrets.push(Secret {
                    field: field.clone(),
                    value: value.clone(),
                });
            }
            Some(user_password(pair, kind)?)
        }
        (None, None) => None,
    };
    let headers = pairs(entry.headers);
    for (name, value) in &headers {
        add_if_secret(name, value, &mut secrets);
    }
    Ok(AuthCall {
        endpoint,
        method,
        content_type,
        body,
        headers,
        secrets,
    })
}

/// The secrets of a body, recognized by field names.
fn in_text(body: &str, secrets: &mut Vec<Secret>) {
    match serde_json::from_str(body) {
        Ok(json) => in_json(&json, secrets),
        Err(_) => form_urlencoded::parse(body.as_bytes())
            .for_each(|(name, value)| add_if_secret(&name, &value, secrets)),
    }
}

fn in_json(json: &Value, secrets: &mut Vec<Secret>) {
    match json {
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text) => add_if_secret(name, text, secrets),
                    other => in_json(other, secrets),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| in_json(item, secrets)),
        _ => {}
    }
}

fn add_if_secret(name: &str, value: &str, secrets: &mut Vec<Secret>) {
    if is_secret_name(name) && !value.is_empty() {
        secrets.push(Secret {
            field: name.to_owned(),
            value: value.to_owned(),
        });
    }
}

/// Whether what has this name is likely a secret.
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    const WORDS: [&str; 9] = [
        "pass",
        "pwd",
        "secret",
        "token",
        "apikey",
        "auth",
        "credential",
        "cookie",
        "signature",
    ];
    let plain: String = name
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect::<String>()
        .to_ascii_lowercase();
    plain == "pin" || WORDS.iter().any(|word| plain.contains(word))
}

fn user_password(pair: UserPassword, content_type: &str) -> Result<String, String> {
    let UserPassword {
        username: Some(username),
        password: Some(password),
        username_field: Some(username_field),
        password_field: Some(password_field),
    } = pair
    else {
        return Err(
            "`payloadUserPwd` requires username, password, usernameField and passwordField".into(),
        );
    };
    if content_type.contains("json") {
        let mut object = Map::new();
        object.insert(username_field, Value::String(username));
        object.insert(password_field, Value::String(password));
        return Ok(Value::Object(object).to_string());
    }
    if content_type.contains("x-www-form-urlencoded") {
        let mut form = form_urlencoded::Serializer::new(String::new());
        return Ok(form
            .append_pair(&username_field, &username)
            .append_pair(&password_field, &password)
            .finish());
    }
    Err(format!(
        "`payloadUserPwd` supports JSON and forms, not {content_type}; use `payloadRaw`"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
authTemplate:
  loginEndpointAuth:
    endpoint: /login
    verb: post
    payloadUserPwd: { usernameField: user, passwordField: password }
    token: { extractFrom: body, extractSelector: /token, sendIn: header, sendName: Authorization, sendTemplate: "Bearer {token}" }
auth:
  - name: ada
    loginEndpointAuth: { payloadUserPwd: { username: ada, password: sextant } }
  - name: key
    loginEndpointAuth:
    fixedHeaders: [{ name: X-Key, value: abc }]
"#;

    #[test]
    fn a_template_fills_what_an_entry_lacks() {
        let users = read(FILE, Format::Yaml).expect("a good file");
        let login = users[0].login.as_ref().expect("ada logs in");
        assert_eq!(login.call.method, "POST");
        assert_eq!(
            login.call.body.as_deref(),
            Some(r#"{"user":"ada","password":"sextant"}"#)
        );
        assert_eq!(
            login.take,
            LoginCredential::Token {
                from: TokenSource::Body("/token".into()),
                to: TokenLocation::Header("Authorization".into()),
                template: "Bearer {token}".into()
            }
        );
    }

    #[test]
    fn an_entry_can_take_back_what_the_template_gives() {
        let users = read(FILE, Format::Yaml).expect("a good file");
        assert_eq!(
            users[1],
            User::with_headers("key", vec![("X-Key".into(), "abc".into())])
        );
    }

    #[test]
    fn what_is_missing_is_said_with_the_name_of_the_user() {
        let check = |file: &str, message: &str| {
            let error = read(file, Format::Yaml).expect_err("a bad file");
            assert_eq!(error.to_string(), message);
        };
        check(
            r#"{"users": []}"#,
            "list `auth` is missing; add one entry per user",
        );
        check(
            r#"{"auth": [{"name": "ada"}]}"#,
            "user `ada`: add `fixedHeaders` or `loginEndpointAuth`",
        );
        check(
            r#"{"auth": [{"fixedHeaders": []}]}"#,
            "user `number 1`: `name` is missing",
        );
        check(
            r#"{"auth": [{"name": "ada", "loginEndpointAuth": {"endpoint": "/login", "verb": "POST"}}]}"#,
            "user `ada`: add `expectCookies: true` or `token`",
        );
        check(
            r#"{"auth": [{"name": "ada", "loginEndpointAuth": {"endpoint": "/login", "expectCookies": true}}]}"#,
            "user `ada`: `loginEndpointAuth` requires `verb`, for example POST",
        );
    }

    #[test]
    fn toml_is_read_too_and_mistakes_have_a_place() {
        let users = read(
            "[[auth]]\nname = \"k\"\nfixedHeaders = [{ name = \"X\", value = \"1\" }]\n",
            Format::Toml,
        )
        .expect("a good file");
        assert_eq!(
            users,
            [User::with_headers("k", vec![("X".into(), "1".into())])]
        );
        let error = read("[[auth]]\nname = \n", Format::Toml).expect_err("a bad file");
        assert!(error.to_string().starts_with("line 2, column "), "{error}");
    }

    #[test]
    fn forms_are_encoded() {
        let file = r#"{"auth": [{"name": "a", "loginEndpointAuth": {"endpoint": "/l", "verb": "POST", "expectCookies": true,
            "contentType": "application/x-www-form-urlencoded",
            "payloadUserPwd": {"username": "a b", "password": "&", "usernameField": "u", "passwordField": "p"}}}]}"#;
        let users = read(file, Format::Yaml).expect("a good file");
        assert_eq!(
            users[0]
                .login
                .as_ref()
                .and_then(|login| login.call.body.as_deref()),
            Some("u=a+b&p=%26")
        );
    }

    #[test]
    fn secrets_are_told_by_their_fields() {
        let secrets = |entry: &str| {
            let file = format!(
                r#"{{"auth": [{{"name": "a", "loginEndpointAuth": {{"endpoint": "/l", "verb": "POST", "expectCookies": true, {entry}}}}}]}}"#
            );
            let users = read(&file, Format::Yaml).expect("a good file");
            let login = users[0].login.clone().expect("a log-in");
            let secrets = login.call.secrets.into_iter();
            secrets
                .map(|secret| format!("{}={}", secret.field, secret.value))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            secrets(
                r#""payloadUserPwd": {"username": "a", "password": "b", "usernameField": "u", "passwordField": "p"}"#
            ),
            ["p=b"]
        );
        assert_eq!(
            secrets(r#""payloadRaw": "{\"user\": \"a\", \"deep\": [{\"passPhrase\": \"b c\"}]}""#),
            ["passPhrase=b c"]
        );
        assert_eq!(
            secrets(
                r#""payloadRaw": "name=a&pwd=b%20c", "headers": [{"name": "X-Api-Key", "value": "k"}]"#
            ),
            ["pwd=b c", "X-Api-Key=k"]
        );
    }

    #[test]
    fn generated_names_differ_and_fit() {
        let generator = Generator {
            place_holder: "{u}".into(),
            min_length: 6,
            max_length: Some(8),
            prefix: "test-user-".into(),
            postfix: String::new(),
        };
        assert_eq!(generator.text(7), "-user-u7");
        assert_ne!(generator.text(7), generator.text(8));
    }
}
