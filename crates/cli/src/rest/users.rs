//! Users given by flags, and their secrets.

use isobath_exec::database::mask_password;
use isobath_rest::auth::{self, Format, User};

use super::args::RestArgs;
use super::run::SetupError;

/// The users with the endpoints of their log-ins relative to the base URL: a file that already has its path before
/// them does not get it twice.
pub(super) fn relative_to(base: &str, users: &mut [User]) {
    let path = url::Url::parse(base).map_or_else(|_| String::new(), |url| url.path().to_owned());
    let path = path.trim_end_matches('/');
    if path.is_empty() {
        return;
    }
    for user in users {
        let create = user.create.iter_mut().map(|create| &mut create.call);
        for call in create.chain(user.login.iter_mut().map(|login| &mut login.call)) {
            if let Some(rest) = call.endpoint.strip_prefix(path)
                && rest.starts_with('/')
            {
                call.endpoint = rest.to_owned();
            }
        }
    }
}

/// The users that the flags name.
pub(super) fn users(args: &RestArgs) -> Result<Vec<User>, SetupError> {
    if let Some(path) = &args.auth {
        let text = std::fs::read_to_string(path).map_err(|error| {
            SetupError::usage(format!("cannot read {}: {error}", path.display()))
        })?;
        let format = Format::of_file(&path.to_string_lossy());
        return auth::read(&text, format)
            .map_err(|error| SetupError::usage(format!("{}: {error}", path.display())));
    }
    if args.header.is_empty() {
        return Ok(Vec::new());
    }
    let headers = args
        .header
        .iter()
        .map(|header| {
            let (name, value) = header.split_once(':').ok_or_else(|| {
                SetupError::usage(format!(
                    "invalid --header `{header}` (expected NAME: VALUE)"
                ))
            })?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        })
        .collect::<Result<_, SetupError>>()?;
    Ok(vec![User::with_headers("user", headers)])
}

/// What of the flags and users must not be seen in the log.
pub(super) fn secrets<'a>(args: &'a RestArgs, users: &'a [User]) -> Vec<&'a str> {
    let mut secrets: Vec<&str> = Vec::new();
    let values = |headers: &'a [(String, String)]| headers.iter().map(|(_, value)| value.as_str());
    for user in users {
        secrets.extend(values(&user.headers));
        let calls = user.create.iter().map(|create| &create.call);
        for call in calls.chain(user.login.iter().map(|login| &login.call)) {
            secrets.extend(call.secrets.iter().map(|secret| secret.value.as_str()));
            secrets.extend(values(&call.headers));
        }
    }
    // An address is shown without its password.
    secrets.extend(
        args.database
            .db
            .as_deref()
            .filter(|url| mask_password(url) != *url),
    );
    secrets
}

/// The password in the address of the database.
pub(super) fn database_password(args: &RestArgs) -> Option<String> {
    let address = url::Url::parse(args.database.db.as_deref()?).ok()?;
    let password = percent_encoding::percent_decode_str(address.password()?);
    Some(password.decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_a_login_has_already_is_not_put_before_it_again() {
        let file = "auth:\n  - name: ada\n    loginEndpointAuth:\n      endpoint: /api/v1/login\n      verb: POST\n      expectCookies: true\n";
        let mut users = auth::read(file, Format::of_file("auth.yaml")).expect("a good file");
        let endpoint = |users: &[User]| {
            let login = users[0].login.as_ref().expect("a log-in");
            login.call.endpoint.clone()
        };
        relative_to("http://localhost:8080/other", &mut users);
        assert_eq!(endpoint(&users), "/api/v1/login");
        relative_to("http://localhost:8080/api/v1", &mut users);
        assert_eq!(endpoint(&users), "/login");
    }
}
