//! The sections of a report on code, database, external services and limitations.

use std::sync::PoisonError;

use isobath_emit::findings::{
    CodeView, ConstraintView, DatabaseView, DriftView, FileView, MissedBranch, OutboundView,
    RestLimitation, RuleView, Share, StatementView, ViolationView,
};

use super::FinishedRun;
use crate::feedback;
use crate::openapi::{Api, Operation, StatusPattern};

/// What the build of an instrumented service says about its code.
#[derive(Clone, Debug, Default)]
pub struct InstrumentedCode {
    /// Instrumented places.
    pub instrumented: u64,
    /// Places that cannot be instrumented.
    pub not_instrumentable: u64,
    /// Places that were left as they are because the code did not compile otherwise.
    pub dropped: Vec<String>,
    /// Crates and files that were not instrumented, and why.
    pub not_instrumented: Vec<String>,
}

impl FinishedRun<'_> {
    /// The database section of the report.
    pub(super) fn database(&self) -> Option<DatabaseView> {
        let rows = self.outcome.rows.as_ref()?;
        let name = |operation: usize| {
            let operation = self.service.api.operations.get(operation);
            operation.map(Operation::name).unwrap_or_default()
        };
        let constraints = rows.constraints.iter().map(|constraint| ConstraintView {
            table: constraint.table.clone(),
            constraint: constraint.constraint.clone(),
            name: constraint.name.clone(),
            operations: constraint
                .by
                .iter()
                .map(|(operation, tally)| ViolationView {
                    operation: name(*operation),
                    refused: tally.refused,
                    failed: tally.failed,
                    accepted: tally.accepted,
                })
                .collect(),
        });
        let drift = rows.drift.iter().map(|drift| DriftView {
            operation: drift.operation.clone(),
            property: drift.property.clone(),
            column: drift.column.clone(),
            document: drift.document.clone(),
            database: drift.database.clone(),
        });
        let limitations = rows.limitations.iter();
        Some(DatabaseView {
            address: rows.place.clone(),
            resets: rows.cost.resets,
            reset_seconds: rows.cost.resetting.as_secs_f64(),
            checks: rows.cost.checks,
            check_seconds: rows.cost.checking.as_secs_f64(),
            not_reset: rows.not_kept.clone(),
            limitations: limitations
                .map(|limitation| format!("{}: {}", limitation.input, limitation.why))
                .collect(),
            constraints: constraints.collect(),
            drift: drift.collect(),
            statements: self.statements(),
        })
    }

    /// The statements that the service looked for rows with.
    fn statements(&self) -> Vec<StatementView> {
        let seen = self.outcome.database.iter().flat_map(|data| &data.seen);
        seen.map(|statement| StatementView {
            shape: statement.shape.clone(),
            example: statement.example.clone(),
            times: statement.times,
            found: statement.found,
            rules: statement
                .rules
                .iter()
                .map(|rule| RuleView {
                    label: rule.label.clone(),
                    description: rule.description.clone(),
                    covered: rule.nearest == 0.0,
                    distance: (rule.nearest > 0.0 && rule.nearest.is_finite())
                        .then_some(rule.nearest),
                })
                .collect(),
        })
        .collect()
    }

    /// What of the code was covered.
    pub(super) fn code(&self) -> Option<CodeView> {
        let covered = self.outcome.code.as_ref()?;
        let share = |share: &feedback::CoverageCount| Share {
            covered: share.covered as u64,
            total: share.total as u64,
        };
        let files = covered.files.iter().map(|(name, file)| {
            let lines = |wanted: bool| {
                let lines = file.lines.iter();
                lines
                    .filter(move |(_, covered)| **covered == wanted)
                    .map(|(line, _)| *line)
                    .collect()
            };
            FileView {
                file: name.clone(),
                lines: share(&file.share()),
                branches: share(&file.branches),
                covered_lines: lines(true),
                missed_lines: lines(false),
                missed_branches: missed(&file.missed),
                source: (self.sources)(name),
            }
        });
        let mut view = CodeView {
            lines: share(&covered.lines),
            branches: share(&covered.branches),
            faults: share(&covered.faults),
            files: files.collect(),
            lost_events: self
                .service
                .with_driver(|feedback| feedback.lost_events())
                .unwrap_or_default(),
            ..CodeView::default()
        };
        if let Some(feedback) = &self.service.feedback {
            let feedback = feedback.lock().unwrap_or_else(PoisonError::into_inner);
            view.not_instrumented
                .extend_from_slice(feedback.uninstrumented());
        }
        if let Some(built) = &self.instrumented {
            view.instrumented = built.instrumented;
            view.not_instrumentable = built.not_instrumentable;
            view.dropped.extend_from_slice(&built.dropped);
            view.not_instrumented
                .extend_from_slice(&built.not_instrumented);
        }
        Some(view)
    }

    /// What of the document is not in the model, and which statements are not evaluated.
    pub(super) fn limitations(&self) -> Vec<RestLimitation> {
        let mut all = limitations(&self.service.api);
        let data = self.outcome.database.iter();
        all.extend(
            data.flat_map(|data| &data.unsupported)
                .map(|unable| RestLimitation {
                    what: format!("SQL statement not evaluated: {}", unable.why),
                    quote: unable.text.clone(),
                    location: "the database".into(),
                    count: unable.times,
                }),
        );
        all
    }

    /// Outbound requests of the service.
    pub(super) fn outgoing(&self) -> Vec<OutboundView> {
        let seen = self.outcome.outgoing.iter();
        let views = seen.map(|(outbound_request, tally)| OutboundView {
            service: outbound_request.service.to_string(),
            method: outbound_request.method.to_string(),
            path: outbound_request.path.to_string(),
            calls: tally.calls,
            statuses: tally.statuses.iter().map(|(a, b)| (*a, *b)).collect(),
            operations: tally
                .operations
                .iter()
                .map(|operation| self.service.api.operation(*operation).name())
                .collect(),
            mocked: !tally.statuses.is_empty() && !tally.encrypted,
            example: tally.example.clone(),
            note: if tally.encrypted {
                Some("encrypted, connection refused; pass the variable with its base URL with --mock".into())
            } else if tally.statuses.is_empty() {
                Some("observed by the driver, not mocked; add --mock to mock it".into())
            } else {
                None
            },
        });
        views.collect()
    }
}

fn missed(branches: &[feedback::MissedBranch]) -> Vec<MissedBranch> {
    let mut missed: Vec<MissedBranch> = branches
        .iter()
        .map(|branch| MissedBranch {
            line: branch.line,
            what: branch.what.clone(),
            score: branch.score,
        })
        .collect();
    missed.sort_by_key(|branch| branch.line);
    missed
}

/// A status as documents write it.
pub fn status(pattern: StatusPattern) -> String {
    match pattern {
        StatusPattern::Code(code) => code.to_string(),
        StatusPattern::Range(digit) => format!("{digit}XX"),
        StatusPattern::Default => "default".into(),
    }
}

/// What of the document is not in the model, once for each kind.
pub fn limitations(api: &Api) -> Vec<RestLimitation> {
    let first = |kind| {
        api.limitations
            .list
            .iter()
            .find(|limitation| limitation.kind == kind)
    };
    api.limitations
        .counts
        .iter()
        .map(|(kind, count)| RestLimitation {
            what: kind.name().into(),
            quote: first(*kind)
                .map(|limitation| limitation.detail.clone())
                .unwrap_or_default(),
            location: first(*kind)
                .map(|limitation| limitation.place.to_string())
                .unwrap_or_default(),
            count: *count as u64,
        })
        .collect()
}
