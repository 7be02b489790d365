//! `--mock`: mock servers for the external services that the service calls.

use std::sync::Arc;

use clap::Args;
use isobath_emit::http::{HttpSuite, HttpTest};
use isobath_emit::shell::quote_if_needed;
use isobath_exec::mock::{MockEndpoint, MockReply, MockServer, MockStub};
use isobath_rest::external::{DocumentedService, Mocks};
use isobath_rest::openapi;
use url::Url;

use super::args::RestArgs;
use super::launch::LaunchPlan;
use super::run::{DocumentLoader, SetupError, document};
use crate::terminal::{Terminal, Tone};

/// Flags for mocks of external services.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Service")]
pub(crate) struct MockArgs {
    /// External service to mock: the environment variable (or JVM property, if the name contains a dot) with its base URL, for
    /// example `RATES_URL=https://rates.example/v1`, or only an `http://` URL to intercept calls through a proxy. Append its
    /// OpenAPI document after a comma. Repeatable.
    #[arg(long, value_name = "NAME=URL[,SPEC]")]
    pub mock: Vec<String>,

    /// First port to try for mock servers.
    #[arg(long, value_name = "PORT", default_value_t = 8940)]
    pub mock_port: u16,
}

/// An external service given by a flag.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MockFlag {
    /// What it is called; through the proxy, its host.
    name: String,
    setting: MockSetting,
    url: Url,
    spec: Option<String>,
}

/// How the service is pointed at us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MockSetting {
    /// A variable of the environment.
    Variable,
    /// A property of the JVM.
    Property,
    /// The variables and properties that name a proxy.
    Proxy,
}

impl MockFlag {
    fn read(flag: &str, given: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let (what, spec) = match flag.split_once(',') {
            Some((what, spec)) if !spec.is_empty() => (what, Some(spec.to_owned())),
            Some((what, _)) => (what, None),
            None => (flag, None),
        };
        let is_url = |text: &str| text.contains("://");
        let (name, url) = match what.split_once('=') {
            Some((name, url)) if !is_url(name) => (name, url.to_owned()),
            _ if is_url(what) => ("", what.to_owned()),
            _ => {
                let found = given(what);
                let missing = || {
                    format!(
                        "environment variable `{what}` is not set; pass its URL, for example {what}=https://rates.example/v1"
                    )
                };
                (what, found.ok_or_else(missing)?)
            }
        };
        let parsed = Url::parse(&url).map_err(|error| format!("invalid URL `{url}`: {error}"))?;
        let host = match (parsed.scheme(), parsed.host_str()) {
            ("http" | "https", Some(host)) => host.to_owned(),
            _ => {
                return Err(format!(
                    "invalid URL `{url}` (expected http:// or https://)"
                ));
            }
        };
        if name.is_empty() && parsed.scheme() == "https" {
            return Err(format!(
                "calls to {url} are encrypted and cannot be intercepted by a proxy; pass the variable with that URL, for example RATES_URL={url}"
            ));
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
        if !name.chars().all(is_name) {
            return Err(format!("invalid variable name `{name}`"));
        }
        Ok(Self {
            setting: match name {
                "" => MockSetting::Proxy,
                name if name.contains('.') => MockSetting::Property,
                _ => MockSetting::Variable,
            },
            name: if name.is_empty() {
                host
            } else {
                name.to_owned()
            },
            url: parsed,
            spec,
        })
    }

    /// What its paths begin with.
    fn base(&self) -> String {
        self.url.path().trim_end_matches('/').to_owned()
    }
}

/// Mock servers, before the service is started.
pub(super) struct Mocked {
    flag: Vec<MockFlag>,
    responder: MockServer,
    described: Vec<DocumentedService>,
}

/// The variable from which every JVM takes options.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";
/// Hosts that bypass the proxy.
const NOT_BY_PROXY: &str = "localhost,127.0.0.1,::1";

impl Mocked {
    /// Listens in place of the services that the flags name.
    pub(super) fn open(
        args: &RestArgs,
        launch: &LaunchPlan,
        terminal: &Terminal,
    ) -> Result<Option<Self>, SetupError> {
        if args.mock.mock.is_empty() {
            return Ok(None);
        }
        let usage = |why: String| SetupError::usage(format!("--mock: {why}"));
        let flag: Vec<MockFlag> = args
            .mock
            .mock
            .iter()
            .map(|flag| MockFlag::read(flag, |name| std::env::var(name).ok()))
            .collect::<Result<_, _>>()
            .map_err(usage)?;
        for (at, one) in flag.iter().enumerate() {
            if flag[..at].iter().any(|other| other.name == one.name) {
                return Err(usage(format!("{} is given twice", one.name)));
            }
        }
        let mut described = Vec::new();
        for one in &flag {
            if let Some(spec) = &one.spec {
                let document = document(spec)?;
                let loader = DocumentLoader {
                    from: &document.location,
                    remote: args.remote,
                };
                let api = openapi::read(&document.text, &document.location, &loader)
                    .map_err(|error| usage(error.to_string()))?;
                described.push(DocumentedService {
                    name: one.name.clone(),
                    base: one.base(),
                    api: Arc::new(api),
                });
            }
        }
        if args.dry_run {
            return Ok(None);
        }
        if args.workers > 1 {
            return Err(SetupError::usage(
                "--mock requires --workers 1: outbound requests cannot be attributed to one of several parallel calls; --instances runs several services",
            ));
        }
        if launch.start.is_none() {
            return Err(SetupError::usage(
                "--mock requires --start, --rust, --jvm or --python: the service is redirected to the mock server when it starts",
            ));
        }
        let own = flag.iter().filter(|one| one.setting != MockSetting::Proxy);
        let mut names: Vec<String> = own.map(|one| one.name.clone()).collect();
        if flag.iter().any(|one| one.setting == MockSetting::Proxy) {
            names.push(String::new());
        }
        let responder = MockServer::open(names, args.mock.mock_port)
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        let mocked = Self {
            flag,
            responder,
            described,
        };
        for one in &mocked.flag {
            let at = mocked.address(one);
            terminal.say(
                Tone::Faint,
                &format!("mock of {} listens at {at}", one.name),
            );
        }
        Ok(Some(mocked))
    }

