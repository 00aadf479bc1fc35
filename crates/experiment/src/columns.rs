//! Every column of every table of results, said once: name, unit, kind, how it is averaged, the
//! scale of its interval, which way is better, meaning.
//!
//! Headings, means and their intervals, the guard against axes that would hide a column, CSV,
//! Parquet, the JSON Schema of results, Python's typed rows and facts, and the reference page
//! follow from this table. Which columns a table has never depends on the values in it.

use serde_json::{Value, json};

/// The version of the tables of results and of the document that holds them. It rises when a column
/// is renamed or goes, not when one is added.
pub const RESULT_SCHEMA_VERSION: u32 = 2;

/// The kind of values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// Whole numbers from zero.
    Whole,
    /// Real numbers.
    Real,
}

/// How the values of several runs become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Averaged {
    /// Each run has the same value, for it describes the scenario.
    Same,
    /// The mean over the runs, with the ends of its 95 % confidence interval beside it ([`ENDS`]).
    Mean,
    /// Not at all: each run keeps its rows.
    Never,
}

/// Where an interval is symmetric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Any number: g(x) = x, Student's interval.
    Plain,
    /// Delays and rates, at least 0: g(x) = ln x.
    Log,
    /// Ratios in [0, 1]: g(x) = ln(x / (1 - x)).
    Logit,
}

/// Which of two values a user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The greater one.
    Higher,
    /// The smaller one.
    Lower,
    /// Neither: it describes.
    Neither,
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its name, which ends in its unit where it has one.
    pub name: &'static str,
    /// The kind of its values.
    pub kind: Kind,
    /// Its unit as people write it; empty for text and for numbers without a unit.
    pub unit: &'static str,
    /// How the values of several runs become one.
    pub averaged: Averaged,
    /// Where the interval of its mean is symmetric, and so the range of its values.
    pub scale: Scale,
    /// Whether it is a part of a whole, 0 to 1, which people read in percent.
    pub is_ratio: bool,
    /// The ratio of the same row whose interval it has, relative to its mean, where the two are in
    /// proportion over the runs: they are one number.
    pub of_ratio: Option<&'static str>,
    /// Whether it is one of the columns that tell the rows of a run apart.
    pub is_key: bool,
    /// Whether it is an instant and no duration.
    pub is_instant: bool,
    /// Which of two values a user wants.
    pub better: Better,
    /// Whether a row may be without a value, and when.
    pub missing: Option<&'static str>,
    /// What it means.
    pub doc: &'static str,
}

/// A table of results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableOf {
    /// Its name: the name of its file, and of its member of the document.
    pub name: &'static str,
    /// The thing that each row is about, as text.
    pub row: &'static str,
    /// What its typed rows are called in Python.
    pub class: &'static str,
    /// Its columns in their order.
    pub columns: &'static [Column],
}

/// What follows the name of a mean for the ends of its 95 % confidence interval.
pub const ENDS: [&str; 2] = ["_low", "_high"];

/// The column that tells runs apart where a row is of one run.
pub const SEED: Column = whole("seed", "", "The seed of the run.").same();

const fn column(name: &'static str, unit: &'static str, doc: &'static str) -> Column {
    Column {
        name,
        kind: Kind::Real,
        unit,
        averaged: Averaged::Mean,
        scale: Scale::Log,
        is_ratio: false,
        of_ratio: None,
        is_key: false,
        is_instant: false,
        better: Better::Neither,
        missing: None,
        doc,
    }
}

const fn text(name: &'static str, doc: &'static str) -> Column {
    Column { kind: Kind::Text, averaged: Averaged::Same, scale: Scale::Plain, ..column(name, "", doc) }
}

/// A text that tells rows apart.
const fn key(name: &'static str, doc: &'static str) -> Column {
    text(name, doc).key()
}

const fn whole(name: &'static str, unit: &'static str, doc: &'static str) -> Column {
    Column { kind: Kind::Whole, ..column(name, unit, doc) }
}

/// A column of numbers that are never negative.
const fn real(name: &'static str, unit: &'static str, doc: &'static str) -> Column {
    column(name, unit, doc)
}

