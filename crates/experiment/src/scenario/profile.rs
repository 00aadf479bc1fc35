//! Profiles of connections: the behaviour of a system's hosts, under one name in place of many
//! settings. A setting that is written in the scenario wins.
//!
//! A profile is rows of settings, of the connection and of congestion controls.

use crate::layout::{paragraph, row};
use fairq_sim::transport::tcp::settings::Profile;
use serde_json::{Map, Value};

/// Adds to `table`, the settings of `part`, those settings of the profile that the table does
/// not have.
pub(super) fn complete(profile: Profile, part: &str, table: &mut Map<String, Value>) {
    for (_, setting, value, _) in rows(profile).iter().filter(|row| row.0 == part) {
        insert(table, setting, value);
    }
}

const fn rows(profile: Profile) -> &'static [Row] {
    match profile {
        Profile::Linux => LINUX,
        Profile::Rfc => RFC,
        Profile::Ns2 => NS2,
        Profile::Ns3 => NS3,
    }
}

/// The part of a setting (`connection`, or a congestion control), the setting, its value as JSON,
/// and the source of the value.
type Row = (&'static str, &'static str, &'static str, &'static str);

const LINUX: &[Row] = &[
    ("connection", "recovery", r#""rack""#, "tcp_recovery.c; sysctl tcp_recovery = 1"),
    ("connection", "rate_reduction", r#""proportional""#, "tcp_input.c tcp_cwnd_reduction"),
    ("connection", "reduces", r#""cwnd""#, "ssthresh of each tcp_*.c: a part of snd_cwnd"),
    ("connection", "grows", r#""all""#, "tcp_cong.c tcp_slow_start, tcp_input.c tcp_cong_control"),
    ("connection", "initial_window", "10", "tcp.h TCP_INIT_CWND"),
    ("connection", "handshake", "true", "tcp_output.c tcp_connect"),
    ("connection", "timestamps", "true", "sysctl tcp_timestamps = 1"),
    ("connection", "counts_blocks", "true", "tcp_output.c tcp_established_options"),
    ("connection", "acknowledge_every", "2", "tcp_input.c __tcp_ack_snd_check"),
    ("connection", "acknowledgement_delay", r#""40 ms""#, "tcp.h TCP_DELACK_MIN"),
    ("connection", "quick_acknowledgements", "16", "tcp_input.c tcp_event_data_recv, TCP_MAX_QUICKACKS"),
    (
        "connection",
        "compresses_acknowledgements",
        "true",
        "tcp_input.c __tcp_ack_snd_check; sysctl tcp_comp_sack_nr = 44",
    ),
    ("connection", "reduces_once", "true", "tcp_input.c tcp_fastretrans_alert, tcp_time_to_recover, tcp_enter_loss"),
    ("connection", "spreads_marks", "true", "tcp_input.c tcp_enter_cwr, tcp_cwnd_reduction"),
    ("connection", "rests_by_halves", "true", "tcp_output.c tcp_cwnd_restart; sysctl tcp_slow_start_after_idle = 1"),
    ("connection", "undoes", "true", "tcp_input.c tcp_process_loss, tcp_undo_cwnd_reduction; sysctl tcp_frto = 2"),
    ("connection", "counts_lost_opening", "true", "tcp_input.c tcp_enter_loss, tcp_init_transfer"),
    ("connection", "ecn_fallback", "true", "tcp_output.c tcp_ecn_clear_syn; sysctl tcp_ecn_fallback = 1"),
    ("connection", "probes_by_floor", "true", "tcp_output.c tcp_schedule_loss_probe"),
    ("connection", "rearms_by_blocks", "true", "tcp_input.c tcp_clean_rtx_queue: FLAG_SET_XMIT_TIMER"),
    ("connection", "tunes_window", "true", "tcp_input.c tcp_rcv_space_adjust, tcp_grow_window"),
    ("connection", "tunes_buffer", "true", "tcp_input.c tcp_sndbuf_expand"),
    (
        "connection",
        "departure_times",
        "true",
        "tcp_output.c tcp_update_skb_after_send; tcp_bbr.c bbr_packets_in_net_at_edt",
    ),
    ("connection", "receive_window", "2112", "sysctl tcp_rmem: 6 MB, half of it for data, in segments of 1448 B"),
    ("connection", "timed", r#""latest""#, "tcp_input.c tcp_clean_rtx_queue: ca_rtt_us"),
    ("connection", "timeout.floor", r#""200 ms""#, "tcp.h TCP_RTO_MIN"),
    (
        "connection",
        "timeout.granularity",
        r#""200 ms""#,
        "tcp_input.c tcp_rtt_estimator: the variation is at least that",
    ),
    ("connection", "timeout.first", r#""1 s""#, "tcp.h TCP_TIMEOUT_INIT"),
    ("connection", "timeout.ceiling", r#""120 s""#, "tcp.h TCP_RTO_MAX"),
    ("bbr", "detects_policers", "true", "tcp_bbr.c bbr_lt_bw_sampling"),
    ("bbr", "counts_opening", "true", "tcp_bbr.c bbr_init, bbr_init_pacing_rate_from_rtt"),
    ("cubic", "slow_start", r#""linux""#, "tcp_cubic.c hystart_update"),
    ("cubic", "friendly_speeds_up", "false", "tcp_cubic.c bictcp_update, tcp_friendliness"),
    ("cubic", "first_increase", "0.05", "tcp_cubic.c bictcp_update: last_max_cwnd = 0, cnt at most 20"),
    (
        "cubic",
        "whole_packets",
        "true",
        "tcp_cubic.c bictcp_update, bictcp_recalc_ssthresh; tcp_cong.c tcp_cong_avoid_ai",
    ),
    ("cubic", "ahead_by_least", "true", "tcp_cubic.c bictcp_update: t += delay_min"),
    ("dctcp", "in_1024ths", "true", "tcp_dctcp.c dctcp_update_alpha, dctcp_ssthresh"),
    ("dctcp", "whole_packets", "true", "tcp_cong.c tcp_reno_cong_avoid; tcp_dctcp.c dctcp_react_to_loss"),
    ("hstcp", "slow_start", r#""standard""#, "tcp_highspeed.c hstcp_cong_avoid"),
    ("hybla", "counts_packets", "false", "tcp_hybla.c hybla_cong_avoid"),
    ("hybla", "in_128ths", "true", "tcp_hybla.c hybla_init, hybla_recalc_param, hybla_cong_avoid"),
    ("newreno", "whole_packets", "true", RENO),
    ("reno", "whole_packets", "true", RENO),
    ("scalable", "legacy_window", "100", "tcp_scalable.c TCP_SCALABLE_AI_CNT"),
    ("scalable", "legacy_decrease", "0.125", "tcp_scalable.c TCP_SCALABLE_MD_SCALE"),
    ("vegas", "alpha", "2", "tcp_vegas.c"),
    ("vegas", "beta", "4", "tcp_vegas.c"),
    ("vegas", "decrease", "0.5", "tcp_vegas.c: tcp_reno_ssthresh"),
    ("vegas", "every_other_round", "false", "tcp_vegas.c tcp_vegas_cong_avoid"),
    ("vegas", "whole_packets", "true", "tcp_vegas.c tcp_vegas_cong_avoid"),
    ("westwood_plus", "set_at_end", "true", "tcp_westwood.c tcp_westwood_event, CA_EVENT_COMPLETE_CWR"),
    ("westwood_plus", "whole_packets", "true", "tcp_westwood.c westwood_filter, tcp_westwood_bw_rttmin"),
];

const RENO: &str = "tcp_cong.c tcp_reno_cong_avoid, tcp_reno_ssthresh";

const RFC: &[Row] = &[
    ("connection", "recovery", r#""rack""#, "RFC 8985"),
    ("connection", "rate_reduction", r#""proportional""#, "RFC 9937"),
    ("connection", "reduces", r#""flight""#, "RFC 5681, section 3.1, equation 4"),
    ("connection", "grows", r#""packets""#, "RFC 5681, section 3.1; RFC 3465, section 2.2, L = 1"),
    ("connection", "initial_window", "10", "RFC 6928, section 2"),
    ("connection", "limited_transmit", "true", "RFC 3042"),
    ("connection", "handshake", "true", "RFC 9293, section 3.5"),
    ("connection", "timestamps", "true", "RFC 7323, section 3"),
    ("connection", "counts_blocks", "true", "RFC 2018, section 3"),
    ("connection", "acknowledge_every", "2", "RFC 9293, section 3.8.6.3; RFC 5681, section 4.2"),
    ("connection", "acknowledgement_delay", r#""499 ms""#, "RFC 5681, section 4.2: within 500 ms"),
    ("connection", "timeout.floor", r#""1 s""#, "RFC 6298, rule 2.4"),
    ("connection", "timeout.first", r#""1 s""#, "RFC 6298, rule 2.1"),
    ("connection", "timeout.ceiling", r#""60 s""#, "RFC 6298, rule 2.5"),
];

const NS2: &[Row] = &[
    ("connection", "recovery", r#""sack""#, "tcp-sack1.cc; tahoe, reno and newreno have their own"),
    ("connection", "answers_once", "true", "tcp.cc bugFix_"),
    ("connection", "reduces", r#""window""#, "tcp.cc slowdown"),
    ("connection", "grows", r#""acknowledgements""#, "tcp.cc opencwnd"),
    ("connection", "transmits_after_timeout", "true", "tcp-reno.cc, singledup_"),
    ("connection", "initial_window", "2", "ns-default.tcl windowInit_"),
    ("connection", "receive_window", "5000", "the peers' programs: window_"),
    ("connection", "handshake", "true", "the peers' programs"),
    ("connection", "timestamps", "false", "ns-default.tcl timestamps_"),
    ("connection", "timed", r#""one""#, "tcp.cc rtt_active_"),
    ("connection", "processing", r#""0 s""#, "ns-default.tcl overhead_"),
    ("connection", "timeout.floor", r#""200 ms""#, "ns-default.tcl minrto_"),
    ("connection", "timeout.first", r#""3 s""#, "ns-default.tcl rtxcur_init_"),
    ("connection", "timeout.granularity", r#""10 ms""#, "ns-default.tcl tcpTick_"),
];

const NS3: &[Row] = &[
    ("connection", "recovery", r#""sack""#, "tcp-socket-base.cc Sack"),
    ("connection", "rate_reduction", r#""none""#, "the peers' program: classic recovery"),
    ("connection", "reduces", r#""pipe""#, "tcp-congestion-ops.cc GetSsThresh of BytesInFlight"),
    ("connection", "grows", r#""except_timeout""#, "tcp-congestion-ops.cc"),
    ("connection", "impatient", "true", "tcp-socket-base.cc"),
    ("connection", "holds_resent", "true", "tcp-tx-buffer.cc"),
    ("connection", "resends_once", "true", "tcp-tx-buffer.cc"),
    ("connection", "partial_lets_go", "true", "tcp-socket-base.cc"),
    ("connection", "counts_blocks", "true", "tcp-socket-base.cc AddOptionSack"),
    ("connection", "times_lost_opening", "true", "tcp-socket-base.cc"),
    ("connection", "forgives_lost_opening", "true", "tcp-socket-base.cc"),
    ("connection", "timed", r#""oldest""#, "tcp-socket-base.cc EstimateRtt"),
    ("connection", "initial_window", "2", "the peers' program"),
    ("connection", "receive_window", "5000", "the peers' program"),
    ("connection", "handshake", "true", "tcp-socket-base.cc DoConnect"),
    ("connection", "timestamps", "false", "the peers' program"),
    ("connection", "processing", r#""0 s""#, "ns-3's hosts take no time"),
    ("connection", "timeout.floor", r#""200 ms""#, "the peers' program: MinRto"),
    ("connection", "timeout.first", r#""3 s""#, "tcp-socket.cc ConnTimeout"),
    ("connection", "timeout.backoff_ends", r#""acknowledgement""#, "tcp-socket-base.cc"),
    ("connection", "timeout.always_reduces", "true", "tcp-socket-base.cc"),
];

/// Adds the setting of this path to `table`, unless it is there.
fn insert(table: &mut Map<String, Value>, path: &str, value: &str) {
    match path.split_once('.') {
        None => {
            table.entry(path).or_insert_with(|| value.parse().unwrap_or_default());
        }
        Some((inner, rest)) => {
            if let Value::Object(inner) = table.entry(inner).or_insert_with(|| Value::Object(Map::new())) {
                insert(inner, rest, value);
            }
        }
    }
}

/// The text that explains a profile, in lines of at most `width` columns where words allow it.
#[must_use]
pub fn explain(profile: Profile, width: usize) -> String {
    let name = profile.name();
    let mut text = format!("{name} (profile of a connection)\n\n");
    let use_of = format!(
        "Write connection = \"{name}\" in a flow or in defaults; what is written beside it wins, as in connection = {{ profile = \
         \"{name}\", initial_window = 4 }}."
    );
    paragraph(&mut text, "", &use_of, width);
    text.push('\n');
    let given = |row: &Row| format!("{}.{} = {}", row.0, row.1, row.2);
    let longest = rows(profile).iter().map(|row| given(row).len()).max().unwrap_or_default();
    for one in rows(profile) {
        row(&mut text, &given(one), one.3, (longest + 4).min(width / 2), width);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sim::transport::registry::TransportSettings;
    use fairq_sim::transport::tcp::settings::Connection;

    #[test]
    fn every_row_is_a_setting_of_its_part() {
        for profile in Profile::ALL {
            let mut parts: std::collections::BTreeMap<&str, Map<String, Value>> = std::collections::BTreeMap::new();
            for (part, setting, value, source) in rows(profile) {
                assert!(!source.is_empty());
                assert!(value.parse::<Value>().is_ok(), "{setting} = {value}");
                insert(parts.entry(part).or_default(), setting, value);
            }
            for (part, mut table) in parts {
                if part == "connection" {
                    let connection: Connection = serde_json::from_value(table.into()).unwrap();
                    assert_eq!(connection.fault(), None, "{}", profile.name());
                } else {
                    table.insert("kind".into(), part.into());
                    serde_json::from_value::<TransportSettings>(table.into()).unwrap();
                }
            }
        }
    }
}
