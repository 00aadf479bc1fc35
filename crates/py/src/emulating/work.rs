//! What a flow of a scenario is on real hosts: a TCP connection, or a stream of datagrams.

use fairq_experiment::scenario::profile;
use fairq_gateway::plan::Work;
use fairq_sim::plan::EntryPlan;
use fairq_sim::traffic::distribution::Distribution;
use fairq_sim::traffic::registry::TrafficSettings;
use fairq_sim::transport::registry::TransportSettings;
use fairq_sim::transport::tcp::settings::Profile;
use fairq_text::{Fault, near_miss};
use serde_json::{Map, Value};

/// Headers of IP and TCP with time stamps, as Linux sends them.
const HEADERS: u64 = 52;

/// The controls of the simulator that Linux has, with the names of the latter.
const CONTROLS: &[(&str, &str)] = &[
    ("bbr", "bbr"),
    ("cubic", "cubic"),
    ("dctcp", "dctcp"),
    ("hstcp", "highspeed"),
    ("htcp", "htcp"),
    ("hybla", "hybla"),
    ("newreno", "reno"),
    ("prague", "prague"),
    ("reno", "reno"),
    ("scalable", "scalable"),
    ("vegas", "vegas"),
    ("westwood_plus", "westwood"),
];

/// The name that Linux has for a control of the simulator; `None` if it has none.
pub(super) fn linux(control: &str) -> Option<&'static str> {
    CONTROLS.iter().find(|(ours, _)| *ours == control).map(|(_, linux)| *linux)
}

/// What the flows of an entry send.
///
/// # Errors
/// Traffic or a transport that real hosts do not have.
pub(super) fn of(entry: &EntryPlan) -> Result<Work, Fault> {
    let at = format!("flows[{}]", entry.number);
    let refused = |field: &str, message: String| Err(Fault::new(format!("{at}.{field}"), message));
    let bytes = match &entry.traffic {
        TrafficSettings::ConstantRate(settings) => {
            if entry.transport.name() != "uncontrolled" {
                let message = "packets at a constant rate go by UDP; write transport = \"uncontrolled\"";
                return refused("transport", message.to_owned());
            }
            if settings.jitter > 0.0 {
                return refused("traffic", "real datagrams leave at equal distances; leave jitter out".to_owned());
            }
            let packet = settings.packet.map_or(1500, |packet| packet.0);
            let gap = settings.rate.time_of_bits(8 * packet);
            return Ok(Work::Datagrams { packet: u32::try_from(packet).unwrap_or(u32::MAX), gap });
        }
        TrafficSettings::Ftp(settings) => {
            let packet = settings.packet.map_or(1500, |packet| packet.0);
            settings.packets.map(|packets| packets.saturating_mul(packet.saturating_sub(HEADERS)))
        }
        TrafficSettings::Incast(settings) if settings.rounds == Some(1) => match &settings.size {
            Distribution::Constant(size) => Some(size.value.0),
            _ => return refused("traffic", "one size is emulated; write for example size = \"10 MB\"".to_owned()),
        },
        other => {
            let message = format!(
                "{} is simulated only; real hosts send ftp, a transfer as incast(size=10MB, rounds=1), or constant_rate",
                other.name()
            );
            return refused("traffic", message);
        }
    };
    let control = entry.transport.name();
    let Some(linux) = linux(control) else {
        let known = CONTROLS.iter().map(|(ours, _)| *ours);
        let near = near_miss(control, known.clone());
        let names = known.collect::<Vec<_>>().join(", ");
        let near = if near.is_empty() { format!("; Linux has {names}") } else { near };
        return refused("transport", format!("Linux has no {control}{near}"));
    };
    if let Some(setting) = changed(entry) {
        let message = format!("{setting} is a setting of the simulated {control}, and Linux has its own; leave it out");
        return refused("transport", message);
    }
    Ok(Work::Bulk { control: linux.into(), bytes })
}

/// Whether the connections of an entry ask for ECN.
pub(super) fn asks_for_ecn(entry: &EntryPlan) -> bool {
    let written = serde_json::to_value(&*entry.transport).unwrap_or_default();
    matches!(written.get("ecn"), Some(Value::Bool(true)))
}

/// A setting of the entry's control that is neither the default nor Linux' by its profile.
fn changed(entry: &EntryPlan) -> Option<String> {
    let control = entry.transport.name();
    let written = serde_json::to_value(&*entry.transport).ok()?;
    let usual = |mut table: Map<String, Value>| {
        table.insert("kind".to_owned(), control.into());
        let settings: TransportSettings = fairq_text::typed(&Value::Object(table)).ok()?;
        serde_json::to_value(settings).ok()
    };
    let usual = [usual(Map::new())?, usual(profile::settings(Profile::Linux, control))?];
    // ECN is of the hosts.
    let is_usual =
        |name: &str, value: &Value| name == "ecn" || usual.iter().any(|usual| usual.get(name) == Some(value));
    let settings = written.as_object()?.iter().find(|(name, value)| !is_usual(name, value));
    settings.map(|(name, _): (&String, &Value)| name.clone())
}
