//! Which processes accept connections at a port, and at which ports a service listens.
//!
//! Read from `/proc`; elsewhere nothing is known, and the answers are empty.

use std::collections::{BTreeMap, BTreeSet};

/// Processes that hold the listening socket of a port and have no descendant that holds it, too.
///
/// A master that only starts workers holds the socket of its workers and is not among them.
#[must_use]
pub fn processes_at(port: u16) -> Vec<u32> {
    let sockets: BTreeSet<u64> = listening_sockets()
        .into_iter()
        .filter(|(_, at)| *at == port)
        .map(|(socket, _)| socket)
        .collect();
    let processes = processes();
    let holders: BTreeSet<u32> = processes
        .iter()
        .filter(|(_, process)| {
            process
                .sockets
                .iter()
                .any(|socket| sockets.contains(socket))
        })
        .map(|(pid, _)| *pid)
        .collect();
    let masters: BTreeSet<u32> = holders
        .iter()
        .flat_map(|pid| ancestors(&processes, *pid))
        .collect();
    holders.difference(&masters).copied().collect()
}

/// Ports at which a process or one of its descendants listens, in ascending order.
#[must_use]
pub fn ports_of(root: u32) -> Vec<u16> {
    let at: BTreeMap<u64, u16> = listening_sockets().into_iter().collect();
    let processes = processes();
    let is_ours = |pid: u32| pid == root || ancestors(&processes, pid).any(|above| above == root);
    let ports: BTreeSet<u16> = processes
        .iter()
        .filter(|(pid, _)| is_ours(**pid))
        .flat_map(|(_, process)| &process.sockets)
        .filter_map(|socket| at.get(socket).copied())
        .collect();
    ports.into_iter().collect()
}

/// A process, as far as it matters here.
struct Process {
    parent: u32,
    /// Inodes of its sockets.
    sockets: Vec<u64>,
}

fn ancestors(processes: &BTreeMap<u32, Process>, pid: u32) -> impl Iterator<Item = u32> + '_ {
    let parent = |pid: &u32| processes.get(pid).map(|process| process.parent);
    // A table that is read while processes come and go could have a cycle.
    std::iter::successors(parent(&pid), parent).take(processes.len())
}

/// Inode and port of every TCP socket that accepts connections.
#[cfg(target_os = "linux")]
fn listening_sockets() -> Vec<(u64, u16)> {
    use procfs::net::{TcpNetEntry, TcpState, tcp, tcp6};

    let sockets = tcp()
        .into_iter()
        .flatten()
        .chain(tcp6().into_iter().flatten());
    sockets
        .filter(|socket: &TcpNetEntry| socket.state == TcpState::Listen)
        .map(|socket| (socket.inode, socket.local_address.port()))
        .collect()
}

/// All processes whose sockets we may see.
#[cfg(target_os = "linux")]
fn processes() -> BTreeMap<u32, Process> {
    use procfs::process::{FDTarget, all_processes};

    let read = |process: procfs::process::Process| {
        let stat = process.stat().ok()?;
        let files = process.fd().ok()?;
        let socket = |target| match target {
            FDTarget::Socket(inode) => Some(inode),
            _ => None,
        };
        let process = Process {
            parent: u32::try_from(stat.ppid).ok()?,
            sockets: files
                .flatten()
                .filter_map(|file| socket(file.target))
                .collect(),
        };
        Some((u32::try_from(stat.pid).ok()?, process))
    };
    all_processes()
        .into_iter()
        .flatten()
        .filter_map(|process| read(process.ok()?))
        .collect()
}

#[cfg(not(target_os = "linux"))]
fn listening_sockets() -> Vec<(u64, u16)> {
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn processes() -> BTreeMap<u32, Process> {
    BTreeMap::new()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_listener_is_found_by_its_port_and_by_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let port = listener.local_addr().expect("it is bound").port();
        assert_eq!(processes_at(port), [std::process::id()]);
        assert!(ports_of(std::process::id()).contains(&port));
        drop(listener);
        assert!(processes_at(port).is_empty());
    }

    #[test]
    fn masters_are_told_from_workers() {
        let process = |parent| Process {
            parent,
            sockets: Vec::new(),
        };
        let processes = BTreeMap::from([(1, process(0)), (2, process(1)), (3, process(2))]);
        assert_eq!(ancestors(&processes, 3).collect::<Vec<_>>(), [2, 1, 0]);
    }
}