/// A column of ratios: parts of a whole, 0 to 1.
const fn ratio(name: &'static str, doc: &'static str) -> Column {
    Column { scale: Scale::Logit, is_ratio: true, ..column(name, "", doc) }
}

impl Column {
    const fn higher(self) -> Self {
        Self { better: Better::Higher, ..self }
    }

    const fn lower(self) -> Self {
        Self { better: Better::Lower, ..self }
    }

    const fn of_ratio(self, ratio: &'static str) -> Self {
        Self { of_ratio: Some(ratio), ..self }
    }

    /// This column with values from 0 to 1 that are no part of a whole.
    const fn between_0_and_1(self) -> Self {
        Self { scale: Scale::Logit, ..self }
    }

    /// This column with values that may be negative.
    const fn signed(self) -> Self {
        Self { scale: Scale::Plain, ..self }
    }

    const fn key(self) -> Self {
        Self { is_key: true, ..self }
    }

    const fn instant(self) -> Self {
        Self { is_instant: true, ..self }
    }

    const fn same(self) -> Self {
        Self { averaged: Averaged::Same, ..self }
    }

    const fn never(self) -> Self {
        Self { averaged: Averaged::Never, ..self }
    }

    /// May have no value: `when`.
    const fn or_none(self, when: &'static str) -> Self {
        Self { missing: Some(when), ..self }
    }
}

impl TableOf {
    /// Whether the rows of several runs become one.
    #[must_use]
    pub fn is_averaged(&self) -> bool {
        self.columns.iter().all(|column| column.averaged != Averaged::Never)
    }

    /// The column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name == name)
    }
}

const NO_PACKET: &str = "no packet reached the sink";
const NO_TRANSFER: &str = "no transfer came to its end";

/// A row for each flow.
pub const FLOWS: TableOf = TableOf {
    name: "flows",
    row: "a flow",
    class: "Flow",
    columns: &[
        key("flow", "The flow's name; copies of an entry are numbered: `name.1`, `name.2`, …"),
        text("from", "The node that sends the data."),
        text("to", "The node that receives them."),
        text("traffic", "The traffic source."),
        text("transport", "The transport, which is the congestion control for TCP."),
        real("weight", "", "The flow's weight.").same(),
        whole("throughput_packets", "packets", "Data packets that reached the sink, repeated ones too.")
            .of_ratio("share")
            .higher(),
        real("throughput_bit_per_s", "bit/s", "Their bits on the line, headers included, over the measured time.")
            .of_ratio("share")
            .higher(),
        whole("goodput_packets", "packets", "Data packets that reached the sink for the first time.")
            .of_ratio("share")
            .higher(),
        whole("in_time", "packets", "Of these, packets that came by their deadline.")
            .higher()
            .or_none("the flow has no deadline"),
        whole("sent", "packets", "Data packets sent, each transmission counted."),
        whole("retransmitted", "packets", "Of these, packets that had been sent before.").lower(),
        whole("dropped", "packets", "Data packets that a queue dropped.").lower(),
        whole("lost", "packets", "Data packets that a link lost on the way.").lower().or_none("no link loses packets"),
        whole("marked", "packets", "Data packets that a queue marked with congestion experienced.").lower(),
        real("rtt_s_mean", "s", "Mean round-trip time, of the samples of the sender's estimator.")
            .lower()
            .or_none("the sender took no sample"),
        real("delay_s_mean", "s", "Mean time from the sending of a data packet to its arrival.")
            .lower()
            .or_none(NO_PACKET),
        real("delay_s_p50", "s", "Median of that time, within 0.8 %.").lower().or_none(NO_PACKET),
        real("delay_s_p95", "s", "95th percentile of that time, within 0.8 %.").lower().or_none(NO_PACKET),
        real("delay_s_p99", "s", "99th percentile of that time, within 0.8 %.").lower().or_none(NO_PACKET),
        real("delay_s_max", "s", "Greatest such time.").lower().or_none(NO_PACKET),
        real(
            "queueing_s_mean",
            "s",
            "Mean queueing delay: the delay of a data packet without propagation and its own transmission on each line \
             of its path. Jitter counts as queueing, and so does the wait for an opportunity of a delivery trace.",
        )
        .lower()
        .or_none(NO_PACKET),
        real("queueing_s_p50", "s", "Median queueing delay, within 0.8 %.").lower().or_none(NO_PACKET),
        real("queueing_s_p95", "s", "95th percentile of the queueing delay, within 0.8 %.").lower().or_none(NO_PACKET),
        real("queueing_s_p99", "s", "99th percentile of the queueing delay, within 0.8 %.").lower().or_none(NO_PACKET),
        real("queueing_s_max", "s", "Greatest queueing delay.").lower().or_none(NO_PACKET),
        ratio("share", "The goodput as a part of the rate of the slowest line of its path, 0 to 1.")
            .higher()
            .or_none("no line of the path has a rate"),
    ],
};

