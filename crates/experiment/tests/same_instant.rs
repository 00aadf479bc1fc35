//! A packet may be forwarded over several lines without an event. The counts are those of a run in
//! which every end and every arrival is an event, however often hosts send in the same instant.

use fairq_experiment::experiment::Experiment;
use fairq_sched::hash::splitmix;
use fairq_sched::units::Time;
use fairq_sim::observe::{Event, Observer};
use fairq_sim::run::Simulation;

/// Observes everything and records nothing.
struct IdleObserver;

impl Observer for IdleObserver {
    fn event(&mut self, _now: Time, _event: &Event<'_>) {}
}

/// A dumbbell by `seed`: few different times, so that hosts often send in one instant; hosts at
/// equal distances, or at different ones; traffic in the other direction, or none.
fn dumbbell(seed: u64) -> String {
    let mut state = seed;
    let mut draw = move |from: &[&str]| {
        state = splitmix(state);
        from[(state >> 20) as usize % from.len()].to_owned()
    };
    // At 24 Mbit/s a packet of 1000 bytes arrives together with a later one of 40 at 1 Mbit/s.
    let far = [
        "rate = \"24 Mbit/s\", delay = \"1 ms\"",
        "rate = \"24 Mbit/s\", delay = \"1 ms\"",
        "rate = \"unlimited\", delay = \"1 ms\"",
        "rate = \"8 Mbit/s\", delay = \"2 ms\"",
    ];
    let access = draw(&far);
    let queues = [
        "fifo",
        "drr",
        "fq",
        "fq_codel",
        "round_robin",
        "red",
        "scfq",
        "sfq",
        "wf2q_plus",
        "drr_plus_plus",
        "priority",
        "codel",
    ];
    let every = draw(&["1", "1", "2"]);
    // Long acknowledgements of short packets wait for each other at their host.
    let answer = draw(&["40", "40", "1500"]);
    let start = draw(&["0 s", "drawn"]);
    let mut text = format!(
        "edition = 1\n[measure]\nduration = \"2 s\"\n[defaults]\nqueue = \"{}\"\nbuffer = \"{} packets\"\nstart = \"{start}\"\n\
         acknowledgement = \"{answer} B\"\naccess = {{ {} }}\nsink_access = {{ {access} }}\n\
         connection = {{ acknowledge_every = {every}, processing = \"{}\" }}\n\
         [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\ndelay = \"{} ms\"\nreverse_queue = \"{}\"\n",
        draw(&queues),
        draw(&["2", "20"]),
        draw(&far),
        draw(&["0 s", "1 ms"]),
        draw(&["1", "5"]),
        draw(&queues),
    );
    for flow in 0..3 + seed % 5 {
        let (transport, traffic) =
            (draw(&["reno", "cubic", "fixed_window"]), draw(&["ftp", "ftp(packet=40B)", "telnet(mean_gap=20ms)"]));
        text += &format!("[[flows]]\nname = \"{flow}\"\ntransport = \"{transport}\"\ntraffic = \"{traffic}\"\n");
        let other_way = draw(&["no", "no", "no", "no", "no", "no", "no", "yes"]) == "yes";
        text += if other_way { "from = \"b\"\nto = \"a\"\n" } else { "from = \"a\"\nto = \"b\"\n" };
        if draw(&["no", "no", "no", "no", "no", "no", "no", "yes"]) == "yes" {
            text += &format!("sink_access = {{ {} }}\n", draw(&far));
        }
    }
    text
}

/// The counts of a test network, in slices and cleared in the middle of the traffic.
fn counted(text: &str, seed: u64, is_watched: bool) -> String {
    let experiment =
        Experiment::read(text, "same_instant.toml", &[]).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    let plan = &experiment.plans()[0].1;
    let files = |name: &str| Err(name.to_owned());
    let mut simulation = Simulation::new(plan, seed, &files).unwrap_or_else(|(_, fault)| panic!("{fault}"));
    if is_watched {
        simulation.observe(Box::new(IdleObserver));
    }
    for slice in 1..=20 {
        simulation.run_until(Time(slice * 100_000_000_000 + seed * 7_777_777));
        if slice == 7 {
            simulation.clear_counts();
        }
        assert!(simulation.conserves_packets(), "a packet is in no line");
    }
    simulation.settle();
    let flows: Vec<_> = simulation.flow_counts().collect();
    let lines: Vec<_> = simulation.network.lines.iter().map(|line| line.counts).collect();
    format!("{flows:?} {lines:?} {}", simulation.network.packet_hops)
}

#[test]
fn hosts_that_send_in_the_same_instant_count_the_same_whether_they_are_watched_or_not() {
    for seed in 0..300 {
        let text = dumbbell(seed);
        let [watched, unwatched] = [true, false].map(|is_watched| counted(&text, seed, is_watched));
        assert!(watched == unwatched, "seed {seed}\n{text}\n{watched}\n{unwatched}");
    }
}

/// A packet that needs room in a pool cannot bypass the discipline; the discipline may be told late
/// that the line has become idle.
#[test]
fn lines_that_share_a_buffer_and_begin_anew_count_the_same_whether_they_are_watched_or_not() {
    for seed in 0..300 {
        let queue = ["drr_plus_plus", "fq_codel", "scfq", "sfq", "wf2q_plus"][seed as usize % 5];
        let world = dumbbell(seed);
        let is_left = |line: &&str| !line.starts_with("queue =") && !line.starts_with("buffer =");
        let left = world.lines().filter(is_left).collect::<Vec<_>>().join("\n");
        let text = left.replace("[defaults]", &format!("[defaults]\nqueue = \"{queue}\""))
            + "\n[[pools]]\nname = \"pool\"\nnode = \"a\"\npolicy = \"dynamic_threshold\"\nsize = \"20000 B\"\n";
        let [watched, unwatched] = [true, false].map(|is_watched| counted(&text, seed, is_watched));
        assert!(watched == unwatched, "seed {seed}\n{text}\n{watched}\n{unwatched}");
    }
}
