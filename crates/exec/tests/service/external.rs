//! The mock server that stands for external services, on good and on bad days.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use isobath_exec::http::{CallFailure, Request};
use isobath_exec::mock::{MockReply, MockServer, MockStub};

use crate::{client, post};

fn open(names: &[&str]) -> MockServer {
    // Tests run at once, and some of them give their port away for a moment.
    static NEXT: AtomicU16 = AtomicU16::new(19_400);
    let names = names.iter().map(|name| (*name).to_owned());
    let from = NEXT.fetch_add(10, Ordering::Relaxed);
    MockServer::open(names, from).expect("loopback has ports")
}

fn url(mock: &MockServer, station: usize, path: &str) -> String {
    format!("http://{}{path}", mock.endpoints()[station].at)
}

fn prepared(service: &str, method: &str, path: &str, reply: MockReply) -> MockStub {
    MockStub {
        service: service.into(),
        method: method.into(),
        path: path.into(),
        reply,
    }
}

fn text(status: u16, body: &str) -> MockReply {
    MockReply::Respond {
        status,
        content_type: "text/plain".into(),
        body: body.into(),
    }
}

/// Says something to a station as it is, and returns what comes back until the connection ends.
fn raw(mock: &MockServer, station: usize, said: &str) -> String {
    let mut stream = TcpStream::connect(mock.endpoints()[station].at).expect("it listens");
    let timeout = Some(Duration::from_secs(5));
    stream.set_read_timeout(timeout).expect("a timeout");
    stream.write_all(said.as_bytes()).expect("it reads");
    let mut observed = Vec::new();
    // A reset after the answer is an end, too.
    let _ = stream.read_to_end(&mut observed);
    String::from_utf8_lossy(&observed).into_owned()
}

#[test]
fn each_service_gets_its_own_answers_and_all_calls_are_kept() {
    let mock = open(&["rates", "mail"]);
    mock.begin(vec![
        prepared("mail", "POST", "/send", text(202, "queued")),
        prepared("rates", "GET", "/latest/*", text(404, "none")),
    ]);
    mock.begin_action(3);
    let mut client = client();
    let sent = client.call(&post(&url(&mock, 1, "/send?now=1"), "hello"));
    let missing = client.call(&Request::get(url(&mock, 0, "/latest/EUR")));
    let other = client.call(&Request::get(url(&mock, 0, "/send")));
    let statuses = [&sent, &missing, &other].map(|call| call.status());
    assert_eq!(statuses, [Some(202), Some(404), Some(200)]);
    assert_eq!(other.response().expect("an answer").body.as_ref(), b"{}");
    let (calls, _) = mock.calls();
    let told: Vec<String> = calls
        .iter()
        .map(|call| {
            let body = String::from_utf8_lossy(&call.body);
            let answer = call.answer;
            format!(
                "{:?} {} {} {}?{} {body} {answer:?}",
                call.action, call.service, call.method, call.path, call.query
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            "Some(3) mail POST /send?now=1 hello Some(0)",
            "Some(3) rates GET /latest/EUR?  Some(1)",
            "Some(3) rates GET /send?  None",
        ]
    );
    assert!(mock.calls().0.is_empty());
}

#[test]
fn a_connection_may_be_closed_in_place_of_an_answer() {
    let mock = open(&["rates"]);
    mock.begin(vec![prepared("rates", "GET", "/", MockReply::Close)]);
    let call = client().call(&Request::get(url(&mock, 0, "/")));
    assert_eq!(call.failure(), Some(&CallFailure::Dropped));
    assert_eq!(mock.calls().0[0].status, None);
}

#[test]
fn a_proxy_knows_whom_its_callers_mean_and_passes_nothing_on() {
    let mock = open(&[""]);
    mock.begin(vec![prepared(
        "rates.example",
        "GET",
        "/latest",
        text(200, "from us"),
    )]);
    let said = "GET http://rates.example/latest?x=1 HTTP/1.1\r\nHost: rates.example\r\n\r\n";
    assert!(raw(&mock, 0, said).ends_with("from us"));
    let said = "CONNECT rates.example:443 HTTP/1.1\r\nHost: rates.example:443\r\n\r\n";
    assert!(raw(&mock, 0, said).starts_with("HTTP/1.1 502 "));
    let (calls, _) = mock.calls();
    let told = calls.iter().map(|call| (&*call.service, call.encrypted));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [("rates.example", false), ("rates.example", true)]
    );
}

#[test]
fn garbage_is_no_call() {
    let mock = open(&["rates"]);
    raw(&mock, 0, "\u{1}\u{2} this is not HTTP\r\n\r\n");
    assert!(mock.calls().0.is_empty());
    let call = client().call(&Request::get(url(&mock, 0, "/")));
    assert_eq!(call.status(), Some(200));
}

#[test]
fn somebody_else_can_listen_while_it_pauses() {
    let mut mock = open(&["rates"]);
    let at = mock.endpoints()[0].at;
    mock.pause();
    let other = std::net::TcpListener::bind(at).expect("the port is free");
    assert!(mock.resume().is_err());
    drop(other);
    mock.resume().expect("the port is free again");
    let call = client().call(&Request::get(url(&mock, 0, "/")));
    assert_eq!(call.status(), Some(200));
}

#[test]
fn a_status_without_a_body_has_none() {
    let mock = open(&["rates"]);
    mock.begin(vec![prepared("rates", "GET", "/", text(204, "much"))]);
    let call = client().call(&Request::get(url(&mock, 0, "/")));
    assert_eq!(call.status(), Some(204));
    assert!(call.response().expect("an answer").body.is_empty());
}
