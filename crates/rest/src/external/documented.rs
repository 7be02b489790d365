//! External services with an OpenAPI document.

use std::sync::Arc;

use isobath_genes::{Model, NodeId};

use crate::openapi::{Api, Operation, PathPiece, StatusPattern};

/// An external service with an OpenAPI document.
#[derive(Clone, Debug)]
pub struct DocumentedService {
    /// What the service is called.
    pub name: String,
    /// What its paths begin with, such as `/v1`; without a slash at the end.
    pub base: String,
    /// Its document.
    pub api: Arc<Api>,
}

/// A possible response.
#[derive(Clone, Debug)]
pub(super) struct ResponseOption {
    pub(super) status: u16,
    pub(super) content_type: Arc<str>,
    pub(super) body: Option<(Arc<Model>, NodeId)>,
}

impl DocumentedService {
    /// The operation that a call is one of, with its path as a pattern.
    fn find(&self, method: &str, path: &str) -> Option<(&Operation, String)> {
        let own = path.strip_prefix(&self.base)?;
        let fitting = self.api.operations.iter().filter(|operation| {
            operation.method.eq_ignore_ascii_case(method)
                && isobath_exec::mock::path_matches(&pattern(operation), own)
        });
        // The one with the fewest placeholders is meant.
        let operation = fitting.min_by_key(|operation| pattern(operation).matches('*').count())?;
        Some((operation, format!("{}{}", self.base, pattern(operation))))
    }

    /// The path of a call as a pattern.
    pub(super) fn shape(&self, method: &str, path: &str) -> Option<String> {
        Some(self.find(method, path)?.1)
    }

    /// The documented responses of an outbound request, whose path may contain placeholders.
    pub(super) fn response_options(&self, method: &str, path: &str) -> Vec<ResponseOption> {
        let Some((operation, _)) = self.find(method, path) else {
            return Vec::new();
        };
        let mut options = Vec::new();
        for response in &operation.responses {
            let status = match response.status {
                StatusPattern::Code(status) => status,
                StatusPattern::Range(family) => u16::from(family) * 100,
                StatusPattern::Default => 500,
            };
            if !(200..600).contains(&status) {
                continue;
            }
            let media = response
                .media
                .iter()
                .find(|media| media.content_type.contains("json"))
                .or_else(|| response.media.first());
            let content_type = media
                .map(|media| media.content_type.to_string())
                .filter(|content_type| !content_type.contains('*'))
                .unwrap_or_else(|| "application/json".to_owned());
            let body = media
                .and_then(|media| media.node)
                .filter(|node| !self.api.model.is_infinite(*node))
                .map(|node| (Arc::clone(&self.api.model), node));
            options.push(ResponseOption {
                status,
                content_type: content_type.into(),
                body,
            });
        }
        options
    }
}

/// The path of an operation with a star for each segment that holds a placeholder.
fn pattern(operation: &Operation) -> String {
    let whole: String = operation
        .segments
        .iter()
        .map(|piece| match piece {
            PathPiece::Text(text) => text.to_string(),
            PathPiece::Parameter(_) => "*".to_owned(),
        })
        .collect();
    let segments = whole
        .split('/')
        .map(|segment| if segment.contains('*') { "*" } else { segment });
    segments.collect::<Vec<_>>().join("/")
}
