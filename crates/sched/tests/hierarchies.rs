//! What H-PFQ promises, measured over random trees and arrivals and beside slow oracles in exact
//! fractions: the fluid of a tree, and the procedures of its source.

use crate::trees::{arrivals, driver, hpfq, hpfq_class, line, weight, wf2q_plus};
use fairq_sched::contract::Line;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BufferSettings, SCHEDULERS, SchedulerSettings};
use fairq_sched::schedule::hpfq;
use fairq_sched::units::{Limit, Rate, Time, Weight};
use fairq_testkit::draw::{Draw, Replay};
use fairq_testkit::driver::{Arrival, End, Journey, header};
use fairq_testkit::gps_oracle;
use fairq_testkit::hierarchy_oracle::{self as oracle, Charge};
use fairq_testkit::measure::Exact;
use fairq_testkit::measure::latency::latencies;
use fairq_testkit::measure::worst_case_index::{Index, worst_case_index};

/// A byte takes 8 µs.
const RATE: u64 = 1_000_000;
const BYTE: u64 = 8_000_000;

#[test]
fn hpfq_with_one_level_is_its_scheduler() {
    let names = ["f0", "f1", "f2", "f3", "f4"];
    let fit = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let fit: Vec<_> = fit.filter(|scheduler| scheduler.part().facts().fits_inner_nodes).collect();
    assert!(fit.len() > 8, "{fit:?}");
    for (at, one_level) in fit.iter().enumerate() {
        for seed in 0..60 {
            let _replay = Replay(format!("seed {seed}, {one_level:?}"));
            let mut draw = Draw::new(seed * 1000 + at as u64);
            let mut line = line(1_000_000, &names);
            let weights = names.map(|_| weight(draw.pick(&[1, 333, 1000, 2000, 7001])));
            line.weights = (0..).zip(weights).map(|(flow, weight)| (header(flow), weight)).collect();
            let tree =
                names.iter().zip(weights).map(|(name, weight)| hpfq_class(name, None, weight.thousandths())).collect();
            let load = draw.pick(&[500, 1000, 3000]);
            let arrivals = arrivals(&mut draw, &line, 5, &[40, 577, 1500], load, 200);
            let removals: Vec<bool> = arrivals.iter().map(|_| draw.once_in(6)).collect();
            let limit = draw.pick(&[None, Some(Limit::Packets(7)), Some(Limit::Bytes(9000))]);
            let run = |scheduler: &SchedulerSettings| {
                let buffer = BufferSettings::by_name("tail_drop");
                let mut driver = driver(&Queue { buffer, ..Queue::new(scheduler.clone(), limit) }, &line);
                for (at, (arrival, removes)) in arrivals.iter().zip(&removals).enumerate() {
                    driver.offer(*arrival);
                    if *removes {
                        driver.remove(at as u64 / 2);
                        driver.remove((at as u64).saturating_sub(2));
                    }
                }
                driver.finish();
                let ends: Vec<End> = driver.journeys.iter().map(|journey| journey.end).collect();
                (driver.order, ends)
            };
            assert_eq!(run(one_level), run(&hpfq(one_level, tree)));
        }
    }
}

#[test]
fn hpfq_packet_by_packet_in_a_tree_checked_by_hand() {
    // The line: A and c, alike. A: a of weight 3 and b of weight 1. All packets 100 B.
    let tree = vec![
        hpfq_class("A", None, 1000),
        hpfq_class("c", None, 1000),
        hpfq_class("a", Some("A"), 3000),
        hpfq_class("b", Some("A"), 1000),
    ];
    let line = line(800, &["a", "b", "c"]);
    let mut driver = driver(&Queue::new(hpfq(&wf2q_plus(), tree), None), &line);
    for flow in [0, 0, 0, 0, 1, 1, 2, 2, 2, 2, 2, 2] {
        driver.offer(Arrival { time: Time::ZERO, flow, length: 100 });
    }
    driver.finish();
    // In A (V by its own service over 4): a has S = 0, 33, 67, 100, F = 33, 67, 100, 133; b has S =
    // 0, 100, F = 100, 200. V 0: a; V 25: a has not begun (33), b; V 50: a; V 75: a; V 100: a's
    // fourth (133) before b's second (200). At the line the two alternate; where their finish
    // numbers are equal c's packet, which waits, came before A's offer.
    let order: Vec<u32> = driver.order.iter().map(|at| driver.journeys[*at as usize].arrival.flow).collect();
    assert_eq!(order, [0, 2, 2, 1, 2, 0, 2, 0, 2, 0, 2, 1]);
}

