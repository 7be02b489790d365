//! Documents from the web.

use std::time::Duration;

use isobath_exec::document::{LoadError, load};
use isobath_suts::bad_day::{self, Manner};

const TIMEOUT: Duration = Duration::from_secs(10);

#[test]
fn a_document_is_fetched_with_what_the_server_says_it_is() {
    let service = bad_day::start(Manner::Fine);
    let document = load(&service.url, TIMEOUT).expect("the service is fine");
    assert_eq!(document.text, "fine");
    assert_eq!(document.media_type.as_deref(), Some("text/plain"));
    assert_eq!(document.location, service.url);
}

#[test]
fn what_is_no_document_says_why() {
    let check = |manner| {
        let service = bad_day::start(manner);
        let error = load(&service.url, TIMEOUT).expect_err("it has no document");
        error.to_string().replace(&service.url, "URL")
    };
    insta::assert_snapshot!(check(Manner::CloseUnanswered), @"failed to fetch URL: the connection was closed without a response");
    insta::assert_snapshot!(check(Manner::RedirectCircle), @"failed to fetch URL/round: too many redirects");
    insta::assert_snapshot!(check(Manner::DropInBody), @"the transfer of URL ended after 2 bytes");
    let busy = Manner::TooManyRequests {
        retry_after: 3_600,
        times: 1,
    };
    insta::assert_snapshot!(check(busy), @"URL responded with status 429 instead of a document");
}

#[test]
fn a_document_is_bounded_in_size() {
    let service = bad_day::start(Manner::HugeBody);
    let error = load(&service.url, Duration::from_secs(60)).expect_err("it is too large");
    assert!(matches!(error, LoadError::TooLarge { .. }), "{error}");
}
