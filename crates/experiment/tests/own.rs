//! Parts that are written outside this tree: those of `examples/own-parts`, in scenarios.

use crate::own_parts::parts;
use crate::own_parts::shortest_queue::Part;
use crate::running::no_file;
use fairq_experiment::experiment::{Experiment, Options};
use fairq_experiment::scenario::own::OwnParts;
use fairq_sched::card::Invariant;
use fairq_sched::change::{Change, Unsupported};
use fairq_sched::contract::{
    BufferPolicy, Dequeue, Discipline, End, Flow, Gone, Handle, Held, Line, Next, Scheduler, Slot, Tag, Verdict, Victim,
};
use fairq_sched::facts::{Facts, Queues};
use fairq_sched::own::{MakeQueue, OwnPart, Place, Setting, Value as Given};
use fairq_sched::packet::{Fates, Header, Packet, Reason};
use fairq_sched::queue::Queue;
use fairq_sched::reading::Reading;
use fairq_sched::registry::SchedulerSettings;
use fairq_sched::store::Store;
use fairq_sched::traits::Traits;
use fairq_sched::units::Time;
use fairq_sched::waiting::Waiting;
use serde_json::Value;
use std::sync::Arc;

/// A link of 10 Mbit/s from a to b with `queue`, and two flows; `rest` is behind it.
fn text(queue: &str, rest: &str) -> String {
    let flow = |name: &str, traffic: &str, transport: &str| {
        format!(
            "[[flows]]\nname = \"{name}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = {traffic}\ntransport = {transport}\n"
        )
    };
    format!(
        "edition = 2\nmeasure = {{ duration = \"5 s\" }}\n[defaults]\nstart = \"0 s\"\n[[links]]\nname = \"l\"\n\
         from = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\ndelay = \"5 ms\"\nqueue = {queue}\n{}{}{rest}\n",
        flow("file", "\"ftp\"", "\"reno\""),
        flow("beats", "\"constant_rate(rate=4Mbit/s, packet=500B)\"", "\"uncontrolled\""),
    )
}

fn read(text: &str, sets: &[(&str, &str)]) -> Result<Experiment, String> {
    let sets: Vec<(String, String)> = sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    Experiment::read_own(text, "a.toml", &sets, &no_file, &parts()).map_err(|problem| problem.to_string())
}

fn run(text: &str, sets: &[(&str, &str)]) -> Value {
    let experiment = read(text, sets).unwrap_or_else(|problem| panic!("{problem}"));
    let options = Options { workers: 1, files: &no_file, progress: &mut |_| true };
    experiment.run(options).unwrap_or_else(|stopped| panic!("{stopped:?}"))
}

fn fault(text: &str, sets: &[(&str, &str)]) -> String {
    read(text, sets).map(drop).unwrap_err()
}

/// What the flows got.
fn counts(result: &Value) -> &Value {
    &result["points"][0]["seeds"][0]["flows"]
}

#[test]
fn text_table_and_option_say_the_same() {
    let written = run(&text("\"shortest_queue(grain=3) + port_pair + 50packets\"", ""), &[]);
    let table =
        "{ scheduler = { kind = \"shortest_queue\", grain = 3 }, classifier = \"port_pair\", limit = \"50 packets\" }";
    let shape = "{ scheduler = { kind = \"own\", name = \"shortest_queue\", settings = { grain = 3 } }, classifier = \"port_pair\", limit = \"50 packets\" }";
    let plain = text("\"shortest_queue + port_pair + 50packets\"", "");
    let others = [
        run(&text(table, ""), &[]),
        run(&text(shape, ""), &[]),
        run(&plain, &[("links.l.queue.scheduler.grain", "3")]),
        run(&text("\"fifo\"", ""), &[("links.l.queue", "shortest_queue(grain=3) + port_pair + 50packets")]),
    ];
    for other in others {
        assert_eq!((&other["flows"], &other["links"]), (&written["flows"], &written["links"]));
    }
    let seed = &written["points"][0]["seeds"][0]["queues"][0];
    assert_eq!(
        (&seed["discipline"], &seed["discipline_settings"]),
        (&"shortest_queue".into(), &"shortest_queue(grain=3) + port_pair".into())
    );
    assert_ne!(counts(&run(&plain, &[])), counts(&written), "the setting changes what is sent");
    // The scenario of a result is read again.
    let again = written["scenario"].to_string();
    assert_eq!(run(&again, &[])["flows"], written["flows"]);
}

