//! `--jvm`: starts a service on the JVM with our agent, and lets the run look into it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use isobath_exec::driver::Listener;
use isobath_exec::process::free_port;
use isobath_rest::feedback::{DriverFeedback, Feedback};

use super::agent;
use super::args::RestArgs;
use super::instrumentation::{InMemoryRows, Instruments};
use super::run::SetupError;
use super::rust::{FIRST_PORT, Technique, quoted};
use crate::terminal::{Terminal, Tone};

/// The flags of white-box runs on the JVM.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct JvmArgs {
    /// The jar of the service: it is started with an agent in it and searched white-box.
    #[arg(long, value_name = "JAR", group = "white_box", conflicts_with_all = ["start", "url"])]
    pub jvm: Option<PathBuf>,

    /// Put the agent into the JVM that --start starts, through the variable JAVA_TOOL_OPTIONS.
    #[arg(long, group = "white_box", requires_all = ["start", "url"])]
    pub jvm_agent: bool,

    /// Options of the JVM, such as -Xmx1g.
    #[arg(
        long,
        value_name = "OPTION",
        requires = "jvm",
        allow_hyphen_values = true
    )]
    pub jvm_option: Vec<String>,

    /// Java installation that runs the service; JAVA_HOME, or `java` of the path, when not given.
    #[arg(long, value_name = "FOLDER", requires = "jvm")]
    pub jvm_home: Option<PathBuf>,

    /// Agent to use in place of the one of this program.
    #[arg(long, value_name = "JAR")]
    pub agent: Option<PathBuf>,
}

impl JvmArgs {
    /// Whether a service on the JVM is to be looked into.
    pub(super) fn is_wanted(&self) -> bool {
        self.jvm.is_some() || self.jvm_agent
    }
}

/// A service that is started with the agent.
pub(super) struct Watched {
    listener: Listener,
    agent: PathBuf,
    /// Where the service is and what starts it, with the agent and plain; nothing when the user says.
    own: Option<Own>,
    /// The port at which suites bring rows to a database in the memory of the service.
    row_endpoint: u16,
    /// Whoever runs SQL there has to know this.
    token: String,
}

struct Own {
    port: u16,
    start: String,
    /// Both for suites: `{port}` stands for the port.
    plain: String,
    with_agent: String,
}

/// How far from the port of the service the one for rows is looked for.
const ROW_ENDPOINT: u16 = 1000;

impl Watched {
    /// Finds the agent and the service that the flags name.
    pub(super) fn prepare(args: &RestArgs, terminal: &Terminal) -> Result<Self, SetupError> {
        let system = |error: std::io::Error| SetupError::unreachable(error.to_string());
        let own = match &args.jvm.jvm {
            None => None,
            Some(jar) => {
                let jar = jar.canonicalize().map_err(|error| {
                    SetupError::usage(format!(
                        "--jvm {}: {error}; name the jar that `java -jar` starts, built before",
                        jar.display()
                    ))
                })?;
                let port = match args.white.port {
                    Some(port) => port,
                    None => free_port(FIRST_PORT).map_err(system)?,
                };
                Some((jar, port, java(args)?))
            }
        };
        let agent = match &args.jvm.agent {
            Some(path) => path.canonicalize().map_err(|error| {
                SetupError::usage(format!("--agent {}: {error}", path.display()))
            })?,
            None => agent::find(terminal)?,
        };
        let own = own.map(|(jar, port, java)| Own::new(args, &agent, &jar, port, &java));
        let listener = Listener::open_loopback().map_err(system)?;
        let token = listener.token().unwrap_or_default().to_owned();
        let port = own.as_ref().map_or(FIRST_PORT, |own| own.port);
        Ok(Self {
            listener,
            agent,
            own,
            row_endpoint: free_port(port.saturating_add(ROW_ENDPOINT)).map_err(system)?,
            token,
        })
    }

    /// The flags of a run that starts this service.
    pub(super) fn flags(&self, args: &RestArgs) -> RestArgs {
        let mut flags = args.clone();
        flags.variables = self.variables(args);
        if let Some(own) = &self.own {
            flags.url = Some(format!("http://127.0.0.1:{}", own.port));
            flags.start = Some(own.start.clone());
            flags.suite_start = Some(own.plain.clone());
        }
        flags.suite_start_with_rows = match (&self.own, &args.start) {
            (Some(own), _) => Some(format!(
                "env {DOOR_VARIABLE}={{agent_url}} {}",
                own.with_agent
            )),
            (None, Some(start)) => {
                let options = quoted(&self.tool_options());
                Some(format!(
                    "env {DOOR_VARIABLE}={{agent_url}} {TOOL_OPTIONS}={options} {start}"
                ))
            }
            (None, None) => None,
        };
        flags
    }

