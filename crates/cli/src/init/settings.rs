//! What `isobath init` found out: settings with their reasons, and what a pipeline needs.

use toml::Value;

/// One key of `isobath.toml`, and why it has its value.
#[derive(Debug)]
pub(super) struct Setting {
    /// The table: `rest`, `schema` or `query`.
    pub job: &'static str,
    /// The key.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Where it comes from.
    pub reason: String,
}

/// The findings about a repository.
#[derive(Debug, Default)]
pub(super) struct Settings {
    /// In the order in which they are written.
    pub settings: Vec<Setting>,
    /// What a pipeline does before a run, such as building a jar.
    pub build: Vec<String>,
    /// What the user has to add or check.
    pub open: Vec<String>,
}

impl Settings {
    /// Sets a key of a job.
    pub(super) fn set(
        &mut self,
        job: &'static str,
        key: &'static str,
        value: impl Into<Value>,
        reason: impl Into<String>,
    ) {
        self.settings.push(Setting {
            job,
            key,
            value: value.into(),
            reason: reason.into(),
        });
    }

    /// Sets a key of the REST job.
    pub(super) fn rest(
        &mut self,
        key: &'static str,
        value: impl Into<Value>,
        reason: impl Into<String>,
    ) {
        self.set("rest", key, value, reason);
    }

    /// Whether a job has settings.
    pub(super) fn has_job(&self, job: &str) -> bool {
        self.settings.iter().any(|setting| setting.job == job)
    }

    /// The file.
    pub(super) fn to_toml(&self) -> String {
        let mut text = String::from(
            "# Written by `isobath init`. Every key is a flag of the job: `isobath rest --help`.\n",
        );
        for job in ["rest", "schema", "query"] {
            let settings: Vec<&Setting> = self.of(job).collect();
            if settings.is_empty() {
                continue;
            }
            text.push_str(&format!("\n[{job}]\n"));
            for Setting {
                key, value, reason, ..
            } in settings
            {
                text.push_str(&format!("# {reason}\n{key} = {value}\n"));
            }
        }
        for open in &self.open {
            text.push_str(&format!("\n# To do: {open}\n"));
        }
        text
    }

    /// The settings of a job.
    pub(super) fn of(&self, job: &str) -> impl Iterator<Item = &Setting> {
        self.settings
            .iter()
            .filter(move |setting| setting.job == job)
    }
}
