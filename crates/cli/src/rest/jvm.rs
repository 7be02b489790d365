//! `--jvm`: starts a JVM service with the agent for white-box testing.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use isobath_emit::http::suite::AGENT_PORT;
use isobath_emit::shell::quote_if_needed;
use isobath_exec::driver::Listener;
use isobath_exec::process::free_port;

use super::address::{at_port, port_of};
use super::agent;
use super::args::RestArgs;
use super::instrumentation::{self, InMemoryRows, Instruments, ROW_PORT_VARIABLE, RowPort};
use super::launch::LaunchPlan;
use super::run::SetupError;
use crate::terminal::Terminal;

/// Flags for white-box testing of JVM services.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "White-box")]
pub(crate) struct JvmArgs {
    /// JVM service to test white-box: its jar. Starts it with the Isobath agent.
    #[arg(
        long,
        value_name = "JAR",
        group = "white_box",
        conflicts_with = "start"
    )]
    pub jvm: Option<PathBuf>,

    /// Attach the agent to the JVM that --start launches, with JAVA_TOOL_OPTIONS.
    #[arg(long, group = "white_box", requires_all = ["start", "url"])]
    pub jvm_agent: bool,

    /// JVM option, for example -Xmx1g. Repeatable.
    #[arg(
        long,
        value_name = "OPTION",
        requires = "jvm",
        allow_hyphen_values = true
    )]
    pub jvm_option: Vec<String>,

    /// Java installation that runs the service [default: JAVA_HOME, or `java` of the path].
    #[arg(long, value_name = "FOLDER", requires = "jvm")]
    pub jvm_home: Option<PathBuf>,

    /// Jar of the agent [default: the agent of this program].
    #[arg(long, value_name = "JAR")]
    pub agent: Option<PathBuf>,
}

impl JvmArgs {
    /// Whether a JVM service is tested white-box.
    pub(super) fn is_wanted(&self) -> bool {
        self.jvm.is_some() || self.jvm_agent
    }
}

/// A service that is started with the agent.
pub(super) struct InstrumentedJvm {
    listener: Listener,
    agent: PathBuf,
    /// Port and start commands, with and without the agent; none if the user gives them.
    own: Option<Own>,
    /// Port for inserting rows into an in-memory database of the service.
    row_port: RowPort,
}

struct Own {
    port: u16,
    start: String,
    /// Both for suites: `{port}` stands for the port.
    plain: String,
    with_agent: String,
}

impl InstrumentedJvm {
    /// Finds the agent and the service that the flags name.
    pub(super) fn prepare(args: &RestArgs, terminal: &Terminal) -> Result<Self, SetupError> {
        let system = |error: std::io::Error| SetupError::unreachable(error.to_string());
        let own = match jar(args)? {
            None => None,
            Some(jar) => {
                let port = match args.white.port.or_else(|| port_of(args.url.as_deref())) {
                    Some(port) => port,
                    None => free_port(args.first_port()).map_err(system)?,
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
        let port = own
            .as_ref()
            .map_or_else(|| args.first_port(), |own| own.port);
        Ok(Self {
            row_port: RowPort::find(&listener, port)?,
            listener,
            agent,
            own,
        })
    }

    /// Another instance of the same service, at another port.
    pub(super) fn another(&self, args: &RestArgs, port: u16) -> Result<Self, SetupError> {
        let own = match jar(args)? {
            None => None,
            Some(jar) => Some(Own::new(args, &self.agent, &jar, port, &java(args)?)),
        };
        let listener = Listener::open_loopback()
            .map_err(|error| SetupError::unreachable(error.to_string()))?;
        Ok(Self {
            row_port: self.row_port.another(&listener)?,
            listener,
            agent: self.agent.clone(),
            own,
        })
    }

    /// Adds what starts this service.
    pub(super) fn add_to(&self, args: &RestArgs, launch: &mut LaunchPlan) {
        launch.variables = self.variables(args);
        launch.suite_start_with_rows = match (&self.own, &launch.start) {
            (Some(own), _) => Some(format!(
                "env {ROW_PORT_VARIABLE}={AGENT_PORT} {}",
                own.with_agent
            )),
            (None, Some(start)) => {
                let options = quote_if_needed(&self.tool_options());
                Some(format!(
                    "env {ROW_PORT_VARIABLE}={AGENT_PORT} {TOOL_OPTIONS}={options} {start}"
                ))
            }
            (None, None) => None,
        };
        if let Some(own) = &self.own {
            launch.url = Some(at_port(launch.url.as_deref(), own.port));
            launch.start = Some(own.start.clone());
            launch.suite_start = Some(own.plain.clone());
        }
    }

    fn variables(&self, args: &RestArgs) -> Vec<(String, String)> {
        let mut variables = instrumentation::variables(&self.listener, None, args);
        let mut set = |name: &str, value: String| variables.push((name.to_owned(), value));
        match &self.own {
            Some(own) => {
                for name in PORTS {
                    set(name, own.port.to_string());
                }
            }
            None => set(TOOL_OPTIONS, self.tool_options()),
        }
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
        variables.push(self.row_port.variable());
        variables
    }

    /// What is handed to any JVM that the service is started by.
    fn tool_options(&self) -> String {
        let before = std::env::var(TOOL_OPTIONS).unwrap_or_default();
        let flag = agent_flag(&self.agent);
        format!("{before} {flag}").trim().to_owned()
    }

    /// The driver feedback of a service whose agent connects within `timeout`.
    pub(super) fn feedback(
        self,
        terminal: &Terminal,
        timeout: Duration,
    ) -> Result<Instruments, SetupError> {
        let feedback = instrumentation::connect(
            self.listener,
            terminal,
            timeout,
            "the agent found no class to instrument; pass the packages of the service with --include",
        )?;
        let rows = InMemoryRows::new(&feedback, &self.row_port);
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

/// The jar of the service, unless it is started by a command.
fn jar(args: &RestArgs) -> Result<Option<PathBuf>, SetupError> {
    let Some(jar) = &args.jvm.jvm else {
        return Ok(None);
    };
    jar.canonicalize().map(Some).map_err(|error| {
        SetupError::usage(format!(
            "--jvm {}: {error}; pass an executable jar, as for `java -jar`",
            jar.display()
        ))
    })
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
            .map(|option| format!(" {}", quote_if_needed(option)))
            .collect();
        let service = args.white.service.iter();
        let service: String = service
            .map(|argument| format!(" {}", quote_if_needed(argument)))
            .collect();
        let here = service.replace("{port}", &port.to_string());
        let jar = quote_if_needed(&jar.to_string_lossy());
        let java = quote_if_needed(java);
        let flag = quote_if_needed(&agent_flag(agent));
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