    /// Where the service finds an outside one now.
    fn address(&self, flag: &MockFlag) -> String {
        let name = match flag.setting {
            MockSetting::Proxy => "",
            _ => flag.name.as_str(),
        };
        let mut endpoints = self.responder.endpoints().iter();
        match endpoints.find(|endpoint| endpoint.name == name) {
            Some(endpoint) => address(endpoint, flag),
            None => String::new(),
        }
    }

    /// The variables that point the service at a endpoint; options of the JVM are put together by the caller.
    fn settings(&self, endpoint: &MockEndpoint) -> (Vec<(String, String)>, Vec<String>) {
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        if endpoint.name.is_empty() {
            let (host, port) = (endpoint.at.ip(), endpoint.at.port());
            let url = format!("http://{}", endpoint.at);
            let mut variables = Vec::new();
            for name in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY"] {
                variables.push(set(name, &url));
            }
            for name in ["no_proxy", "NO_PROXY"] {
                variables.push(set(name, NOT_BY_PROXY));
            }
            let mut options = vec!["-Dhttp.nonProxyHosts=localhost|127.*|[::1]".to_owned()];
            for kind in ["http", "https"] {
                options.push(format!("-D{kind}.proxyHost={host}"));
                options.push(format!("-D{kind}.proxyPort={port}"));
            }
            return (variables, options);
        }
        let mut flag = self.flag.iter();
        let Some(flag) = flag.find(|one| one.name == endpoint.name) else {
            return (Vec::new(), Vec::new());
        };
        let url = address(endpoint, flag);
        match flag.setting {
            MockSetting::Property => (Vec::new(), vec![format!("-D{}={url}", flag.name)]),
            MockSetting::Variable | MockSetting::Proxy => (vec![set(&flag.name, &url)], Vec::new()),
        }
    }

    /// Points the service at the mock servers.
    pub(super) fn add_to(&self, launch: &mut LaunchPlan) {
        let mut plain: Vec<(String, String)> = Vec::new();
        let mut options: Vec<String> = Vec::new();
        for endpoint in self.responder.endpoints() {
            let (variables, own) = self.settings(endpoint);
            let mut settings = variables.clone();
            if !own.is_empty() {
                settings.push((TOOL_OPTIONS.to_owned(), own.join(" ")));
            }
            launch.mock_settings.push(
                settings
                    .iter()
                    .map(|(name, value)| format!("{name}={}", quote_if_needed(value)))
                    .collect(),
            );
            plain.extend(variables);
            options.extend(own);
        }
        launch.variables.extend(plain.iter().cloned());
        if !options.is_empty() {
            let options = options.join(" ");
            let mut before = launch.variables.iter().rev();
            let before = match before.find(|(name, _)| name == TOOL_OPTIONS) {
                Some((_, value)) => value.clone(),
                None => std::env::var(TOOL_OPTIONS).unwrap_or_default(),
            };
            launch.variables.retain(|(name, _)| name != TOOL_OPTIONS);
            let all = format!("{before} {options}").trim().to_owned();
            launch.variables.push((TOOL_OPTIONS.to_owned(), all));
            plain.push((TOOL_OPTIONS.to_owned(), options));
        }
        let start = launch.suite_start.as_ref().or(launch.start.as_ref());
        launch.suite_start = start.map(|start| with_variables(start, &plain));
    }

