//! Lines, classes and arrivals for tests of trees of classes.

use fairq_sched::contract::Line;
use fairq_sched::queue::Queue;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::schedule::hpfq;
use fairq_sched::units::{Rate, Time, Weight};
use fairq_testkit::checked::{Checked, Rules};
use fairq_testkit::draw::Draw;
use fairq_testkit::driver::{Arrival, Driver, header};

pub(crate) fn weight(thousandths: u32) -> Weight {
    Weight::from_thousandths(thousandths).expect("a weight of the test")
}

/// A line on which flow i names the i-th of `classes`.
pub(crate) fn line(bit_per_s: u64, classes: &[&str]) -> Line {
    let classes = (0..).zip(classes).map(|(flow, class)| (header(flow), (*class).to_owned())).collect();
    Line { classes, ..Line::new(Rate::new(bit_per_s).expect("a rate of the test")) }
}

pub(crate) fn driver(queue: &Queue, line: &Line) -> Driver<Checked> {
    Driver::new(Checked::new(Rules::of(queue), || queue.build(line)), line.rate)
}

/// Arrivals of `flows` flows that send several packets in a row, often while one of their own is on
/// the line, and some after pauses; about `load` thousandths of the line.
pub(crate) fn arrivals(
    draw: &mut Draw,
    line: &Line,
    flows: u32,
    lengths: &[u32],
    load: u64,
    packets: u64,
) -> Vec<Arrival> {
    let (mut time, mut flow, mut arrivals) = (Time::ZERO, 0, Vec::new());
    for _ in 0..packets {
        let length = draw.pick(lengths);
        let mean = line.rate.time_of_bits(u64::from(length) * 8).0 * 1000 / load;
        match draw.below(8) {
            0 => time = time + Time(draw.below(mean * 10)),
            1..4 => {}
            _ => time = time + Time(draw.below(mean * 2)),
        }
        if !draw.once_in(3) {
            flow = draw.below(flows.into()) as u32;
        }
        arrivals.push(Arrival { time, flow, length });
    }
    arrivals
}

pub(crate) fn hpfq_class(name: &str, parent: Option<&str>, thousandths: u32) -> hpfq::Class {
    let (name, parent) = (name.to_owned(), parent.map(str::to_owned));
    hpfq::Class { name, parent, weight: weight(thousandths), dscp: Vec::new() }
}

pub(crate) fn hpfq(scheduler: &SchedulerSettings, classes: Vec<hpfq::Class>) -> SchedulerSettings {
    let scheduler = hpfq::OneLevel(Box::new(scheduler.clone()));
    SchedulerSettings::Hpfq(hpfq::Settings { scheduler, classes, default: None })
}

pub(crate) fn wf2q_plus() -> SchedulerSettings {
    SchedulerSettings::by_name("wf2q_plus").expect("a scheduler of the registry")
}
