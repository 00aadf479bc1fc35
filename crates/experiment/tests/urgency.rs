//! The rest of a transfer and the deadline of a packet: disciplines that use them do so in a run,
//! and a discipline whose input no flow provides is refused.

use crate::running::{self, no_file};
use fairq_experiment::experiment::{Experiment, Options};
use fairq_sched::facts::Need;
use fairq_sched::queue::Queue;
use fairq_sched::registry::{BUFFER_POLICIES, BufferSettings, SCHEDULERS, SchedulerSettings};
use serde_json::{Value, json};

fn read(scenario: &Value) -> Result<Experiment, String> {
    Experiment::read(&scenario.to_string(), "urgency.json", &[]).map_err(|problem| problem.to_string())
}

fn run(scenario: &Value) -> Value {
    running::run(&scenario.to_string())
}

/// Why `scenario` is refused: one line.
fn refusal(scenario: &Value) -> String {
    let outcome = read(scenario).and_then(|experiment| {
        let options = Options { workers: 1, files: &no_file, progress: &mut |_| true };
        experiment.run(options).map_err(|stopped| format!("{stopped:?}"))
    });
    outcome.expect_err("it is refused")
}

/// Transfers with web-like sizes over a line of 10 Mbit/s at a load of 0.8, each connection with a
/// line of its own.
fn web_like(queue: &str, transport: &str) -> Value {
    json!({
        "edition": 1,
        "measure": {"duration": "40 s"},
        "defaults": {"buffer": "200 packets", "acknowledgement": "40 B"},
        "links": [{"name": "line", "from": "left", "to": "right", "rate": "10 Mbit/s", "delay": "5 ms", "queue": queue}],
        "flows": [{
            "name": "web", "from": "left", "to": "right", "count": 200, "transport": transport, "start": "0 s",
            "access": {"rate": "100 Mbit/s"},
            "traffic": "flow_arrivals(rate=10Mbit/s, load=0.8, size=pareto(mean=30kB, shape=1.3, max=10MB), packet=1000B)",
        }],
    })
}

fn slowdown(document: &Value) -> f64 {
    document["transfers"][0]["slowdown_mean"].as_f64().expect("transfers were completed")
}

#[test]
fn the_shortest_remaining_transfer_first_slows_transfers_down_least() {
    for edition in [1, 2] {
        let of = |queue: &str| {
            let mut scenario = web_like(queue, "reno");
            scenario["edition"] = json!(edition);
            slowdown(&run(&scenario))
        };
        let [fifo, fair] = ["fifo", "pifo(rank=start_time)"].map(of);
        assert!(fair < fifo, "edition {edition}: fair {fair}, fifo {fifo}");
        for exact in ["pifo(rank=shortest_remaining)", "pifo(rank=shortest_remaining) + greatest_rank_drop"] {
            let found = of(exact);
            assert!(found < 0.5 * fair, "edition {edition}, {exact}: {found}, fair {fair}, fifo {fifo}");
        }
        // Disciplines that only approximate the order of ranks.
        for near in ["sp_pifo(rank=shortest_remaining)", "fifo + aifo(rank=shortest_remaining)"] {
            let found = of(near);
            assert!(found < fifo, "edition {edition}, {near}: {found}, fair {fair}, fifo {fifo}");
        }
    }
}

#[test]
fn what_remains_is_told_by_every_transport_that_carries_transfers() {
    for transport in ["cubic", "generic(window=20)", "fixed_window(window=20)", "newreno", "bbr"] {
        let [shortest, fifo] = ["pifo(rank=shortest_remaining) + greatest_rank_drop", "fifo"]
            .map(|queue| slowdown(&run(&web_like(queue, transport))));
        assert!(shortest < fifo, "{transport}: {shortest}, fifo {fifo}");
    }
}

/// Two flows over one line of 1 Mbit/s that is offered 0.96 of it: packets of the first have a
/// deadline of 20 ms.
fn two_flows(queue: &str, deadlines: [Option<&str>; 2], transport: &str) -> Value {
    let flow = |name: &str, deadline: Option<&str>| {
        let mut flow = json!({
            "name": name, "from": "left", "to": "right", "start": "0 s", "transport": transport,
            "traffic": "poisson(rate=480kbit/s, packet=500B)",
        });
        if let Some(deadline) = deadline {
            flow["deadline"] = json!(deadline);
        }
        flow
    };
    json!({
        "edition": 1,
        "measure": {"duration": "60 s"},
        "defaults": {"buffer": "100 packets", "acknowledgement": "40 B"},
        "links": [{"name": "line", "from": "left", "to": "right", "rate": "1 Mbit/s", "delay": "1 ms", "queue": queue}],
        "flows": [flow("voice", deadlines[0]), flow("bulk", deadlines[1])],
    })
}

