//! The runs of an audit: which there are, how each is run, and what is gathered.

use crate::arrivals::Pattern;
use crate::case::{self, Case};
use crate::draw::Draw;
use crate::driver::{Driver, End, Journey};
use crate::report::{Example, InvariantRow, MeasureRow, Report, Violation, Yardstick};
use crate::subject::Subject;
use crate::world::World;
use fairq_sched::checked::wants_room;
use fairq_sched::checked::{Checked, Rules};
use fairq_sched::invariant::{Fault, Invariant, Tally};
use fairq_sched::promise::{Load, Measure};
use fairq_sched::units::Limit;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

/// Limits of random test networks where the queue names none; runs take them alternately.
const LIMITS: [Limit; 5] =
    [Limit::Unlimited, Limit::Packets(12), Limit::Bytes(4000), Limit::Packets(1), Limit::Bytes(100)];

/// Packets of a case.
const PACKETS: usize = 160;

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A random test network: removals, changes of weights and rates, interruptions.
    World,
    /// A pattern of arrivals.
    Pattern(Pattern),
    /// A pattern with flow 0 split into ten flows.
    Split(Pattern),
    /// A pattern after every flow has sent a packet.
    Settled(Pattern),
    /// A pattern with a buffer so small that drops empty flows.
    Crowded(Pattern),
    /// A flow of great weight that comes back when the others have begun a round.
    Returning,
}

/// A run of an audit; its text form is `kind:seed`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    kind: Kind,
    seed: u64,
}

impl Kind {
    fn all() -> Vec<Self> {
        let mut all = vec![Self::World, Self::Returning];
        for of in [Self::Pattern, Self::Split, Self::Settled, Self::Crowded] {
            all.extend(Pattern::ALL.map(of));
        }
        all
    }

    fn name(self) -> String {
        match self {
            Self::World => "world".to_owned(),
            Self::Returning => "returning".to_owned(),
            Self::Pattern(pattern) => pattern.name().to_owned(),
            Self::Split(pattern) => format!("{}-split", pattern.name()),
            Self::Settled(pattern) => format!("{}-settled", pattern.name()),
            Self::Crowded(pattern) => format!("{}-crowded", pattern.name()),
        }
    }

    /// The case of `seed`; `None` for a random test network.
    fn case(self, seed: u64) -> Option<Case> {
        Some(match self {
            Self::World => return None,
            Self::Returning => case::returning(seed),
            Self::Pattern(pattern) => case::drawn(pattern, seed, PACKETS),
            Self::Split(pattern) => case::drawn(pattern, seed, PACKETS).split(),
            Self::Settled(pattern) => case::drawn(pattern, seed, PACKETS).settled(),
            Self::Crowded(pattern) => case::drawn(pattern, seed, PACKETS).limited(2 + seed % 9),
        })
    }
}

impl Run {
    /// Its case; `None` for a random test network.
    pub(crate) fn case(self) -> Option<Case> {
        self.kind.case(self.seed)
    }
}

impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.seed)
    }
}

impl std::str::FromStr for Run {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, seed) = text.split_once(':').unwrap_or((text, ""));
        let kind = Kind::all().into_iter().find(|kind| kind.name() == name);
        match (kind, seed.parse()) {
            (Some(kind), Ok(seed)) => Ok(Self { kind, seed }),
            _ => Err(format!("{text}: no run of an audit; write KIND:SEED as the table names it, as world:7")),
        }
    }
}

/// Every run: random test networks for the invariants, five per seed, then the cases.
pub(crate) fn list(seeds: u64) -> Vec<Run> {
    let worlds = (0..seeds * 5).map(|seed| Run { kind: Kind::World, seed });
    let cases = Kind::all().into_iter().filter(|kind| *kind != Kind::World);
    worlds.chain(cases.flat_map(|kind| (0..seeds).map(move |seed| Run { kind, seed }))).collect()
}

