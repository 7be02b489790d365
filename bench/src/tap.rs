//! What a tap costs the throughput of a database: `pgbench` select-only, with it and without it in turns.

#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]

use std::error::Error;
use std::fmt;
use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use isobath_exec::database::Address;
use isobath_exec::engine::Engine;
use isobath_exec::server;
use isobath_exec::tap::{Tap, environment};

/// Seconds of one measurement.
const SECONDS: &str = "2";
/// Rounds of measurements, one right after the other, of whose ratios the median counts.
const ROUNDS: usize = 7;
/// The share of throughput that a tap may cost.
const MOST: f64 = 0.10;
/// How often what was heard is asked for, as a run does between candidates.
const PULSE: Duration = Duration::from_millis(5);

/// Prints the throughput with and without a tap; fails when it costs too much.
pub(crate) fn table() -> ExitCode {
    crate::verdict::exit(measure())
}

fn measure() -> Result<bool, Box<dyn Error>> {
    let server = server::start(Engine::Postgres)?;
    let address = server.create_database()?;
    let database = Address::parse(&address)?;
    let tap = Tap::open(&database, None)?;
    let through =
        |at: SocketAddr| environment::url(&database, at).ok_or("the database has no address");
    let (tapped, relayed) = (through(tap.at())?, through(relay(&database)?)?);
    pgbench(&address, &["--initialize", "--quiet", "--scale=5"])?;
    println!(
        "pgbench --select-only on {} cores, transactions per second, medians of {ROUNDS} rounds of {SECONDS} s each",
        std::thread::available_parallelism().map_or(0, usize::from)
    );
    println!(
        "{:>8} {:>9} {:>8} {:>8} {:>8}   cost of the tap: beside direct, beside a bare relay",
        "clients", "protocol", "direct", "relay", "tap"
    );
    let mut is_cheap = true;
    for (clients, protocol) in [
        ("1", "simple"),
        ("1", "prepared"),
        ("8", "simple"),
        ("8", "prepared"),
    ] {
        let options = [
            "--select-only",
            "--no-vacuum",
            "--jobs=1",
            &format!("--client={clients}"),
            &format!("--protocol={protocol}"),
            &format!("--time={SECONDS}"),
        ];
        let ways = [&address, &relayed, &tapped];
        let mut rounds: Vec<[f64; 3]> = Vec::new();
        for round in 0..ROUNDS {
            let mut round_of = [0.0; 3];
            // Whoever comes first has no advantage of it.
            for turn in 0..ways.len() {
                let way = (round + turn) % ways.len();
                let said = asking(&tap, || pgbench(ways[way], &options))?;
                round_of[way] = throughput(&said)?;
            }
            rounds.push(round_of);
        }
        let of = |what: fn(&[f64; 3]) -> f64| Spread::of(rounds.iter().map(what));
        let beside_direct = of(|[direct, _, tap]| 1.0 - tap / direct);
        let beside_relay = of(|[_, relay, tap]| 1.0 - tap / relay);
        println!(
            "{clients:>8} {protocol:>9} {:>8.0} {:>8.0} {:>8.0}   {beside_direct}, {beside_relay}",
            of(|[direct, ..]| *direct).median,
            of(|[_, relay, _]| *relay).median,
            of(|[.., tap]| *tap).median,
        );
        let counts = if clients == "1" {
            beside_direct
        } else {
            beside_relay
        };
        is_cheap &= counts.median < MOST;
    }
    let counts = tap.counts();
    println!(
        "{} statements seen, {} messages not understood; it may cost {:.0} % of the throughput of one client, \
         and of that of a bare relay where all cores are busy",
        counts.statements,
        counts.not_understood,
        MOST * 100.0
    );
    Ok(is_cheap && counts.not_understood == 0 && counts.statements > 0)
}

/// The middle of some shares, and how far they lie apart.
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn of(numbers: impl Iterator<Item = f64>) -> Self {
        let mut numbers: Vec<f64> = numbers.collect();
        numbers.sort_by(f64::total_cmp);
        Self {
            least: numbers[0],
            median: numbers[numbers.len() / 2],
            most: numbers[numbers.len() - 1],
        }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = |share: f64| share * 100.0;
        let (least, most) = (percent(self.least), percent(self.most));
        write!(f, "{:.1} % ({least:.0} to {most:.0})", percent(self.median))
    }
}

/// A relay that reads nothing of what it passes on: the least that any second pair of sockets costs.
fn relay(database: &Address) -> Result<SocketAddr, Box<dyn Error>> {
    let Address::Postgres(url) = database else {
        return Err("only PostgreSQL has pgbench".into());
    };
    let server = (
        url.host_str().ok_or("no host")?.to_owned(),
        url.port().unwrap_or(5432),
    );
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let at = listener.local_addr()?;
    // It ends with the benchmark.
    thread::spawn(move || {
        for client in listener.incoming() {
            let pair = client.and_then(|client| {
                let server = TcpStream::connect((server.0.as_str(), server.1))?;
                client.set_nodelay(true)?;
                server.set_nodelay(true)?;
                Ok([(client.try_clone()?, server.try_clone()?), (server, client)])
            });
            for (mut from, mut to) in pair.into_iter().flatten() {
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Both);
                });
            }
        }
    });
    Ok(at)
}

/// Does something while what the tap hears is asked for, as in a run.
fn asking<T>(tap: &Tap, work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                tap.begin_candidate();
                thread::sleep(PULSE);
                tap.statements();
            }
        });
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

fn pgbench(address: &str, options: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = Command::new("pgbench")
        .args(options)
        .arg(address)
        .output()
        .map_err(|error| format!("pgbench does not start: {error}; install postgresql-contrib"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Reads `tps = 12345.6 (without initial connection time)`.
fn throughput(said: &str) -> Result<f64, Box<dyn Error>> {
    let line = said.lines().find_map(|line| line.strip_prefix("tps = "));
    let number = line.and_then(|line| line.split(' ').next());
    Ok(number.ok_or("pgbench tells no throughput")?.parse()?)
}
