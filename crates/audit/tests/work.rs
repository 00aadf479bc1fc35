//! The work of a packet does not grow with the flows by more than the card says, neither on average
//! nor in the most expensive few packets in a row. The unit is instructions, counted by callgrind
//! of valgrind, so no clock has a say; run by name:
//! `cargo test --release -p fairq-audit --test work -- --ignored`. With `UPDATE=1` it writes the
//! counts into `src/work.csv`, from where an audit shows them. The quick test holds that table
//! against the registry and the cards. `cargo xtask generate` names the entries that were not
//! counted.

use fairq_audit::driver::header;
use fairq_audit::work::{Counted, FEW, MANY, counted};
use fairq_sched::buffer::{choke, red};
use fairq_sched::card::Card;
use fairq_sched::contract::{Dequeue, Discipline, Line};
use fairq_sched::facts::Overflow;
use fairq_sched::packet::{Fates, Marks, Packet};
use fairq_sched::queue::Queue;
use fairq_sched::registry::{
    BUFFER_POLICIES, BufferSettings, DESIGNS, DesignSettings, MARKERS, MarkerSettings, POLICERS, PolicerSettings,
    SCHEDULERS, SchedulerSettings,
};
use fairq_sched::units::{Limit, Rate, Time};
use std::fmt::Write;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Packets that are counted together: so few that one call that looks at every flow stands out.
const TOGETHER: u64 = 8;

/// Pairs of flows and repetitions. With many flows a repetition serves as many packets as there are
/// flows, so that work done once a round is included; with few flows it serves eight rounds.
const TIMES: [(u32, u64); 2] = [(FEW, 64), (MANY, MANY as u64 / TOGETHER)];

/// Bytes of every packet, which take 8 µs.
const LENGTH: u32 = 1000;

/// Where a process that is counted is told which entry to run.
const TOLD: &str = "FAIRQ_COUNTED_WORK";

/// The test that a process of its own runs, with `TOLD`.
const TEST: &str = "the_work_of_a_packet_grows_with_the_flows_as_the_card_says";

/// Processes at a time.
const PROCESSES: usize = 2;

