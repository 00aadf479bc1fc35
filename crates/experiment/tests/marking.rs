//! Marks by the instantaneous queue: the effect of DCTCP's K on a line, given in packets, in bytes
//! and in time.

use crate::running;

/// Measurements of the line: utilisation, mean and greatest queue in packets, packets marked and
/// dropped.
#[derive(Debug)]
struct Seen {
    utilisation: f64,
    mean: f64,
    most: f64,
    marked: f64,
    dropped: f64,
}

/// `flows` of `transport` with packets of 1500 B over a line of `mbit_per_s` with a round trip of
/// `us`.
fn play(queue: &str, transport: &str, flows: usize, mbit_per_s: u32, us: u32) -> Seen {
    let mut text = format!(
        "edition = 1\n[measure]\nwarm_up = \"0.5 s\"\nduration = \"0.5 s\"\n[defaults]\nstart = \"0 s\"\n\
         access = {{ rate = \"unlimited\" }}\n[[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"{mbit_per_s} Mbit/s\"\ndelay = \"{} us\"\nreverse_queue = \"fifo + unlimited\"\nqueue = \"{queue}\"\n",
        us / 2
    );
    for number in 0..flows {
        text += &format!(
            "[[flows]]\nname = \"{number}\"\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp(packet=1500B)\"\n\
             transport = \"{transport}\"\n"
        );
    }
    let result = running::run(&text);
    let of = |table: &str, column: &str| {
        let rows = result[table].as_array().expect("rows");
        let row = rows.iter().find(|row| row["link"] == "line" && row["direction"] == "forward").expect("the line");
        row[column].as_f64().unwrap_or_else(|| panic!("{column} of {row:#}"))
    };
    Seen {
        utilisation: of("links", "utilisation"),
        mean: of("queues", "waiting_packets_mean"),
        most: of("queues", "waiting_packets_max"),
        marked: of("queues", "marked"),
        dropped: of("queues", "dropped"),
    }
}

/// Alizadeh et al., SIGCOMM 2010: with K above a seventh of what the path holds, the line is full,
/// no packet is lost, and the queue stays within K and a packet or two of each flow.
#[test]
fn dctcp_keeps_the_queue_at_k_without_a_drop() {
    let twenty = ["20packets", "30kB", "240us"].map(|at| (at, 20.0, 8, 1000, 400));
    let others =
        [("10packets", 10.0, 2, 1000, 200), ("65packets", 65.0, 20, 10_000, 300), ("200us", 16.7, 4, 1000, 300)];
    for (at, k, flows, mbit_per_s, us) in twenty.into_iter().chain(others) {
        for scheduler in ["fifo", "drr"] {
            let seen = play(&format!("{scheduler} + step(at={at}) + 1000packets"), "dctcp", flows, mbit_per_s, us);
            let flows = flows as f64;
            let says = format!("{scheduler}, {at}, {flows} flows, {mbit_per_s} Mbit/s, {us} us: {seen:?}");
            assert!(seen.dropped == 0.0 && seen.marked > 0.0, "{says}");
            assert!(seen.utilisation > 0.99, "{says}");
            assert!(seen.mean <= k + flows && seen.mean > 0.3 * k, "{says}");
            // With a limit in time a packet is marked when it leaves, one queue length later than
            // on arrival.
            let late = if at.ends_with('s') && !at.ends_with("packets") { 2.0 } else { 1.0 };
            assert!(seen.most <= k + 2.0 * late * flows + 2.0, "{says}");
        }
    }
}

/// RED that must drop from `max` on cannot be DCTCP's queue; one that marks there can: a step at 20
/// packets of the instantaneous queue.
#[test]
fn red_that_marks_above_max_is_a_step_too() {
    let red =
        |more: &str| format!("fifo + red(min=20packets, max=21packets, weight=1, probability=1{more}) + 1000packets");
    let hard = play(&red(""), "dctcp", 8, 1000, 400);
    assert!(hard.dropped > 20.0, "{hard:?}");
    for gentle in ["", ", gentle=false"] {
        let soft = play(&red(&format!(", hard_drop=false{gentle}")), "dctcp", 8, 1000, 400);
        assert!(soft.dropped == 0.0 && soft.marked > 0.0, "{soft:?}");
        assert!(soft.utilisation > 0.99 && soft.most <= 20.0 + 2.0 * 8.0 + 2.0, "{soft:?}");
    }
    // Packets that accept no mark are dropped.
    let deaf = play(&red(", hard_drop=false"), "newreno", 8, 1000, 400);
    assert!(deaf.dropped > 0.0 && deaf.marked == 0.0, "{deaf:?}");
}

/// `ce_threshold` marks packets that waited longer, before CoDel's or PIE's own control law reacts.
#[test]
fn ce_threshold_holds_scalable_senders_below_the_target() {
    for design in ["fq_codel", "fq_pie", "fifo + codel"] {
        let set = |settings: &str| match design {
            "fifo + codel" => format!("fifo + codel({settings}) + 1000packets"),
            _ => format!("{design}({settings})"),
        };
        let early = play(&set("ce_threshold=240us"), "dctcp", 8, 1000, 400);
        assert!(early.dropped == 0.0 && early.marked > 0.0, "{design}: {early:?}");
        assert!(early.utilisation > 0.99 && early.mean < 30.0, "{design}: {early:?}");
        // Only ECT(1) is selected: DCTCP's packets are ECT(0).
        let selected = ", ce_threshold_mask=3, ce_threshold_selector=1";
        let others = play(&set(&format!("ce_threshold=240us{selected}")), "dctcp", 8, 1000, 400);
        assert!(others.mean > 2.0 * early.mean, "{design}: {others:?} and {early:?}");
        let scalable = play(&set(&format!("ce_threshold=240us{selected}")), "prague", 8, 1000, 400);
        assert!(scalable.dropped == 0.0 && scalable.mean < 40.0, "{design}: {scalable:?}");
    }
}
