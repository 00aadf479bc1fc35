//! Notes: what limited a run that its user may not have meant, each with a code that programs can go by.
//!
//! A note is made from the plan and the result, never from a guess about the user: where the scenario itself names the limit,
//! there is none. What each code means stands in the table [`CODES`].

mod effects;
mod habits;
mod limits;
mod nothing;
mod pairs;
mod ties;

use super::document::AtPoint;
use super::table::{Cell, Table};
use crate::scenario::Scenario;
use crate::scenario::axes::Point;
use fairq_sched::units::{Limit, Time};
use fairq_sim::plan::{FlowPlan, LinePlan, Plan};
use serde::Serialize;
use std::collections::BTreeMap;

/// A note.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// One of [`CODES`].
    pub code: &'static str,
    /// The part of the scenario that it is about, as `--set` names it.
    #[serde(rename = "where")]
    pub place: String,
    /// What was found and what to write, in a sentence.
    pub text: String,
}

/// The codes, and when there is a note of each.
pub const CODES: [(&str, &str); 20] = [
    ("edition", "The scenario names no edition, and a default of the latest decided something."),
    ("topology", "The file of the topology lacks something, or a rate is guessed from a label."),
    (
        "window",
        "The receiver's window held a flow back for 1 % of the measured time or more; or the default window of a transport \
         of 1990 held a greedy one back, and no line on its path was busy.",
    ),
    (
        "send_buffer",
        "The sending host's room for packets that are not acknowledged held a flow back for 1 % of the time or more.",
    ),
    (
        "application",
        "A flow whose data have an end, as `ftp(packets=…)`, had none left for 1 % of the measured time or more.",
    ),
    (
        "access",
        "A greedy flow was held back by its access line: that alone was busy, or it is slower than the links and a packet \
         or more waited before it on average.",
    ),
    (
        "nothing",
        "No packet of a flow arrived in the measured time at any point of the axes, and not because queues dropped them for others'; or none passed a link before which some waited. The text says why.",
    ),
    (
        "queue",
        "At least 100 packets waited on average before a line that was never idle, in a buffer that the scenario does not name.",
    ),
    ("room", "A queue let no packet pass and dropped all, as one does that has less room than a packet."),
    (
        "start",
        "A flow or session starts at the end of the run or later, or at a random time that may be after the warm-up, at every \
         point of the axes.",
    ),
    ("class", "A flow names a class, and no queue on its path knows classes, at any point of the axes."),
    ("weight", "A flow has a weight, and no queue on its path goes by weights, at any point of the axes."),
    ("ecn", "A flow's packets may be marked, and no queue on its path marks, at any point of the axes."),
    ("packet", "The profile of a flow is `ns-2`, and its packets or acknowledgements are not of ns-2's sizes."),
    ("copa", "Three or more flows of `copa`, and no others, share a queue, and `competes` is not switched off."),
    (
        "pair",
        "Flows with the same two ends share a queue that takes them for one flow, and whose classifier is not named.",
    ),
    (
        "tie",
        "Equal sources of `constant_rate` without jitter share a FIFO that drops, and got shares that differ by more than a \
         tenth in some run.",
    ),
    (
        "oversubscribed",
        "The rates that classes of htb or cbs, or real-time curves of hfsc, guarantee are more together than what is above \
         them has.",
    ),
    ("trace", "A trace ends before its run, whose packets would make it too large, or is of one of several runs."),
    (
        "seeds",
        "The 95 % interval of a flow's throughput is wider than twice its mean: too few replications for its spread.",
    ),
];

/// From this part of its rate on a line counts as busy, and a window as used up.
const BUSY: f64 = 0.9;

/// From this part on a line counts as never idle.
const NEVER_IDLE: f64 = 0.995;

/// From this part of the greatest throughput on the end of an interval is worth a note.
const NOTICEABLE: f64 = 0.01;

/// A queue with more packets than this waiting on average is long.
const MANY: f64 = 100.0;

