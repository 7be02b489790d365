//! The berth for a boat of some length. With FAULTY set, long boats crash it.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

fn main() -> std::io::Result<()> {
    let port = std::env::var("PORT").unwrap_or_else(|_| "8080".to_owned());
    let listener = TcpListener::bind(format!("127.0.0.1:{port}"))?;
    for stream in listener.incoming() {
        let _ = serve(stream?);
    }
    Ok(())
}

/// Answers the one request of a connection.
fn serve(mut stream: TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut request = String::new();
    reader.read_line(&mut request)?;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
    }
    let mut words = request.split(' ');
    let (method, path) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let (status, body) = answer(method, path);
    let allow = if status == 405 { "Allow: GET\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\n{allow}Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes())?;
    if method != "HEAD" {
        stream.write_all(body.as_bytes())?;
    }
    Ok(())
}

fn answer(method: &str, path: &str) -> (u16, String) {
    let path = path.split('?').next().unwrap_or("");
    let Some(length) = path.strip_prefix("/berths/") else {
        return (404, r#"{"error": "no such page"}"#.to_owned());
    };
    if method != "GET" {
        return (405, r#"{"error": "only GET"}"#.to_owned());
    }
    match length.parse::<u32>() {
        Ok(meters) if meters > 50 && meters <= 200 && std::env::var_os("FAULTY").is_some() => {
            (500, r#"{"error": "no berth"}"#.to_owned())
        }
        Ok(meters) if (1..=200).contains(&meters) => {
            (200, format!("{{\"berth\": {}}}", meters / 10))
        }
        _ => (400, r#"{"error": "no boat has this length"}"#.to_owned()),
    }
}