/// The part of the arrived packets that arrived in time.
fn part_in_time(document: &Value, row: usize) -> f64 {
    let row = &document["flows"][row];
    row["in_time"].as_f64().expect("it has a deadline") / row["goodput_packets"].as_f64().expect("a number")
}

#[test]
fn deadlines_are_met_more_often_by_disciplines_that_use_them_than_by_a_fifo() {
    for transport in ["uncontrolled", "reno", "cubic"] {
        let of = |queue: &str| {
            let document = run(&two_flows(queue, [Some("20 ms"), Some("500 ms")], transport));
            [part_in_time(&document, 0), part_in_time(&document, 1)]
        };
        let fifo = of("fifo");
        assert!(fifo[0] < 0.8, "{transport}: the line is too fast to tell: {fifo:?}");
        for queue in ["pifo(rank=deadline)", "edf", "sp_pifo(rank=deadline)"] {
            let found = of(queue);
            let least = if queue.starts_with("sp") { fifo[0] } else { 0.95 };
            assert!(found[0] > least && found[1] > 0.99, "{transport}, {queue}: {found:?}, fifo {fifo:?}");
        }
    }
}

#[test]
fn a_transfer_is_due_as_a_whole_and_a_flow_without_deadline_has_no_count() {
    let of = |queue: &str| {
        let mut scenario = web_like(queue, "reno");
        scenario["flows"][0]["deadline"] = json!("300 ms");
        let mut bulk = scenario["flows"][0].clone();
        (bulk["name"], bulk["deadline"]) = (json!("bulk"), json!("60 s"));
        scenario["flows"].as_array_mut().expect("flows").push(bulk);
        for flow in 0..2 {
            scenario["flows"][flow]["traffic"] =
                json!("flow_arrivals(rate=10Mbit/s, load=0.45, size=30kB, packet=1000B)");
        }
        run(&scenario)
    };
    let part = |document: &Value| {
        let row = &document["transfers"][0];
        assert_eq!((&row["flow"], &row["size"]), (&json!("web"), &json!("all")));
        row["in_time"].as_f64().expect("a deadline") / row["completed"].as_f64().expect("a number")
    };
    let [fifo, by_deadline] = ["fifo", "pifo(rank=deadline) + greatest_rank_drop"].map(|queue| part(&of(queue)));
    assert!(by_deadline > fifo && by_deadline > 0.9, "{by_deadline}, fifo {fifo}");

    let document = run(&two_flows("fifo", [Some("20 ms"), None], "uncontrolled"));
    assert!(document["flows"][0]["in_time"].is_u64() && document["flows"][1]["in_time"].is_null());
    let document = run(&two_flows("fifo", [None, None], "uncontrolled"));
    assert!(document["flows"][0]["in_time"].is_null(), "no flow has a deadline");
}

#[test]
fn a_packet_that_comes_exactly_when_it_is_due_is_in_time() {
    // 500 B take 4 ms at 1 Mbit/s, and 1 ms on the way; one every 10 ms meets no other.
    let of = |deadline: &str| {
        let mut scenario = two_flows("fifo", [Some(deadline), None], "uncontrolled");
        scenario["flows"].as_array_mut().expect("flows").truncate(1);
        scenario["flows"][0]["traffic"] = json!("constant_rate(rate=400kbit/s, packet=500B)");
        part_in_time(&run(&scenario), 0)
    };
    assert_eq!([of("5 ms"), of("4.999999 ms")], [1.0, 0.0]);
}

#[test]
fn what_is_sent_again_is_due_when_it_was() {
    // A tenth is lost: of the arrived packets no retransmission was in time, because the round trip
    // alone is longer.
    let mut scenario = two_flows("fifo", [Some("15 ms"), None], "reno");
    scenario["flows"].as_array_mut().expect("flows").truncate(1);
    scenario["flows"][0]["traffic"] = json!("constant_rate(rate=100kbit/s, packet=500B)");
    scenario["links"][0]["delay"] = json!("10 ms");
    let whole = part_in_time(&run(&scenario), 0);
    scenario["links"][0]["loss"] = json!(0.1);
    let document = run(&scenario);
    let row = &document["flows"][0];
    let (retransmitted, sent) =
        (row["retransmitted"].as_f64().expect("a number"), row["sent"].as_f64().expect("a number"));
    assert!(whole > 0.99 && retransmitted > 0.05 * sent, "{row}");
    assert!(part_in_time(&document, 0) < 1.0 - retransmitted / sent * 0.8, "{row}");
}