/// Results gathered over the runs.
pub(crate) struct Runs<'a> {
    subject: &'a dyn Subject,
    variants: &'a [&'a dyn Subject],
    /// So far.
    pub(crate) report: Report,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(subject: &'a dyn Subject, variants: &'a [&'a dyn Subject]) -> Self {
        let rules = LIMITS.iter().find_map(|limit| subject.rules(*limit));
        let is_exempt = |invariant| {
            rules.is_some_and(|rules| match invariant {
                Invariant::WorkConservation => !rules.is_work_conserving,
                Invariant::FlowOrder => !rules.keeps_flow_order,
                _ => false,
            })
        };
        let row =
            |invariant| InvariantRow { invariant, runs: 0, checks: 0, is_exempt: is_exempt(invariant), example: None };
        let (invariants, measures, violations) = (Invariant::ALL.map(row).to_vec(), Vec::new(), Vec::new());
        let report = Report { runs: 0, packets: 0, invariants, measures, violations };
        Self { subject, variants, report }
    }

    /// Runs `run`, notes what it shows, and gives what became of its packets.
    pub(crate) fn run(&mut self, run: Run) -> Vec<Journey> {
        match run.case() {
            None => self.world(run),
            Some(case) => self.case(run, &case),
        }
    }

    /// A random test network. Subject, variants and limits alternate from seed to seed.
    fn world(&mut self, run: Run) -> Vec<Journey> {
        let turn = run.seed as usize;
        let count = self.variants.len() + 1;
        let subject = if turn.is_multiple_of(count) { self.subject } else { self.variants[turn % count - 1] };
        let Some((limit, rules)) = with_limit(subject, turn / count) else { return Vec::new() };
        let mut draw = Draw::new(run.seed);
        let world = World::new(&mut draw, 20 + 60 * (run.seed % 3));
        let drive = |driver: &mut Driver<Checked>| {
            world.drive(&mut draw, driver);
            if !world.limit_changes {
                something_is_sent(driver, limit);
            }
        };
        self.watched(run, subject, limit, rules, &world.line.clone(), drive).0
    }

    /// A case: its invariants, and what is measured of it.
    fn case(&mut self, run: Run, case: &Case) -> Vec<Journey> {
        let Some(rules) = self.subject.rules(case.limit) else { return Vec::new() };
        let (journeys, is_sound) = self.watched(run, self.subject, case.limit, rules, &case.line, |driver| {
            case.arrivals.iter().for_each(|arrival| driver.offer(*arrival));
            driver.finish();
            something_is_sent(driver, case.limit);
        });
        if !is_sound {
            return journeys;
        }
        let longest: Vec<u32> = (0..case.weights.len() as u32)
            .map(|flow| case.arrivals.iter().filter(|a| a.flow == flow).map(|a| a.length).max().unwrap_or(0))
            .collect();
        let load = Load {
            weights: &case.weights,
            longest: &longest,
            has_losses: journeys.iter().any(|journey| !matches!(journey.end, End::Sent { .. })),
            is_settled: case.prologue > 0,
        };
        for yardstick in Yardstick::ALL {
            self.measure(run, yardstick, case, &journeys, &load);
        }
        journeys
    }

    /// Runs `drive` on a watched discipline and notes its invariants. Returns what became of the
    /// packets, and whether every invariant held.
    fn watched(
        &mut self,
        run: Run,
        subject: &dyn Subject,
        limit: Limit,
        rules: Rules,
        line: &fairq_sched::contract::Line,
        drive: impl FnOnce(&mut Driver<Checked>),
    ) -> (Vec<Journey>, bool) {
        let rate = line.rate;
        let built = quietly(|| Driver::new(Checked::new(rules, || subject.build(limit, line)), rate));
        let mut driver = match built {
            Ok(driver) => driver,
            Err(message) => {
                self.broken(run, Fault { invariant: Invariant::NoPanic, message });
                return (Vec::new(), false);
            }
        };
        let outcome = quietly(|| drive(&mut driver));
        self.report.runs += 1;
        self.report.packets += driver.journeys.len() as u64;
        let tallies = [driver.tally(), driver.discipline().tally()];
        self.note(run, &tallies);
        let fault = tallies.iter().find_map(|tally| tally.fault());
        let is_sound = outcome.is_ok();
        if let Err(message) = outcome {
            self.broken(run, fault.unwrap_or(Fault { invariant: Invariant::NoPanic, message }));
        }
        (driver.journeys, is_sound)
    }

    fn note(&mut self, run: Run, tallies: &[&Tally]) {
        for row in &mut self.report.invariants {
            let checks: u64 = tallies.iter().map(|tally| tally.checks(row.invariant)).sum();
            row.checks += checks;
            row.runs += u64::from(checks > 0);
        }
        for fault in tallies.iter().flat_map(|tally| tally.exempt()) {
            let row = &mut self.report.invariants[fault.invariant as usize];
            row.example.get_or_insert(Example { message: fault.message, run: run.to_string() });
        }
    }

    fn broken(&mut self, run: Run, fault: Fault) {
        self.violated(fault.invariant.name(), fault.message, run);
    }

    /// Keeps the first violation of each invariant and measure.
    fn violated(&mut self, of: &'static str, message: String, run: Run) {
        if self.report.violations.iter().all(|violation| violation.of != of) {
            let example = Example { message: message.replace('\n', " "), run: run.to_string() };
            self.report.violations.push(Violation { of, example });
        }
    }

    fn measure(&mut self, run: Run, yardstick: Yardstick, case: &Case, journeys: &[Journey], load: &Load<'_>) {
        let readings = yardstick.readings(case, journeys);
        let mut runs = u64::from(!readings.is_empty());
        for reading in readings {
            let bound = self.subject.promise(reading.measure, load);
            let ratio = bound.map(|bound| reading.value / bound);
            // A bound is computed in floating point.
            if let Some(bound) = bound
                && reading.value > bound * (1.0 + 1e-9) + reading.slack
            {
                let (value, unit, of) = (reading.value, yardstick.unit(), flows(reading.measure, load));
                let message = format!("{value:.3} {unit} of {of}, {bound:.3} is the bound");
                self.violated(yardstick.name(), message, run);
            }
            let new = MeasureRow {
                yardstick,
                bound,
                value: reading.value,
                slack: reading.slack,
                ratio,
                of: flows(reading.measure, load),
                run: run.to_string(),
                runs: std::mem::take(&mut runs),
            };
            let rows = &mut self.report.measures;
            match rows.iter_mut().find(|row| row.yardstick == yardstick && row.bound.is_some() == bound.is_some()) {
                None => {
                    rows.push(new);
                    rows.sort_by_key(|row| (row.yardstick, row.bound.is_none()));
                }
                Some(row) => {
                    let all = row.runs + new.runs;
                    if new.ratio.unwrap_or(new.value) > row.ratio.unwrap_or(row.value) {
                        *row = new;
                    }
                    row.runs = all;
                }
            }
        }
    }
}