/// The notes on all points of `scenario`; `names_window` says whether an entry of its flows, by number, has its transport's window
/// written there.
#[must_use]
pub fn of<'a>(
    scenario: &Scenario,
    plans: impl Iterator<Item = &'a Plan>,
    points: &[AtPoint],
    names_window: &dyn Fn(&Point, usize) -> bool,
) -> Vec<Note> {
    // By the number of its code and its place: the first text, its point, and at how many points.
    let mut found: BTreeMap<(usize, String), (String, &Point, usize)> = BTreeMap::new();
    for (plan, at) in plans.zip(points) {
        for (code, place, text) in Finder::new(scenario, plan, at, names_window).all() {
            let code = CODES.iter().position(|(name, _)| *name == code).unwrap_or_default();
            found.entry((code, place)).or_insert((text, at.point(), 0)).2 += 1;
        }
    }
    // An axis that switches a flow off, or classes, does so on purpose; a flow that only some
    // queues starve is what the axis shows.
    let is_meant = |code: &str, place: &str, times: usize| {
        let is_of_axis = matches!(code, "start" | "class" | "weight" | "ecn");
        (is_of_axis || code == "nothing" && place.starts_with("flows.")) && times < points.len()
    };
    let note = |((code, place), (text, point, times)): ((usize, String), (String, &Point, usize))| {
        let code = CODES[code].0;
        let at = if times < points.len() { shown(point, times - 1) } else { String::new() };
        (!is_meant(code, &place, times)).then(|| Note { code, place, text: text + &at })
    };
    found.into_iter().filter_map(note).collect()
}

/// The note on what the latest edition decided for a scenario that names none.
#[must_use]
pub fn of_edition(decided: &[String]) -> Option<Note> {
    let text = format!(
        "edition 2, as the scenario names none: {}; write edition = 2 to keep this, or edition = 1 for the defaults of 1990",
        decided.join("; ")
    );
    (!decided.is_empty()).then(|| Note { code: "edition", place: "edition".to_string(), text })
}

/// The notes on the trace, if there is one: it is of the first run, and its packets end when it is
/// full.
#[must_use]
pub fn of_trace(points: &[AtPoint]) -> Vec<Note> {
    let Some((first, trace)) = points.first().and_then(|first| Some((first, first.trace()?))) else {
        return Vec::new();
    };
    let mut notes = Vec::new();
    let mut add = |place: &str, text| notes.push(Note { code: "trace", place: place.to_string(), text });
    if let Some(cut) = trace.cut_at() {
        let (cut, end, records) = (cut.as_s(), trace.end(), trace.records());
        let text = format!(
            "the packets of the trace end at {cut:.3} s of {end}, with {records} records, and its counters go on; write a \
             shorter duration"
        );
        add("measure.duration", text);
    }
    let runs: usize = points.iter().map(AtPoint::replications).sum();
    if runs > 1 {
        let at = if points.len() > 1 { shown(first.point(), 0) } else { String::new() };
        add("measure.replications", format!("the trace is of the first of {runs} runs{at}"));
    }
    notes
}

/// ` (at policy = fifo, and at 2 other points)`.
fn shown(point: &Point, others: usize) -> String {
    let value = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_string);
    let labels: Vec<String> = point.labels.iter().map(|(name, label)| format!("{name} = {}", value(label))).collect();
    let others = match others {
        0 => String::new(),
        1 => ", and at another point".to_string(),
        others => format!(", and at {others} other points"),
    };
    format!(" (at {}{others})", labels.join(", "))
}

/// A code, a place and a text.
type Found = (&'static str, String, String);

/// Finds the notes on one point.
struct Finder<'a> {
    scenario: &'a Scenario,
    plan: &'a Plan,
    at: &'a AtPoint,
    names_window: &'a dyn Fn(&Point, usize) -> bool,
    /// The part of its rate that each line sent; of access lines by the throughput of data.
    used: Vec<f64>,
    /// The greatest throughput of a flow, in bit/s.
    greatest: f64,
}