#[test]
fn axes_vary_own_parts_and_their_settings() {
    let of_queues = "[[axes]]\nname = \"x\"\npath = \"links.l.queue\"\nvalues = [\"shortest_queue(grain=1) + port_pair + 50packets\", \
                     \"shortest_queue(grain=9) + port_pair + 50packets\", \"drr + port_pair + 50packets\"]";
    let three = run(&text("\"fifo\"", of_queues), &[]);
    let points = three["points"].as_array().expect("points");
    let names: Vec<&Value> = points.iter().map(|point| &point["seeds"][0]["queues"][0]["discipline"]).collect();
    assert_eq!(names, ["shortest_queue", "shortest_queue", "drr"]);
    let of_settings = "[[axes]]\nname = \"x\"\npath = \"links.l.queue.scheduler.grain\"\nvalues = [1, 9]";
    let two = run(&text("\"shortest_queue + port_pair + 50packets\"", of_settings), &[]);
    for point in 0..2 {
        assert_eq!(two["points"][point]["seeds"][0]["flows"], three["points"][point]["seeds"][0]["flows"]);
    }
}

#[test]
fn what_is_wrong_is_one_line_with_place_and_remedy() {
    let queue = |queue: &str| fault(&text(queue, ""), &[]);
    let flow = |from: &str, to: &str| fault(&text("\"fifo\"", "").replace(from, to), &[]);
    let axis = "[[axes]]\nname = \"x\"\npath = \"links.l.queue.scheduler.grain\"\nvalues = [1, 0]";
    let said = [
        queue("\"shortest_queu + 5packets\""),
        queue("\"shortest_queue(grian=3)\""),
        queue("\"shortest_queue(grain=x)\""),
        queue("\"shortest_queue(grain=0)\""),
        queue("\"plain_drop(x=1)\""),
        queue("\"plain_drop + tail_drop\""),
        queue("{ scheduler = { kind = \"shortst_queue\" } }"),
        queue("{ scheduler = { kind = \"plain_drop\" } }"),
        queue("{ scheduler = { kind = \"own\", name = \"nothing\" } }"),
        flow("\"reno\"", "\"aimdd\""),
        flow("\"reno\"", "\"aimd(left=2)\""),
        flow("\"ftp\"", "\"metronom\""),
        flow("\"ftp\"", "\"metronome(gap=0s)\""),
        flow("\"ftp\"", "\"aimd\""),
        fault(&text("\"shortest_queue\"", axis), &[]),
        fault(&text("\"shortest_queue\"", ""), &[("links.l.queue.scheduler.grain", "0.5")]),
        fault(&text("\"fifo\"", ""), &[("links.l.queue", "shortest_queue(grain=true)")]),
    ];
    let expected = [
        "11: links[0].queue: `shortest_queu` is no part of a queue; did you mean shortest_queue?",
        "11: links[0].queue.scheduler.grian: no such field of shortest_queue; did you mean grain?",
        "11: links[0].queue.scheduler.grain: write a whole number, not \"x\"",
        "11: links[0].queue.scheduler: grain is from 1 to 1000 packets",
        "11: links[0].queue.buffer.x: plain_drop has no settings",
        "11: links[0].queue: plain_drop deals with a full buffer itself; overflow goes with red, codel and the like",
        "11: links[0].queue.scheduler: `shortst_queue` is not known here; did you mean shortest_queue?",
        "11: links[0].queue.scheduler: plain_drop is of the kind buffer, and not scheduler",
        "11: links[0].queue.scheduler.name: `nothing` is no own part that is known here; there are shortest_queue",
        "17: flows[0].transport: `aimdd` is not known here; did you mean aimd?",
        "17: flows[0].transport: left is a part, from 0 to less than 1",
        "16: flows[0].traffic: `metronom` is not known here; did you mean metronome?",
        "16: flows[0].traffic: gap is more than zero",
        "16: flows[0].traffic: aimd is of the kind transport, and not traffic",
        "11: links[0].queue.scheduler: grain is from 1 to 1000 packets",
        " --set links.l.queue.scheduler.grain: write a whole number, not `0.5`",
        " --set links.l.queue: scheduler.grain: write a whole number, not `true`",
    ];
    assert_eq!(said.join("\n"), expected.map(|said| format!("a.toml:{said}")).join("\n"));
    let inner = queue("\"hpfq(scheduler=shortest_queue(), classes=[(name=a)])\"");
    assert!(inner.contains("scheduler.kind: `shortest_queue` is not known here; there are cbs"), "{inner}");
    let without = Experiment::read(&text("\"shortest_queue\"", ""), "a.toml", &[]).map(drop).unwrap_err().to_string();
    assert!(without.contains("links[0].queue: `shortest_queue` is no part of a queue; there are "), "{without}");
    let shape = "{ scheduler = { kind = \"own\", name = \"shortest_queue\" } }";
    let without = Experiment::read(&text(shape, ""), "a.toml", &[]).map(drop).unwrap_err().to_string();
    assert_eq!(without, "a.toml:11: links[0].queue: `shortest_queue` is a part that is not known here");
}

