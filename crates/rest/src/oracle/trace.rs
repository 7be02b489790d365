//! Recognizes stack traces and the code location they name.

use std::sync::LazyLock;

use regex::Regex;

/// One way in which a platform prints where it failed.
struct Platform {
    /// Two frames, or a header that nothing but a trace has.
    credentials: Regex,
    /// The site that names the cause: exception type, panic site.
    site: Regex,
}

static PLATFORMS: LazyLock<Vec<Platform>> = LazyLock::new(|| {
    let platform = |credentials: &str, site: &str| Platform {
        credentials: Regex::new(credentials).expect("a constant pattern"),
        site: Regex::new(site).expect("a constant pattern"),
    };
    vec![
        // Java, Kotlin, Scala: "at com.example.Foo.bar(Foo.java:12)".
        platform(
            r"(?s)\bat [\w.$/@]+\.[\w$<>]+\((?:[\w$]+\.(?:java|kt|scala|groovy):\d+|Native Method|Unknown Source)\).*\bat [\w.$/@]+\.[\w$<>]+\(",
            r"(?:[\w$]+\.)*[\w$]*(?:Exception|Error|Throwable)\b",
        ),
        // Python.
        platform(
            r#"(?s)Traceback \(most recent call last\):.*File ".+", line \d+"#,
            r"(?m)^(?:[\w.]+(?:Error|Exception|Warning|Exit))\b.*$",
        ),
        // Rust.
        platform(
            r"(?s)panicked at .+?:\d+(?::\d+)?.*stack backtrace:|stack backtrace:\s+0: ",
            r"panicked at [^\s:]+:\d+",
        ),
        // Node: "at fn (file.js:1:2)".
        platform(
            r"(?s)\bat (?:async )?(?:[\w.<>\[\] $]+ )?\(?(?:node:|file:|/|[A-Za-z]:\\)?[\w@./\\:-]+\.(?:c|m)?[jt]s:\d+:\d+\)?.*\bat .+:\d+:\d+",
            r"\b[A-Z]\w*Error\b[^\n]*",
        ),
        // .NET.
        platform(
            r"(?s)\bat [\w.`<>\[\]]+\([^)]*\) in .+:line \d+",
            r"(?:\w+\.)+\w*Exception\b",
        ),
        // Go.
        platform(
            r"(?s)goroutine \d+ \[running\]:.*\.go:\d+",
            r"panic: [^\n]+",
        ),
        // PHP.
        platform(
            r"(?s)Stack trace:\s*#0 .+\(\d+\): ",
            r"(?:Uncaught |PHP Fatal error: +)[^\n]+",
        ),
        // Ruby.
        platform(
            r"(?s)[\w./-]+\.rb:\d+:in [`'].+[\w./-]+\.rb:\d+:in [`']",
            r"\b\w+(?:::\w+)*Error\b",
        ),
    ]
});

/// What every trace has somewhere, so that most bodies are looked at once only.
static HINT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\bat |[\\nt]at |Traceback|panicked|backtrace|goroutine|Stack trace|\.rb:")
        .expect("a constant pattern")
});

/// The site named by the stack trace in `body`, or `None` when there is no stack trace.
///
/// A trace without a site that we can read gives an empty text.
#[must_use]
pub fn stack_trace(body: &str) -> Option<String> {
    if !HINT.is_match(body) {
        return None;
    }
    let body = unescaped(body);
    let platform = PLATFORMS
        .iter()
        .find(|platform| platform.credentials.is_match(&body))?;
    Some(
        platform
            .site
            .find(&body)
            .map(|site| site.as_str().trim().to_owned())
            .unwrap_or_default(),
    )
}

/// JSON writes line ends and quotes with a backslash; traces are recognized without them.
fn unescaped(body: &str) -> String {
    body.replace("\\n", "\n")
        .replace("\\t", "\t")
        .replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traces_of_common_platforms_are_recognised_with_their_site() {
        let check =
            |body: &str, site: &str| assert_eq!(stack_trace(body).as_deref(), Some(site), "{body}");
        check(
            "{\"trace\":\"java.lang.NullPointerException: x\\n\\tat com.shop.Cart.add(Cart.java:12)\\n\\tat com.shop.Api.post(Api.java:7)\"}",
            "java.lang.NullPointerException",
        );
        check(
            "Traceback (most recent call last):\n  File \"/app/main.py\", line 3, in get\n    1/0\nZeroDivisionError: division by zero\n",
            "ZeroDivisionError: division by zero",
        );
        check(
            "thread 'main' panicked at src/berths.rs:88:10:\noops\nstack backtrace:\n   0: rust_begin_unwind",
            "panicked at src/berths.rs:88",
        );
        check(
            "TypeError: Cannot read properties of undefined\n    at get (/app/index.js:10:5)\n    at next (/app/router.js:3:1)",
            "TypeError: Cannot read properties of undefined",
        );
        check(
            "panic: boom\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:5 +0x1d",
            "panic: boom",
        );
    }

    #[test]
    fn words_that_merely_sound_like_a_trace_are_not_one() {
        for body in [
            "",
            "{\"detail\":\"an Error at the harbor (pier.A:12)\"}",
            "{\"message\":\"Exception handling is documented at example.com/errors\"}",
            "{\"code\":\"IllegalArgumentException\"}",
            "panicked customers at the till",
        ] {
            assert_eq!(stack_trace(body), None, "{body}");
        }
    }
}
