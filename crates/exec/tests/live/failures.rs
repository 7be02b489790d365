//! Databases that cannot be reached, do not let us in, or die.

use std::net::TcpListener;

use isobath_exec::engine::Engine;
use isobath_exec::server::{Server, or_skip, shared, start};
use isobath_exec::{DatabaseError, connect, connect_writable};

use crate::servers::kill;

const SERVERS: [Engine; 2] = [Engine::Postgres, Engine::MariaDb];

/// An address of the server with other words for user, password or database.
fn address(server: &Server, user: &str, password: &str, database: &str) -> String {
    let scheme = server.engine().as_str();
    format!(
        "{scheme}://{user}:{password}@127.0.0.1:{}/{database}",
        server.port()
    )
}

fn on_each_server(what: &str, test: impl Fn(&Server)) {
    for engine in SERVERS {
        if let Some(server) = or_skip(&format!("{what} on {engine}"), shared(engine)) {
            test(server);
        }
    }
}

#[test]
fn a_wrong_password_is_a_refused_login_and_is_not_repeated() {
    on_each_server("a wrong password", |server| {
        for user in ["isobath", "nobody_here"] {
            let error = connect(&address(server, user, "s3cret", "x"))
                .err()
                .unwrap();
            assert!(matches!(error, DatabaseError::Login { .. }), "{error}");
            assert!(!format!("{error} {error:?}").contains("s3cret"), "{error}");
        }
    });
}

#[test]
fn no_password_is_a_refused_login_too() {
    on_each_server("no password", |server| {
        let address = format!(
            "{}://isobath@127.0.0.1:{}/x",
            server.engine().as_str(),
            server.port()
        );
        let error = connect(&address).err().unwrap();
        assert!(matches!(error, DatabaseError::Login { .. }), "{error}");
    });
}

#[test]
fn a_database_that_is_not_there_is_told_apart_from_a_refused_login() {
    on_each_server("a missing database", |server| {
        let error = connect(&server.address("nowhere")).err().unwrap();
        assert!(matches!(error, DatabaseError::NoDatabase { .. }), "{error}");
        assert!(error.to_string().contains(":***@"), "{error}");
    });
}

#[test]
fn a_closed_port_is_unreachable() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    for scheme in ["postgres", "mariadb"] {
        let error = connect(&format!("{scheme}://me:s3cret@127.0.0.1:{port}/x"))
            .err()
            .unwrap();
        assert!(
            matches!(error, DatabaseError::Unreachable { .. }),
            "{error}"
        );
        assert!(error.to_string().contains("refused"), "{error}");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }
}

#[test]
fn somebody_else_behind_the_port_is_an_error_and_no_hang() {
    for scheme in ["postgres", "mariadb"] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let somebody = std::thread::spawn(move || {
            use std::io::Write;
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.write_all(b"HTTP/1.0 400 Bad Request\r\n\r\n");
        });
        let error = connect(&format!("{scheme}://me@127.0.0.1:{port}/x"))
            .err()
            .unwrap();
        assert!(
            matches!(error, DatabaseError::Unreachable { .. }),
            "{error}"
        );
        somebody.join().unwrap();
    }
}

#[test]
fn a_file_that_is_no_database_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("notes.txt");
    std::fs::write(&path, "no database, just a text that is long enough to look like a header of one, or two, or three").unwrap();
    let error = connect(&format!("sqlite:{}", path.display()))
        .err()
        .unwrap();
    assert!(matches!(error, DatabaseError::NoDatabase { .. }), "{error}");
}

#[test]
fn a_server_that_dies_ends_the_run_with_a_clear_message() {
    for engine in SERVERS {
        let Some(server) = or_skip(&format!("a dying server on {engine}"), start(engine)) else {
            continue;
        };
        let address = server.create_database().unwrap();
        let mut database = connect_writable(&address, std::slice::from_ref(&address)).unwrap();
        database.execute_required("CREATE TABLE t (a INT)").unwrap();
        kill(server.pid().unwrap());
        let cases = vec![vec!["INSERT INTO t VALUES (1)".to_owned()]; 100];
        // A few answers may still be on their way.
        let error = loop {
            if let Err(error) = database.run_isolated(&cases) {
                break error;
            }
        };
        assert!(
            matches!(error, DatabaseError::Lost { .. }),
            "{engine}: {error}"
        );
        assert!(
            error
                .to_string()
                .contains("run again once the server is back"),
            "{error}"
        );
        // And it stays that way.
        assert!(database.execute("SELECT 1").is_err(), "{engine}");
        assert!(connect(&address).is_err(), "{engine}");
    }
}