#[test]
fn the_table_of_counts_is_of_this_registry_and_obeys_its_cards() {
    let entries = entries();
    let broken: Vec<String> = entries.iter().filter_map(|(card, _)| excess(card, counted(card.name)?)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    for (card, _) in &entries {
        assert_eq!(entries.iter().filter(|(other, _)| other.name == card.name).count(), 1, "{}", card.name);
    }
}

#[test]
#[ignore = "minutes, and valgrind; run by name"]
#[expect(
    clippy::disallowed_methods,
    reason = "the environment says what a process of its own runs, and that the table is to be written"
)]
fn the_work_of_a_packet_grows_with_the_flows_as_the_card_says() {
    if let Ok(name) = std::env::var(TOLD) {
        return be_counted(&name);
    }
    let (entries, next, results) = (entries(), AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..PROCESSES {
            scope.spawn(|| {
                while let Some((card, _)) = entries.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = count(card.name);
                    println!("{:28} {found:?}  {}", card.name, card.field("Cost"));
                    results.lock().expect("no thread panicked with it").push((*card, found));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panicked with it");
    results.sort_by_key(|(card, _)| card.name);
    if std::env::var("UPDATE").is_ok() {
        let mut table = String::from("name,few,many,dearest_few,dearest_many\n");
        for (card, Counted { few, many, dearest_few, dearest_many }) in &results {
            writeln!(table, "{},{few},{many},{dearest_few},{dearest_many}", card.name).expect("a string takes it");
        }
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/src/work.csv"), table).expect("the table can be written");
    }
    let broken: Vec<String> = results.iter().filter_map(|(card, found)| excess(card, *found)).collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

/// By what the work grows more than the card says, in words.
fn excess(card: &Card, found: Counted) -> Option<String> {
    let cost = card.field("Cost");
    // What is in classes, bands, bins or ways stays as it is while flows grow.
    let may_grow = if cost.contains("O(log") { 2 } else { 1 };
    let is_more = |few: u64, many: u64| many > may_grow * few + few / 2;
    // A card that claims less is printed only.
    let is_claimed = !cost.contains("O(N log N)");
    let is_claimed_of_each = is_claimed && !cost.contains("amortised") && !cost.contains("at worst");
    let grows = is_claimed && is_more(found.few, found.many);
    let leaps = is_claimed_of_each && is_more(found.dearest_few, found.dearest_many);
    (grows || leaps)
        .then(|| format!("{}: {found:?}, instructions of a packet with {FEW} and {MANY} flows: {cost}", card.name))
}

/// Counts the instructions of the entry called `name`.
fn count(name: &str) -> Counted {
    let file = std::env::temp_dir().join(format!("fairq-work-{}-{name}", std::process::id()));
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--combine-dumps=yes", "--dump-line=no", "--dump-after=*ends_here*"]);
    command.arg(format!("--callgrind-out-file={}", file.display()));
    command.arg(std::env::current_exe().expect("a test has a path")).args(["--exact", TEST, "--ignored"]);
    let output = command.env(TOLD, name).output().expect("valgrind is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = std::fs::read_to_string(&file).expect("callgrind wrote it");
    std::fs::remove_file(&file).expect("it is there");
    let counts = text.lines().filter_map(|line| line.strip_prefix("totals:"));
    let counts: Vec<u64> = counts.filter_map(|count| count.trim().parse().ok()).collect();
    // Of each number of flows: what came before, then the packets; at last what came after.
    let [few, many] = TIMES.map(|(_, times)| times as usize);
    assert_eq!(counts.len(), few + many + 3, "{name}");
    let (few, many) = (&counts[1..=few], &counts[few + 2..few + 2 + many]);
    let each = |part: &[u64]| part.iter().sum::<u64>() / (part.len() as u64 * TOGETHER);
    let dearest = |part: &[u64]| part.iter().max().copied().unwrap_or(0) / TOGETHER;
    Counted { few: each(few), many: each(many), dearest_few: dearest(few), dearest_many: dearest(many) }
}

/// What callgrind counts, in a process of its own.
fn be_counted(name: &str) {
    let entries = entries();
    let (_, queue) = entries.iter().find(|(card, _)| card.name == name).expect("an entry");
    for (flows, times) in TIMES {
        let mut load = Load::new(queue, flows);
        ends_here();
        for _ in 0..times {
            load.step(TOGETHER);
            ends_here();
        }
    }
}

/// Where callgrind writes down what it has counted.
#[inline(never)]
fn ends_here() {
    std::hint::black_box(());
}

/// Every scheduler, buffer policy, marker, policer and whole design of the registry.
fn entries() -> Vec<(&'static Card, Queue)> {
    let of = |name: &str| {
        Queue::new(SchedulerSettings::by_name(name).expect("a name of the registry"), Some(Limit::Packets(1)))
    };
    // Longest-queue drop, the default policy, has a cost of its own.
    let tail_drop = BufferSettings::by_name("tail_drop");
    let scheduler = |card: &'static Card| (card, Queue { buffer: tail_drop.clone(), ..of(card.name) });
    let buffer = |card: &'static Card| {
        // Above `max` these refuse all that comes, so that many offers are counted for a packet
        // that leaves.
        let policy = match BufferSettings::by_name(card.name) {
            Some(BufferSettings::Red(red)) => {
                Some(BufferSettings::Red(red::Settings { gentle: true, ecn: true, ..red }))
            }
            Some(BufferSettings::Choke(choke)) => {
                Some(BufferSettings::Choke(choke::Settings { gentle: true, ecn: true, ..choke }))
            }
            other => other,
        };
        let overflow = tail_drop
            .clone()
            .filter(|_| policy.as_ref().is_some_and(|policy| policy.part().facts().overflow == Overflow::Leaves));
        let with = |name| Queue { buffer: policy.clone(), overflow: overflow.clone(), ..of(name) };
        // Some want one queue, some many.
        let queue = ["round_robin", "fifo", "fq", "pifo"].map(with).into_iter().find(|queue| queue.fault().is_none());
        (card, queue.expect("it goes with one of them"))
    };
    let marker = |card: &'static Card| {
        let marker = MarkerSettings::by_name(card.name);
        (card, Queue { marker, buffer: tail_drop.clone(), ..of("round_robin") })
    };
    let policer = |card: &'static Card| {
        let policer = PolicerSettings::by_name(card.name);
        (card, Queue { policer, buffer: tail_drop.clone(), ..of("round_robin") })
    };
    let design = |card: &'static Card| {
        let settings = DesignSettings::by_name(card.name).expect("a name of the registry");
        (card, Queue::of_design(settings, None))
    };
    let cards = [SCHEDULERS.iter().map(scheduler).collect(), BUFFER_POLICIES.iter().map(buffer).collect::<Vec<_>>()];
    let policers = POLICERS.iter().map(policer).collect();
    let more = [MARKERS.iter().map(marker).collect(), policers, DESIGNS.iter().map(design).collect::<Vec<_>>()];
    cards.into_iter().chain(more).flatten().collect()
}

/// Two packets of each flow; then one leaves and two come, of one flow after the other, so that
/// half are dropped where there is no room. A flow that leaves a gap comes back in its turn: some
/// wait, some come and go.
struct Load {
    discipline: Box<dyn Discipline>,
    flows: u32,
    now: Time,
    next: u64,
    fates: Fates,
}

impl Load {
    /// All flows wait and have been served; what grows has grown.
    fn new(queue: &Queue, flows: u32) -> Self {
        let limit = Limit::Packets(2 * u64::from(flows));
        let queue = Queue { limit: Some(limit), ..queue.clone() };
        let discipline = queue.build(&Line::new(Rate::new(1_000_000_000).expect("above 0")));
        let mut load = Self { discipline, flows, now: Time::ZERO, next: 0, fates: Fates::new() };
        load.offer(2 * u64::from(flows));
        load.step(u64::from(flows));
        load
    }

    fn offer(&mut self, times: u64) {
        for _ in 0..times {
            let mut packet = Packet::new(self.next, self.now, LENGTH);
            packet.accepts = Marks(7);
            // Neighbours in number are not neighbours in time.
            let flow = (self.next * 13 % u64::from(self.flows)) as u32;
            self.discipline.enqueue(self.now, packet, &header(flow), &mut self.fates);
            self.fates.clear();
            self.next += 1;
        }
    }

    fn step(&mut self, packets: u64) {
        for _ in 0..packets {
            while let Dequeue::NotBefore(time) = self.discipline.dequeue(self.now, &mut self.fates) {
                self.now = time;
            }
            self.fates.clear();
            self.now = self.now + Time(8_000_000);
            self.offer(2);
            if self.discipline.next_update().is_some_and(|due| due <= self.now) {
                self.discipline.update(self.now);
            }
        }
    }
}
