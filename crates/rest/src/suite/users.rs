//! Users of a suite: creation and login, without secrets.

use isobath_emit::http::{
    Auth, JsonPath, Login, Request, Secret, Text, TextPiece, Token, TokenPlacement, UniqueValue,
    User, ValueSource,
};
use isobath_emit::writer::name::snake_case;

use super::body::{Placeholders, body};
use crate::auth::{self, Generator, LoginCredential, TokenLocation, TokenSource};

/// Digits that make a text new, where its length allows.
const DIGITS: usize = 12;
/// Digits that a suite can make.
const MAX_DIGITS: usize = 32;

/// A user of the service as a user of the suite.
pub(super) fn user(user: &auth::User) -> User {
    let generators = user.create.iter().flat_map(|create| &create.generators);
    let generated: Vec<(&Generator, UniqueValue)> = generators
        .map(|generator| (generator, generated(generator)))
        .collect();
    let mut placeholders = Placeholders {
        generated: generated
            .iter()
            .map(|(generator, generated)| {
                (generator.place_holder.clone(), generated.variable.clone())
            })
            .collect(),
        secrets: Vec::new(),
    };
    let variable = |name: &str| {
        format!("{}_{}", snake_case(&user.name), snake_case(name)).to_ascii_uppercase()
    };
    let calls = [
        user.create.as_ref().map(|create| &create.call),
        user.login.as_ref().map(|login| &login.call),
    ];
    for secret in calls.into_iter().flatten().flat_map(|call| &call.secrets) {
        // What is made up anew is nobody's secret.
        let is_fresh = placeholders.text(&secret.value).literal().is_none();
        if !is_fresh {
            let name = variable(&secret.field);
            placeholders
                .secrets
                .push((secret.field.clone(), secret.value.clone(), name));
        }
    }
    let auth = match &user.login {
        None => Auth::Headers(
            user.headers
                .iter()
                .map(|(name, value)| {
                    let marked = placeholders.text(value);
                    let value = if marked.literal().is_some() {
                        Text(vec![TextPiece::Secret(Secret {
                            variable: variable(name),
                            value: Some(value.clone()),
                        })])
                    } else {
                        marked
                    };
                    (name.clone(), value)
                })
                .collect(),
        ),
        Some(login) => Auth::Login(Box::new(log_in(login, &placeholders))),
    };
    User {
        name: user.name.clone(),
        unique_values: generated
            .into_iter()
            .map(|(_, generated)| generated)
            .collect(),
        create: user
            .create
            .as_ref()
            .map(|create| Box::new(request(&create.call, &placeholders))),
        auth,
    }
}

fn log_in(login: &auth::Login, placeholders: &Placeholders) -> Login {
    let (token, cookies) = match &login.take {
        LoginCredential::Cookies => (None, true),
        LoginCredential::Token { from, to, template } => {
            let from = match from {
                TokenSource::Body(pointer) => ValueSource::Body(JsonPath::from_pointer(pointer)),
                TokenSource::Header(name) => ValueSource::Header(name.clone()),
            };
            let send = match to {
                TokenLocation::Header(name) => TokenPlacement::Header(name.clone()),
                TokenLocation::Query(name) => TokenPlacement::Query(name.clone()),
            };
            let template = template.clone();
            (
                Some(Token {
                    from,
                    send,
                    template,
                }),
                false,
            )
        }
    };
    Login {
        request: request(&login.call, placeholders),
        token,
        cookies,
    }
}

fn request(call: &auth::AuthCall, placeholders: &Placeholders) -> Request {
    let path = match &call.endpoint {
        url if url.contains("://") => url.clone(),
        path => format!("/{}", path.trim_start_matches('/')),
    };
    let mut request = Request::new(call.method.clone(), placeholders.text(&path));
    for (name, value) in &call.headers {
        request = request.header(name.clone(), placeholders.field(name, value));
    }
    if let Some(text) = &call.body {
        let content_type = call.content_type.clone().unwrap_or_default();
        request = request.body(body(text.as_bytes(), &content_type, &[], placeholders));
    }
    request
}

/// What a suite makes up in place of what a generator made here.
fn generated(generator: &Generator) -> UniqueValue {
    let plain = snake_case(&generator.place_holder);
    let most = generator.max_length.unwrap_or(usize::MAX);
    let length = |text: &str| text.chars().count();
    let mut prefix = generator.prefix.clone();
    let suffix = generator.postfix.clone();
    let fixed = length(&prefix) + length(&suffix);
    let room = most.saturating_sub(fixed).max(DIGITS / 2).min(most);
    let digits = DIGITS
        .max(generator.min_length.saturating_sub(fixed))
        .min(MAX_DIGITS)
        .min(room);
    while length(&prefix) + length(&suffix) + digits < generator.min_length {
        prefix.push('x');
    }
    while length(&prefix) + length(&suffix) + digits > most && !prefix.is_empty() {
        prefix.remove(0);
    }
    UniqueValue {
        variable: if plain.is_empty() {
            "made_up".into()
        } else {
            plain
        },
        prefix,
        suffix,
        digits,
    }
}

