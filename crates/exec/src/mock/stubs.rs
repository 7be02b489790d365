//! Matches outbound calls to stubs and records them.

/// What a call is answered with when nothing was prepared for it, as `application/json` with status 200.
pub const DEFAULT_BODY: &str = "{}";

/// More calls than these are not kept of one candidate.
const MAX_RECORDED_CALLS: usize = 200;

/// An answer for a call that is expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MockStub {
    /// The service that is called.
    pub service: String,
    /// The method.
    pub method: String,
    /// The path; `*` stands for any one segment.
    pub path: String,
    /// What comes back.
    pub reply: MockReply,
}

/// What comes back from an external service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MockReply {
    /// A response.
    Respond {
        /// The status.
        status: u16,
        /// The media type of the body.
        content_type: String,
        /// The body.
        body: Vec<u8>,
    },
    /// The connection is closed without an answer.
    Close,
}

/// A call that the service made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedCall {
    /// The action during which it was made; `None` outside of candidates.
    pub action: Option<u16>,
    /// The service that was called.
    pub service: String,
    /// The method.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The query, without the question mark; empty when there is none.
    pub query: String,
    /// The beginning of the body.
    pub body: Vec<u8>,
    /// The status of the response; `None` when the connection was closed.
    pub status: Option<u16>,
    /// Which of the prepared answers it was.
    pub answer: Option<usize>,
    /// Whether it asked for an encrypted connection, which is refused.
    pub encrypted: bool,
}

/// The answers of a candidate, and the calls that were made while it ran.
#[derive(Debug, Default)]
pub(super) struct Stubs {
    answers: Vec<MockStub>,
    used: Vec<bool>,
    pub(super) action: Option<u16>,
    calls: Vec<ReceivedCall>,
    /// Calls that were answered and not kept.
    unkept: u64,
}

impl Stubs {
    /// Another candidate begins.
    pub(super) fn begin(&mut self, answers: Vec<MockStub>) {
        self.used = vec![false; answers.len()];
        self.answers = answers;
        self.action = None;
    }

    /// The calls since this was last asked, and how many more there were.
    pub(super) fn take(&mut self) -> (Vec<ReceivedCall>, u64) {
        let unkept = std::mem::take(&mut self.unkept);
        (std::mem::take(&mut self.calls), unkept)
    }

    /// The reply to a call, which is taken note of: the first fitting answer that was not given yet, or the last one again.
    pub(super) fn reply(&mut self, mut call: ReceivedCall) -> MockReply {
        call.action = self.action;
        let fits = |answer: &MockStub| {
            answer.service == call.service
                && answer.method.eq_ignore_ascii_case(&call.method)
                && path_matches(&answer.path, &call.path)
        };
        let answers = self.answers.iter().zip(&mut self.used).enumerate();
        let mut fitting: Vec<_> = answers.filter(|(_, (answer, _))| fits(answer)).collect();
        let unused = fitting.iter().position(|(_, (_, used))| !**used);
        let chosen = match unused {
            Some(place) => Some(fitting.swap_remove(place)),
            None => fitting.pop(),
        };
        let at = chosen.as_ref().map(|(at, _)| *at);
        let reply = match chosen {
            Some((_, (answer, used))) => {
                *used = true;
                answer.reply.clone()
            }
            None => MockReply::Respond {
                status: 200,
                content_type: "application/json".to_owned(),
                body: DEFAULT_BODY.as_bytes().to_vec(),
            },
        };
        call.answer = at;
        call.status = match &reply {
            MockReply::Respond { status, .. } => Some(*status),
            MockReply::Close => None,
        };
        self.note(call);
        reply
    }

    /// Takes note of a call.
    pub(super) fn note(&mut self, mut call: ReceivedCall) {
        call.action = self.action;
        if self.calls.len() < MAX_RECORDED_CALLS {
            self.calls.push(call);
        } else {
            self.unkept += 1;
        }
    }
}

/// Whether a path is one of a pattern, in which `*` stands for any one segment.
#[must_use]
pub fn path_matches(pattern: &str, path: &str) -> bool {
    let mut segments = path.split('/');
    pattern.split('/').all(|wanted| {
        segments
            .next()
            .is_some_and(|s| wanted == "*" || wanted == s)
    }) && segments.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(path: &str, body: &str) -> MockStub {
        MockStub {
            service: "rates".into(),
            method: "GET".into(),
            path: path.into(),
            reply: MockReply::Respond {
                status: 200,
                content_type: "text/plain".into(),
                body: body.into(),
            },
        }
    }

    fn call(path: &str) -> ReceivedCall {
        ReceivedCall {
            action: None,
            service: "rates".into(),
            method: "GET".into(),
            path: path.into(),
            query: String::new(),
            body: Vec::new(),
            status: None,
            answer: None,
            encrypted: false,
        }
    }

    fn body(reply: MockReply) -> String {
        match reply {
            MockReply::Respond { body, .. } => String::from_utf8_lossy(&body).into_owned(),
            MockReply::Close => "closed".to_owned(),
        }
    }

    #[test]
    fn answers_are_given_in_order_and_the_last_one_again() {
        let mut stubs = Stubs::default();
        stubs.begin(vec![prepared("/a/*", "one"), prepared("/a/*", "two")]);
        let bodies = ["/a/1", "/b", "/a/2", "/a/3"].map(|path| body(stubs.reply(call(path))));
        assert_eq!(bodies, ["one", "{}", "two", "two"]);
        let (calls, unkept) = stubs.take();
        let used: Vec<Option<usize>> = calls.iter().map(|call| call.answer).collect();
        assert_eq!(used, [Some(0), None, Some(1), Some(1)]);
        assert_eq!(unkept, 0);
    }

    #[test]
    fn an_answer_of_an_earlier_candidate_is_not_given() {
        let mut stubs = Stubs::default();
        stubs.begin(vec![prepared("/a", "one")]);
        stubs.begin(Vec::new());
        assert_eq!(body(stubs.reply(call("/a"))), "{}");
    }

    #[test]
    fn more_calls_than_anybody_reads_are_counted() {
        let mut stubs = Stubs::default();
        for _ in 0..MAX_RECORDED_CALLS + 3 {
            stubs.reply(call("/a"));
        }
        let (calls, unkept) = stubs.take();
        assert_eq!((calls.len(), unkept), (MAX_RECORDED_CALLS, 3));
    }

    #[test]
    fn a_star_is_one_segment() {
        assert!(path_matches("/a/*/c", "/a/b/c"));
        assert!(!path_matches("/a/*", "/a"));
        assert!(!path_matches("/a/*", "/a/b/c"));
        assert!(!path_matches("/a", "/a/"));
    }
}
