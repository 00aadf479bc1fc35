use super::*;
use crate::relay::settings::WaySettings;
use fairq_sched::packet::Address;

fn way(rate: &str, delay: &str, queue: &str) -> WaySettings {
    WaySettings {
        rate: Some(rate.into()),
        delay: Some(delay.into()),
        queue: Some(queue.into()),
        ..WaySettings::default()
    }
}

fn header(port: u16) -> Header {
    let address = Address::V4([127, 0, 0, 1]);
    Header { source: address, destination: address, protocol: 17, source_port: port, destination_port: 9, tos: 0 }
}

fn ways(up: WaySettings) -> Ways {
    Ways::new(&RelaySettings { ways: [up, way("1Gbit/s", "10ms", "fifo")], seed: 1 }).unwrap()
}

/// Runs to `end`; a stream's sender has always more to send, and its reader takes all. The bytes
/// read.
fn run(ways: &mut Ways, end: Time, streams: &[usize], step: impl Fn(&mut Ways)) -> u64 {
    let (mut arrivals, mut read, mut now) = (Vec::new(), 0, Time::ZERO);
    while now < end {
        now = now.saturating_add(Time::from_ms(1));
        ways.advance(now, &mut arrivals);
        for arrival in arrivals.drain(..) {
            let Some(stream) = &mut ways.flows[arrival.flow].stream else { continue };
            let ready = stream.ready().len();
            stream.take(ready);
            read += ready as u64;
        }
        for flow in streams {
            while ways.flows[*flow].stream.as_ref().is_some_and(Stream::has_room) {
                ways.send_segment(*flow, vec![0; super::super::stream::SEGMENT]);
            }
        }
        step(ways);
    }
    read
}

#[test]
fn a_late_call_moves_no_arrival() {
    let mut ways = ways(way("8Mbit/s", "10ms", "fifo"));
    let flow = ways.begin(header(7), 0, None);
    for _ in 0..3 {
        ways.send_datagram(flow, vec![0; 972], 28);
    }
    let mut arrivals = Vec::new();
    ways.advance(Time::from_s(1), &mut arrivals);
    let times: Vec<Time> = arrivals.iter().map(|arrival| arrival.at).collect();
    assert_eq!(times, [11, 12, 13].map(Time::from_ms));
    assert_eq!(ways.next_time(), None);
}

#[test]
fn a_stream_fills_the_line_and_loses_no_byte() {
    for queue in ["fifo + 30packets", "fq + 30packets", "fq_codel"] {
        let mut up = way("8Mbit/s", "10ms", queue);
        up.loss = Some(0.001);
        let mut ways = ways(up);
        let flow = ways.begin(header(7), 0, Some(Stream::new()));
        let read = run(&mut ways, Time::from_s(20), &[flow], |_| {});
        // 1448 of 1500 bytes of 8 Mbit/s would be 19.3 MB.
        assert!((15_000_000..19_310_000).contains(&read), "{queue}: {read} bytes");
        let tally = ways.flows[flow].tally.document("tcp", "up", [String::new(), String::new()]);
        let count = |name: &str| tally[name].as_u64().unwrap();
        assert!(count("lost_packets") > 0, "{queue}");
        let again = count("dropped_packets") + count("lost_packets");
        // Some drops wait for their second sending at the end.
        assert!((again.saturating_sub(60)..=again).contains(&count("retransmitted_packets")), "{queue}: {tally}");
    }
}

#[test]
fn a_flood_starves_a_stream_behind_fifo_and_not_behind_fair_queueing() {
    let share = |queue: &str| {
        let mut ways = ways(way("8Mbit/s", "10ms", queue));
        let stream = ways.begin(header(7), 0, Some(Stream::new()));
        let flood = ways.begin(header(8), 0, None);
        // 1250 bytes each millisecond are 10 Mbit/s.
        let read = run(&mut ways, Time::from_s(20), &[stream], |ways| ways.send_datagram(flood, vec![0; 1222], 28));
        read as f64 * 8.0 / 20.0 / 8e6
    };
    let (fifo, fq, drr) = (share("fifo + 50packets"), share("fq + 50packets"), share("drr + 50packets"));
    assert!(fifo < 0.1, "fifo: {fifo}");
    assert!((0.35..0.55).contains(&drr), "drr: {drr}");
    // What is dropped of the flood is charged to it (on_drop of fq).
    assert!(fq > 0.35, "fq: {fq}");
}

#[test]
fn a_change_counts_from_now_on_and_a_refused_one_changes_nothing() {
    let mut ways = ways(way("8Mbit/s", "10ms", "fifo"));
    let flow = ways.begin(header(7), 0, None);
    let change = WayChange { rate: Some("16Mbit/s".into()), delay: Some("1ms".into()), ..WayChange::default() };
    ways.change(0, &change).unwrap();
    ways.send_datagram(flow, vec![0; 972], 28);
    let mut arrivals = Vec::new();
    ways.advance(Time::from_ms(100), &mut arrivals);
    assert_eq!(arrivals[0].at, Time(1_500_000_000));
    for (change, said) in [
        (WayChange { rate: Some("16".into()), ..change.clone() }, "rate: "),
        (
            WayChange { rate: Some("trace:x".into()), ..change.clone() },
            "rate: trace:x: a relay sends at a constant rate",
        ),
        (WayChange { loss: Some(1.5), ..change.clone() }, "loss: a probability is from 0 to below 1"),
        (WayChange { jitter: Some("x".into()), ..change.clone() }, "jitter: "),
    ] {
        let fault = ways.change(0, &change).unwrap_err();
        assert!(fault.starts_with(said) && !fault.contains('\n'), "{fault}");
    }
    assert_eq!(ways.queues()[0]["rate_bit_per_s"], 16_000_000);
}
