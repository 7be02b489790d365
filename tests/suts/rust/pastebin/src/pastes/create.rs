//! Making pastes, from JSON with everything in it or from plain text with options in the query.

use actix_web::http::header::{self, ContentType, Header};
use actix_web::web::{self, Bytes, Data};
use actix_web::{HttpRequest, HttpResponse, post};
use serde::Deserialize;
use time::OffsetDateTime;

use crate::expiry::expires_at;
use crate::id::Id;
use crate::language::{Sample, by_name};
use crate::models::{Paste, Visibility};
use crate::pastes::{check_content, check_line, insert};
use crate::problem::{Problem, Result};
use crate::secret;
use crate::service::Shared;
use crate::store::on_database;

/// A paste to be made.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct NewPaste {
    #[serde(default)]
    content: String,
    title: Option<String>,
    author: Option<String>,
    file_name: Option<String>,
    syntax: Option<String>,
    visibility: Option<Visibility>,
    password: Option<String>,
    expires: Option<String>,
    most_views: Option<i32>,
}

impl NewPaste {
    /// Reads a body of a type that we know.
    fn read(request: &HttpRequest, query: Self, body: &Bytes) -> Result<Self> {
        let content_type = ContentType::parse(request).map_err(|_| {
            let given = request.headers().get(header::CONTENT_TYPE);
            let given = given.and_then(|value| value.to_str().ok());
            Problem::MediaType(given.unwrap_or("a body without a type").to_owned())
        })?;
        match (content_type.type_(), content_type.subtype()) {
            (kind, form) if kind == "application" && form == "json" => {
                Ok(serde_json::from_slice(body)?)
            }
            (kind, form) if kind == "text" && form == "plain" => {
                let content = std::str::from_utf8(body)
                    .map_err(|error| Problem::Malformed(format!("the text is not UTF-8: {error}")))?
                    .to_owned();
                Ok(Self { content, ..query })
            }
            _ => Err(Problem::MediaType(content_type.to_string())),
        }
    }

    fn visibility(&self) -> Result<Visibility> {
        match (self.visibility, &self.password) {
            (None, Some(_)) => Ok(Visibility::Private),
            (None, None) => Ok(Visibility::Public),
            (Some(Visibility::Private), None) => {
                Err(Problem::invalid("password", "is needed for private pastes"))
            }
            (Some(Visibility::Public | Visibility::Unlisted), Some(_)) => {
                Err(Problem::invalid("password", "is for private pastes only"))
            }
            (Some(visibility), _) => Ok(visibility),
        }
    }

    fn syntax(&self) -> Result<&'static str> {
        match self.syntax.as_deref() {
            Some("auto") | None => {
                let sample = Sample {
                    file_name: self.file_name.clone(),
                    content: self.content.clone(),
                };
                Ok(sample.guess().syntax)
            }
            Some(name) => match by_name(name) {
                Some(syntax) => Ok(syntax.name),
                None => Err(Problem::invalid("syntax", "is unknown; see /syntaxes")),
            },
        }
    }

    fn check(&self, longest: usize) -> Result<()> {
        check_content(&self.content, longest)?;
        for (field, text, most) in [
            ("title", &self.title, 100),
            ("author", &self.author, 40),
            ("fileName", &self.file_name, 120),
        ] {
            if let Some(text) = text {
                check_line(field, text, most)?;
            }
        }
        if let Some(password) = &self.password {
            match password.chars().count() {
                ..8 => return Err(Problem::invalid("password", "is shorter than 8")),
                65.. => return Err(Problem::invalid("password", "is longer than 64")),
                _ if secret::is_weak(password) => {
                    return Err(Problem::invalid("password", "is too simple"));
                }
                _ => {}
            }
        }
        if self
            .most_views
            .is_some_and(|most| !(1..=1000).contains(&most))
        {
            return Err(Problem::invalid("mostViews", "is not between 1 and 1000"));
        }
        Ok(())
    }

    /// The first line that says something, if there is no better title.
    fn title(&self) -> String {
        if let Some(title) = self.title.as_deref().map(str::trim)
            && !title.is_empty()
        {
            return title.to_owned();
        }
        if let Some(name) = &self.file_name {
            return name.clone();
        }
        let line = self
            .content
            .lines()
            .map(str::trim)
            .find(|line| !line.is_empty());
        line.unwrap_or("untitled")
            .chars()
            .filter(|c| !c.is_control())
            .take(40)
            .collect()
    }

    /// The paste, and the key to change it.
    fn build(&self, now: OffsetDateTime) -> Result<(Paste, String)> {
        let visibility = self.visibility()?;
        let expires = expires_at(self.expires.as_deref().unwrap_or("never"), now)?;
        let key = secret::new_key();
        let author = self.author.as_deref().map(str::trim);
        let paste = Paste {
            id: Id::random().to_string(),
            title: self.title(),
            author: author
                .filter(|author| !author.is_empty())
                .map(str::to_owned),
            syntax: self.syntax()?.to_owned(),
            visibility: visibility.word().to_owned(),
            password: self.password.as_deref().map(secret::seal),
            edit_key: secret::digest(&key),
            parent: None,
            version: 1,
            views: 0,
            most_views: self.most_views,
            created_at: now.unix_timestamp(),
            updated_at: now.unix_timestamp(),
            expires_at: expires.map(OffsetDateTime::unix_timestamp),
        };
        Ok((paste, key))
    }
}

/// `POST /pastes`
#[post("/pastes")]
pub(crate) async fn create(
    shared: Data<Shared>,
    request: HttpRequest,
    query: web::Query<NewPaste>,
    body: Bytes,
) -> Result<HttpResponse> {
    let new = NewPaste::read(&request, query.into_inner(), &body)?;
    new.check(shared.config.longest)?;
    let (paste, key) = new.build(shared.now())?;
    let view = on_database(&shared, move |connection, _| {
        let version = insert(connection, &paste, new.content)?;
        paste.view_with(version)
    })
    .await?;
    let location = format!("/pastes/{}", view.id);
    Ok(HttpResponse::Created()
        .insert_header((header::LOCATION, location))
        .json(crate::models::PasteView {
            edit_key: Some(key),
            ..view
        }))
}
