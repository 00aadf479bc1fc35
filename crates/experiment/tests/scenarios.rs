//! Every scenario of the project runs, and shows what its sentence claims.

use fairq_experiment::experiment::{Experiment, Options, Stopped};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A result, with access to its numbers.
struct Shown(Value);

impl Shown {
    /// The column of a flow at this value of the axis.
    fn flow(&self, at: &str, flow: &str, column: &str) -> f64 {
        let axis = self.0["scenario"]["axes"][0]["name"].as_str().expect("an axis");
        let rows = self.0["flows"].as_array().expect("a table of flows");
        let row = rows.iter().find(|row| row[axis] == at && row["flow"] == flow);
        let value = &row.unwrap_or_else(|| panic!("no row of {flow} at {at}"))[column];
        value.as_f64().unwrap_or_else(|| panic!("{column} of {flow} at {at} is {value}"))
    }

    /// The column of a flow's transfers of a size.
    fn transfer(&self, at: &str, flow: &str, size: &str, column: &str) -> f64 {
        let axis = self.0["scenario"]["axes"][0]["name"].as_str().expect("an axis");
        let rows = self.0["transfers"].as_array().expect("a table of transfers");
        let row = rows.iter().find(|row| row[axis] == at && row["flow"] == flow && row["size"] == size);
        let value = &row.unwrap_or_else(|| panic!("no row of {size} of {flow} at {at}"))[column];
        value.as_f64().unwrap_or_else(|| panic!("{column} of {flow} at {at} is {value}"))
    }

    /// Packets that arrived.
    fn packets(&self, at: &str, flow: &str) -> f64 {
        self.flow(at, flow, "throughput_packets")
    }

    /// The mean delay in seconds.
    fn delay(&self, at: &str, flow: &str) -> f64 {
        self.flow(at, flow, "delay_s_mean")
    }

    /// The dropped part of the packets sent.
    fn loss(&self, at: &str, flow: &str) -> f64 {
        self.flow(at, flow, "dropped") / self.flow(at, flow, "sent")
    }
}

/// Whether `a` equals `b` within the part `within`.
fn near(a: f64, b: f64, within: f64) -> bool {
    (a - b).abs() <= within * b.abs()
}

/// Whether a result shows what is claimed.
type Claim = fn(&Shown) -> bool;

