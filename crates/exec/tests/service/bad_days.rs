//! Whatever a service does, there is an outcome, and it is told apart from others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use isobath_exec::http::{BodyCompleteness, Call, CallFailure, ClientConfig, Method, Request};
use isobath_suts::bad_day::{self, Manner};

use crate::{client, client_with, post};

const SHORT: Duration = Duration::from_millis(150);

fn short() -> ClientConfig {
    ClientConfig {
        timeout: SHORT,
        ..ClientConfig::default()
    }
}

fn call(manner: Manner, config: ClientConfig) -> Call {
    let service = bad_day::start(manner);
    client_with(config).call(&Request::get(&service.url))
}

#[test]
fn a_connection_is_used_again_and_again() {
    let service = bad_day::start(Manner::Fine);
    let mut client = client();
    for _ in 0..50 {
        let call = client.call(&Request::get(format!("{}/x?y=1", service.url)));
        let response = call.response().expect("the service is fine");
        assert_eq!((response.status, &*response.text()), (200, "fine"));
        assert_eq!(response.media_type().as_deref(), Some("text/plain"));
    }
    assert_eq!((service.connections(), service.requests()), (1, 50));
}

#[test]
fn a_service_that_closes_after_each_answer_is_called_as_often_as_we_like() {
    let service = bad_day::start(Manner::CloseAfterAnswer);
    let mut client = client();
    for _ in 0..50 {
        let call = client.call(&post(&service.url, "hello"));
        assert_eq!(call.status(), Some(200), "{call:?}");
    }
    assert!(service.requests() >= 50);
}

#[test]
fn a_closed_connection_is_told_from_silence_and_from_nobody() {
    let dropped = call(Manner::CloseUnanswered, ClientConfig::default());
    assert_eq!(dropped.failure(), Some(&CallFailure::Dropped));
    let hanging = call(Manner::Hang, short());
    assert_eq!(hanging.failure(), Some(&CallFailure::TimedOut));
    assert!(hanging.elapsed >= SHORT);
    // Ended, so nobody listens there any more.
    let url = bad_day::start(Manner::Fine).url.clone();
    let refused = client().call(&Request::get(url));
    assert_eq!(refused.failure(), Some(&CallFailure::Refused));
    let unknown = client().call(&Request::get("http://no-such-host.invalid/"));
    assert!(
        matches!(unknown.failure(), Some(CallFailure::Unreachable(_))),
        "{unknown:?}"
    );
}

#[test]
fn a_fresh_connection_that_is_dropped_is_not_tried_again() {
    let service = bad_day::start(Manner::CloseUnanswered);
    let call = client().call(&post(&service.url, "hello"));
    assert_eq!(call.failure(), Some(&CallFailure::Dropped));
    assert_eq!(service.requests(), 1);
    assert!(!call.repeated);
}

#[test]
fn the_client_survives_every_failure() {
    let service = bad_day::start(Manner::CloseEverySecond);
    let mut client = client();
    // The first connection is kept, so all is well until somebody needs a second one.
    for _ in 0..3 {
        assert_eq!(client.call(&Request::get(&service.url)).status(), Some(200));
    }
    let mut other = crate::client();
    assert_eq!(
        other.call(&Request::get(&service.url)).failure(),
        Some(&CallFailure::Dropped)
    );
    assert_eq!(other.call(&Request::get(&service.url)).status(), Some(200));
}

#[test]
fn garbage_is_called_garbage() {
    let call = call(Manner::Garbage, ClientConfig::default());
    assert!(
        matches!(call.failure(), Some(CallFailure::Garbage(_))),
        "{call:?}"
    );
}

#[test]
fn headers_without_end_are_garbage() {
    let call = call(Manner::EndlessHeaders, ClientConfig::default());
    assert!(
        matches!(call.failure(), Some(CallFailure::Garbage(_))),
        "{call:?}"
    );
}

