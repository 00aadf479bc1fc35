use super::*;
use crate::report::Delay;

fn flow(name: &str, packets: u64, p99_s: Option<f64>) -> FlowReport {
    let delay = Delay { mean_s: p99_s, p50_s: p99_s, p95_s: p99_s, p99_s, max_s: p99_s };
    FlowReport { flow: name.to_owned(), packets, bytes: 0, dropped: 0, throughput_bit_per_s: 0.0, delay }
}

fn lane(name: &str, direction: Option<Direction>, rows_by: &'static str, flows: Vec<FlowReport>) -> DisciplineReport {
    let delay = Delay { mean_s: None, p50_s: None, p95_s: None, p99_s: None, max_s: None };
    DisciplineReport {
        name: name.to_owned(),
        direction,
        note: None,
        classifier: None,
        rows_by,
        packets: flows.iter().map(|flow| flow.packets).sum(),
        flows,
        bytes: 0,
        sent: 0,
        dropped: 0,
        bytes_dropped: 0,
        marked: 0,
        last_departure_s: 0.0,
        throughput_bit_per_s: 0.0,
        delay,
        jain_index: None,
        overtakes: 0,
        late_s_mean: None,
        late_s_p99: None,
        late_s_max: None,
        late_bound_s: None,
        later_than_bound: None,
        late_packets: None,
        late_not_compared: None,
        states: Vec::new(),
    }
}

/// A lane of five flows with these 99th percentiles, and of a row that flows share.
fn five(name: &str, delays: [f64; 5]) -> DisciplineReport {
    let flows = ["a", "b", "c", "d", "e"].into_iter().zip(delays).zip([10, 50, 20, 40, 30]);
    let mut rows: Vec<FlowReport> = flows.map(|((name, delay), packets)| flow(name, packets, Some(delay))).collect();
    rows.push(flow(OTHERS, 900, Some(delays[0])));
    lane(name, None, "pair", rows)
}

#[test]
fn the_least_delay_of_each_flow_is_counted_and_the_busiest_is_named() {
    let answer = Answer::of(&[
        five("fifo", [5.0, 5.0, 1.0, 3.0, 2.00]),
        five("fq", [1.0, 2.0, 3.0, 3.0, 2.03]),
        five("cake", [2.0, 3.0, 2.0, 3.0, 5.00]),
    ]);
    let answer = answer.expect("there are three");
    let found: Vec<_> = answer.parts[0]
        .least
        .iter()
        .map(|least| (least.disciplines.join("+"), least.flows, least.busiest.as_str()))
        .collect();
    // The shared row is no flow. The most packets first where the count is the same.
    assert_eq!(
        found,
        [("fq".into(), 2, "b"), ("fifo+fq+cake".into(), 1, "d"), ("fifo+fq".into(), 1, "e"), ("fifo".into(), 1, "c"),]
    );
    assert!(answer.decided);
    assert_eq!(
        answer.text,
        "fq gave the least 99th percentile delay to 2 of 5 flows (busiest: b), fifo and fq to 1 of 5 flows (e), fifo \
         to 1 of 5 flows (c); for 1 flow no 99th percentile delay differs from another by more than 2 %."
    );
}

#[test]
fn a_sentence_names_three_winners_and_counts_the_others() {
    let lanes: Vec<_> = (0..5)
        .map(|best| five(&format!("q{best}"), std::array::from_fn(|flow| if flow == best { 1.0 } else { 2.0 })))
        .collect();
    let text = Answer::of(&lanes).expect("there are five").text;
    assert!(text.starts_with("q1 gave the least 99th percentile delay to 1 of 5 flows (b), q3 to "), "{text}");
    assert!(text.ends_with(" (e), others to 2 flows."), "{text}");
}

#[test]
fn where_none_differs_it_says_so() {
    let same = [1.0, 2.0, 3.0, 4.0, 5.0];
    let answer = Answer::of(&[five("fifo", same), five("fq", same.map(|delay| delay * 1.019))]).expect("there are two");
    assert!(!answer.decided);
    assert_eq!(answer.text, "For all 5 flows no 99th percentile delay differs from another by more than 2 %.");
    assert!(Answer::of(&[five("fifo", same), five("fq", same.map(|delay| delay * 1.021))]).expect("two").decided);
    assert_eq!(Answer::of(&[five("fifo", same)]), None);
}

#[test]
fn a_flow_of_which_a_discipline_sent_nothing_is_not_best_there() {
    let of = |name, delay| lane(name, None, "pair", vec![flow("a", 9, delay)]);
    let fifo = DisciplineReport { dropped: 9, ..of("fifo", None) };
    let answer = Answer::of(&[fifo.clone(), of("fq", Some(7.0))]).expect("there are two");
    assert_eq!(
        answer.text,
        "fq gave the least 99th percentile delay to the only flow, a. Packets dropped: fifo 100.00 %, fq 0 %."
    );
    let answer = Answer::of(&[fifo.clone(), DisciplineReport { name: "fq".into(), ..fifo }]).expect("there are two");
    assert_eq!(answer.text, "No packet was sent. Packets dropped: fifo 100.00 %, fq 100.00 %.");
}

#[test]
fn directions_and_classifiers_are_apart() {
    let (down, up) = (Some(Direction::Down), Some(Direction::Up));
    let of = |name, way, rows_by, delay| lane(name, way, rows_by, vec![flow("a", 9, Some(delay))]);
    let answer = Answer::of(&[
        of("fifo", down, "pair", 2.0),
        of("fq", down, "pair", 1.0),
        of("fifo", up, "pair", 1.0),
        of("fq", up, "pair", 1.0),
    ]);
    assert_eq!(
        answer.expect("there are two").text,
        "Down: fq gave the least 99th percentile delay to the only flow, a.\n\nUp: for the only flow no 99th \
         percentile delay differs from another by more than 2 %."
    );
    let mixed =
        Answer::of(&[of("fifo", None, "pair", 2.0), of("fq", None, "pair", 1.0), of("cake", None, "port_pair", 1.0)]);
    assert!(mixed.expect("there are two").text.starts_with("By pair: fq gave"), "the lane by port_pair is alone");
    let four = [("a", "pair"), ("b", "pair"), ("c", "source"), ("d", "source")];
    let answer = Answer::of(&four.map(|(name, rows_by)| of(name, None, rows_by, 1.0))).expect("there are two pairs");
    assert!(answer.text.starts_with("By pair: for") && answer.text.contains("\n\nBy source: for"), "{}", answer.text);
}
