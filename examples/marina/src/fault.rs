//! The planted faults. `FAULTS.md` describes each as a tester would report it.

use clap::ValueEnum;

/// One planted fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Fault {
    /// A report over no days at all divides by zero: 500.
    OccupancyOfNoDays,
    /// The search text is pasted into the SQL: 500 on a quote.
    SearchPastesSql,
    /// A boat of unknown draft has the text "unknown" where a number is promised.
    DraftIsText,
    /// A stay that ends before it begins gets a status nobody documented.
    UndocumentedStatus,
    /// A boat of impossible length is welcome.
    AnyLengthWillDo,
    /// A deleted berth can still be fetched.
    BerthOutlivesDelete,
    /// PUT adds the tags to those that are there.
    TagsPileUp,
    /// A refused change of a booking has already stored the notes.
    RefusedChangeSticks,
    /// The Location of a new invoice has no target.
    LocationLeadsNowhere,
    /// Reading an urgent notice removes it.
    ReadingRemoves,
    /// Anybody may post a notice.
    AnonymousNotice,
    /// Every user may read every booking.
    OthersBookings,
    /// 403 tells that somebody else's invoice exists.
    InvoiceExists,
    /// A second berth of the same number answers with a stack trace: 500.
    BerthTrace,
    /// Paying more than is due drops the connection.
    OverpaymentDrops,
    /// A booking that is refused because the boat is too long is stored all the same.
    RefusedBookingStays,
    /// Cancelling a booking takes the invoices of all others along.
    CancellingTakesInvoices,
    /// Asking for the occupancy cuts the power of free berths.
    OccupancyCutsPower,
    /// Changing the length of a berth cuts its power.
    LengthCutsPower,
    /// Replacing a boat does not store a deep draft.
    DeepDraftForgotten,
}

/// The faults that a running service has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faults(u32);

impl Faults {
    /// All of them.
    #[must_use]
    pub fn all() -> Self {
        Fault::value_variants().iter().copied().collect()
    }

    /// None: the service does what its document says.
    #[must_use]
    pub fn none() -> Self {
        Self(0)
    }

    /// Whether the service has this fault.
    #[must_use]
    pub fn has(self, fault: Fault) -> bool {
        self.0 & (1 << fault as u32) != 0
    }
}

impl FromIterator<Fault> for Faults {
    fn from_iter<I: IntoIterator<Item = Fault>>(faults: I) -> Self {
        Self(
            faults
                .into_iter()
                .fold(0, |bits, fault| bits | 1 << fault as u32),
        )
    }
}