impl<'a> Finder<'a> {
    fn new(
        scenario: &'a Scenario,
        plan: &'a Plan,
        at: &'a AtPoint,
        names_window: &'a dyn Fn(&Point, usize) -> bool,
    ) -> Self {
        let mut used = vec![0.0; plan.lines.len()];
        let flows = &at.mean().flows;
        for (row, flow) in plan.flows.iter().enumerate() {
            let throughput = number(flows, "throughput_bit_per_s", row).unwrap_or(0.0);
            let lines =
                flow.path.forward().iter().map(|line| *line as usize).filter(|line| plan.lines[*line].is_access);
            for line in lines {
                used[line] += plan.lines[line].rate.map_or(0.0, |rate| throughput / rate.bit_per_s() as f64);
            }
        }
        let shown = (0..plan.lines.len()).filter(|line| !plan.lines[*line].is_access);
        for (row, line) in shown.enumerate() {
            used[line] = number(&at.mean().links, "utilisation", row).unwrap_or(0.0);
        }
        let throughputs = (0..plan.flows.len()).filter_map(|row| number(flows, "throughput_bit_per_s", row));
        let greatest = throughputs.fold(0.0, f64::max);
        Self { scenario, plan, at, names_window, used, greatest }
    }

    fn all(&self) -> Vec<Found> {
        let mut found: Vec<Found> = Vec::new();
        if !self.plan.of_topology.is_empty() {
            found.push(("topology", "topology".to_string(), self.plan.of_topology.join("; ")));
        }
        for (row, flow) in self.plan.flows.iter().enumerate() {
            found.extend(self.start(flow));
            found.extend(self.without_effect(flow));
            found.extend(self.sizes(flow));
            found.extend(self.held(row, flow));
            found.extend(self.window(row, flow).or_else(|| self.access(row, flow)));
        }
        let closed: Vec<Found> = self.closed().collect();
        found.extend(self.nothing(&closed));
        found.extend(closed);
        let end = self.end();
        let late = self.plan.sessions.iter().filter(|session| session.start >= end);
        found.extend(late.map(|session| late_start(format!("sessions.{}", session.name), session.start, end)));
        found.extend(self.queues());
        found.extend(self.ties());
        found.extend(self.crowds());
        found.extend(self.pairs());
        found.extend(self.oversubscribed());
        found.extend(self.seeds());
        // Of the copies of an entry the first speaks for all.
        found.dedup_by(|one, other| one.0 == other.0 && one.1 == other.1);
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|(code, place, _)| seen.insert((*code, place.clone())));
        found
    }

    fn place(&self, flow: &FlowPlan) -> String {
        // The plan and the scenario as written have the same entries, in the same order.
        let entry = self.scenario.flows.get(flow.entry.number);
        format!("flows.{}", entry.map_or(&*flow.name, |entry| entry.name.as_str()))
    }

    fn end(&self) -> Time {
        self.plan.warm_up.saturating_add(self.plan.duration)
    }

    /// The lines that have rows: the number of its row, its own number, and the line.
    fn shown_lines(&self) -> impl Iterator<Item = (usize, u32, &'a LinePlan)> {
        let shown = (0..).zip(&self.plan.lines).filter(|(_, line)| !line.is_access);
        shown.enumerate().map(|(row, (at, line))| (row, at, line))
    }

    fn start(&self, flow: &FlowPlan) -> Option<Found> {
        let end = self.end();
        let Some(start) = flow.entry.start else { return self.drawn_start(flow) };
        (start >= end).then(|| late_start(self.place(flow), start, end))
    }

    /// A random start that may miss the beginning of the measured time, which there is a
    /// warm-up for.
    fn drawn_start(&self, flow: &FlowPlan) -> Option<Found> {
        let (begin, within) = (self.plan.warm_up, flow.entry.start_within);
        let text = format!(
            "it starts at a random time within {within}, and the measured time begins at {begin}: write a warm_up of {within} \
             or more, or a start"
        );
        (begin > Time::ZERO && begin < within).then(|| ("start", self.place(flow), text))
    }

    /// Whether the flow had always something to send, for all or nearly all that was measured.
    fn is_greedy(&self, flow: &FlowPlan) -> bool {
        let begins = flow.entry.latest_start();
        let latest = self.plan.warm_up.0.saturating_add(self.plan.duration.0 / 10);
        flow.entry.traffic.is_endless() && flow.entry.stop.is_none() && begins.0 <= latest
    }

    fn is_busy(&self, line: u32) -> bool {
        self.used[line as usize] >= BUSY
    }

    /// Whether some line is that data or acknowledgements of the flow cross, access lines left out if `only_links` says so.
    fn meets_busy(&self, flow: &FlowPlan, only_links: bool) -> bool {
        let mut lines = flow.path.forward().iter().chain(flow.path.backward());
        lines.any(|line| self.is_busy(*line) && !(only_links && self.plan.lines[*line as usize].is_access))
    }

    /// One note for all flows: they have the same replications.
    fn seeds(&self) -> Option<Found> {
        let flows = &self.at.mean().flows;
        let interval = |row: usize| {
            let of = |column| number(flows, column, row);
            Some([of("throughput_bit_per_s_low")?, of("throughput_bit_per_s")?, of("throughput_bit_per_s_high")?])
        };
        // What a flow that is starved gets by chance is next to nothing, however often it is run.
        let is_wide = |[low, mean, high]: &[f64; 3]| high - low > 2.0 * mean && *high >= NOTICEABLE * self.greatest;
        let intervals = self.plan.flows.iter().enumerate().filter_map(|(row, flow)| Some((flow, interval(row)?)));
        let mut wide = intervals.filter(|(_, interval)| is_wide(interval));
        let (flow, [low, _, high]) = wide.next()?;
        let others = match wide.count() {
            0 => String::new(),
            1 => ", and that of another flow as wide".to_string(),
            others => format!(", and those of {others} other flows as wide"),
        };
        let text = format!(
            "{} leave the throughput of {} between {} and {}{others}; write more",
            self.at.replications(),
            flow.name,
            bit_rate(low),
            bit_rate(high)
        );
        Some(("seeds", "measure.replications".to_string(), text))
    }

    fn oversubscribed(&self) -> impl Iterator<Item = Found> {
        self.plan.lines.iter().filter(|line| !line.is_access).filter_map(|line| {
            let text = line.queue.oversubscribed(line.rate?)?;
            Some(("oversubscribed", format!("links.{}", line.name), text))
        })
    }

    fn queues(&self) -> impl Iterator<Item = Found> {
        let queues = &self.at.mean().queues;
        self.shown_lines().filter_map(move |(row, at, line)| {
            let waiting = number(queues, "waiting_packets_mean", row)?;
            if line.names_limit || self.used[at as usize] < NEVER_IDLE || waiting < MANY {
                return None;
            }
            let text = format!(
                "{waiting:.0} packets waited on average before it, {}, and it was never idle: no buffer is named, and so there is \
                 room for {}; write for example buffer = \"1 BDP\"",
                line.direction(),
                match line.queue.bound() {
                    Limit::Unlimited => "any number".to_string(),
                    limit => limit.to_string(),
                }
            );
            Some(("queue", format!("links.{}", line.name), text))
        })
    }
}

fn late_start(place: String, start: Time, end: Time) -> Found {
    ("start", place, format!("it starts at {start} and the run ends at {end}: it sent nothing; write an earlier start"))
}

fn number(table: &Table, column: &str, row: usize) -> Option<f64> {
    table.column(column).map(|cells| cells.at(row)).and_then(Cell::number)
}

/// A rate with three digits, in the unit that suits it.
fn bit_rate(bit_per_s: f64) -> String {
    let units = [(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
    let (size, unit) = units.into_iter().find(|(size, _)| bit_per_s.abs() >= *size).unwrap_or((1.0, "bit/s"));
    let value = bit_per_s / size;
    let digits = if value.abs() >= 100.0 {
        0
    } else if value.abs() >= 10.0 {
        1
    } else {
        2
    };
    format!("{value:.digits$} {unit}")
}

/// A ratio in percent, with two digits.
fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent < 9.95 { format!("{percent:.1} %") } else { format!("{percent:.0} %") }
}