#[cfg(test)]
mod tests {
    use isobath_emit::http::{ExpectedResponse, HttpStep, HttpSuite, HttpTest, curl};

    use super::*;
    use crate::auth::Format;

    fn read(file: &str) -> User {
        user(&auth::read(file, Format::Yaml).expect("a good file")[0])
    }

    /// The script of one call by the user.
    fn script(user: User) -> String {
        let mut suite = HttpSuite::new("x", "http://x");
        let call = Request::new("GET", "/me").by(user.name.clone());
        suite.users = vec![user];
        let test = HttpTest {
            steps: vec![HttpStep::new(call, ExpectedResponse::status(200))],
            ..HttpTest::default()
        };
        curl(&suite, &test)
    }

    #[test]
    fn passwords_are_not_in_scripts() {
        let token = "token: {extractFrom: body, extractSelector: /token, sendName: Authorization}";
        let json = read(&format!(
            "auth: [{{name: Ada L, loginEndpointAuth: {{endpoint: /login, verb: POST, {token}, \
             payloadUserPwd: {{username: sextant, password: sextant, usernameField: user, passwordField: password}}}}}}]"
        ));
        let shown = script(json);
        assert!(shown.contains(r#""user":"sextant""#), "{shown}");
        assert!(shown.contains("${ADA_L_PASSWORD:?}"), "{shown}");
        assert!(!shown.contains(r#""password":"sextant""#), "{shown}");
        let raw = read(&format!(
            "auth: [{{name: ada, loginEndpointAuth: {{endpoint: /login, verb: POST, {token}, \
             contentType: application/x-www-form-urlencoded, payloadRaw: 'user=ada&pwd=sex%20tant', \
             headers: [{{name: X-Api-Key, value: abc}}]}}}}]"
        ));
        let shown = script(raw);
        assert!(
            shown.contains("${ADA_PWD:?}") && shown.contains("${ADA_X_API_KEY:?}"),
            "{shown}"
        );
        assert!(!shown.contains("tant") && !shown.contains("abc"), "{shown}");
        let fixed =
            read("auth: [{name: ada, fixedHeaders: [{name: Authorization, value: Basic eDp5}]}]");
        let shown = script(fixed);
        assert!(
            shown.contains("${ADA_AUTHORIZATION:?}") && !shown.contains("eDp5"),
            "{shown}"
        );
    }

    #[test]
    fn users_who_are_created_are_created_by_the_suite_too() {
        let made = read(
            r#"
auth:
  - name: new
    createUsers:
      endpoint: /users
      verb: post
      contentType: application/json
      payloadRaw: '{"name": "{name}", "mail": "{name}@x.org", "password": "{secret}"}'
      generators:
        - {placeHolder: "{name}", minLength: 3, maxLength: 20, prefix: "test-user-for-fuzzing-"}
        - {placeHolder: "{secret}", minLength: 40, postfix: "!"}
    loginEndpointAuth:
      endpoint: /login
      verb: post
      expectCookies: true
      contentType: application/json
      payloadRaw: '{"name": "{name}", "password": "{secret}"}'
"#,
        );
        let lengths: Vec<usize> = made
            .unique_values
            .iter()
            .map(|generated| generated.prefix.len() + generated.suffix.len() + generated.digits)
            .collect();
        assert_eq!(lengths, [20, 40], "{:?}", made.unique_values);
        let shown = script(made);
        insta::assert_snapshot!(shown, @r#"
        BASE_URL="${ISOBATH_BASE_URL:-http://x}"
        name='r-for-fuzzing-'$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n' | cut -c1-6)''
        secret='xxxxxxx'$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n' | cut -c1-32)'!'
        # new is created
        curl -sS -X POST "${BASE_URL}/users" \
          -H 'Content-Type: application/json' \
          --data-raw '{"name":"'"${name}"'","mail":"'"${name}"'@x.org","password":"'"${secret}"'"}' > /dev/null
        # new logs in
        answer=$(curl -sS -i -X POST "${BASE_URL}/login" \
          -H 'Content-Type: application/json' \
          --data-raw '{"name":"'"${name}"'","password":"'"${secret}"'"}')
        cookies_new=$(printf '%s\n' "$answer" | tr -d '\r' | sed -n 's/^[Ss]et-[Cc]ookie: *\([^;]*\).*/\1/p' | paste -sd ';' -)
        curl -sS -i -X GET "${BASE_URL}/me" \
          -H "Cookie: ${cookies_new}"  # 200
        "#);
    }
}
