//! Drivers that do as they should, and drivers that do not.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use isobath_exec::driver::{DriverError, Event, Listener, SharedDriver};
use isobath_protocol::{Command, CoverageMap, Target, TargetKind, VERSION, channel};

const SOON: Duration = Duration::from_secs(10);

fn connect(listener: &Listener) -> UnixStream {
    let variables = listener.variables(None);
    UnixStream::connect(&variables[0].1).expect("somebody listens")
}

fn hello(version: u32) -> Event {
    Event::Hello {
        version,
        language: "test".into(),
        driver: "fake".into(),
        process: 1,
    }
}

fn targets() -> Event {
    Event::Targets {
        targets: vec![Target {
            id: 4,
            kind: TargetKind::True,
            unit: "u".into(),
            file: "f".into(),
            line: 1,
            column: 1,
            compiled_column: 1,
            function: "g".into(),
            text: "x".into(),
        }],
    }
}

/// The driver's side of a connection that went well.
fn greet(stream: &mut (impl Read + Write)) -> CoverageMap {
    for event in [hello(VERSION), targets(), Event::Ready { cells: 5 }] {
        channel::send(stream, &event).expect("sent");
    }
    let Ok(Command::Welcome { map, .. }) = channel::receive(stream) else {
        panic!("no welcome");
    };
    CoverageMap::open(Path::new(&map)).expect("the map")
}

#[test]
fn targets_and_events_arrive() {
    let listener = Listener::open().unwrap();
    let mut stream = connect(&listener);
    let fake = thread::spawn(move || {
        let map = greet(&mut stream);
        while let Ok(command) = channel::receive(&mut stream) {
            if let Command::Sync { token } = command {
                map.cover(4);
                let seen = Event::Dropped {
                    events: u32::from(map.action()),
                };
                channel::send(&mut stream, &seen).unwrap();
                channel::send(&mut stream, &Event::Synced { token }).unwrap();
            }
        }
    });
    let mut driver = listener.accept(SOON).unwrap();
    assert_eq!(driver.table().targets().len(), 1);
    driver.begin_candidate();
    driver.begin_action(3);
    assert_eq!(driver.events().unwrap(), [Event::Dropped { events: 3 }]);
    let mut reached = Vec::new();
    driver.read(&mut reached);
    assert_eq!(
        (reached.len(), reached[0].target, reached[0].action),
        (1, 4, 3)
    );
    drop(driver);
    fake.join().unwrap();
}

#[test]
fn inputs_to_track_are_named_when_they_change_and_after_a_reset() {
    let listener = Listener::open().unwrap();
    let mut stream = connect(&listener);
    let fake = thread::spawn(move || {
        greet(&mut stream);
        let mut named = Vec::new();
        while let Ok(command) = channel::receive(&mut stream) {
            match command {
                Command::Track { inputs } => named.push(inputs),
                Command::Reset { request } => {
                    let answer = Event::Answer {
                        request,
                        failure: None,
                        rows: Vec::new(),
                    };
                    channel::send(&mut stream, &answer).unwrap();
                }
                _ => {}
            }
        }
        named
    });
    let mut driver = listener.accept(SOON).unwrap();
    let some = || vec!["blue".to_owned()];
    for inputs in [Vec::new(), some(), some()] {
        driver.track(inputs).unwrap();
    }
    driver.reset().unwrap();
    for inputs in [some(), Vec::new(), Vec::new()] {
        driver.track(inputs).unwrap();
    }
    drop(driver);
    assert_eq!(fake.join().unwrap(), [some(), some(), Vec::new()]);
}

#[test]
fn a_service_that_dies_is_an_error_and_its_last_words_are_kept() {
    let listener = Listener::open().unwrap();
    let mut stream = connect(&listener);
    let fake = thread::spawn(move || {
        greet(&mut stream);
        channel::send(&mut stream, &Event::Dropped { events: 1 }).unwrap();
    });
    let driver = listener.accept(SOON).unwrap();
    fake.join().unwrap();
    assert_eq!(driver.last_events(), [Event::Dropped { events: 1 }]);
    // After a restart the next one is served as well.
    let mut stream = connect(&listener);
    let fake = thread::spawn(move || greet(&mut stream));
    let mut driver = listener.accept(SOON).unwrap();
    fake.join().unwrap();
    assert!(matches!(driver.events(), Err(DriverError::Channel(_))));
}