#[test]
fn an_own_part_stands_wherever_a_part_may() {
    let queue = "shortest_queue(grain=2)";
    let scenario = format!(
        "edition = 2\nmeasure = {{ duration = \"1 s\" }}\ntopology = {{ kind = \"star\", queue = \"{queue}\" }}\n\
         [defaults]\nqueue = \"{queue}\"\ntransport = \"aimd\"\n\
         access = {{ rate = \"1 Gbit/s\", host_queue = \"{queue}\" }}\n\
         sink_access = {{ rate = \"1 Gbit/s\", host_queue = \"{queue}\" }}\n\
         [[links]]\nname = \"l\"\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\nreverse_queue = \"{queue}\"\n\
         [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\n\
         [[flows]]\nname = \"g\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"metronome\"\ntransport = \"aimd\"\n\
         access = {{ rate = \"1 Gbit/s\", host_queue = \"{queue}\" }}\n\
         [[changes]]\nat = \"500 ms\"\nlink = \"l\"\nqueue = \"{queue}\"\n"
    );
    let result = run(&scenario, &[]);
    let rows = result["points"][0]["seeds"][0]["queues"].as_array().expect("rows").len();
    assert!(rows > 0 && counts(&result).as_array().is_some_and(|rows| rows.len() == 2));
    let parts = result["scenario"].to_string().matches("\"name\":\"shortest_queue\"").count();
    assert_eq!(parts, 7, "each was found: it has a version");
    assert_eq!(result["scenario"].to_string().matches("\"version\":\"1\"").count(), parts + 3);
    let alone = "[[pools]]\nname = \"p\"\nnode = \"a\"\npolicy = \"plain_drop\"\nsize = \"50 packets\"";
    let pool = fault(&text("\"fifo\"", alone), &[]);
    assert!(pool.contains("plain_drop"), "{pool}");
}

/// A part of queues by its name that builds nothing.
struct Named(&'static str);

impl OwnPart<dyn MakeQueue> for Named {
    fn name(&self) -> &'static str {
        self.0
    }
    fn place(&self) -> Place {
        Place::Scheduler
    }
    fn version(&self) -> String {
        String::new()
    }
    fn make(&self, _values: &[Given]) -> Result<Arc<dyn MakeQueue>, String> {
        Err("it builds nothing".into())
    }
}