/// A row for each direction of each link.
pub const LINKS: TableOf = TableOf {
    name: "links",
    row: "a direction of a link",
    class: "Link",
    columns: &[
        key("link", "The link's name."),
        key("direction", "`forward` is from the link's `from` to its `to`, `reverse` the other way."),
        whole(
            "rate_bit_per_s",
            "bit/s",
            "The link's rate; of one that changes, the mean of its trace or the middle of its walk.",
        )
        .same()
        .or_none("the rate is unlimited"),
        real("delay_s", "s", "Its propagation delay.").same(),
        whole("packets", "packets", "Packets sent on it."),
        whole("bytes", "bytes", "Their bytes, with the header of the link layer."),
        whole("lost", "packets", "Of these packets, those that were lost on the way.")
            .lower()
            .or_none("no link loses packets"),
        ratio("utilisation", "The part that was used, 0 to 1, of what it could send in the measured time.")
            .higher()
            .or_none("the rate is unlimited"),
    ],
};

/// A row for each queue.
pub const QUEUES: TableOf = TableOf {
    name: "queues",
    row: "the queue before a direction of a link",
    class: "Queue",
    columns: &[
        key("link", "The link's name."),
        key("direction", "`forward` is from the link's `from` to its `to`, `reverse` the other way."),
        text("discipline", "The discipline: its parts by name."),
        text("discipline_settings", "The discipline with those of its settings that are not their defaults."),
        text("limit", "How much may wait."),
        whole("dropped", "packets", "Packets that it dropped.").lower(),
        whole("marked", "packets", "Packets that it marked with congestion experienced.").lower(),
        real("waiting_packets_mean", "packets", "Mean over time of the packets that waited.").lower(),
        whole("waiting_packets_max", "packets", "The most packets that waited.").lower(),
        ratio("utilisation", "The part of its line's capacity that was used, 0 to 1.").higher()
            .or_none("the rate is unlimited"),
        ratio(
            "overtaken",
            "The part of the packets sent, 0 to 1, before which a packet that arrived later was sent; zero for FIFO.",
        ).lower()
        .or_none("no packet was sent"),
        real(
            "jain",
            "",
            "Jain's index of fairness over the throughput per weight of the flows whose data crossed it, 1 when all are \
             equal. Flows that do not always have data to send are left out where others do.",
        ).between_0_and_1().higher()
        .or_none("no data of a flow crossed it"),
        real("sparse", "flows", "Mean over time of the flows that woke a short while ago, or decay (CAKE).")
            .or_none("its flows are of no such kinds"),
        real("bulk", "flows", "Mean over time of the flows that take turns (CAKE).")
            .or_none("its flows are of no such kinds"),
        real(
            "unresponsive",
            "flows",
            "Mean over time of the flows that went on to overflow and are dropped from at random (CAKE).",
        )
        .or_none("its flows are of no such kinds"),
    ],
};

