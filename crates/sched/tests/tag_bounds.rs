//! The bounds that the cards of the tag schedulers claim, measured over every interval of random
//! and of adversarial runs. A bound must hold in all of them, and some run must come near it: a
//! measure that sees nothing proves nothing.

use fairq_sched::registry::SchedulerSettings;
use fairq_sched::units::{Rate, Time, Weight};
use fairq_testkit::case::{Case, cases};
use fairq_testkit::driver::{Arrival, Journey};
use fairq_testkit::measure::Exact;
use fairq_testkit::measure::fluid_gap::{fluid_gaps, lateness};
use fairq_testkit::measure::latency::latencies;
use fairq_testkit::measure::relative_fairness::relative_fairness;
use fairq_testkit::measure::worst_case_index::worst_case_index;

fn scheduler(name: &str) -> SchedulerSettings {
    SchedulerSettings::by_name(name).expect("a scheduler of the registry")
}

/// How near to its bound a measure came, over all runs.
struct Nearest(f64);

impl Nearest {
    fn look(&mut self, value: Exact, bound: Exact, slack: Exact, what: &dyn core::fmt::Debug) {
        assert!(value <= bound + slack, "{value} B, {bound} B is the bound: {what:?}");
        let as_f64 = |exact: Exact| *exact.numer() as f64 / *exact.denom() as f64;
        // Where rounding is a good part of the bound, being near to it says nothing.
        if slack * 100 <= bound {
            self.0 = self.0.max(as_f64(value) / as_f64(bound));
        }
    }
}

#[test]
fn wfq_and_wf2q_are_never_later_than_the_fluid_by_more_than_a_packet() {
    for name in ["wfq", "wf2q"] {
        let (mut late, mut behind) = (Nearest(0.0), Nearest(0.0));
        cases(20, 200, |_, case| {
            let journeys = case.run(&scheduler(name));
            for lateness in lateness(case.line.rate, &journeys, &case.weights) {
                late.look(lateness.bytes, case.longest(), case.slack(), &lateness);
            }
            for gap in fluid_gaps(case.line.rate, &journeys, &case.weights) {
                behind.look(gap.behind.0, case.longest(), case.slack(), &gap);
            }
        });
        assert!(late.0 > 0.9 && behind.0 > 0.9, "{name}: {} and {} of the bounds", late.0, behind.0);
    }
}

#[test]
fn wf2q_is_ahead_of_the_fluid_by_less_than_a_packet_of_the_flow() {
    let mut ahead = Nearest(0.0);
    let mut of_wfq = Exact::from_integer(0);
    cases(20, 200, |_, case| {
        for gap in fluid_gaps(case.line.rate, &case.run(&scheduler("wf2q")), &case.weights) {
            // (1 - ri/C) Li
            let bound = (Exact::from_integer(1) - case.share(gap.flow)) * case.longest_of(gap.flow);
            ahead.look(gap.ahead.0, bound, case.slack(), &gap);
        }
        for gap in fluid_gaps(case.line.rate, &case.run(&scheduler("wfq")), &case.weights) {
            of_wfq = of_wfq.max(gap.ahead.0 / case.longest_of(gap.flow));
        }
    });
    assert!(ahead.0 > 0.9, "{} of the bound", ahead.0);
    assert!(of_wfq > Exact::from_integer(2), "WFQ is many packets ahead, not only {of_wfq}");
}

#[test]
fn wf2q_and_wf2q_plus_keep_the_worst_case_index() {
    // Li + (Lmax - Li) ri/C
    let bound = |case: &Case, flow| {
        let own = case.longest_of(flow);
        own + (case.longest() - own) * case.share(flow)
    };
    for name in ["wf2q", "wf2q_plus"] {
        let mut nearest = Nearest(0.0);
        cases(20, 200, |_, case| {
            for index in worst_case_index(&case.run(&scheduler(name)), &case.weights) {
                nearest.look(index.bytes, bound(case, index.flow), case.slack(), &index);
            }
        });
        assert!(nearest.0 > 0.7, "{name}: {} of the bound", nearest.0);
    }
    // The others do not keep it.
    for name in ["wfq", "scfq", "sfq"] {
        let mut breaks = 0;
        cases(5, 200, |_, case| {
            let found = worst_case_index(&case.run(&scheduler(name)), &case.weights);
            breaks += found.iter().filter(|index| index.bytes > bound(case, index.flow) + case.slack()).count();
        });
        assert!(breaks > 0, "{name} kept it");
    }
}

