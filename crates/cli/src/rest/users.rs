//! Users given by flags, and their secrets.

use isobath_exec::database::mask_password;
use isobath_rest::auth::{self, Format, User};

use super::args::RestArgs;
use super::run::SetupError;

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