/// Rows for the transfers of each flow.
pub const TRANSFERS: TableOf = TableOf {
    name: "transfers",
    row: "the transfers of a flow of all sizes, and of each decade of bytes that occurred",
    class: "Transfer",
    columns: &[
        key("flow", "The flow's entry."),
        text("traffic", "The traffic source."),
        text("transport", "The transport."),
        key("size", "`all`, or a decade of bytes such as `1 kB to 10 kB`, its upper end excluded."),
        whole("completed", "", "Transfers that came to their end.").higher(),
        whole("completed_bytes", "bytes", "Their bytes.").higher(),
        real("completion_s_mean", "s", "Mean time from a transfer's beginning to its last acknowledgement.")
            .lower()
            .or_none(NO_TRANSFER),
        real("completion_s_p50", "s", "Median of that time, within 0.1 %.").lower().or_none(NO_TRANSFER),
        real("completion_s_p95", "s", "95th percentile of that time, within 0.1 %.").lower().or_none(NO_TRANSFER),
        real("completion_s_p99", "s", "99th percentile of that time, within 0.1 %.").lower().or_none(NO_TRANSFER),
        real("slowdown_mean", "", "Mean of that time over the least that the path allows.")
            .lower()
            .or_none(NO_TRANSFER),
        real("slowdown_p50", "", "Median slowdown.").lower().or_none(NO_TRANSFER),
        real("slowdown_p95", "", "95th percentile of the slowdown.").lower().or_none(NO_TRANSFER),
        real("slowdown_p99", "", "99th percentile of the slowdown.").lower().or_none(NO_TRANSFER),
        whole("in_time", "", "Of those completed, transfers that took no longer than their deadline.")
            .higher()
            .or_none("the flow has no deadline"),
        whole("refused", "", "Transfers for which no connection was idle.").lower().or_none("the row is of one size"),
        real("in_progress_mean", "", "Mean over time of the transfers in progress.").or_none("the row is of one size"),
    ],
};

/// A row for each receiver of each multicast session.
pub const SESSIONS: TableOf = TableOf {
    name: "sessions",
    row: "a receiver of a multicast session",
    class: "Session",
    columns: &[
        key("session", "The session's name."),
        key("receiver", "The receiver's name."),
        text("at", "The node at which it is."),
        text("control", "How it chooses its layers."),
        whole("layers", "", "Layers of the session.").same(),
        real("level_mean", "", "Mean over time of the layers that it took.").higher(),
        whole("level_end", "", "Layers that it took at the end."),
        whole("level_changes", "", "How often it took or left a layer.").lower(),
        real("goodput_bit_per_s", "bit/s", "Of its layers, what reached it, over the measured time.").higher(),
        whole("packets", "packets", "Packets of its layers that reached it."),
        whole("lost_packets", "packets", "Packets of its layers that did not.").lower(),
        ratio("loss", "The part of the packets of its layers that did not reach it, 0 to 1.")
            .lower()
            .or_none("none was sent to it"),
        real("target_s", "s", "Time from its start until it first took as many layers as its target.")
            .lower()
            .or_none("it has no target, or did not reach it"),
    ],
};

const OF_OTHERS: &str = "the row is of something else";

/// Samples over time.
pub const SERIES: TableOf = TableOf {
    name: "series",
    row: "a sample of a flow, a queue or a receiver",
    class: "Sample",
    columns: &[
        real("time_s", "s", "The end of the interval, from the start of the run.").instant().key().never(),
        key("flow", "The flow that was sampled.").never().or_none(OF_OTHERS),
        key("link", "The link whose queue was sampled.").never().or_none(OF_OTHERS),
        key("direction", "The direction of that link.").never().or_none(OF_OTHERS),
        real("throughput_bit_per_s", "bit/s", "What reached the flow's sink in the interval.").higher()
            .never()
            .or_none(OF_OTHERS),
        real("window_packets", "packets", "The sender's congestion window at the end of the interval.")
            .never()
            .or_none("the transport has no window"),
        whole("flight_packets", "packets", "Packets in flight, as the sender counts them, at the end of the interval.")
            .never()
            .or_none("the transport counts none"),
        real("rtt_s", "s", "The sender's smoothed round-trip time at the end of the interval.").lower()
            .never()
            .or_none("the sender has taken no sample"),
        real(
            "pacing_bit_per_s",
            "bit/s",
            "The rate at which the sender spreads its packets, at the end of the interval.",
        )
        .never()
        .or_none("it does not pace"),
        text(
            "phase",
            "The phase of its congestion control at the end of the interval, in the words of the control's source: `slow \
             start`, `ProbeBW_UP`; `recovery` while losses are repaired.",
        )
        .never()
        .or_none("the transport has no congestion control"),
        whole("held_packets", "packets", "Packets in the queue, that in transmission included.")
            .never()
            .or_none(OF_OTHERS),
        key("session", "The multicast session of the receiver.").never().or_none(OF_OTHERS),
        key("receiver", "The receiver that was sampled.").never().or_none(OF_OTHERS),
        whole("level", "", "Layers that it takes.").never().or_none(OF_OTHERS),
    ],
};