#[test]
fn latency_is_a_packet_of_the_flow_and_one_of_the_line() {
    for name in ["wfq", "wf2q", "wf2q_plus", "leap_forward_virtual_clock"] {
        let mut nearest = Nearest(0.0);
        cases(20, 200, |_, case| {
            for latency in latencies(case.line.rate, &case.run(&scheduler(name)), &case.weights) {
                // Li/ri + Lmax/C
                let bound = case.longest_of(latency.flow) / case.share(latency.flow) + case.longest();
                // A step of a tag takes a flow of rate ri as long as C/ri steps of the line.
                let slack = case.slack() / case.share(latency.flow);
                nearest.look(latency.bytes, bound, slack, &latency);
            }
        });
        assert!(nearest.0 > 0.7, "{name}: {} of the bound", nearest.0);
    }
}

#[test]
fn wf2q_plus_may_be_later_than_the_fluid_by_more_than_a_packet() {
    // Its clock follows the work of all flows with F > V, which are not those that the fluid has:
    // WFQ's bound is not its.
    let (mut late, mut worst) = (0, Exact::from_integer(0));
    cases(20, 200, |_, case| {
        for lateness in lateness(case.line.rate, &case.run(&scheduler("wf2q_plus")), &case.weights) {
            late += u32::from(lateness.bytes > case.longest() + case.slack());
            worst = worst.max(lateness.bytes / case.longest());
        }
    });
    assert!(late > 0, "none was later, {worst} of Lmax at most");
}

#[test]
fn a_flow_of_wf2q_plus_has_a_packet_as_long_as_it_is_on_the_line() {
    // A byte a second, weights of one. Flow 1 sends 12 bytes from 0 on, flow 0 comes then: S = 0,
    // F = 6. It begins at 12, where V = 6; at 14 V = 7 and flow 2 comes: F = 13. At 15, where V = 7
    // 1/3, flow 0 has another: S = F = 6, not V.
    let arrival = |(s, flow, length)| Arrival { time: Time::from_s(s), flow, length };
    let arrivals = [(0, 1, 12), (1, 0, 6), (14, 2, 6), (15, 0, 6)].map(arrival).to_vec();
    let case = Case::new(Rate::new(8).expect("a byte a second"), vec![Weight::ONE; 3], arrivals);
    let ends = case.run(&scheduler("wf2q_plus"));
    let ends: Vec<_> = ends.iter().map(|journey| journey.departure()).collect();
    assert_eq!(ends, [12, 18, 30, 24].map(|s| Some(Time::from_s(s))));
}

#[test]
fn latency_of_those_without_a_fluid() {
    let (mut scfq, mut sfq) = (Nearest(0.0), Nearest(0.0));
    cases(20, 200, |_, case| {
        let others = Exact::from_integer(case.weights.len() as i128 - 1);
        for latency in latencies(case.line.rate, &case.run(&scheduler("scfq")), &case.weights) {
            // Li/ri + (N-1) Lmax/C
            let bound = case.longest_of(latency.flow) / case.share(latency.flow) + others * case.longest();
            scfq.look(latency.bytes, bound, case.slack() / case.share(latency.flow), &latency);
        }
        for latency in latencies(case.line.rate, &case.run(&scheduler("sfq")), &case.weights) {
            // The sum of the others' Lj/C, and its own L/C.
            let flows = 0..case.weights.len() as u32;
            let others: Exact = flows.filter(|flow| *flow != latency.flow).map(|flow| case.longest_of(flow)).sum();
            let own = Exact::from_integer(case.arrivals[latency.packet].length.into());
            sfq.look(latency.bytes, others + own, case.slack() / case.share(latency.flow), &latency);
        }
    });
    assert!(scfq.0 > 0.7 && sfq.0 > 0.9, "{} and {} of the bounds", scfq.0, sfq.0);
}

#[test]
fn scfq_and_sfq_are_fair_over_every_interval() {
    for name in ["scfq", "sfq"] {
        let mut nearest = Nearest(0.0);
        let mut look = |case: &Case, journeys: &[Journey]| {
            for gap in relative_fairness(journeys, &case.weights) {
                let (i, j) = gap.flows;
                // Li/wi + Lj/wj, in steps of tags
                let bound = case.longest_of(i) / case.weight(i) + case.longest_of(j) / case.weight(j);
                nearest.look(gap.bytes, bound, Exact::new(4, 1 << 24), &gap);
            }
        };
        cases(20, 200, |seed, case| {
            look(case, &case.run(&scheduler(name)));
            look(case, &case.run_unevenly(&scheduler(name), seed));
        });
        assert!(nearest.0 > 0.95, "{name}: {} of the bound", nearest.0);
    }
    // WFQ does not keep it.
    let mut breaks = 0;
    cases(5, 200, |_, case| {
        let is_over = |(i, j), bytes: Exact| {
            bytes > case.longest_of(i) / case.weight(i) + case.longest_of(j) / case.weight(j) + Exact::new(1, 1 << 20)
        };
        let gaps = relative_fairness(&case.run(&scheduler("wfq")), &case.weights);
        breaks += gaps.iter().filter(|gap| is_over(gap.flows, gap.bytes)).count();
    });
    assert!(breaks > 0);
}