#[test]
fn a_name_is_of_one_part() {
    for (name, said) in [
        ("drr", "another part is called drr; give the own part another name"),
        ("rfq", "another part is called rfq; give the own part another name"),
        ("cubic", "another part is called cubic; give the own part another name"),
        ("own", "another part is called own; give the own part another name"),
        ("shortest_queue", "another part is called shortest_queue; give the own part another name"),
        ("My part", "`My part` is no name of an own part; write small letters, digits and _, a letter first"),
    ] {
        let mut own = parts();
        own.queue.push(Arc::new(Named(name)));
        let read = Experiment::read_own(&text("\"fifo\"", ""), "a.toml", &[], &no_file, &own);
        assert_eq!(read.map(drop).unwrap_err().to_string(), format!("a.toml: {said}"));
    }
}

#[test]
fn another_version_or_setting_is_another_digest() {
    struct Version(&'static str);
    impl OwnPart<dyn MakeQueue> for Version {
        fn name(&self) -> &'static str {
            "shortest_queue"
        }
        fn place(&self) -> Place {
            Place::Scheduler
        }
        fn settings(&self) -> Vec<Setting> {
            Part.settings()
        }
        fn version(&self) -> String {
            self.0.into()
        }
        fn make(&self, values: &[Given]) -> Result<Arc<dyn MakeQueue>, String> {
            Part.make(values)
        }
    }
    let digest = |version: &'static str, queue: &str| {
        let own = OwnParts { queue: vec![Arc::new(Version(version))], ..OwnParts::default() };
        let read = Experiment::read_own(&text(queue, ""), "a.toml", &[], &no_file, &own);
        let run = read.unwrap_or_else(|problem| panic!("{problem}")).runs().next().expect("a run");
        run.digest(&no_file).expect("no file is read")
    };
    let first = digest("1", "\"shortest_queue\"");
    assert_eq!(first, digest("1", "\"shortest_queue(grain=1)\""), "the default");
    assert_eq!(first, digest("1", "{ scheduler = { kind = \"own\", name = \"shortest_queue\", version = \"9\" } }"));
    assert_ne!(first, digest("2", "\"shortest_queue\""));
    assert_ne!(first, digest("1", "\"shortest_queue(grain=2)\""));
}

/// A part that breaks an invariant; its setting says which.
struct Broken(&'static str, Place);

impl OwnPart<dyn MakeQueue> for Broken {
    fn name(&self) -> &'static str {
        self.0
    }
    fn place(&self) -> Place {
        self.1
    }
    fn settings(&self) -> Vec<Setting> {
        vec![Setting { name: "how".into(), default: Given::Text(String::new()), about: String::new() }]
    }
    fn version(&self) -> String {
        String::new()
    }
    fn make(&self, values: &[Given]) -> Result<Arc<dyn MakeQueue>, String> {
        match values {
            [Given::Text(how)] => Ok(Arc::new(Make(how.clone()))),
            other => Err(format!("{other:?}")),
        }
    }
}

struct Make(String);

impl MakeQueue for Make {
    fn facts(&self) -> Facts {
        Facts { queues: Queues::Own, ..Facts::PLAIN }
    }
    fn breaks(&self) -> &'static [Invariant] {
        if ["past", "steps"].contains(&self.0.as_str()) { &[Invariant::WorkConservation] } else { &[] }
    }
    fn scheduler(&self, _line: &Line) -> Option<Box<dyn Scheduler>> {
        Some(Box::new(BadScheduler { how: self.0.clone(), asked: 0 }))
    }
    fn policy(&self, _line: &Line) -> Option<Box<dyn BufferPolicy>> {
        Some(Box::new(BadPolicy(0)))
    }
    fn discipline(&self, queue: &Queue, line: &Line) -> Option<Box<dyn Discipline>> {
        let limit = if self.0 == "over" { None } else { queue.limit };
        let fifo = Queue::new(SchedulerSettings::by_name("fifo")?, limit).build(line);
        Some(Box::new(BadDesign { how: self.0.clone(), fifo, last: None, asked: 0 }))
    }
    fn is_checked(&self) -> bool {
        true
    }
}