/// The claim that each file's sentence makes.
const CLAIMS: &[(&str, Claim)] = &[
    ("byte_buffers.toml", |s| {
        near(s.loss("packets", "tiny packets"), s.loss("packets", "long packets"), 0.1)
            && s.loss("bytes", "tiny packets") < 0.1 * s.loss("bytes", "long packets")
    }),
    ("class_leaves.toml", |s| {
        let throughput =
            |at, flows: &[&str]| -> f64 { flows.iter().map(|flow| s.flow(at, flow, "throughput_bit_per_s")).sum() };
        let has_its_rate = |at| {
            near(throughput(at, &["call", "download"]), 5e6, 0.03)
                && near(throughput(at, &["backup.1", "backup.2"]), 1e6, 0.03)
        };
        // One way takes 10 ms.
        s.delay("FIFO", "call") > 0.5
            && s.delay("three kinds", "call") < 0.02
            && near(s.delay("three kinds", "guests.1"), s.delay("FIFO", "guests.1"), 0.1)
            && has_its_rate("FIFO")
            && has_its_rate("three kinds")
    }),
    ("come_and_go.toml", |s| {
        let rate = |at, flow| s.flow(at, flow, "throughput_bit_per_s");
        near(rate("before", "host"), 1e6, 0.02)
            && near(rate("meanwhile", "host"), 5e5, 0.02)
            && near(rate("meanwhile", "guest"), 5e5, 0.02)
            && near(rate("after", "host"), 1e6, 0.02)
            && rate("after", "guest") == 0.0
    }),
    ("congestion_controls.toml", |s| {
        let third = 20e6 * 60.0 / 8000.0 / 3.0;
        s.packets("FIFO", "reno") < 0.4 * third
            && ["FQ", "FQ-CoDel"]
                .iter()
                .all(|at| ["reno", "cubic", "bbr"].iter().all(|flow| near(s.packets(at, flow), third, 0.2)))
    }),
    ("csfq_island.toml", |s| {
        // At the first bottleneck 1.5 Mbit/s for each of four; at the second that leaves 2 for the
        // fifth.
        let shares = [("long 1", 1.5e6), ("long 2", 1.5e6), ("short 1", 1.5e6), ("short 2", 1.5e6), ("cross", 2e6)];
        let rate = |at: &str, flow: &str| s.flow(at, flow, "throughput_bit_per_s");
        shares.iter().all(|(flow, share)| near(rate("CSFQ", flow), *share, 0.1))
            && shares.iter().all(|(flow, share)| near(rate("Rainbow", flow), *share, 0.15))
            && rate("FIFO", "short 2") > 2.5 * rate("FIFO", "long 1")
    }),
    ("decbit.toml", |s| {
        let files = ["file 1", "file 2", "file 3", "file 4"];
        let total = |at: &str| files.map(|file| s.packets(at, file)).iter().sum::<f64>();
        let dropped = |at: &str| files.map(|file| s.flow(at, file, "dropped")).iter().sum::<f64>();
        ["DECbit", "FQ bit"].iter().all(|at| near(total(at), 3500.0, 0.001) && dropped(at) == 0.0)
            && dropped("no bit") > 0.0
            && s.flow("DECbit", "file 1", "rtt_s_mean") < 0.3 * s.flow("no bit", "file 1", "rtt_s_mean")
    }),
    ("delta.toml", |s| {
        near(s.packets("delta 0", "sparse"), s.packets("delta 1000 B", "sparse"), 0.01)
            && s.delay("delta 1000 B", "sparse") < 0.75 * s.delay("delta 0", "sparse")
    }),
    ("drop_precedence.toml", |s| {
        // 2 of 12 Mbit/s have to go, and a little more, as the line is idle at times: half of AF13,
        // or a sixth of each.
        let lost = |at: &str| ["AF11", "AF12", "AF13"].map(|flow| s.loss(at, flow));
        let ([low, middle, high], alike) = (lost("WRED"), lost("RED"));
        low == 0.0
            && middle < 0.001
            && (0.5..0.6).contains(&high)
            && alike.iter().all(|loss| (1.0 / 6.0..0.22).contains(loss) && near(*loss, alike[0], 0.03))
    }),
    ("dumbbell.toml", |s| {
        // Half a packet of a file and the terminal's own: 71.4 ms + 5.7 ms.
        s.delay("FIFO", "terminal") > 1.2
            && near(s.delay("FQ", "terminal"), 0.077, 0.15)
            && ["FIFO", "FQ"].iter().all(|at| near(s.packets(at, "file 1"), s.packets(at, "file 2"), 0.01))
    }),
    ("flow_arrivals.toml", |s| {
        let short = |at: &str| s.transfer(at, "transfers", "1 kB to 10 kB", "slowdown_p50");
        short("FIFO") > 2.0 * short("FQ") && short("FQ") < 2.0
    }),
    ("generated_parking_lot.toml", |s| {
        let shorts = |at: &str| (1..=5).map(|number| s.packets(at, &format!("short {number}"))).sum::<f64>() / 5.0;
        s.packets("FIFO", "long") < 0.25 * shorts("FIFO") && near(s.packets("FQ", "long"), shorts("FQ"), 0.1)
    }),
    ("host_queue.toml", |s| {
        let slowest = |at: &str| s.transfer(at, "file", "all", "completion_s_p99");
        slowest("linux_fq") < 0.85 * slowest("fifo") && near(slowest("fq_codel"), slowest("fifo"), 0.01)
    }),
    ("hpfq.toml", |s| {
        let research = |at: &str| (1..=9).map(|copy| s.packets(at, &format!("research.{copy}"))).sum::<f64>();
        near(s.packets("H-WF2Q+", "sales"), 3.0 * research("H-WF2Q+"), 0.03)
            && near(s.packets("FQ", "sales"), research("FQ") / 9.0, 0.03)
    }),
    ("htb.toml", |s| {
        let rate = |at: &str, flow: &str| s.flow(at, flow, "throughput_bit_per_s");
        near(rate("HTB", "voice"), 64e3, 0.05)
            && near(rate("HTB", "web"), 336e3, 0.05)
            && near(rate("HTB", "bulk"), 100e3, 0.01)
            && s.loss("HTB", "voice") == 0.0
            && rate("FIFO", "bulk") > 120e3
    }),
    ("ill_behaved.toml", |s| {
        near(s.packets("FIFO", "flood"), 2800.0, 0.001)
            && s.packets("FIFO", "file") < 10.0
            && s.packets("FQ", "file") > 2700.0
    }),
    ("incast.toml", |s| {
        let blocks = |at: &str| s.transfer(at, "block", "all", "completed");
        let dropped = |at: &str| (1..=16).map(|copy| s.flow(at, &format!("block.{copy}"), "dropped")).sum::<f64>();
        blocks("long") > 3.0 * blocks("short") && dropped("long") == 0.0 && dropped("short") > 0.0
    }),
    ("leaf_spine.toml", |s| {
        let total = |at: &str| (1..=8).map(|host| s.flow(at, &format!("h{host}"), "throughput_bit_per_s")).sum::<f64>();
        near(total("one"), 1e8, 0.01) && total("many") > 3.0 * total("one")
    }),
    ("long_fat.toml", |s| {
        let rate = |window: u32| s.packets(&format!("fixed_window(window={window})"), "file") / 300.0;
        // 1000 B take 4 ms, an acknowledgement of 40 B takes 0.16 ms.
        [5u32, 50].iter().all(|w| near(rate(*w), f64::from(*w) / (0.6 + 0.004_16), 0.002))
            && near(rate(200), 250.0, 0.001)
    }),
    ("lossy_link.toml", |s| {
        let again = |at: &str| s.flow(at, "file", "retransmitted");
        near(s.flow("lossy", "file", "lost"), 0.02 * s.flow("lossy", "file", "sent"), 0.3)
            && s.packets("lossy", "file") < 0.7 * s.packets("clean", "file")
            && s.packets("reordering", "file") < 0.9 * s.packets("clean", "file")
            && near(s.packets("jittery", "file"), s.packets("clean", "file"), 0.01)
            && again("clean") == 0.0
            && again("jittery") == 0.0
            && again("reordering") > 10.0
    }),
    ("multicast.toml", |s| {
        let rows = s.0["sessions"].as_array().expect("a table of sessions");
        rows.iter().zip([5, 2, 2]).all(|(row, level)| row["level_end"] == level && row["loss"] == 0.0)
    }),
    ("outage.toml", |s| {
        // 10 s at 20 Mbit/s and 29 s at 5; in a second about 60 packets of the call come and find
        // no room.
        let rows = s.0["links"].as_array().expect("a table of links");
        rows.iter().filter(|row| row["direction"] == "forward").all(|row| row["utilisation"].as_f64() > Some(0.92))
            && ["fifo", "fq_codel"].iter().all(|then| s.flow(then, "call", "dropped") > 30.0)
            && s.delay("fq_codel", "call") < 0.7 * s.delay("fifo", "call")
    }),
    ("packet_table.toml", |s| {
        // In the table: "a" 4 packets of 1000 B, "b" 20 of 200 B, all at one instant in each of two
        // seconds. With FIFO the packets of "b" wait for those of "a" before them.
        ["FIFO", "FQ"].iter().all(|at| s.packets(at, "a") == 8.0 && s.packets(at, "b") == 40.0)
            && s.delay("FQ", "b") < 0.8 * s.delay("FIFO", "b")
    }),
    ("parking_lot.toml", |s| {
        s.packets("FIFO", "long") < 0.6 * 1750.0
            && ["long", "short 1", "short 2", "short 3"].iter().all(|flow| near(s.packets("FQ", flow), 1750.0, 0.01))
    }),
    ("phase.toml", |s| {
        // The line takes one packet in two thirds of a gap, that of the first flow; a third of the
        // gaps has room for the second.
        s.loss("exact", "first") == 0.0
            && near(s.loss("exact", "second"), 2.0 / 3.0, 0.01)
            && ["first", "second"].iter().all(|flow| near(s.loss("jitter", flow), 1.0 / 3.0, 0.1))
    }),
    ("policer.toml", |s| {
        // 1000 packets of 1000 B are 16 kbit/s; a packet takes 1/7 s of the line. Of the shaper 40
        // and the burst wait.
        ["shaper", "policer"].iter().all(|at| near(s.packets(at, "flood"), 1000.0, 0.005))
            && near(s.loss("policer", "flood"), 5.0 / 7.0, 0.005)
            && near(s.delay("policer", "flood"), 1.0 / 7.0, 0.001)
            && s.delay("shaper", "flood") > 100.0 * s.delay("policer", "flood")
    }),
    ("preemption.toml", |s| {
        // 40 B take 5.7 ms, and 0.4 ms on the access line; half a long packet takes 71 ms.
        near(s.delay("interrupts", "terminal"), 0.006_1, 0.02)
            && s.delay("waits", "terminal") > 10.0 * s.delay("interrupts", "terminal")
            && near(s.packets("interrupts", "file 1"), s.packets("waits", "file 1"), 0.01)
    }),
    ("refund.toml", |s| {
        s.packets("charge", "flood") < 50.0
            && near(s.packets("refund", "flood"), 1400.0, 0.01)
            && near(s.packets("refund", "file"), 1400.0, 0.01)
    }),
    ("request_response.toml", |s| {
        let time = |at: &str| s.transfer(at, "users", "all", "completion_s_mean");
        time("FIFO") > 3.0 * time("FQ") && s.transfer("FQ", "users", "all", "slowdown_p99") < 5.0
    }),
    ("reverse_path.toml", |s| s.packets("FQ", "right") > 2.5 * s.packets("FIFO", "right")),
    ("round_robin_sizes.toml", |s| {
        let bytes = |at: &str| s.packets(at, "long packets") * 1500.0 / (s.packets(at, "short packets") * 500.0);
        near(bytes("round robin"), 3.0, 0.01) && near(bytes("FQ"), 1.0, 0.01)
    }),
    ("self_similar.toml", |s| {
        // M/D/1 at a load of 0.8 waits two packets; a packet takes 0.8 ms.
        let rate = |at: &str| s.flow(at, "all", "throughput_bit_per_s");
        near(rate("Poisson"), 8e6, 0.01)
            && near(rate("self-similar"), 8e6, 0.1)
            && near(s.delay("Poisson", "all"), 0.002_4, 0.03)
            && s.delay("self-similar", "all") > 3.0 * s.delay("Poisson", "all")
    }),
    ("shared_buffer.toml", |s| {
        s.loss("fuzzball", "neighbour") < 0.01
            && s.loss("thresholds", "neighbour") > 0.5
            && ["fuzzball", "thresholds"].iter().all(|at| s.loss(at, "other line") == 0.0)
            && near(s.packets("fuzzball", "flood") + s.packets("fuzzball", "neighbour"), 2800.0, 0.01)
    }),
    ("token_bucket.toml", |s| {
        near(s.packets("shaper", "flood"), 1000.0, 0.001) && near(s.packets("line", "flood"), 3500.0, 0.001)
    }),
    ("virtual_clock.toml", |s| {
        s.packets("Virtual Clock", "early") < 0.2 * s.packets("Virtual Clock", "late")
            && near(s.packets("FQ", "early"), s.packets("FQ", "late"), 0.02)
    }),
    ("web.toml", |s| {
        let small = |at: &str| s.transfer(at, "pages", "1 kB to 10 kB", "completion_s_p50");
        small("FIFO") > 2.0 * small("FQ") && s.transfer("FQ", "pages", "all", "refused") == 0.0
    }),
    ("weights.toml", |s| {
        let share = |at: &str, weight: u32| s.packets(at, &format!("weight {weight}")) / 4900.0;
        [1, 2, 4].iter().all(|w| near(share("FQ", *w), f64::from(*w) / 7.0, 0.01))
            && ["FIFO", "round robin"].iter().all(|at| [1, 2, 4].iter().all(|w| near(share(at, *w), 1.0 / 3.0, 0.01)))
    }),
];

