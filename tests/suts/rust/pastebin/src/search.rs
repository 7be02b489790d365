//! Finding text in public pastes: words, or a regular expression.

use actix_web::web::{Data, Json, Query};
use actix_web::{Responder, get};
use diesel::prelude::*;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use crate::models::{Paste, Version};
use crate::problem::{Problem, Result};
use crate::schema::{pastes, versions};
use crate::service::Shared;
use crate::store::on_database;

/// The largest program that a pattern may become.
const LARGEST: usize = 1 << 18;

/// How patterns are understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// All words, in any order.
    #[default]
    Words,
    /// A regular expression.
    Regex,
}

/// What is looked for.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wanted {
    q: String,
    #[serde(default)]
    mode: Mode,
    #[serde(default)]
    case_sensitive: bool,
    #[serde(default = "ten")]
    limit: usize,
}

const fn ten() -> usize {
    10
}

/// A line that fits.
#[derive(Debug, Serialize)]
pub(crate) struct Hit {
    line: usize,
    text: String,
}

/// A paste that fits.
#[derive(Debug, Serialize)]
pub(crate) struct Found {
    id: String,
    title: String,
    score: usize,
    hits: Vec<Hit>,
}

/// What is looked for, ready to be applied.
struct Needle(Vec<Regex>);

impl TryFrom<&Wanted> for Needle {
    type Error = Problem;

    fn try_from(wanted: &Wanted) -> Result<Self> {
        let patterns: Vec<String> = match wanted.mode {
            Mode::Regex => vec![wanted.q.clone()],
            Mode::Words => wanted.q.split_whitespace().map(regex::escape).collect(),
        };
        if patterns.is_empty() || wanted.q.is_empty() {
            return Err(Problem::invalid("q", "has nothing to look for"));
        }
        if patterns.len() > 8 {
            return Err(Problem::invalid("q", "has more than 8 words"));
        }
        let compiled = patterns.iter().map(|pattern| {
            RegexBuilder::new(pattern)
                .case_insensitive(!wanted.case_sensitive)
                .size_limit(LARGEST)
                .build()
        });
        match compiled.collect() {
            Ok(patterns) => Ok(Self(patterns)),
            Err(regex::Error::CompiledTooBig(_)) => Err(Problem::invalid("q", "is too large")),
            Err(error) => Err(Problem::invalid("q", format!("is not a pattern: {error}"))),
        }
    }
}

impl Needle {
    /// How well a paste fits, if it does: hits in the title count five times.
    fn score(&self, paste: &Paste, version: &Version) -> Option<usize> {
        let mut score = 0;
        for pattern in &self.0 {
            let in_title = usize::from(pattern.is_match(&paste.title));
            let in_text = pattern.find_iter(&version.content).take(20).count();
            if in_title + in_text == 0 {
                return None;
            }
            score += 5 * in_title + in_text;
        }
        Some(score)
    }

    fn hits(&self, content: &str) -> Vec<Hit> {
        content
            .lines()
            .enumerate()
            .filter(|(_, line)| self.0.iter().any(|pattern| pattern.is_match(line)))
            .take(3)
            .map(|(nth, line)| Hit {
                line: nth + 1,
                text: line.chars().take(120).collect(),
            })
            .collect()
    }
}

/// `GET /search`
#[get("/search")]
pub(crate) async fn search(shared: Data<Shared>, wanted: Query<Wanted>) -> Result<impl Responder> {
    if wanted.limit == 0 || wanted.limit > 50 {
        return Err(Problem::invalid("limit", "is not between 1 and 50"));
    }
    let needle = Needle::try_from(&*wanted)?;
    let limit = wanted.limit;
    let found = on_database(&shared, move |connection, now| {
        let rows: Vec<(Paste, Version)> = pastes::table
            .inner_join(versions::table)
            .filter(pastes::visibility.eq("public"))
            .filter(versions::number.eq(pastes::version))
            .order(pastes::id)
            .select((Paste::as_select(), Version::as_select()))
            .load(connection)?;
        let mut found: Vec<Found> = rows
            .into_iter()
            .filter(|(paste, _)| !paste.is_over(now))
            .filter_map(|(paste, version)| {
                let score = needle.score(&paste, &version)?;
                Some(Found {
                    hits: needle.hits(&version.content),
                    id: paste.id,
                    title: paste.title,
                    score,
                })
            })
            .collect();
        found.sort_by(|a, b| b.score.cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
        found.truncate(limit);
        Ok(found)
    })
    .await?;
    Ok(Json(found))
}
