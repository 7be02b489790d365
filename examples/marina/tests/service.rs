//! The service with and without its faults, as a client sees it.

use std::io::{Read, Write};
use std::net::TcpStream;

use marina::{Fault, Faults, Running};
use serde_json::{Value, json};

/// A status, the headers as text, and the body.
struct Answer {
    status: u16,
    head: String,
    body: Value,
}

/// One request on a connection of its own; `None` when the service hung up.
fn call(
    service: &Running,
    method: &str,
    path: &str,
    token: Option<&str>,
    body: Option<&Value>,
) -> Option<Answer> {
    let address = service.url();
    let address = address.strip_prefix("http://").expect("a URL of ours");
    let mut stream = TcpStream::connect(address).expect("the service is up");
    let body = body.map(Value::to_string).unwrap_or_default();
    let token = token
        .map(|token| format!("Authorization: Bearer {token}\r\n"))
        .unwrap_or_default();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: marina\r\nConnection: close\r\n{token}Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream
        .write_all(request.as_bytes())
        .expect("the service reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split(' ').nth(1)?.parse().ok()?;
    Some(Answer {
        status,
        head: head.to_owned(),
        body: serde_json::from_str(body).unwrap_or(Value::String(body.to_owned())),
    })
}

fn ask(service: &Running, method: &str, path: &str, token: &str, body: Option<Value>) -> Answer {
    call(service, method, path, Some(token), body.as_ref()).expect("the service answers")
}

fn login(service: &Running, user: &str, password: &str) -> String {
    let answer = call(
        service,
        "POST",
        "/login",
        None,
        Some(&json!({ "user": user, "password": password })),
    )
    .expect("an answer");
    answer.body["token"].as_str().expect("a token").to_owned()
}

/// A service, the tokens of ada, ben and the harbor master, and ada's boat and booking.
fn harbor(faults: Faults) -> (Running, String, String, String) {
    let service = marina::start(faults).expect("a free port");
    let ada = login(&service, "ada", "sextant");
    let ben = login(&service, "ben", "compass");
    let master = login(&service, "master", "anchor");
    let boat = ask(
        &service,
        "POST",
        "/boats",
        &ada,
        Some(json!({ "name": "Gull", "kind": "sail", "length": 850, "tags": ["blue"] })),
    );
    assert_eq!(boat.status, 201);
    let stay =
        json!({ "boatId": 1, "berthId": 1, "arrival": "2026-07-01", "departure": "2026-07-04" });
    assert_eq!(
        ask(&service, "POST", "/bookings", &ada, Some(stay)).status,
        201
    );
    (service, ada, ben, master)
}

/// What a tester would see of each fault: true when it shows.
fn shows(fault: Fault, faults: Faults) -> bool {
    let (service, ada, ben, master) = harbor(faults);
    let boat =
        |length: i64| json!({ "name": "Tern", "kind": "motor", "length": length, "tags": ["red"] });
    let invoice = || ask(&service, "POST", "/bookings/1/invoice", &ada, None);
    match fault {
        Fault::OccupancyOfNoDays => {
            ask(
                &service,
                "GET",
                "/reports/occupancy?from=2026-07-01&to=2026-07-01",
                &ada,
                None,
            )
            .status
                == 500
        }
        Fault::SearchPastesSql => {
            ask(&service, "GET", "/search?q=o%27clock", &ada, None).status == 500
        }
        Fault::DraftIsText => {
            ask(&service, "GET", "/boats/1", &ada, None).body["draft"] == "unknown"
        }
        Fault::UndocumentedStatus => {
            let stay = json!({ "boatId": 1, "berthId": 2, "arrival": "2026-07-04", "departure": "2026-07-01" });
            ask(&service, "POST", "/bookings", &ada, Some(stay)).status == 422
        }
        Fault::AnyLengthWillDo => {
            ask(&service, "POST", "/boats", &ada, Some(boat(-1))).status == 201
        }
        Fault::BerthOutlivesDelete => {
            assert_eq!(
                ask(&service, "DELETE", "/berths/3", &master, None).status,
                204
            );
            ask(&service, "GET", "/berths/3", &ada, None).status == 200
        }
        Fault::TagsPileUp => {
            ask(&service, "PUT", "/boats/1", &ada, Some(boat(700)));
            ask(&service, "PUT", "/boats/1", &ada, Some(boat(700))).body["tags"] != json!(["red"])
        }
        Fault::RefusedChangeSticks => {
            let change = json!({ "notes": "late", "departure": "2026-06-01" });
            assert_eq!(
                ask(&service, "PATCH", "/bookings/1", &ada, Some(change)).status,
                409
            );
            ask(&service, "GET", "/bookings/1", &ada, None).body["notes"] == "late"
        }
        Fault::LocationLeadsNowhere => invoice().head.contains("/invoice/1"),
        Fault::ReadingRemoves => {
            let notice = json!({ "title": "Storm", "priority": "urgent" });
            assert_eq!(
                ask(&service, "POST", "/notices", &ada, Some(notice)).status,
                201
            );
            assert_eq!(ask(&service, "GET", "/notices/1", &ada, None).status, 200);
            ask(&service, "GET", "/notices/1", &ada, None).status == 404
        }
        Fault::AnonymousNotice => {
            let notice = json!({ "title": "Hello", "priority": "low" });
            call(&service, "POST", "/notices", None, Some(&notice))
                .expect("an answer")
                .status
                == 201
        }
        Fault::OthersBookings => ask(&service, "GET", "/bookings/1", &ben, None).status == 200,
        Fault::InvoiceExists => {
            assert_eq!(invoice().status, 201);
            ask(&service, "GET", "/invoices/1", &ben, None).status == 403
        }
        Fault::BerthTrace => {
            let berth = json!({ "pier": "A", "number": 1, "length": 900 });
            ask(&service, "POST", "/berths", &master, Some(berth))
                .body
                .to_string()
                .contains("stack backtrace")
        }
        Fault::RefusedBookingStays => {
            let stay = json!({ "boatId": 1, "berthId": 3, "arrival": "2026-07-01", "departure": "2026-07-04" });
            assert_eq!(
                ask(&service, "POST", "/bookings", &ada, Some(stay)).status,
                409
            );
            let bookings = ask(&service, "GET", "/bookings", &ada, None).body;
            bookings
                .as_array()
                .is_some_and(|bookings| bookings.len() == 2)
        }
        Fault::CancellingTakesInvoices => {
            assert_eq!(invoice().status, 201);
            let stay = json!({ "boatId": 1, "berthId": 2, "arrival": "2026-07-01", "departure": "2026-07-04" });
            assert_eq!(
                ask(&service, "POST", "/bookings", &ada, Some(stay)).status,
                201
            );
            assert_eq!(
                ask(&service, "DELETE", "/bookings/2", &ada, None).status,
                204
            );
            ask(&service, "GET", "/invoices/1", &ada, None).status == 404
        }
        Fault::OccupancyCutsPower => {
            let path = "/reports/occupancy?from=2026-07-01&to=2026-07-03";
            assert_eq!(ask(&service, "GET", path, &ada, None).status, 200);
            ask(&service, "GET", "/berths/2", &ada, None).body["power"] == false
        }
        Fault::LengthCutsPower => {
            let change = json!({ "length": 950 });
            ask(&service, "PATCH", "/berths/1", &master, Some(change)).body["power"] == false
        }
        Fault::DeepDraftForgotten => {
            let mut boat = boat(700);
            boat["draft"] = json!(600);
            ask(&service, "PUT", "/boats/1", &ada, Some(boat)).body["draft"] != 600
        }
        Fault::OverpaymentDrops => {
            assert_eq!(invoice().body["due"], 5550);
            call(
                &service,
                "POST",
                "/invoices/1/payments",
                Some(&ada),
                Some(&json!({ "amount": 6000 })),
            )
            .is_none()
        }
    }
}

#[test]
fn every_fault_shows_when_it_is_there_and_only_then() {
    for &fault in <Fault as clap::ValueEnum>::value_variants() {
        assert!(
            shows(fault, [fault].into_iter().collect()),
            "{fault:?} does not show"
        );
        assert!(
            !shows(fault, Faults::none()),
            "{fault:?} shows in a service without faults"
        );
    }
}

#[test]
fn faults_do_not_hide_each_other() {
    for &fault in <Fault as clap::ValueEnum>::value_variants() {
        assert!(
            shows(fault, Faults::all()),
            "{fault:?} does not show beside the others"
        );
    }
}

#[test]
fn reset_brings_the_first_rows_back_and_keeps_the_log_ins() {
    let (service, ada, ..) = harbor(Faults::none());
    assert_eq!(ask(&service, "POST", "/reset", &ada, None).status, 204);
    assert_eq!(ask(&service, "GET", "/boats", &ada, None).body, json!([]));
}

#[test]
fn the_list_of_faults_names_each() {
    let list = include_str!("../FAULTS.md");
    for fault in <Fault as clap::ValueEnum>::value_variants() {
        let name = clap::ValueEnum::to_possible_value(fault).expect("no fault is hidden");
        assert!(
            list.contains(&format!("`{}`", name.get_name())),
            "{fault:?} is not described"
        );
    }
}
