use std::sync::Arc;

use isobath_genes::{Gene, GeneConfig, Unresolved};
use isobath_search::Rng;
use serde_json::json;

use super::catalog::model_of;
use super::documented::DocumentedService;
use super::mocks::shape;
use super::{MockBehavior, MockCatalog, MockResponse, OutboundCall, OutboundRequest};
use crate::candidate::{Candidate, StepKind};
use crate::exchange::Exchange;
use crate::openapi::{NoLoader, read};

const RATES: &str = "
openapi: 3.0.3
info: {title: Rates, version: '1'}
paths:
  /rates/{currency}:
    get:
      parameters: [{name: currency, in: path, required: true, schema: {type: string}}]
      responses:
        '200':
          description: the rate
          content:
            application/json:
              schema:
                type: object
                required: [value]
                properties: {value: {type: number, minimum: 7, maximum: 9}}
        '404': {description: no such currency}
  /rates/all:
    get: {responses: {'204': {description: none}}}
";

fn documented() -> DocumentedService {
    DocumentedService {
        name: "rates".into(),
        base: "/v1".into(),
        api: Arc::new(read(RATES, "rates.yaml", &NoLoader).expect("a good document")),
    }
}

fn outbound_request(path: &str) -> Arc<OutboundRequest> {
    Arc::new(OutboundRequest {
        service: "rates".into(),
        method: "GET".into(),
        path: path.into(),
    })
}

/// A candidate with one call, and the exchange with its outbound request.
fn ran(path: &str) -> (Candidate, Vec<Exchange>) {
    let (model, root) = model_of(&[]);
    let gene = Gene::read(&model, root, &json!({})).expect("it fits");
    let mut candidate = Candidate::default();
    let id = candidate.push(StepKind::call(0, gene), None);
    let mut client = isobath_exec::http::Client::new(isobath_exec::http::ClientConfig::default())
        .expect("a client");
    // Nobody is there; what matters is what the service is said to have done.
    let request = isobath_exec::http::Request::get("http://127.0.0.1:1/");
    let call = client.call(&request);
    let mut exchange = Exchange::new(id, Some(0), None, request, call);
    exchange.trace.outgoing.push(OutboundCall {
        outbound_request: outbound_request(path),
        answer: None,
        status: Some(200),
    });
    (candidate, vec![exchange])
}

#[test]
fn paths_are_told_apart_by_what_does_not_vary() {
    let sent = json!({"path": {"who": "ada b"}, "query": {"n": 7.5}});
    let shaped = [
        "/users/ada%20b/boats/17",
        "/n/7.5",
        "/plain/path",
        "/0123456789abcdef0123456789abcdef0",
    ]
    .map(|path| shape(path, Some(&sent)));
    assert_eq!(shaped, ["/users/*/boats/*", "/n/*", "/plain/path", "/*"]);
}

#[test]
fn a_document_knows_paths_and_answers() {
    let rates = documented();
    let shaped = |path: &str| rates.shape("get", path);
    assert_eq!(shaped("/v1/rates/EUR").as_deref(), Some("/v1/rates/*"));
    assert_eq!(shaped("/v1/rates/all").as_deref(), Some("/v1/rates/all"));
    assert_eq!(shaped("/rates/EUR"), None);
    let statuses = |path: &str| -> Vec<u16> {
        let options = rates.response_options("GET", path);
        options.iter().map(|option| option.status).collect()
    };
    assert_eq!(statuses("/v1/rates/*"), [200, 404]);
    assert_eq!(statuses("/v1/rates/all"), [204]);
}

#[test]
fn answers_are_made_as_the_document_has_them_and_mostly_welcome() {
    let (candidate, exchanges) = ran("/v1/rates/*");
    let mut mock_catalog = MockCatalog::new(vec![documented()]);
    mock_catalog.learn(&exchanges);
    let mut rng = Rng::with_seed(1);
    let (mut good, mut bad) = (0, 0);
    for _ in 0..200 {
        let mut fresh = candidate.clone();
        mock_catalog.add_mock_responses(&mut rng, &GeneConfig::default(), &mut fresh);
        for answer in &fresh.mock_responses {
            match answer.behavior {
                MockBehavior::Status(200) => {
                    let body = answer.body.as_ref().expect("a described body");
                    let value = body.to_json(&Unresolved).expect("there")["value"].as_f64();
                    assert!(value.is_some_and(|value| (7.0..=9.0).contains(&value)));
                    good += 1;
                }
                _ => bad += 1,
            }
        }
    }
    assert!(good > 90 && bad > 5, "{good} good, {bad} bad");
}

#[test]
fn an_answer_that_nobody_describes_grows_with_what_is_read_of_it() {
    let (model, root) = model_of(&["currency", "rate/value", "rate/day"]);
    let mut rng = Rng::with_seed(2);
    let gene = Gene::sample(&model, root, &mut rng, &GeneConfig::default());
    let json = gene.to_json(&Unresolved).expect("an object");
    assert!(json.get("currency").is_some());
    assert!(json.pointer("/rate/value").is_some() && json.pointer("/rate/day").is_some());
}

#[test]
fn answers_are_changed_until_they_are_gone_and_come_again() {
    let (mut candidate, exchanges) = ran("/v1/rates/*");
    let mut mock_catalog = MockCatalog::new(vec![documented()]);
    mock_catalog.learn(&exchanges);
    let mut rng = Rng::with_seed(3);
    let mut texts = std::collections::BTreeSet::new();
    for _ in 0..300 {
        assert!(mock_catalog.mutate(&mut rng, &GeneConfig::default(), &mut candidate));
        texts.extend(candidate.mock_responses.iter().map(MockResponse::text));
        assert!(candidate.mock_responses.len() <= 3);
    }
    assert!(texts.len() > 20, "{}", texts.len());
}

#[test]
fn operations_without_outbound_requests_get_no_mock_responses() {
    let (mut candidate, _) = ran("/v1/rates/*");
    let mock_catalog = MockCatalog::default();
    let mut rng = Rng::with_seed(4);
    assert!(!mock_catalog.mutate(&mut rng, &GeneConfig::default(), &mut candidate));
}