#[test]
fn a_drop_below_an_offer_takes_the_offer_back() {
    let tree = vec![
        hpfq_class("A", None, 1000),
        hpfq_class("c", None, 1000),
        hpfq_class("a", Some("A"), 1000),
        hpfq_class("b", Some("A"), 1000),
    ];
    let line = line(800, &["a", "b", "c"]);
    let mut driver = driver(&Queue::new(hpfq(&wf2q_plus(), tree), None), &line);
    // 0 is on the line. 2, the first of a, is A's offer; b has 3 and c has 1, a longer one, which
    // goes after A's.
    for (time, flow, length) in [(0, 2, 100), (1, 2, 200), (2, 0, 100), (3, 1, 100)] {
        driver.offer(Arrival { time: Time(time), flow, length });
    }
    assert!(driver.remove(2));
    driver.finish();
    assert_eq!(driver.order, [0, 3, 1]);
    assert!(matches!(driver.journeys[2].end, End::Removed(_)));
}

/// A tree of two levels, in tenths on each: the leaves are flows in order.
struct Tree {
    classes: Vec<hpfq::Class>,
    /// The same for the oracles.
    shares: Vec<oracle::Class>,
    /// The class of each flow.
    leaves: Vec<usize>,
}

impl Tree {
    /// Each class at the line with its tenths and those of its leaves.
    fn new(tops: &[(u32, &[u32])]) -> Self {
        let mut tree = Self { classes: Vec::new(), shares: Vec::new(), leaves: Vec::new() };
        for (at, (top, parts)) in tops.iter().enumerate() {
            let (name, above) = (format!("top{at}"), tree.add(None, *top, &format!("top{at}")));
            for part in *parts {
                let leaf = tree.add(Some((&name, above)), *part, &format!("leaf{}", tree.leaves.len()));
                tree.leaves.push(leaf);
            }
        }
        tree
    }

    fn add(&mut self, above: Option<(&str, usize)>, tenths: u32, name: &str) -> usize {
        self.classes.push(hpfq_class(name, above.map(|above| above.0), tenths * 1000));
        let share = Exact::new(tenths.into(), 10);
        self.shares.push(oracle::Class { parent: above.map(|above| above.1), share });
        self.shares.len() - 1
    }

    fn drawn(draw: &mut Draw) -> Self {
        let splits: [&[u32]; 5] = [&[5, 5], &[1, 9], &[2, 3, 5], &[1, 1, 8], &[4, 2, 2, 2]];
        let tops = draw.pick(&splits);
        Self::new(&tops.iter().map(|top| (*top, draw.pick(&splits))).collect::<Vec<_>>())
    }

    fn line(&self) -> Line {
        line(RATE, &self.leaves.iter().map(|leaf| self.classes[*leaf].name.as_str()).collect::<Vec<_>>())
    }

    /// ri/rp and rp/C of the leaf of `flow`.
    fn shares_of(&self, flow: u32) -> (Exact, Exact) {
        let leaf = self.shares[self.leaves[flow as usize]];
        let above = leaf.parent.map_or(Exact::from_integer(1), |above| self.shares[above].share);
        (leaf.share, above)
    }

    /// In hundredths of the line.
    fn weights(&self) -> Vec<Weight> {
        let of = |flow: u32| (self.shares_of(flow).0 * self.shares_of(flow).1 * 100_000).to_integer() as u32;
        (0..self.leaves.len() as u32).map(|flow| weight(of(flow))).collect()
    }

    /// What became of `arrivals` under H-WF2Q+.
    fn run(&self, arrivals: &[Arrival]) -> Vec<Journey> {
        let queue = Queue::new(hpfq(&wf2q_plus(), self.classes.clone()), None);
        driver(&queue, &self.line()).run(arrivals)
    }

    fn for_oracle(&self, arrivals: &[Arrival]) -> Vec<oracle::Arrival> {
        let time = |time: Time| Exact::new(time.0.into(), BYTE.into());
        arrivals.iter().map(|a| (time(a.time), self.leaves[a.flow as usize], a.length)).collect()
    }