/// The flows that were measured, with their weights.
fn flows(measure: Measure, load: &Load<'_>) -> String {
    let flow = |flow: u32| format!("{flow} (weight {})", load.weight(flow));
    match measure {
        Measure::RelativeFairness(i, j)
        | Measure::FairnessWhileWaiting(i, j)
        | Measure::PacketFairness(i, j)
        | Measure::PacketsOverWeights(i, j) => {
            format!("flows {} and {}", flow(i), flow(j))
        }
        Measure::WorstCaseIndex(i) | Measure::Behind(i) | Measure::Ahead(i) => format!("flow {}", flow(i)),
        Measure::Latency { flow: i, length } => format!("{length} bytes of flow {}", flow(i)),
        Measure::Lateness => format!("a packet among {} flows", load.flows()),
    }
}

/// However little may wait: of packets that fit, not all are dropped for lack of room.
fn something_is_sent(driver: &mut Driver<Checked>, limit: Limit) {
    let fits = |journey: &&Journey| !limit.is_exceeded_by(1, journey.arrival.length.into());
    let mut fitting = driver.journeys.iter().filter(fits).peekable();
    if fitting.peek().is_some() {
        let all = fitting.all(|journey| matches!(journey.end, End::Dropped(_, why) if wants_room(why)));
        driver
            .tally()
            .obey(Invariant::Limit, !all, || format!("all packets are dropped though each fits into {limit}"));
    }
}

/// The limit whose turn it is, of those that `subject` can have.
fn with_limit(subject: &dyn Subject, turn: usize) -> Option<(Limit, Rules)> {
    let mut can: Vec<_> = LIMITS.iter().filter_map(|limit| Some((*limit, subject.rules(*limit)?))).collect();
    let count = can.len();
    (count > 0).then(|| can.swap_remove(turn % count))
}

thread_local! {
    /// Whether a panic of this thread is awaited.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `run` gives, or the message of its panic, which is not printed. What unwinds without a text
/// is no panic and goes on.
fn quietly<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                usual(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    IS_QUIET.set(false);
    outcome.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).map(str::to_owned);
        text.unwrap_or_else(|| panic::resume_unwind(payload))
    })
}