#[test]
fn a_rank_that_no_flow_tells_is_refused_with_link_flow_and_remedy() {
    let said = refusal(&two_flows("pifo(rank=shortest_remaining)", [None, None], "uncontrolled"));
    let expected = "links[0].queue: pifo goes by what remains of a transfer, which no flow over link line tells, voice neither; \
                    give it traffic of transfers, as flow_arrivals(...), or write rank = start_time";
    assert!(said.contains(expected), "{said}");
    let said = refusal(&two_flows("pifo(rank=deadline)", [None, None], "uncontrolled"));
    assert!(said.contains("links[0].queue: pifo goes by packets' deadlines") && said.contains("deadline = "), "{said}");
    // One flow that provides it is enough, and a line with acknowledgements only is not checked.
    run(&two_flows("pifo(rank=deadline)", [None, Some("1 s")], "uncontrolled"));
    let endless = |packets: &str| {
        let mut scenario = two_flows("sp_pifo(rank=shortest_remaining)", [None, None], "reno");
        scenario["flows"][0]["traffic"] = json!(format!("ftp(packet=1000B{packets})"));
        scenario["measure"]["duration"] = json!("1 s");
        scenario
    };
    assert!(refusal(&endless("")).contains("sp_pifo goes by what remains"), "a file without end has no remainder");
    run(&endless(", packets=50"));
    // One setting for many lines: it is enough that one flow over one of them provides it.
    let mut scenario = two_flows("fifo", [None, Some("1 s")], "uncontrolled");
    scenario["links"] = json!([
        {"name": "first", "from": "left", "to": "middle", "rate": "1 Mbit/s"},
        {"name": "second", "from": "middle", "to": "right", "rate": "1 Mbit/s"},
        {"name": "other", "from": "left", "to": "aside", "rate": "1 Mbit/s"},
    ]);
    scenario["flows"][0]["to"] = json!("aside");
    scenario["defaults"]["queue"] = json!("pifo(rank=deadline)");
    run(&scenario);
    scenario["flows"][1].as_object_mut().expect("a flow").remove("deadline");
    assert!(refusal(&scenario).contains("defaults.queue: pifo goes by packets' deadlines"), "{}", refusal(&scenario));
}

#[test]
fn a_deadline_that_means_nothing_is_refused() {
    let said = refusal(&two_flows("fifo", [Some("0 s"), None], "uncontrolled"));
    assert!(said.contains("flows[0].deadline: nothing arrives in no time"), "{said}");
    let mut scenario = two_flows("fifo", [Some("1 s"), None], "reno");
    scenario["flows"][0]["traffic"] = json!("ftp");
    let said = refusal(&scenario);
    assert!(said.contains("flows[0].deadline: a file without end is never due"), "{said}");
}

#[test]
fn every_part_that_goes_by_what_flows_may_tell_is_refused_where_none_tells() {
    let schedulers = SCHEDULERS.iter().flat_map(|card| SchedulerSettings::variants(card.name));
    let mut queues: Vec<Queue> = schedulers.map(|scheduler| Queue::new(scheduler, None)).collect();
    let buffers = BUFFER_POLICIES.iter().flat_map(|card| BufferSettings::variants(card.name));
    queues.extend(buffers.map(|buffer| Queue { buffer: Some(buffer), ..Queue::unlimited_fifo() }));
    let mut refused = 0;
    for queue in queues.into_iter().filter(|queue| queue.fault().is_none()) {
        let needs = |wanted: Need| queue.needs().iter().any(|(_, need)| *need == wanted);
        let [remaining, deadline] = [Need::Remaining, Need::Deadline].map(needs);
        let with = |traffic: &str, deadline: Option<&str>| {
            let mut scenario = two_flows("fifo", [deadline, None], "reno");
            scenario["links"][0]["queue"] = serde_json::to_value(&queue).expect("it is written");
            scenario["flows"][0]["traffic"] = json!(traffic);
            scenario["measure"]["duration"] = json!("10 ms");
            scenario
        };
        if remaining || deadline {
            refused += 1;
            let said = refusal(&with("poisson(rate=1kbit/s)", None));
            assert!(said.contains(" goes by ") && said.contains("voice"), "{queue:?}: {said}");
        }
        let traffic = if remaining { "request_response(size=20kB)" } else { "poisson(rate=1kbit/s)" };
        run(&with(traffic, deadline.then_some("1 s")));
    }
    assert!(refused >= 4, "{refused}");
}