/// A FIFO that is wrong from its twentieth packet on.
struct BadDesign {
    how: String,
    fifo: Box<dyn Discipline>,
    last: Option<Packet>,
    asked: u32,
}

impl Discipline for BadDesign {
    fn traits(&self) -> Traits {
        Traits::PLAIN
    }
    fn enqueue(&mut self, now: Time, packet: Packet, header: &Header, fates: &mut Fates) -> Option<Handle> {
        self.fifo.enqueue(now, packet, header, fates)
    }
    fn dequeue(&mut self, now: Time, fates: &mut Fates) -> Dequeue {
        self.asked += 1;
        let late = self.asked >= 20 && self.fifo.held().packets > 1;
        match (self.how.as_str(), self.last) {
            ("loses", _) if late => drop(self.fifo.dequeue(now, fates)),
            ("twice", Some(last)) if late => return Dequeue::Send(last),
            ("past", _) if late => return Dequeue::NotBefore(now),
            ("steps", _) if late => return Dequeue::NotBefore(Time(now.0 + 1)),
            _ => {}
        }
        let answer = self.fifo.dequeue(now, fates);
        self.last = if let Dequeue::Send(packet) = answer { Some(packet) } else { None };
        answer
    }
    fn held(&self) -> Held {
        self.fifo.held()
    }
    fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
        change.not_used()
    }
    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}
    fn waiting(&self, visit: &mut dyn FnMut(Waiting<'_>)) {
        self.fifo.waiting(visit);
    }
}

/// Two queues for packets at random, of which the first always goes first.
struct BadScheduler {
    how: String,
    asked: u32,
}

impl Scheduler for BadScheduler {
    fn traits(&self) -> Traits {
        Traits { queue_per_flow: false, tags: false, ..Traits::PLAIN }
    }
    fn queue_of(&self, _flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        if self.how == "order" { (packet.arrival.0 / 1000 % 2) as Slot } else { 0 }
    }
    fn arrive(&mut self, _now: Time, _queue: Slot, _flow: Flow, _packet: &Packet) -> Tag {
        0
    }
    fn backlogged(&mut self, _queue: Slot, _tag: Tag) {}
    fn next(&mut self, _now: Time, store: &Store) -> Next {
        self.asked += 1;
        match self.how.as_str() {
            "empty" if self.asked > 20 => Next::Queue(7),
            "idle" if self.asked > 20 => Next::Empty,
            _ => (0..2).find(|queue| store.queue_packets(*queue) > 0).map_or(Next::Empty, Next::Queue),
        }
    }
    fn sent(&mut self, _now: Time, _queue: Slot, _packet: &Packet, _tag: Tag, _head: Option<Tag>) {}
    fn removed(&mut self, _now: Time, _gone: Gone<'_>) {}
    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }
    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        change.not_used()
    }
    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}
}

/// After twenty packets it drops one that is not held.
struct BadPolicy(u32);

impl BufferPolicy for BadPolicy {
    fn traits(&self) -> Traits {
        Traits::PLAIN
    }
    fn admit(&mut self, _now: Time, _store: &Store, _queue: Slot, _flow: Flow, _packet: &mut Packet) -> Verdict {
        self.0 += 1;
        Verdict::Pass
    }
    fn victim(&mut self, _now: Time, _store: &Store, _arriving: Slot) -> Option<(Victim, Reason)> {
        (self.0 > 20).then_some((Victim::End(9, End::Front), Reason::BufferFull))
    }
    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        change.not_used()
    }
    fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}
}

