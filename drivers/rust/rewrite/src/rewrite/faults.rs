//! Places that may panic. Nothing is put there: a panic names its place itself.

use isobath_protocol::TargetKind;
use proc_macro2::Span;

use super::Rewriter;
use crate::text;

impl Rewriter<'_> {
    /// A place that may panic, and where the panic will say it is.
    pub(super) fn fault(&mut self, whole: Span, named: Span, what: &str) {
        if self.constant {
            return;
        }
        let range = self.range(whole);
        let target = self.targets(&[TargetKind::Fault], named, &range);
        if let Some(target) = self.targets.last_mut() {
            target.text = format!("{what}: {}", target.text);
        }
        let at = self.range(named).start;
        self.insert(at, text::column(target));
    }
}
