//! The lights of a harbor, on Rocket. The port is in the variable `PORT`.

use rocket::http::Status;
use rocket::{Config, get, routes};

/// What a number of lights of a color means.
#[get("/lights/<color>/<count>")]
fn lights(color: &str, count: i32) -> Result<&'static str, Status> {
    let is_known = ["red", "green", "white"].contains(&color);
    if !is_known {
        return Err(Status::NotFound);
    }
    match (color, count) {
        ("red", 2) => Ok("not under command"),
        ("red", 3) => Ok("constrained by draught"),
        ("white", 1) => Ok("at anchor"),
        _ if count > 12_345 => Err(Status::BadRequest),
        _ => Ok("nothing in particular"),
    }
}

#[rocket::main]
async fn main() -> Result<(), Box<rocket::Error>> {
    let port = std::env::var("PORT")
        .ok()
        .and_then(|port| port.parse().ok());
    let config = Config {
        port: port.unwrap_or(8080),
        log_level: rocket::config::LogLevel::Off,
        ..Config::debug_default()
    };
    rocket::custom(config)
        .mount("/", routes![lights])
        .launch()
        .await
        .map(drop)
        .map_err(Box::new)
}
