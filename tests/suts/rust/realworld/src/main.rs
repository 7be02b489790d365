//! `realworld`: the service, set up by environment variables.

use std::process::ExitCode;

use realworld::config::Config;
use realworld::{App, future_sizes, router};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("realworld: {error}");
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
    let listener = TcpListener::bind(("127.0.0.1", config.port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    let app = App::open(config).await?;
    let counting = app.spawn_counting();
    axum::serve(listener, router(app)).await?;
    counting.abort();
    Ok(())
}