fn files_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut files: Vec<PathBuf> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

fn name(file: &Path) -> &str {
    file.file_name().and_then(|name| name.to_str()).expect("a name")
}

fn run(file: &Path, sets: &[(&str, &str)]) -> Shown {
    let text = std::fs::read_to_string(file).expect("a file that is there");
    assert!(text.starts_with("#:schema ../"), "{}: the first line names the schema for editors", file.display());
    let sets: Vec<(String, String)> = sets.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
    let experiment = Experiment::read(&text, name(file), &sets).unwrap_or_else(|problem| panic!("{problem}"));
    let about = &experiment.scenario().about;
    assert!(about.len() > 20 && about.ends_with(['.', ')']), "{}: a scenario says what it shows", file.display());
    let folder = file.parent().expect("a folder");
    let files = |name: &str| std::fs::read(folder.join(name)).map_err(|fault| format!("{name}: {fault}"));
    match experiment.run(Options { workers: 2, files: &files, progress: &mut |_| true }) {
        Ok(result) => Shown(result),
        Err(Stopped::Problem(problem)) => panic!("{problem}"),
        Err(Stopped::Interrupted(_)) => panic!("{} was interrupted", file.display()),
    }
}

#[test]
fn every_scenario_shows_what_its_sentence_says() {
    let files = files_in("scenarios");
    let known: BTreeSet<&str> = CLAIMS.iter().map(|(file, _)| *file).collect();
    let there: BTreeSet<&str> = files.iter().map(|file| name(file)).collect();
    assert_eq!(known, there, "every scenario has its claim, and every claim its scenario");
    for (file, (_, claim)) in files.iter().zip(CLAIMS) {
        let shown = run(file, &[]);
        assert!(claim(&shown), "{}: {}\n{:#}", name(file), shown.0["scenario"]["about"], shown.0["flows"]);
    }
}

#[test]
fn every_scenario_of_a_paper_runs() {
    let files = files_in("papers/demers1990");
    assert!(files.len() >= 6);
    for file in &files {
        let short = [("measure.warm_up", "5 s"), ("measure.duration", "20 s"), ("measure.replications", "2")];
        let shown = run(file, &short);
        assert!(shown.0["flows"].as_array().is_some_and(|rows| !rows.is_empty()), "{}", name(file));
    }
}
