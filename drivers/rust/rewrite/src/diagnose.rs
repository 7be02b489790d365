//! Which sites the compiler complains about.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::rewrite::Site;

/// What is to be left out next.
#[derive(Debug, Default)]
pub(crate) struct Blame {
    /// Sites, with the file they are in.
    pub(crate) sites: Vec<(PathBuf, Site)>,
    /// Files in which an error has no site.
    pub(crate) files: Vec<PathBuf>,
    /// Errors in no rewritten file.
    pub(crate) elsewhere: usize,
}

/// A rewritten file, as errors are looked up in it.
pub(crate) struct RewrittenSource<'a> {
    pub(crate) path: &'a Path,
    pub(crate) sites: &'a [(Site, Range<usize>)],
}

/// Reads the compiler's messages, one JSON object per line.
pub(crate) fn blame(messages: &str, files: &[RewrittenSource<'_>]) -> Blame {
    let mut blame = Blame::default();
    for message in messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
    {
        if message["level"] != "error" {
            continue;
        }
        let code = message["code"]["code"].as_str().unwrap_or_default();
        // A library that is missing or of another compiler is nobody's site.
        if ["E0463", "E0460", "E0514", "E0462"].contains(&code) {
            blame.elsewhere += 1;
            continue;
        }
        let spans = spans(&message);
        if spans.is_empty() {
            // "aborting due to …" says nothing new.
            continue;
        }
        let mut file = None;
        let site = spans.iter().find_map(|(path, at)| {
            let rewritten = files.iter().find(|file| file.path == path)?;
            file.get_or_insert(rewritten.path);
            innermost(rewritten.sites, at).map(|site| (rewritten.path.to_path_buf(), site))
        });
        match (site, file) {
            (Some(site), _) => blame.sites.push(site),
            (None, Some(file)) => blame.files.push(file.to_path_buf()),
            (None, None) => blame.elsewhere += 1,
        }
    }
    blame.sites.sort();
    blame.sites.dedup();
    blame.files.sort();
    blame.files.dedup();
    blame
}

/// All places of an error, primary ones first, those of notes last.
fn spans(message: &Value) -> Vec<(PathBuf, Range<usize>)> {
    let mut found = Vec::new();
    for primary in [true, false] {
        for span in message["spans"].as_array().into_iter().flatten() {
            if span["is_primary"].as_bool() == Some(primary) {
                expand(span, &mut found);
            }
        }
    }
    for child in message["children"].as_array().into_iter().flatten() {
        for span in child["spans"].as_array().into_iter().flatten() {
            expand(span, &mut found);
        }
    }
    found
}

/// A place, and the places of the macro calls that it comes from.
fn expand(span: &Value, found: &mut Vec<(PathBuf, Range<usize>)>) {
    if let (Some(file), Some(start), Some(end)) = (
        span["file_name"].as_str(),
        span["byte_start"].as_u64(),
        span["byte_end"].as_u64(),
    ) {
        found.push((file.into(), start as usize..end as usize));
    }
    let outer = &span["expansion"]["span"];
    if outer.is_object() {
        expand(outer, found);
    }
}

/// The smallest site around a place; wrapped expressions before counted blocks.
fn innermost(sites: &[(Site, Range<usize>)], at: &Range<usize>) -> Option<Site> {
    let around = |site: &&(Site, Range<usize>)| site.1.start <= at.start && at.end <= site.1.end;
    sites
        .iter()
        .filter(around)
        .min_by_key(|(site, range)| (!site.shape.wraps(), range.len()))
        .map(|(site, _)| site.clone())
}
