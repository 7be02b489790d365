//! A service without dependencies that has bad days. The port is in the variable `PORT`, the day
//! is its argument.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static LOCK: Mutex<u32> = Mutex::new(0);
static LEAKED: Mutex<Vec<File>> = Mutex::new(Vec::new());

fn main() {
    let day = std::env::args().nth(1).unwrap_or_default();
    match day.as_str() {
        "panics-at-start" => panic!("no luck today"),
        "never-ready" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        _ => {}
    }
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(8080)));
    let listener = listener.expect("the port is free");
    for stream in listener.incoming().flatten() {
        let day = day.clone();
        std::thread::spawn(move || serve(stream, &day));
    }
}

fn serve(stream: TcpStream, day: &str) {
    let Ok(mut out) = stream.try_clone() else {
        return;
    };
    let mut lines = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if lines.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        let mut length = 0;
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            if line.trim().is_empty() {
                break;
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        if lines.read_exact(&mut body).is_err() {
            return;
        }
        let path = first.split(' ').nth(1).unwrap_or("/").to_owned();
        let (status, text) = answer(&path, day);
        let answer = format!(
            "HTTP/1.1 {status} .\r\nContent-Type: text/plain\r\nContent-Length: {}\r\n\r\n{text}",
            text.len()
        );
        if out.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(path: &str, day: &str) -> (u16, String) {
    let Some(number) = path.strip_prefix("/days/") else {
        return (404, String::new());
    };
    let Ok(number) = number.parse::<i64>() else {
        return (400, "no number".into());
    };
    if number > 1000 {
        match day {
            "exits" => std::process::exit(0),
            "deadlocks" => {
                let guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
                let other = std::thread::spawn(|| {
                    *LOCK.lock().unwrap_or_else(PoisonError::into_inner) += 1;
                });
                let _ = other.join();
                drop(guard);
            }
            "leaks" => {
                for _ in 0..200 {
                    let mut leaked = LEAKED.lock().unwrap_or_else(PoisonError::into_inner);
                    let file = File::open("/dev/null").expect("there are files left to open");
                    leaked.push(file);
                }
            }
            "grumbles" => {
                println!("asked for {number}");
                eprintln!("cannot count so far; password=counting-sheep");
                return (500, String::new());
            }
            "overflows" => {
                let small = i32::try_from(number).unwrap_or(i32::MAX);
                return (200, (small * 3_000_000).to_string());
            }
            _ => {}
        }
    }
    (200, number.to_string())
}