#[test]
fn of_a_body_that_breaks_off_we_have_what_came() {
    for (manner, end) in [
        (Manner::DropInBody, BodyCompleteness::Dropped),
        (Manner::HangInBody, BodyCompleteness::TimedOut),
    ] {
        let call = call(manner, short());
        let response = call.response().expect("the head came");
        assert_eq!((response.status, &*response.text()), (200, "fi"));
        assert_eq!(response.completeness, end);
    }
}

#[test]
fn a_huge_body_is_cut_at_the_limit_and_the_next_call_is_fine() {
    let service = bad_day::start(Manner::HugeBody);
    let mut client = client();
    for _ in 0..2 {
        let call = client.call(&Request::get(&service.url));
        let response = call.response().expect("the head came");
        assert_eq!(response.body.len(), 1 << 20);
        assert_eq!(response.completeness, BodyCompleteness::TooLarge);
    }
    assert_eq!(service.connections(), 2);
}

#[test]
fn a_packed_bomb_is_cut_at_the_limit() {
    let config = ClientConfig {
        body_limit: 8 << 20,
        ..ClientConfig::default()
    };
    let call = call(Manner::GzipBomb, config);
    let response = call.response().expect("it answers");
    assert_eq!(response.body.len(), 8 << 20);
    assert_eq!(response.completeness, BodyCompleteness::TooLarge);
}

#[test]
fn a_body_that_is_not_what_it_says_is_handed_over_as_it_is() {
    let call = call(Manner::LyingEncoding, ClientConfig::default());
    let response = call.response().expect("it answers");
    assert_eq!(&*response.text(), "fine");
    assert_eq!(response.completeness, BodyCompleteness::Undecodable);
}

#[test]
fn redirections_are_handed_over_unless_they_are_to_be_followed() {
    let plain = call(Manner::RedirectCircle, ClientConfig::default());
    assert_eq!(plain.status(), Some(302));
    let followed = call(
        Manner::RedirectCircle,
        ClientConfig {
            redirects: 5,
            ..ClientConfig::default()
        },
    );
    assert_eq!(followed.failure(), Some(&CallFailure::TooManyRedirects));
    assert_eq!(followed.hops.len(), 5);
}

#[test]
fn we_wait_when_we_are_asked_to_and_not_longer_than_we_like() {
    let polite = call(
        Manner::TooManyRequests {
            retry_after: 0,
            times: 2,
        },
        ClientConfig::default(),
    );
    assert_eq!(polite.status(), Some(200));
    let stubborn = bad_day::start(Manner::TooManyRequests {
        retry_after: 0,
        times: 99,
    });
    let call_stubborn = client().call(&Request::get(&stubborn.url));
    assert_eq!(call_stubborn.status(), Some(429));
    assert_eq!(stubborn.requests(), 4);
    let long = call(
        Manner::TooManyRequests {
            retry_after: 3_600,
            times: 1,
        },
        ClientConfig::default(),
    );
    assert_eq!(long.status(), Some(429));
    assert_eq!(long.waited, Duration::ZERO);
}

#[test]
fn an_interruption_ends_waiting() {
    let flag = Arc::new(AtomicBool::new(true));
    let config = || ClientConfig {
        timeout: Duration::from_secs(3_600),
        max_retry_after: Duration::from_secs(3_600),
        interrupt: Some(Arc::clone(&flag)),
        ..ClientConfig::default()
    };
    let hanging = call(Manner::Hang, config());
    assert_eq!(hanging.failure(), Some(&CallFailure::Interrupted));
    let waiting = call(
        Manner::TooManyRequests {
            retry_after: 3_000,
            times: 1,
        },
        config(),
    );
    assert_eq!(waiting.failure(), Some(&CallFailure::Interrupted));
    flag.store(false, Ordering::Relaxed);
}

#[test]
fn a_request_that_cannot_be_written_is_an_outcome_too() {
    let mut client = client();
    for request in [
        Request::get("not an address"),
        Request::get("http://127.0.0.1:1/").header("bad name", "x"),
        Request::new(Method::GET, "http://"),
    ] {
        let call = client.call(&request);
        assert!(
            matches!(call.failure(), Some(CallFailure::Unsendable(_))),
            "{call:?}"
        );
    }
}