/// What a part is told of the first invariant that it breaks in a run with `queue`.
fn told(queue: &str) -> String {
    let own = OwnParts {
        queue: vec![
            Arc::new(Broken("bad_design", Place::Design)),
            Arc::new(Broken("bad_scheduler", Place::Scheduler)),
            Arc::new(Broken("bad_policy", Place::Buffer)),
        ],
        ..OwnParts::default()
    };
    let text = text(&format!("\"{queue} + 30packets\""), "");
    let read = Experiment::read_own(&text, "a.toml", &[], &no_file, &own).unwrap_or_else(|problem| panic!("{problem}"));
    let run = || read.run(Options { workers: 1, files: &no_file, progress: &mut |_| true });
    let stopped = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).map(drop).expect_err(queue);
    stopped.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[test]
fn a_part_is_told_which_invariant_it_broke_and_at_which_call() {
    let said = [
        "bad_design(how=loses)",
        "bad_design(how=twice)",
        "bad_design(how=over)",
        "bad_design(how=past)",
        "bad_design(how=steps)",
        "bad_scheduler(how=empty)",
        "bad_scheduler(how=idle)",
        "bad_scheduler(how=order)",
        "fifo + bad_policy",
    ]
    .map(told);
    let expected = [
        "bad_design broke an invariant, conservation, at call 54, dequeue: Held { packets: 13, bytes: 14500 } and not \
         Held { packets: 14, bytes: 15000 }: arrived = sent + dropped + held",
        "bad_design broke an invariant, conservation, at call 54, dequeue: packet ",
        "bad_design broke an invariant, limit, at call 111, enqueue: 31 packets, 30500 B: over the limit",
        "bad_design broke an invariant, asking again, at call 54, dequeue: 0.0156 s at 0.0156 s: 15 packets of 15500 B \
         wait",
        "bad_design broke an invariant, asking again, at call 1000053, dequeue: 1000000 calls from 0.0156 s to \
         0.015600999999 s, and no packet came or left",
        "bad_scheduler broke an invariant, conservation, at call 21, dequeue: the scheduler names queue 7, which is \
         empty",
        "bad_scheduler broke an invariant, work conservation, at call 23, dequeue: empty, though a packet of 52 B waits",
        "bad_scheduler broke an invariant, order within a flow, at call 126, dequeue: packet number 22 is sent after a \
         later one of its flow",
        "bad_policy broke an invariant, conservation, at call 30, enqueue: the buffer policy names End(9, Front), which \
         is not held",
    ];
    for (said, expected) in said.iter().zip(expected) {
        assert!(said.starts_with(expected), "{said}\n{expected}");
    }
    assert!(said[1].ends_with("is sent and does not wait"), "{}", said[1]);
}

#[test]
fn a_part_that_is_as_one_of_the_registry_gives_the_same_packets() {
    let of = |queue: &str| counts(&run(&text(queue, ""), &[])).clone();
    for (own, ours) in [
        ("fifo + plain_drop + 20packets", "fifo + tail_drop + 20packets"),
        ("drr + red + plain_drop + 40packets", "drr + red + tail_drop + 40packets"),
        ("plain_drop + codel + 9kB", "codel + tail_drop + 9kB"),
        // Every queue counts as equally short; a check sees all packets, and changes none.
        ("shortest_queue(grain=1000) + port_pair + 30packets", "round_robin + port_pair + 30packets"),
    ] {
        assert_eq!(of(&format!("\"{own}\"")), of(&format!("\"{ours}\"")), "{own}");
    }
    let of = |from: &str, to: &str| counts(&run(&text("\"fifo + 30packets\"", "").replace(from, to), &[])).clone();
    let beats = "constant_rate(rate=4Mbit/s, packet=500B)";
    let (own, ours) = (of(beats, "metronome(gap=1ms, packet=500)"), of(beats, beats));
    for flow in 0..2 {
        for column in ["sent", "dropped", "throughput_packets", "delay_s_mean", "rtt_s_mean"] {
            assert_eq!(own[flow][column], ours[flow][column], "{flow} {column}");
        }
    }
}