/// Each packet of a flow.
pub const PACKETS: TableOf = TableOf {
    name: "packets",
    row: "a data packet of the flow that was asked for",
    class: "Packet",
    columns: &[
        key("flow", "The flow's name.").never(),
        real("sent_s", "s", "When it was sent, from the start of the run.").instant().key().never(),
        real("received_s", "s", "When it arrived.").instant().never().or_none("it was dropped or lost"),
        whole("bytes", "bytes", "Its length.").never(),
    ],
};

/// What the disciplines count and keep.
pub const STATES: TableOf = TableOf {
    name: "states",
    row: "a number that a discipline shows, as `tc -s` does, at the end or at a sample",
    class: "State",
    columns: &[
        real(
            "time_s",
            "s",
            "When it was read, from the start of the run: the end of the run, or of a sample's interval.",
        )
        .instant()
        .key()
        .never(),
        key("link", "The link's name.").never(),
        key("direction", "The direction of the link.").never(),
        text("discipline", "The discipline: its parts by name.").never(),
        key("quantity", "What the number is of.").never(),
        text("subqueue", "The queue, class, tin or flow of the discipline; empty if the number is of all of it.")
            .never(),
        text("unit", "The unit of the number; empty if it has none.").never(),
        real("value", "", "The number: since the start of the run if it is a count.").signed().never(),
    ],
};

const SILENT: &str = "the theory does not speak of the flow";

/// What theory says of each flow, beside what was measured (`fairq run --overlay`,
/// python/fairq/theories/overlay.py).
pub const THEORY: TableOf = TableOf {
    name: "theory",
    row: "a flow, with what theory says of it",
    class: "Theory",
    columns: &[
        key("flow", "The flow's name."),
        real("throughput_bit_per_s", "bit/s", "As in `flows`.").higher().same(),
        real("max_min_bit_per_s", "bit/s", "Its max-min fair share.").same().or_none(SILENT),
        real("max_min_gap", "", "Throughput over that, less one.").signed().same().or_none(SILENT),
        real("delay_s_mean", "s", "As in `flows`.").lower().same().or_none(NO_PACKET),
        real("delay_s_p99", "s", "As in `flows`.").lower().same().or_none(NO_PACKET),
        real("delay_s_max", "s", "The greatest delay over all seeds.").lower().same().or_none(NO_PACKET),
        real("delay_bound_s", "s", "The bound of Parekh and Gallager on its delay.").same().or_none(SILENT),
        real("delay_bound_gap", "", "Greatest delay over that, less one.").signed().same().or_none(SILENT),
        real("mathis_bit_per_s", "bit/s", "Throughput by Mathis and others.").same().or_none(SILENT),
        real("mathis_gap", "", "Throughput over that, less one.").signed().same().or_none(SILENT),
        real("padhye_bit_per_s", "bit/s", "Throughput by Padhye and others.").same().or_none(SILENT),
        real("padhye_gap", "", "Throughput over that, less one.").signed().same().or_none(SILENT),
    ],
};

/// The max-min shares of flows (`fairq theory max-min`), which no document of a run has.
pub const SHARES: TableOf = TableOf {
    name: "shares",
    row: "a flow, with its max-min fair share",
    class: "Share",
    columns: &[
        key("flow", "The flow's name."),
        real("weight", "", "The flow's weight.").same(),
        real("demand_bit_per_s", "bit/s", "What its traffic offers.").same().or_none("it sends as much as it can"),
        real("share_bit_per_s", "bit/s", "Its share, the mean over the measured time.")
            .same()
            .or_none("the traffic is transfers, or there are sessions"),
    ],
};

