//! What a driver observes, and what must then stand in the map.
//!
//! A scenario is a JSON object with `name`, the number of `targets`, `steps` and
//! `reached`. A step is one of
//!
//! - `{"candidate": true}` or `{"action": n}`: the core begins a candidate or an action;
//! - `{"hit": t}`: target *t* is executed;
//! - `{"compare": t, "relation": r, "left": a, "right": b}`: two numbers or two texts are
//!   compared; *t* is the target of the outcome true, *t* + 1 that of false;
//! - `{"flag": t, "value": v}`: a condition of which only the verdict is known.
//!
//! `reached` lists `[target, action, distance]`, the distance zero for covered.

use std::io;

use serde_json::Value;

/// A scenario that cannot be played.
pub type Problem = Box<dyn std::error::Error>;

/// All scenarios, with the names of their files.
///
/// # Errors
///
/// When a file cannot be read or is no JSON.
pub fn all() -> Result<Vec<(String, Value)>, Problem> {
    let mut scenarios = Vec::new();
    for entry in std::fs::read_dir(crate::folder().join("scenarios"))? {
        let entry = entry?;
        let text = std::fs::read_to_string(entry.path())?;
        let name = entry.file_name().to_string_lossy().into_owned();
        scenarios.push((name, serde_json::from_str(&text)?));
    }
    scenarios.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(scenarios)
}

/// What a driver offers so that scenarios can be played on it.
pub trait Player {
    /// The core begins a candidate.
    fn candidate(&mut self);
    /// The core begins an action.
    fn action(&mut self, action: u16);
    /// A statement is executed.
    fn hit(&mut self, target: u32);
    /// Two numbers are compared.
    fn numbers(&mut self, target: u32, relation: &str, left: f64, right: f64);
    /// Two texts are compared.
    fn texts(&mut self, target: u32, relation: &str, left: &str, right: &str);
    /// A condition has a verdict.
    fn flag(&mut self, target: u32, value: bool);
}

/// Plays the steps of a scenario.
///
/// # Errors
///
/// When a step is none of those above.
pub fn play(scenario: &Value, on: &mut dyn Player) -> Result<(), Problem> {
    let steps = scenario["steps"].as_array().ok_or("`steps` is missing")?;
    for step in steps {
        let number = |name: &str| {
            let value = step.get(name)?;
            value.as_u64().and_then(|n| u32::try_from(n).ok())
        };
        if step.get("candidate").is_some() {
            on.candidate();
        } else if let Some(action) = number("action") {
            on.action(u16::try_from(action)?);
        } else if let Some(target) = number("hit") {
            on.hit(target);
        } else if let Some(target) = number("compare") {
            let relation = step["relation"].as_str().ok_or("`relation` is missing")?;
            match (&step["left"], &step["right"]) {
                (Value::String(left), Value::String(right)) => {
                    on.texts(target, relation, left, right);
                }
                (Value::Number(left), Value::Number(right)) => {
                    let float = |n: &serde_json::Number| n.as_f64().ok_or("not a number");
                    on.numbers(target, relation, float(left)?, float(right)?);
                }
                _ => return Err("operands must be two numbers or two texts".into()),
            }
        } else if let (Some(target), Some(value)) = (number("flag"), step["value"].as_bool()) {
            on.flag(target, value);
        } else {
            return Err(io::Error::other(format!("no such step: {step}")).into());
        }
    }
    Ok(())
}

/// What must stand in the map: target, action, distance.
///
/// # Errors
///
/// When the list has another shape.
pub fn reached(scenario: &Value) -> Result<Vec<(u32, u16, f64)>, Problem> {
    let list = scenario["reached"]
        .as_array()
        .ok_or("`reached` is missing")?;
    list.iter()
        .map(|entry| {
            let target = entry[0].as_u64().ok_or("a target is a number")?;
            let action = entry[1].as_u64().ok_or("an action is a number")?;
            let distance = entry[2].as_f64().ok_or("a distance is a number")?;
            Ok((u32::try_from(target)?, u16::try_from(action)?, distance))
        })
        .collect()
}
