//! Services as processes.

use std::net::{Ipv4Addr, TcpListener};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use isobath_exec::process::{Launch, ReadyCheck, Service, StartError, wait_for};
use isobath_suts::bad_day::{self, Manner};

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port");
    listener.local_addr().expect("it is bound").port()
}

/// A command that listens on a port, made of what every system with these tests has.
fn listen(port: u16) -> String {
    format!(
        "exec python3 -u -c 'import http.server as h; h.HTTPServer((\"127.0.0.1\", {port}), h.SimpleHTTPRequestHandler).serve_forever()'"
    )
}

fn is_alive(pid: u32) -> bool {
    let status = Command::new("kill")
        .args(["-0", &pid.to_string()])
        .stderr(Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[test]
fn a_service_is_started_restarted_and_ended() {
    let port = free_port();
    let ready = ReadyCheck::Url(format!("http://127.0.0.1:{port}/"));
    let launch = Launch::new(listen(port), ready.clone());
    let mut service = Service::start(launch).expect("it comes up");
    let first = service.pid().expect("it runs");
    assert!(!service.has_ended() && is_alive(first));
    service.restart().expect("it comes up again");
    let second = service.pid().expect("it runs again");
    assert!(first != second && !is_alive(first) && is_alive(second));
    drop(service);
    assert!(!is_alive(second));
    assert!(wait_for(&ready, Duration::ZERO, None).is_err());
}

#[test]
fn its_death_is_noticed() {
    let port = free_port();
    let launch = Launch::new(listen(port), ReadyCheck::Port("127.0.0.1".to_owned(), port));
    let service = Service::start(launch).expect("it comes up");
    let pid = service.pid().expect("it runs").to_string();
    let killed = Command::new("kill").args(["-9", &pid]).status();
    assert!(killed.is_ok_and(|status| status.success()));
    while !service.has_ended() {
        std::thread::yield_now();
    }
    assert_eq!(service.exit_code(), Some(137));
}

#[test]
fn what_a_service_started_ends_with_it() {
    let port = free_port();
    let folder = tempfile::tempdir().expect("there is room");
    let command = format!("sleep 600 & echo $! > child; {}", listen(port));
    let mut launch = Launch::new(command, ReadyCheck::Port("127.0.0.1".to_owned(), port));
    launch.directory = Some(folder.path().to_owned());
    let service = Service::start(launch).expect("it comes up");
    let child = std::fs::read_to_string(folder.path().join("child")).expect("it wrote that");
    let child: u32 = child.trim().parse().expect("a process id is a number");
    assert!(is_alive(child));
    drop(service);
    while is_alive(child) {
        std::thread::yield_now();
    }
}

#[test]
fn a_service_that_ends_instead_of_coming_up_is_quoted() {
    let port = free_port();
    let mut launch = Launch::new(
        "echo cannot find $WHAT >&2; exit 3",
        ReadyCheck::Port("127.0.0.1".to_owned(), port),
    );
    launch
        .variables
        .push(("WHAT".to_owned(), "the sea".to_owned()));
    let error = Service::start(launch).expect_err("it does not come up");
    let message = error.to_string().replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(message, @"
    `echo cannot find $WHAT >&2; exit 3` exited with code 3 before 127.0.0.1:PORT responded; last output:
    cannot find the sea
    ");
}

#[test]
fn a_service_that_does_not_come_up_in_time_is_ended() {
    let port = free_port();
    let folder = tempfile::tempdir().expect("there is room");
    let mut launch = Launch::new(
        "echo $$ > pid; echo loading; exec sleep 600",
        ReadyCheck::Url(format!("http://127.0.0.1:{port}/")),
    );
    launch.directory = Some(folder.path().to_owned());
    // Long enough for the shell to say its line.
    launch.timeout = Duration::from_millis(500);
    let error = Service::start(launch).expect_err("it does not come up");
    let message = error.to_string().replace(&port.to_string(), "PORT");
    insta::assert_snapshot!(message, @"
    http://127.0.0.1:PORT/ did not respond (connection refused) within 0.5 s of starting `echo $$ > pid; echo loading; exec sleep 600`; last output:
    loading
    ");
    let pid = std::fs::read_to_string(folder.path().join("pid")).expect("it wrote that");
    assert!(!is_alive(
        pid.trim().parse().expect("a process id is a number")
    ));
}

#[test]
fn nothing_is_started_where_somebody_else_answers() {
    let other = bad_day::start(Manner::Fine);
    let launch = Launch::new("echo not reached", ReadyCheck::Url(other.url.clone()));
    let error = Service::start(launch).expect_err("the place is taken");
    assert!(matches!(error, StartError::Occupied { .. }), "{error}");
}

#[test]
fn waiting_can_be_interrupted() {
    let port = free_port();
    let mut launch = Launch::new("sleep 600", ReadyCheck::Port("127.0.0.1".to_owned(), port));
    launch.interrupt = Some(Arc::new(AtomicBool::new(true)));
    launch.grace = Duration::ZERO;
    let error = Service::start(launch).expect_err("it is interrupted");
    assert!(matches!(error, StartError::Interrupted { .. }), "{error}");
}