    /// What became of `arrivals` under the procedures of the source.
    fn run_of_source(&self, arrivals: &[Arrival], charge: Charge) -> Vec<Journey> {
        let ends = oracle::packets(&self.shares, &self.for_oracle(arrivals), charge);
        let time = |bytes: Exact| Time((bytes * i128::from(BYTE)).to_integer() as u64);
        let journey = |(arrival, end): (&Arrival, Exact)| {
            let start = time(end - i128::from(arrival.length));
            let end = End::Sent { start, end: time(end) };
            Journey { arrival: *arrival, end, marks: Default::default(), handle: None, interruptions: 0 }
        };
        arrivals.iter().zip(ends).map(journey).collect()
    }

    fn longest(journeys: &[Journey], flow: Option<u32>) -> Exact {
        let of = journeys.iter().filter(|journey| flow.is_none_or(|flow| journey.arrival.flow == flow));
        Exact::from_integer(of.map(|journey| journey.arrival.length).max().unwrap_or(0).into())
    }

    /// Each flow's worst-case index, and the sum over the levels: Li + (Lmax - Li) ri/rp, and of
    /// the class above Lmax, of which the leaf has ri/rp.
    fn indices(&self, journeys: &[Journey]) -> Vec<(Index, Exact)> {
        let all = Self::longest(journeys, None);
        let bound = |flow| {
            let (own, part) = (Self::longest(journeys, Some(flow)), self.shares_of(flow).0);
            own + (all - own) * part + all * part
        };
        let indices = worst_case_index(journeys, &self.weights());
        indices.into_iter().map(|index| (index, bound(index.flow))).collect()
    }

    /// How late each packet was over its L/ri + Lmax/C, in bytes of the line, and Lmax/rp of the
    /// class above.
    fn late(&self, journeys: &[Journey]) -> Vec<(Exact, Exact)> {
        let (all, rate) = (Self::longest(journeys, None), self.line().rate);
        let latencies = latencies(rate, journeys, &self.weights());
        let late = latencies.iter().map(|latency| {
            let (part, above) = self.shares_of(latency.flow);
            let own = Exact::from_integer(journeys[latency.packet].arrival.length.into());
            (latency.bytes - own / (part * above) - all, all / above)
        });
        late.collect()
    }
}

/// Random trees and arrivals.
fn drawn(seeds: std::ops::Range<u64>, mut look: impl FnMut(&Tree, &[Arrival])) {
    for seed in seeds {
        let _replay = Replay(format!("seed {seed}"));
        let draw = &mut Draw::new(seed);
        let tree = Tree::drawn(draw);
        let lengths: &[u32] = draw.pick(&[&[1000][..], &[40, 1500], &[1, 577, 1500]]);
        let load = draw.pick(&[700, 1000, 2000]);
        look(&tree, &arrivals(draw, &tree.line(), tree.leaves.len() as u32, lengths, load, 400));
    }
}

/// The end of a transmission is rounded up by a picosecond.
fn rounding() -> Exact {
    Exact::new(1, 1000)
}

#[test]
fn the_worst_case_indices_of_the_levels_add_up() {
    let mut nearest = Exact::from_integer(0);
    drawn(0..500, |tree, arrivals| {
        for (index, bound) in tree.indices(&tree.run(arrivals)) {
            assert!(index.bytes <= bound + rounding(), "{index:?} above {bound}");
            nearest = nearest.max(index.bytes / bound);
        }
    });
    assert!(nearest > Exact::new(9, 10), "no run comes near the bound: {nearest}");
}

#[test]
fn a_class_charged_when_it_offers_breaks_the_index_and_one_charged_when_it_sends_does_not() {
    let mut breaks = [0; 2];
    drawn(300..400, |tree, arrivals| {
        for (charge, breaks) in [Charge::Offered, Charge::Sent].into_iter().zip(&mut breaks) {
            let found = tree.indices(&tree.run_of_source(arrivals, charge));
            *breaks += found.iter().filter(|(index, bound)| index.bytes > *bound + rounding()).count();
        }
    });
    assert!(breaks[0] > 0 && breaks[1] == 0, "{breaks:?}");
}

#[test]
fn a_leaf_is_late_by_a_packet_of_each_level_and_one_by_which_its_class_was_ahead() {
    let mut nearest = Exact::from_integer(0);
    drawn(0..500, |tree, arrivals| {
        for (late, of_class) in tree.late(&tree.run(arrivals)) {
            assert!(late <= of_class * 2 + rounding(), "{late}, {of_class} is a packet of the class");
            nearest = nearest.max(late / of_class);
        }
    });
    assert!(nearest > Exact::from_integer(1), "no run needs the second packet: {nearest}");
}

