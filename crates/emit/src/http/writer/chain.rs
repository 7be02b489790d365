//! Requests as chains of calls, for languages whose client is built that way.

use crate::http::statement::{Call, CallBody, Expr};

/// How a language spells the arguments of a chain.
pub(super) struct ChainNotation {
    /// A text as it stands in the suite.
    pub(super) literal: fn(&str) -> String,
    /// A text that may be computed.
    pub(super) text: fn(&Expr<'_>) -> String,
    /// Bytes in base64.
    pub(super) bytes: fn(&str) -> String,
}

impl ChainNotation {
    /// Adds parameters, headers and cookies.
    pub(super) fn pairs(&self, links: &mut Vec<String>, call: &Call<'_>) {
        for (kind, pairs) in [
            ("query", &call.query),
            ("header", &call.headers),
            ("cookie", &call.cookies),
        ] {
            for (name, value) in pairs {
                link(links, kind, &[(self.literal)(name), (self.text)(value)]);
            }
        }
    }

    /// Adds a body that is not JSON; languages differ in how they write JSON.
    pub(super) fn body(&self, links: &mut Vec<String>, body: &CallBody<'_>) {
        let literal = self.literal;
        match body {
            CallBody::Json { .. } => {}
            CallBody::Form(fields) => {
                link(links, "form", &[]);
                for (name, value) in fields {
                    link(links, "field", &[literal(name), (self.text)(value)]);
                }
            }
            CallBody::Multipart(parts) => {
                link(links, "multipart", &[]);
                for part in parts {
                    let content = match &part.content {
                        Ok(text) => (self.text)(text),
                        Err(base64) => (self.bytes)(base64),
                    };
                    let [file_name, content_type] = [part.file_name, part.content_type]
                        .map(|text| literal(text.unwrap_or_default()));
                    let part = [literal(part.name), file_name, content_type, content];
                    link(links, "part", &part);
                }
            }
            CallBody::Text { text, content_type } => {
                link(links, "body", &[literal(content_type), (self.text)(text)]);
            }
            CallBody::Binary {
                base64,
                content_type,
            } => {
                let content = (self.bytes)(base64);
                link(links, "body", &[literal(content_type), content]);
            }
        }
    }
}

/// Adds one call.
pub(super) fn link(links: &mut Vec<String>, name: &str, parts: &[String]) {
    links.push(format!(".{name}({})", parts.join(", ")));
}
