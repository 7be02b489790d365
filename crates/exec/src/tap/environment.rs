//! Points a service at the tap, by rewriting the environment variables that name its database.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use url::Url;

use crate::database::Address;

/// The name of the database apart, for either database: rewritten where it is set.
const NAMES: [&str; 2] = ["DB_NAME", "DATABASE_NAME"];
/// Rewritten in any case.
const USUAL: &str = "DATABASE_URL";
/// Rewritten where they are set.
const ADDRESSES: [&str; 6] = [
    "SPRING_DATASOURCE_URL",
    "SPRING_R2DBC_URL",
    "QUARKUS_DATASOURCE_JDBC_URL",
    "JDBC_DATABASE_URL",
    "DB_URL",
    "SQLALCHEMY_DATABASE_URI",
];
/// Host and port apart, for either database: rewritten where they are set.
const PARTS: [(&str, &str); 3] = [
    ("DB_HOST", "DB_PORT"),
    ("DATABASE_HOST", "DATABASE_PORT"),
    ("DB_HOSTNAME", "DB_PORT"),
];
/// As [`PARTS`], for PostgreSQL.
const POSTGRES: [(&str, &str); 2] = [("PGHOST", "PGPORT"), ("POSTGRES_HOST", "POSTGRES_PORT")];
/// As [`PARTS`], for MySQL and MariaDB.
const MYSQL: [(&str, &str); 2] = [
    ("MYSQL_HOST", "MYSQL_PORT"),
    ("MARIADB_HOST", "MARIADB_PORT"),
];

/// The variables that a service needs so that it finds the tap at `at` in place of `database`.
///
/// `names` are variables that hold the address of the database, besides `DATABASE_URL`; `present` says
/// what the user has set. Addresses that the user has set keep their form (a JDBC address stays one) and
/// their options, except that TLS is switched off, and name the test database.
pub fn variables(
    database: &Address,
    at: SocketAddr,
    names: &[String],
    present: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let (Address::Postgres(url) | Address::MariaDb(url)) = database else {
        return Vec::new();
    };
    let at = reachable(at);
    let set = |name: &&str| present(name).is_some();
    let named = names.iter().map(String::as_str);
    let wanted = [USUAL]
        .into_iter()
        .chain(named)
        .chain(ADDRESSES.into_iter().filter(set));
    let mut variables: Vec<(String, String)> = Vec::new();
    for name in wanted {
        if variables.iter().all(|(known, _)| known != name) {
            let value = address(url, at, name, present(name).as_deref());
            variables.push((name.to_owned(), value));
        }
    }
    let is_postgres = matches!(database, Address::Postgres(_));
    let own = if is_postgres { POSTGRES } else { MYSQL };
    let (host, port) = (at.ip().to_string(), at.port().to_string());
    let mut put = |name: &str, value: &str| variables.push((name.to_owned(), value.to_owned()));
    for (host_name, port_name) in PARTS.into_iter().chain(own) {
        if set(&host_name) || set(&port_name) {
            put(host_name, &host);
            put(port_name, &port);
        }
    }
    let name = url.path().trim_matches('/');
    for (wanted, variable, value) in [
        (is_postgres, "PGHOSTADDR", host.as_str()),
        (is_postgres, "PGDATABASE", name),
        (is_postgres, "POSTGRES_DB", name),
        (is_postgres, "PGSSLMODE", "disable"),
        (!is_postgres, "MYSQL_TCP_PORT", &port),
        (!is_postgres, "MYSQL_DATABASE", name),
        (!is_postgres, "MARIADB_DATABASE", name),
        (true, NAMES[0], name),
        (true, NAMES[1], name),
    ] {
        if wanted && set(&variable) {
            put(variable, value);
        }
    }
    variables
}

