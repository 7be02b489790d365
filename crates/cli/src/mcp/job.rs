//! Runs this program as a client asked, within a time limit, and keeps its answer short.

use std::path::Path;
use std::time::Duration;

use isobath_exec::tool::{Tool, ToolError};
use isobath_mcp::Cancellation;

/// Characters of an answer; a longer one would fill the context of the client.
pub(super) const MAX_ANSWER: usize = 20_000;
/// How long a job may take to write its results, stop its service and restore its database once it is told to end.
const GRACE: Duration = Duration::from_secs(30);

/// Runs the program with these arguments, and returns its exit code, in words too, and its output.
///
/// # Errors
///
/// The same text when the job could not be done; or why it did not come to its end.
pub(super) fn run(
    arguments: &[String],
    folder: &Path,
    limit: Duration,
    cancellation: &Cancellation,
) -> Result<String, String> {
    let own = std::env::current_exe().map_err(|error| format!("cannot find isobath: {error}"))?;
    let mut command = vec![own.display().to_string()];
    command.extend_from_slice(arguments);
    let tool = Tool {
        command,
        directory: folder.to_owned(),
        variables: vec![("NO_COLOR".to_owned(), "1".to_owned())],
        timeout: limit,
        interrupt: Some(cancellation.flag()),
    };
    let output = tool.run_with_grace(GRACE).map_err(|error| match error {
        ToolError::Interrupted { .. } => "cancelled".to_owned(),
        ToolError::TooLong { timeout, .. } => {
            format!("the job did not end within {} s", timeout.as_secs())
        }
        ToolError::System { cause, .. } => format!("cannot run isobath: {cause}"),
        ToolError::Missing { .. } => "cannot run isobath: its file does not exist".to_owned(),
    })?;
    let meaning = match output.code {
        Some(0) => "no findings",
        Some(1) => "findings",
        Some(2) => "wrong usage, configuration or input",
        Some(3) => "the service or database is unreachable",
        Some(130) | None => "interrupted",
        Some(_) => "internal error",
    };
    let code = output
        .code
        .map_or("none".to_owned(), |code| code.to_string());
    let (stdout, stderr) = (output.stdout.trim(), output.stderr.trim());
    let answer = format!("exit code {code} ({meaning})\n{stdout}\n{stderr}");
    let answer = answer.trim().to_owned();
    if matches!(output.code, Some(0 | 1)) {
        Ok(answer)
    } else {
        Err(answer)
    }
}

/// The beginning and the end of a text that is too long.
pub(super) fn shortened(text: &str) -> String {
    let n_chars = text.chars().count();
    if n_chars <= MAX_ANSWER {
        return text.to_owned();
    }
    let half = MAX_ANSWER / 2;
    let start: String = text.chars().take(half).collect();
    let end: String = text.chars().skip(n_chars - half).collect();
    let left_out = n_chars - 2 * half;
    format!("{start}\n… {left_out} characters left out …\n{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_keep_their_beginning_and_their_end() {
        let text = format!("begin{}end", "ä".repeat(MAX_ANSWER));
        let short = shortened(&text);
        assert!(short.starts_with("begin") && short.ends_with("end"));
        assert!(short.contains("… 8 characters left out …"), "{short}");
        assert_eq!(shortened("short"), "short");
    }
}