#[test]
fn a_packet_of_each_level_is_too_little_for_the_source_too() {
    // The class of flows 0 and 1 has 2/5 of the line, flow 0 a tenth of that; the others have 1/5
    // each.
    let tree = Tree::new(&[(4, &[1, 9]), (2, &[10]), (2, &[10]), (2, &[10])]);
    let arrival = |(bytes, flow, length)| Arrival { time: Time(bytes * BYTE), flow, length };
    // Flow 1 and flow 2 send a packet each by 200, in the fluid flow 1 has then begun to send its
    // second. At 101 that second one has been offered: it goes before that of flow 0, and before or
    // between them go those of flows 3 and 4.
    let arrivals = [(0, 1, 100), (0, 2, 100), (0, 1, 100), (101, 0, 1), (101, 3, 100), (101, 4, 100)].map(arrival);
    let runs = [Charge::Offered, Charge::Sent].map(|charge| tree.run_of_source(&arrivals, charge));
    for journeys in runs.into_iter().chain([tree.run(&arrivals)]) {
        assert_eq!(journeys[3].departure(), Some(Time(501 * BYTE)));
        // 400 B after it came; 1/(1/25) + 100/(2/5) + 100 = 375.
        assert_eq!(tree.late(&journeys)[3], (Exact::from_integer(275), Exact::from_integer(250)));
    }
}

#[test]
fn while_all_leaves_wait_packets_leave_as_by_the_source_and_soon_after_the_fluid() {
    for seed in 0..60 {
        let _replay = Replay(format!("seed {seed}"));
        let draw = &mut Draw::new(seed);
        let tree = Tree::drawn(draw);
        // Lengths of which no few sums are alike, so that finish numbers seldom are.
        let flows = tree.leaves.len() as u32;
        let mut packet = |flow| Arrival { time: Time::ZERO, flow, length: 1 + draw.below(1_000_000) as u32 };
        let arrivals: Vec<Arrival> = (0..20).flat_map(|_| 0..flows).map(&mut packet).collect();
        let journeys = tree.run(&arrivals);
        let source = tree.run_of_source(&arrivals, Charge::Sent);
        let fluid = oracle::fluid(&tree.shares, &tree.for_oracle(&arrivals));
        // Until a leaf has nothing more in the fluid or on the line.
        let last = |flow: u32| arrivals.iter().rposition(|arrival| arrival.flow == flow).expect("each has some");
        let of = |flow| {
            fluid[last(flow)].min(Exact::new(journeys[last(flow)].departure().map_or(0, |t| t.0.into()), BYTE.into()))
        };
        let until = (0..flows).map(of).min().expect("there are flows");
        let longest = Tree::longest(&journeys, None);
        for (at, journey) in journeys.iter().enumerate() {
            let end = Exact::new(journey.departure().expect("all are sent").0.into(), BYTE.into());
            if end < until {
                assert_eq!(journey.departure(), source[at].departure(), "packet {at}");
                let (_, above) = tree.shares_of(journey.arrival.flow);
                // No packet could be ahead before it came: a packet of each level is enough.
                assert!(end <= fluid[at] + longest / above + longest, "packet {at}: {end}, {} in the fluid", fluid[at]);
            }
        }
    }
}

#[test]
fn the_fluid_of_a_tree_of_one_level_is_the_fluid() {
    for seed in 0..50 {
        let draw = &mut Draw::new(seed);
        let parts = [1, 2, 3, 4];
        let class = |part: i128| oracle::Class { parent: None, share: Exact::new(part, 10) };
        let list: Vec<(u64, u32, u32)> =
            (0..30).map(|at| (at * draw.below(60), draw.below(4) as u32, 1 + draw.below(90) as u32)).collect();
        let mut list = list;
        list.sort_by_key(|arrival| arrival.0);
        let tree =
            list.iter().map(|(time, flow, length)| (Exact::from_integer((*time).into()), *flow as usize, *length));
        let tree = oracle::fluid(&parts.map(class), &tree.collect::<Vec<_>>());
        let flat: Vec<_> = list.iter().map(|(time, flow, length)| (Time(time * BYTE), *flow, *length)).collect();
        let rate = Rate::new(RATE).expect("a rate of the test");
        let flat = gps_oracle::serve(rate, &parts.map(|part| weight(part as u32 * 1000)), &flat, None);
        for (tree, flat) in tree.iter().zip(flat.departures) {
            let ps = gps_oracle::BigRational::new((tree.numer() * i128::from(BYTE)).into(), (*tree.denom()).into());
            assert_eq!(Some(ps), flat);
        }
    }
}