/// The variables that name a database file, with another file in its place.
///
/// `files` are the spellings of the path by which the service may know it, and `names` variables besides the usual ones; one of
/// these that is not set gets the address of the other file. Values keep their form.
pub fn file_variables(
    files: &[String],
    other: &Path,
    names: &[String],
    present: impl Fn(&str) -> Option<String>,
) -> Vec<(String, String)> {
    let other = other.display().to_string();
    let moved = |value: String| {
        let file = files.iter().find(|file| value.contains(file.as_str()))?;
        Some(value.replacen(file, &other, 1))
    };
    let usual = [USUAL].into_iter().chain(ADDRESSES);
    let usual = usual.filter_map(|name| Some((name.to_owned(), moved(present(name)?)?)));
    let named = names.iter().map(|name| {
        let moved = present(name).and_then(moved);
        (
            name.clone(),
            moved.unwrap_or_else(|| format!("sqlite:{other}")),
        )
    });
    usual.chain(named).collect()
}

/// The usual variables that name a database and are set.
pub fn named_databases(present: impl Fn(&str) -> Option<String>) -> Vec<&'static str> {
    let usual = [USUAL].into_iter().chain(ADDRESSES);
    usual.filter(|name| present(name).is_some()).collect()
}

/// The address of the database at the tap, password included.
pub fn url(database: &Address, at: SocketAddr) -> Option<String> {
    match database {
        Address::Postgres(url) | Address::MariaDb(url) => {
            Some(moved(url.clone(), reachable(at)).to_string())
        }
        Address::SqliteMemory | Address::SqliteFile(_) => None,
    }
}

/// Whoever listens everywhere is found on loopback.
fn reachable(at: SocketAddr) -> SocketAddr {
    if at.ip().is_unspecified() {
        (IpAddr::V4(Ipv4Addr::LOCALHOST), at.port()).into()
    } else {
        at
    }
}

/// An address in the form of what was there before.
fn address(database: &Url, at: SocketAddr, name: &str, before: Option<&str>) -> String {
    let before = before.map(str::trim).filter(|before| !before.is_empty());
    let (prefix, plain) = match before {
        Some(before) => prefixed(before),
        None if name == "SPRING_R2DBC_URL" => ("r2dbc:", ""),
        None if name.contains("JDBC") || name == "SPRING_DATASOURCE_URL" => ("jdbc:", ""),
        None => ("", ""),
    };
    let mut url = match Url::parse(plain) {
        Ok(url) if url.has_host() => url,
        _ => fresh(database, prefix),
    };
    url.set_path(database.path());
    if prefix.is_empty() {
        // An address of another database has other users.
        let _ = url.set_username(database.username());
        let _ = url.set_password(database.password());
    }
    format!("{prefix}{}", moved(url, at))
}

/// `jdbc:` and similar, and the address without it.
fn prefixed(address: &str) -> (&'static str, &str) {
    for prefix in ["jdbc:", "r2dbc:"] {
        if let Some(rest) = address.strip_prefix(prefix) {
            return (prefix, rest);
        }
    }
    ("", address)
}

/// An address where there was none: drivers of the JVM take users as options, and know other schemes.
fn fresh(database: &Url, prefix: &str) -> Url {
    if prefix.is_empty() {
        return database.clone();
    }
    let scheme = match database.scheme() {
        "postgres" => "postgresql",
        other => other,
    };
    let host = database.host_str().unwrap_or_default();
    let text = format!("{scheme}://{host}{}", database.path());
    let Ok(mut url) = Url::parse(&text) else {
        return database.clone();
    };
    let user = database.username();
    if !user.is_empty() {
        let password = database.password().unwrap_or_default();
        // Both are encoded already, but not for a place where these have a meaning.
        let option = |text: &str| text.replace('+', "%2B").replace('&', "%26");
        let options = format!("user={}&password={}", option(user), option(password));
        url.set_query(Some(&options));
    }
    url
}

/// The address at another place, without TLS, which a tap does not offer.
fn moved(mut url: Url, at: SocketAddr) -> Url {
    let host = match at.ip() {
        IpAddr::V4(ip) => ip.to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
    };
    // Addresses of databases have hosts, so a host and a port can be set.
    let _ = url.set_host(Some(&host));
    let _ = url.set_port(Some(at.port()));
    let Some(query) = url.query() else {
        return url;
    };
    let options: Vec<String> = query.split('&').map(without_tls).collect();
    url.set_query(Some(&options.join("&")));
    url
}

