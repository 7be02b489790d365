//! `pastebin`: the service, set up by environment variables.

use std::process::ExitCode;

use actix_web::HttpServer;
use actix_web::web::Data;
use pastebin::config::Config;
use pastebin::{Shared, app, future_sizes, spawn_sweeping};

#[actix_web::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pastebin: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Box<dyn std::error::Error>> {
    if std::env::args().nth(1).as_deref() == Some("--future-sizes") {
        for (handler, size) in future_sizes() {
            println!("{handler} {size}");
        }
        return Ok(());
    }
    let config = Config::from_env(|name| std::env::var(name).ok())?;
    let port = config.port;
    let shared = Data::new(Shared::open(config)?);
    let sweeping = spawn_sweeping(shared.clone());
    let server = HttpServer::new(move || app(shared.clone()))
        .workers(2)
        .bind(("127.0.0.1", port))?;
    for address in server.addrs() {
        println!("listening on http://{address}");
    }
    server.run().await?;
    sweeping.abort();
    Ok(())
}