    /// What the run knows of the services.
    pub(super) fn mocks(self) -> Mocks {
        Mocks::new(self.responder, self.described)
    }
}

/// Where the service finds an outside one now.
fn address(endpoint: &MockEndpoint, flag: &MockFlag) -> String {
    match flag.setting {
        MockSetting::Proxy => format!("http://{}", endpoint.at),
        MockSetting::Variable | MockSetting::Property => {
            format!("http://{}{}", endpoint.at, flag.base())
        }
    }
}

/// A command with variables of its own, as one that a shell can `exec`.
pub(super) fn with_variables(command: &str, variables: &[(String, String)]) -> String {
    let set: String = variables
        .iter()
        .map(|(name, value)| format!(" {name}={}", quote_if_needed(value)))
        .collect();
    let command = command.strip_prefix("exec ").unwrap_or(command);
    // Words of the shell are no programs.
    if command.contains(['&', ';', '|', '\n', '(', '<', '>']) || command.contains(" exec ") {
        format!("env{set} sh -c {}", quote_if_needed(command))
    } else {
        format!("env{set} {command}")
    }
}

/// Mock servers for the external services of a stored suite.
pub(super) fn responder_for(suite: &HttpSuite) -> Result<Option<MockServer>, SetupError> {
    if suite.external_services.is_empty() {
        return Ok(None);
    }
    let endpoints = suite.external_services.iter().map(|outside| MockEndpoint {
        name: outside.name.clone(),
        at: ([127, 0, 0, 1], outside.port).into(),
    });
    let responder = MockServer::at(endpoints.collect());
    responder
        .map(Some)
        .map_err(|error| SetupError::unreachable(error.to_string()))
}

/// The answers of a stored test, as the responder gives them.
pub(super) fn prepared(test: &HttpTest) -> Vec<MockStub> {
    let answers = test.mocks.iter().map(|answer| {
        let (status, content_type, body) = answer.reply.parts();
        MockStub {
            service: answer.service.clone(),
            method: answer.method.clone(),
            path: answer.path.clone(),
            reply: match status {
                0 => MockReply::Close,
                status => MockReply::Respond {
                    status,
                    content_type: content_type.to_owned(),
                    body: body.into_bytes(),
                },
            },
        }
    });
    answers.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(flag: &str) -> Result<MockFlag, String> {
        MockFlag::read(flag, |name| {
            (name == "SET").then(|| "http://set.example/".to_owned())
        })
    }

    #[test]
    fn a_service_is_named_by_its_variable_property_or_host() {
        let told = |flag: &str| {
            let flag = read(flag).expect("a good flag");
            let spec = flag.spec.clone().unwrap_or_default();
            format!("{:?} {} {}|{spec}", flag.setting, flag.name, flag.base())
        };
        assert_eq!(
            [
                "RATES_URL=https://rates.example/v1/,rates.yaml",
                "rates.url=http://rates.example",
                "http://rates.example:8080/v1?a=b,http://x/y.json",
                "SET",
            ]
            .map(told),
            [
                "Variable RATES_URL /v1|rates.yaml",
                "Property rates.url |",
                "Proxy rates.example /v1|http://x/y.json",
                "Variable SET |",
            ]
        );
    }

    #[test]
    fn what_cannot_be_stood_for_is_refused_with_the_next_step() {
        for (flag, says) in [
            ("UNSET", "pass its URL"),
            ("A=ftp://x", "expected http"),
            ("A=nothing", "invalid URL"),
            ("https://rates.example", "pass the variable"),
            ("A B=http://x", "invalid variable name"),
        ] {
            let why = read(flag).expect_err("a bad flag");
            assert!(why.contains(says), "{flag}: {why}");
        }
    }

    #[test]
    fn commands_keep_their_meaning_with_variables() {
        let variables = [("A".to_owned(), "x y".to_owned())];
        let with = |command: &str| with_variables(command, &variables);
        assert_eq!(with("exec ./run 1"), "env A='x y' ./run 1");
        assert_eq!(with("PORT=1 ./run"), "env A='x y' PORT=1 ./run");
        assert_eq!(with("cd a && ./run"), "env A='x y' sh -c 'cd a && ./run'");
        assert_eq!(with("B=1 exec ./run"), "env A='x y' sh -c 'B=1 exec ./run'");
    }
}
