//! That a packet costs no more in a large window: what a sender and a receiver do for each does not
//! grow with the packets in flight, nor with those lost.
//!
//! Counting calls would not show it, for the work may be within a call, and counting steps in one
//! structure would not show what another does. Instructions show all of it, of every transport,
//! without a line in the product. So each of them sends three windows of packets through a pipe
//! that loses a burst of the first (`workload window`), with 5000 packets in flight and with 50
//! 000, of which a thousand are lost one by one and a thousand in a row. A cost in proportion to
//! the window or to the losses would be ten times as high. The logarithm of a tree is 1.27 times,
//! and memory that is used for the first time has its part.

use fairq_sim::transport::registry::TRANSPORTS;
use serde_json::{Value, json};

use crate::Findings;
use crate::callgrind::{counted, instructions, number_before, on_all_cores};

/// Packets in flight.
const WINDOWS: [u64; 2] = [5_000, 50_000];

/// The most that a packet may cost in the larger window, for its cost in the smaller one.
const ALLOWED: f64 = 1.3;

/// Starts with two packets and adds at most one in a round trip, so 50 000 would take as many round
/// trips. It has the connection of the other congestion controls, and its own state covers the last
/// minutes.
const SLOW: &str = "ledbat";

/// The loss recoveries of a connection. A congestion control's default recovery is tried with that
/// control.
const CONNECTIONS: [&str; 6] = [
    r#"{"recovery": "tahoe"}"#,
    r#"{"recovery": "reno"}"#,
    r#"{"recovery": "newreno"}"#,
    r#"{"recovery": "sack"}"#,
    r#"{"recovery": "rack"}"#,
    r#"{"recovery": "sack", "acknowledge_every": 2}"#,
];

/// What is wrong with the costs of all transports.
pub(crate) fn grown(program: &str) -> Findings {
    let laws = TRANSPORTS.iter().filter(|card| card.name != SLOW).map(|card| (card.name, "{}"));
    let recoveries = CONNECTIONS.iter().map(|connection| ("reno", *connection));
    let works: Vec<_> = laws.chain(recoveries).collect();
    let costs = on_all_cores(&works, |(transport, connection)| {
        WINDOWS.map(|window| cost(program, transport, connection, window))
    });
    let judged = works.iter().zip(costs).filter_map(|((transport, connection), costs)| {
        let name = format!("{transport} {connection}");
        match costs {
            [Ok(small), Ok(large)] => judge(&name, small, large),
            [Err(problem), _] | [_, Err(problem)] => Some(format!("{name}: {problem}")),
        }
    });
    judged.collect()
}

/// Instructions per packet sent with `window` packets in flight. At least a twentieth of them, for
/// TFRC, which doubles its rate until it hears of losses, never has more.
fn cost(program: &str, transport: &str, connection: &str, window: u64) -> Result<f64, String> {
    let settings = settings(transport, window);
    let mut connection: Value = serde_json::from_str(connection).map_err(|error| error.to_string())?;
    connection["initial_window"] = json!(window);
    let output = counted(program, &["window", &settings.to_string(), &connection.to_string(), &window.to_string()])?;
    let number = |words| number_before(&output, words).ok_or("it does not say how many packets were sent");
    let (sent, flight) = (number(" packets")?, number(" in flight")?);
    if flight < window / 20 {
        return Err(format!("only {flight} packets came to be in flight, of {window}"));
    }
    Ok(instructions(&output)? as f64 / sent as f64)
}

/// Settings with which `transport` soon has `window` packets in flight. A congestion control over a
/// connection begins with them.
fn settings(transport: &str, window: u64) -> Value {
    let mut settings = json!({"kind": transport});
    let mut set = |name: &str, value: Value| settings[name] = value;
    match transport {
        "decbit" => {
            set("window_max", json!(window));
            set("increase", json!(window / 4));
        }
        "fixed_rate" => set("rate", json!(format!("{} bit/s", window * 80_000))),
        "fixed_window" | "generic" => set("window", json!(window)),
        "jk" => set("window_max", json!(window)),
        // Half of a window is added in each round trip.
        "rap" => {
            set("alpha", json!(window / 2));
            set("first", json!("200 ms"));
            set("used_share", json!(0));
        }
        _ => {}
    }
    settings
}

/// What is wrong if a packet costs `large` in the larger window, for `small`.
fn judge(name: &str, small: f64, large: f64) -> Option<String> {
    let [few, many] = WINDOWS;
    let line = format!(
        "{name}: {large:.0} instructions a packet with {many} in flight, {:.2} times {small:.0} with {few}",
        large / small
    );
    eprintln!("{line}");
    (large > ALLOWED * small).then(|| format!("{line}; {ALLOWED} times are allowed"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sim::transport::registry::TransportSettings;

    #[test]
    fn a_cost_that_grows_with_the_window_is_found() {
        assert_eq!(judge("x", 1000.0, 1299.0), None);
        assert!(judge("x", 1000.0, 1301.0).is_some_and(|line| line.contains("1.30 times 1000")));
    }

    #[test]
    fn each_transport_has_settings_that_are_taken() {
        for card in TRANSPORTS {
            let settings = settings(card.name, 50_000);
            let taken: Result<TransportSettings, _> = serde_json::from_value(settings.clone());
            assert!(taken.is_ok_and(|taken| taken.fault().is_none()), "{settings}");
        }
    }
}