/// What each flow got in equal stretches of a run, its warm-up included: from it questions find out
/// whether what they measure stands still. No document of a run has it.
pub const COURSE: TableOf = TableOf {
    name: "course",
    row: "a flow in a stretch of the run",
    class: "Stretch",
    columns: &[
        real("time_s", "s", "The end of the stretch.").instant().key().never(),
        key("flow", "The flow's name.").never(),
        whole("packets", "packets", "Packets that reached the sink.").never(),
        real("goodput_bit_per_s", "bit/s", "Data that arrived for the first time, headers included.").higher().never(),
        real("queueing_s_mean", "s", "Mean queueing delay of these packets.").lower().never().or_none(NO_PACKET),
    ],
};

/// The packets that wait or are being sent at one instant of a run that is held.
pub const WAITING: TableOf = TableOf {
    name: "waiting",
    row: "a packet that waits or is being sent at the present instant",
    class: "Waiting",
    columns: &[
        key("link", "The link's name.").never(),
        key("direction", "The direction of the link.").never(),
        whole("place", "", "Its place in its queue, from 1; 0 is the packet being sent.").key().never(),
        whole("queue_number", "", "The number of its queue in the discipline.")
            .key()
            .never()
            .or_none("if it is being sent"),
        text("flow", "The flow's name.").never(),
        whole("packet", "", "Its name while it is under way, by which it can be dropped, marked or held.").never(),
        whole("sequence", "", "Its number in its flow; an acknowledgement has that of the packet it answers.").never(),
        whole("packet_bytes", "bytes", "Its bytes on the link.").never(),
        real("arrived_s", "s", "When it came to the queue.").instant().never(),
        real("ends_s", "s", "When its transmission ends.").instant().never().or_none("if it waits"),
        real("start", "", "Its start tag S, in bytes of a flow of weight 1.")
            .signed()
            .never()
            .or_none("if its scheduler gives none"),
        real("finish", "", "Its finish tag F, as S.").signed().never().or_none("if its scheduler gives none"),
        real("rank", "", "The rank by which it leaves, the least first.")
            .signed()
            .never()
            .or_none("if its scheduler gives none"),
    ],
};

/// The packets that passed a line of a run that is held, beside the fluid of the same packets.
pub const TIMELINE: TableOf = TableOf {
    name: "timeline",
    row: "a packet that came to a link",
    class: "Passage",
    columns: &[
        key("link", "The link's name.").never(),
        key("direction", "The direction of the link.").never(),
        whole("serial", "", "Its number among those that came to the link, from 0.").key().never(),
        text("flow", "The flow's name.").never(),
        whole("sequence", "", "Its number in its flow; an acknowledgement has that of the packet it answers.").never(),
        whole("packet_bytes", "bytes", "Its bytes on the link.").never(),
        real("arrived_s", "s", "When it came.").instant().never(),
        real("began_s", "s", "When its transmission began.").instant().never().or_none("if it has not begun"),
        real("sent_s", "s", "When its transmission ended.").instant().never().or_none("if it has not ended"),
        real("start", "", "Its start number S in the fluid, in bytes of a flow of weight 1.")
            .signed()
            .never()
            .or_none("if it was refused, or the link has no fluid"),
        real("finish", "", "Its finish number F, as S.")
            .signed()
            .never()
            .or_none("if it was refused, or the link has no fluid"),
        real("fluid_s", "s", "When it left the fluid.").instant().never().or_none("if it has not"),
        text("fate", "What became of it: `sent`, `dropped`, or `waits` still.").never(),
        real("dropped_s", "s", "When it was dropped.").instant().never().or_none("if it was not"),
        text("reason", "Why it was dropped.").never().or_none("if it was not"),
        whole("marked", "", "1 if it was marked here, else 0.").lower().never(),
    ],
};

/// What the fluid beside a line had served.
pub const FLUID: TableOf = TableOf {
    name: "fluid",
    row: "a flow at an instant at which the shares of the fluid changed",
    class: "Served",
    columns: &[
        real("time_s", "s", "When.").instant().key().never(),
        key("flow", "The flow's name.").never(),
        real("served_bytes", "bytes", "What the fluid had served since the run began; linear between two instants.")
            .never(),
    ],
};

/// Tables that no document of a run has, and a page of its own explains.
pub const OF_HELD_RUNS: [&str; 4] = ["course", "waiting", "timeline", "fluid"];

