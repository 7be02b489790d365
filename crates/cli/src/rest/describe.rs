//! `--dry-run`: lists the operations, and the parts of the document that are not supported.

use isobath_emit::findings::RestLimitation;
use isobath_genes::{Gene, GeneConfig};
use isobath_rest::openapi::{Api, Operation, ParameterLocation};
use isobath_rest::report::{limitations, status};
use isobath_rest::resource::Resources;

use crate::terminal::{Terminal, Tone, plural};

/// Says what would be called: per operation its inputs (`*` must be sent), who makes what it needs, how many genes that is, and
/// what the document promises.
pub(super) fn describe(api: &Api, terminal: &Terminal) {
    let resources = Resources::of(api);
    let genes: Vec<usize> = api
        .operations
        .iter()
        .map(|operation| n_genes(api, operation))
        .collect();
    let title = if api.title.is_empty() {
        "untitled API"
    } else {
        &api.title
    };
    let server = api
        .servers
        .first()
        .filter(|server| !server.url.is_empty())
        .map(|server| format!(", at {}", server.url))
        .unwrap_or_default();
    terminal.insist(
        Tone::Plain,
        &format!(
            "{title}: {}, {}{server}",
            plural(api.operations.len(), "operation"),
            plural(genes.iter().sum(), "gene")
        ),
    );
    for (index, operation) in api.operations.iter().enumerate() {
        let note = match (operation.deprecated, operation.security.is_empty()) {
            (false, true) => "",
            (true, true) => "  deprecated",
            (false, false) => "  needs authentication",
            (true, false) => "  deprecated, needs authentication",
        };
        let line = format!("\n{:<7} {}{note}", operation.method, operation.path);
        terminal.insist(Tone::Good, &line);
        let inputs = inputs(operation);
        if !inputs.is_empty() {
            terminal.insist(Tone::Plain, &format!("        takes   {inputs}"));
        }
        for line in made_by(api, &resources, index) {
            terminal.insist(Tone::Plain, &format!("        {line}"));
        }
        let line = format!(
            "        returns {}; {}",
            answers(operation),
            plural(genes[index], "gene")
        );
        terminal.insist(Tone::Faint, &line);
    }
    if !api.limitations.counts.is_empty() {
        terminal.insist(Tone::Plain, "");
    }
    warn_limitations(api, terminal);
}

fn n_genes(api: &Api, operation: &Operation) -> usize {
    let mut rng = isobath_search::Rng::with_seed(0);
    let tuning = GeneConfig {
        optional: 1.0,
        ..GeneConfig::default()
    };
    let mut genes = 0;
    Gene::sample(&api.model, operation.input, &mut rng, &tuning).walk(|_| genes += 1);
    genes
}

fn inputs(operation: &Operation) -> String {
    let star = |required: bool| if required { "*" } else { "" };
    let mut inputs: Vec<String> = operation
        .parameters
        .iter()
        .map(|parameter| {
            let place = match parameter.location {
                ParameterLocation::Path | ParameterLocation::Query => "",
                ParameterLocation::Header => " (header)",
                ParameterLocation::Cookie => " (cookie)",
            };
            format!("{}{}{place}", parameter.name, star(parameter.required))
        })
        .collect();
    if let Some(body) = &operation.body {
        let types: Vec<&str> = body
            .media
            .iter()
            .map(|media| &*media.content_type)
            .collect();
        let line = format!("body{} ({})", star(body.required), types.join(", "));
        inputs.push(line);
    }
    inputs.join(", ")
}

/// For what an operation cannot do without, the operation that most likely makes it.
fn made_by(api: &Api, resources: &Resources, operation: usize) -> Vec<String> {
    let dependencies = resources.dependencies(operation).iter();
    dependencies
        .filter(|dependency| dependency.required)
        .filter_map(|dependency| {
            let best = dependency
                .producers
                .iter()
                .max_by_key(|producer| producer.weight)?;
            let name = dependency.pointer.rsplit('/').next().unwrap_or_default();
            let producer = api.operations[best.operation].name();
            Some(format!("needs   {name} from {producer}"))
        })
        .collect()
}

fn answers(operation: &Operation) -> String {
    if operation.responses.is_empty() {
        return "nothing documented".to_owned();
    }
    let statuses = operation
        .responses
        .iter()
        .map(|response| status(response.status));
    statuses.collect::<Vec<_>>().join(" ")
}

/// Prints unsupported parts of the document, once per kind.
pub(super) fn warn_limitations(api: &Api, terminal: &Terminal) {
    for limitation in limitations(api) {
        let RestLimitation {
            what,
            quote,
            location,
            count,
        } = limitation;
        let more = match count {
            0 | 1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        let line = format!("not supported: {what}: {quote} ({location}){more}");
        terminal.say(Tone::Warning, &line);
    }
}