#[test]
fn garbage_and_other_versions_are_refused() {
    let listener = Listener::open().unwrap();
    let mut stream = connect(&listener);
    stream.write_all(&[0xAB; 64]).unwrap();
    assert!(matches!(
        listener.accept(SOON),
        Err(DriverError::Channel(_))
    ));
    let mut stream = connect(&listener);
    channel::send(&mut stream, &hello(VERSION + 1)).unwrap();
    assert!(matches!(
        listener.accept(SOON),
        Err(DriverError::Version { .. })
    ));
    let mut stream = connect(&listener);
    channel::send(&mut stream, &targets()).unwrap();
    assert!(matches!(
        listener.accept(SOON),
        Err(DriverError::Unexpected(_))
    ));
    drop(connect(&listener));
    assert!(matches!(
        listener.accept(SOON),
        Err(DriverError::Channel(_))
    ));
}

#[test]
fn nobody_is_an_error_in_time() {
    let listener = Listener::open().unwrap();
    let absent = listener.accept(Duration::from_millis(5));
    assert!(matches!(absent, Err(DriverError::Absent(_))));
}

#[test]
fn on_the_loopback_interface_only_those_who_know_the_token_are_heard() {
    let listener = Listener::open_loopback().unwrap();
    let variables = listener.variables(None);
    let of = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name);
        found.expect("the variable").1.clone()
    };
    // Whoever stays silent does not keep the driver waiting, either.
    let _silent = TcpStream::connect(of("ISOBATH_ADDRESS")).unwrap();
    let mut stranger = TcpStream::connect(of("ISOBATH_ADDRESS")).unwrap();
    stranger
        .write_all(&[b'0'; 32])
        .and_then(|()| stranger.write_all(b"\n"))
        .unwrap();
    let mut stream = TcpStream::connect(of("ISOBATH_ADDRESS")).unwrap();
    stream
        .write_all(format!("{}\n", of("ISOBATH_TOKEN")).as_bytes())
        .unwrap();
    let fake = thread::spawn(move || {
        let map = greet(&mut stream);
        map.cover(4);
        let unwatched = Event::Unwatched {
            name: "shop.Prices".into(),
            reason: "too long".into(),
        };
        channel::send(&mut stream, &unwatched).unwrap();
        let Ok(Command::Sync { token }) = channel::receive(&mut stream) else {
            panic!("no question");
        };
        channel::send(&mut stream, &Event::Synced { token }).unwrap();
        stream
    });
    let mut driver = listener.accept(SOON).unwrap();
    assert_eq!(driver.events().unwrap(), []);
    assert_eq!(driver.unwatched(), ["shop.Prices: too long"]);
    fake.join().unwrap();
}

#[test]
fn other_users_of_the_machine_cannot_look_into_the_folder_of_sockets_and_maps() {
    let listener = Listener::open().unwrap();
    let variables = listener.variables(None);
    let socket = Path::new(&variables[0].1);
    let folder = socket.parent().expect("a folder").metadata().unwrap();
    assert_eq!(folder.permissions().mode() & 0o777, 0o700);
}

/// A driver of a process that lives until the stream is shut down.
fn living(socket: &str, process: u32) -> (UnixStream, thread::JoinHandle<()>) {
    let mut stream = UnixStream::connect(socket).expect("a listener");
    let end = stream.try_clone().expect("a second handle");
    let fake = thread::spawn(move || {
        let hello = Event::Hello {
            version: VERSION,
            language: "test".into(),
            driver: "fake".into(),
            process,
        };
        for event in [hello, targets(), Event::Ready { cells: 5 }] {
            channel::send(&mut stream, &event).expect("sent");
        }
        while let Ok(command) = channel::receive(&mut stream) {
            if let Command::Sync { token } = command {
                let _ = channel::send(&mut stream, &Event::Synced { token });
            }
        }
    });
    (end, fake)
}

#[test]
fn a_process_that_answers_beside_another_is_counted_and_one_after_it_is_taken() {
    let listener = Listener::open().unwrap();
    let socket = listener.variables(None)[0].1.clone();
    let (first, first_fake) = living(&socket, 1);
    let shared = SharedDriver::accept(listener, SOON).unwrap();
    let until = |wanted: (Option<u32>, usize)| {
        let started = std::time::Instant::now();
        loop {
            let mut current = shared.lock();
            current.reconnect();
            let process = current.driver.as_ref().map(|driver| driver.process());
            let found = (process, current.other_processes());
            if found == wanted || started.elapsed() > SOON {
                return assert_eq!(found, wanted);
            }
            drop(current);
            thread::sleep(Duration::from_millis(5));
        }
    };
    let (second, second_fake) = living(&socket, 2);
    until((Some(1), 1));
    first.shutdown(std::net::Shutdown::Both).unwrap();
    let (third, third_fake) = living(&socket, 3);
    until((Some(3), 1));
    for stream in [second, third] {
        let _ = stream.shutdown(std::net::Shutdown::Both);
    }
    for fake in [first_fake, second_fake, third_fake] {
        fake.join().unwrap();
    }
}