    fn variables(&self, args: &RestArgs) -> Vec<(String, String)> {
        let mut variables = self.listener.variables(None);
        let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
        match &self.own {
            Some(own) => {
                for name in PORTS {
                    set(name, own.port.to_string());
                }
            }
            None => set(TOOL_OPTIONS, self.tool_options()),
        }
        set(
            DOOR_VARIABLE,
            format!("{}/{}", self.row_endpoint, self.token),
        );
        let home = args.jvm.jvm_home.as_ref();
        if let Some(home) = home.and_then(|home| home.canonicalize().ok()) {
            set("JAVA_HOME", home.display().to_string());
        }
        for (name, patterns) in [
            ("ISOBATH_INCLUDE", &args.white.include),
            ("ISOBATH_EXCLUDE", &args.white.exclude),
        ] {
            if !patterns.is_empty() {
                set(name, patterns.join(","));
            }
        }
        if args.white.without.contains(&Technique::Methods) {
            set("ISOBATH_METHODS", "off".into());
        }
        variables
    }

    /// What is handed to any JVM that the service is started by.
    fn tool_options(&self) -> String {
        let before = std::env::var(TOOL_OPTIONS).unwrap_or_default();
        let flag = agent_flag(&self.agent);
        format!("{before} {flag}").trim().to_owned()
    }

    /// What looks into the service, whose agent connects within `patience`.
    pub(super) fn feedback(
        self,
        terminal: &Terminal,
        patience: Duration,
    ) -> Result<Instruments, SetupError> {
        let feedback = DriverFeedback::new(self.listener, patience).map_err(|error| {
            SetupError::unreachable(format!(
                "{error} The agent says on the service's own output why it cannot work."
            ))
        })?;
        let targets = feedback.targets();
        let files: std::collections::BTreeSet<&str> =
            targets.iter().map(|target| target.file.as_str()).collect();
        if targets.is_empty() {
            return Err(SetupError::usage(
                "the agent found no class of the service; name its packages by --include",
            ));
        }
        terminal.say(
            Tone::Faint,
            &format!(
                "  {} targets in {} source files",
                targets.len(),
                files.len()
            ),
        );
        let rows = InMemoryRows {
            driver: feedback.driver(),
            row_endpoint: format!("http://127.0.0.1:{}", self.row_endpoint),
        };
        Ok(Instruments {
            feedback: Some(Box::new(feedback)),
            built: None,
            rows: Some(rows),
        })
    }
}

/// Variables in which the common frameworks find their port.
const PORTS: [&str; 4] = [
    "SERVER_PORT",
    "PORT",
    "QUARKUS_HTTP_PORT",
    "MICRONAUT_SERVER_PORT",
];

/// The variable from which every JVM takes options.
const TOOL_OPTIONS: &str = "JAVA_TOOL_OPTIONS";

/// The variable that tells the agent where suites bring rows.
const DOOR_VARIABLE: &str = "ISOBATH_DOOR";

/// Where a suite that is checked brings rows to the service that runs, with the token of the run.
pub(super) fn row_endpoint(args: &RestArgs) -> Option<String> {
    let mut variables = args.variables.iter();
    let (_, place) = variables.find(|(name, _)| name == DOOR_VARIABLE)?;
    Some(format!("http://127.0.0.1:{place}"))
}

/// The `java` that runs the service.
fn java(args: &RestArgs) -> Result<String, SetupError> {
    let of = |home: &Path| Some(home.join("bin/java")).filter(|java| java.is_file());
    if let Some(home) = &args.jvm.jvm_home {
        let java = home.canonicalize().ok().and_then(|home| of(&home));
        let java = java.ok_or_else(|| {
            SetupError::usage(format!("--jvm-home {} has no bin/java", home.display()))
        })?;
        return Ok(java.display().to_string());
    }
    let home = std::env::var_os("JAVA_HOME");
    let java = home.and_then(|home| of(Path::new(&home)));
    Ok(java.map_or_else(|| "java".to_owned(), |java| java.display().to_string()))
}

impl Own {
    fn new(args: &RestArgs, agent: &Path, jar: &Path, port: u16, java: &str) -> Self {
        let options: String = args
            .jvm
            .jvm_option
            .iter()
            .map(|option| format!(" {}", quoted(option)))
            .collect();
        let service = args.white.service.iter();
        let service: String = service
            .map(|argument| format!(" {}", quoted(argument)))
            .collect();
        let here = service.replace("{port}", &port.to_string());
        let jar = quoted(&jar.to_string_lossy());
        let java = quoted(java);
        let flag = quoted(&agent_flag(agent));
        let ports = PORTS.map(|name| format!("{name}={{port}}")).join(" ");
        let ports = format!("env {ports}");
        Self {
            port,
            start: format!("exec {java}{options} {flag} -jar {jar}{here}"),
            plain: format!("{ports} {java}{options} -jar {jar}{service}"),
            with_agent: format!("{ports} {java}{options} {flag} -jar {jar}{service}"),
        }
    }
}

fn agent_flag(agent: &Path) -> String {
    format!("-javaagent:{}", agent.display())
}