/// All tables, those of a document of a run in the order in which it has them.
pub const TABLES: [&TableOf; 14] = [
    &FLOWS, &LINKS, &QUEUES, &TRANSFERS, &SESSIONS, &SERIES, &PACKETS, &STATES, &COURSE, &WAITING, &TIMELINE, &FLUID,
    &THEORY, &SHARES,
];

/// Whether `name` is a column of some table, which an axis of that name would hide.
#[must_use]
pub fn is_column(name: &str) -> bool {
    // Tables of a run that is held have no axes beside them.
    let hidden = || TABLES.iter().filter(|table| ![WAITING.name, TIMELINE.name, FLUID.name].contains(&table.name));
    let is = |name: &str| SEED.name == name || hidden().any(|table| table.column(name).is_some());
    is(name) || ENDS.iter().any(|end| name.strip_suffix(end).is_some_and(is))
}

/// The tables with their columns, for programs: an array of objects.
#[must_use]
pub fn as_json() -> Value {
    let column = |column: &Column| {
        json!({
            "name": column.name,
            "kind": match column.kind {
                Kind::Text => "text",
                Kind::Whole => "whole",
                Kind::Real => "real",
            },
            "unit": column.unit,
            "averaged": match column.averaged {
                Averaged::Same => "same",
                Averaged::Mean => "mean",
                Averaged::Never => "never",
            },
            "scale": column.scale.to_string(),
            "ratio": column.is_ratio,
            "of_ratio": column.of_ratio,
            "key": column.is_key,
            "instant": column.is_instant,
            "better": match column.better {
                Better::Higher => "higher",
                Better::Lower => "lower",
                Better::Neither => "neither",
            },
            "missing": column.missing,
            "doc": column.doc,
        })
    };
    let table = |table: &&TableOf| {
        let columns: Vec<Value> = table.columns.iter().map(column).collect();
        json!({ "name": table.name, "row": table.row, "class": table.class, "columns": columns })
    };
    TABLES.iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_end_in_their_units_and_are_given_once() {
        for table in TABLES {
            for (at, column) in table.columns.iter().enumerate() {
                let earlier = table.columns[..at].iter().find(|other| other.name == column.name);
                assert_eq!(earlier, None, "{}", table.name);
                let words: Vec<&str> = column.name.split('_').collect();
                let has = |word: &str| words.contains(&word);
                match column.unit {
                    "s" => assert!(has("s") && !column.name.contains("per_s"), "{}", column.name),
                    "bit/s" => assert!(column.name.ends_with("bit_per_s"), "{}", column.name),
                    "bytes" => assert!(has("bytes"), "{}", column.name),
                    "" => assert!(!has("s") && !has("bytes"), "{}", column.name),
                    "packets" | "flows" => {}
                    unit => panic!("{}: the unit {unit} is not known", column.name),
                }
                assert!(column.doc.ends_with(['.', '…', ']']), "{}.{}: {}", table.name, column.name, column.doc);
                assert_eq!(column.kind == Kind::Text, column.unit.is_empty() && column.kind == Kind::Text);
                assert!(!ENDS.iter().any(|end| column.name.ends_with(end)), "{}", column.name);
            }
        }
    }

    /// Tables of Python ask by the name alone. The unit of a count may differ: packets or transfers
    /// are in time.
    #[test]
    fn a_name_has_the_same_facts_in_every_table() {
        let facts = |column: &Column| (column.scale, column.is_ratio, column.is_instant, column.better);
        let all = || TABLES.iter().flat_map(|table| table.columns);
        for column in all() {
            for other in all().filter(|other| other.name == column.name) {
                assert_eq!(facts(column), facts(other), "{}", column.name);
            }
            assert!(!column.is_ratio || column.scale == Scale::Logit, "{}", column.name);
        }
        for table in TABLES {
            let of_ratio = table.columns.iter().filter_map(|column| column.of_ratio);
            assert!(of_ratio.into_iter().all(|ratio| table.column(ratio).is_some_and(|column| column.is_ratio)));
        }
    }

    #[test]
    fn an_axis_may_not_hide_a_column() {
        for name in ["flow", "time_s", "throughput_bit_per_s_low", "seed", "mathis_gap", "overtaken_high"] {
            assert!(is_column(name), "{name}");
        }
        assert!(!is_column("buffer") && !is_column("policy_low"));
    }
}