fn without_tls(option: &str) -> String {
    let Some((key, _)) = option.split_once('=') else {
        return option.to_owned();
    };
    let off = match key {
        "sslmode" => "disable",
        "ssl-mode" | "sslMode" | "ssl_mode" => "DISABLED",
        "ssl" | "useSSL" | "requireSSL" | "require_ssl" | "useSsl" => "false",
        _ => return option.to_owned(),
    };
    format!("{key}={off}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(database: &str, names: &[&str], set: &[(&str, &str)]) -> String {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let present = |name: &str| {
            let found = set.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let database = Address::parse(database).unwrap();
        let at = SocketAddr::from(([127, 0, 0, 1], 6000));
        let variables = variables(&database, at, &names, present);
        let lines = variables
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_service_without_variables_gets_the_usual_one() {
        insta::assert_snapshot!(
            check("postgres://me:pw@localhost/shop_test", &["SHOP_DB", "SHOP_JDBC_URL"], &[]),
            @r"
        DATABASE_URL=postgres://me:pw@127.0.0.1:6000/shop_test
        SHOP_DB=postgres://me:pw@127.0.0.1:6000/shop_test
        SHOP_JDBC_URL=jdbc:postgresql://127.0.0.1:6000/shop_test?user=me&password=pw
        "
        );
    }

    #[test]
    fn variables_of_a_file_keep_their_form_and_name_the_other_file() {
        let present = |name: &str| match name {
            "DATABASE_URL" => Some("sqlite://data/shop.db?mode=rwc".to_owned()),
            "DB_URL" => Some("jdbc:sqlite:/srv/data/shop.db".to_owned()),
            "JDBC_DATABASE_URL" => Some("jdbc:sqlite:/srv/other.db".to_owned()),
            _ => None,
        };
        let files = ["/srv/data/shop.db".to_owned(), "data/shop.db".to_owned()];
        let moved = file_variables(
            &files,
            Path::new("/tmp/x/shop.db"),
            &["MY_DB".into()],
            present,
        );
        let lines: Vec<String> = moved
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        assert_eq!(
            lines,
            [
                "DATABASE_URL=sqlite:///tmp/x/shop.db?mode=rwc",
                "DB_URL=jdbc:sqlite:/tmp/x/shop.db",
                "MY_DB=sqlite:/tmp/x/shop.db",
            ]
        );
        assert_eq!(
            named_databases(present),
            ["DATABASE_URL", "JDBC_DATABASE_URL", "DB_URL"]
        );
    }

    #[test]
    fn variables_that_are_set_keep_their_form_and_name_the_test_database() {
        insta::assert_snapshot!(
            check(
                "mysql://me:p%2Bw@localhost:3307/shop_test",
                &[],
                &[
                    ("DATABASE_URL", "mysql+pymysql://you:x@db:3306/shop?charset=utf8mb4&ssl-mode=REQUIRED"),
                    ("SPRING_DATASOURCE_URL", "jdbc:mariadb://db/shop?useSSL=true"),
                    ("MYSQL_HOST", "db"),
                    ("PGHOST", "other"),
                ],
            ),
            @r"
        DATABASE_URL=mysql+pymysql://me:p%2Bw@127.0.0.1:6000/shop_test?charset=utf8mb4&ssl-mode=DISABLED
        SPRING_DATASOURCE_URL=jdbc:mariadb://127.0.0.1:6000/shop_test?useSSL=false
        MYSQL_HOST=127.0.0.1
        MYSQL_PORT=6000
        "
        );
        insta::assert_snapshot!(
            check(
                "postgres://me@localhost/shop_test",
                &[],
                &[("PGPORT", "5432"), ("PGSSLMODE", "require"), ("PGDATABASE", "shop"), ("DB_NAME", "shop"), ("DATABASE_URL", "host=db user=me")],
            ),
            @r"
        DATABASE_URL=postgres://me@127.0.0.1:6000/shop_test
        PGHOST=127.0.0.1
        PGPORT=6000
        PGDATABASE=shop_test
        PGSSLMODE=disable
        DB_NAME=shop_test
        "
        );
    }
}
