//! Limits that hold for every time and every count of a transport's settings: a wrong unit would
//! otherwise go unnoticed.
//!
//! Chosen: a time is from a microsecond to a million seconds (longer than a run, for "never") and a
//! count from 1 to a thousand million, except where zero has a meaning (`ZERO_SAYS`). A new setting
//! is checked without a line for it.

use fairq_sched::units::Time;
use serde::Serialize;
use serde_json::Value;

/// Times and counts that may be zero, which then means: no such time, at once, or without a limit.
const ZERO_SAYS: &[&str] = &[
    "acknowledgement_delay",
    "burst",
    "duplicates",
    "interval_min",
    "low_speed_period",
    "processing",
    "timeout.backoff_limit",
    "timeout.deviation_floor",
    "timeout.floor",
    "timeout.granularity",
    "timeout.tick",
    "timeout_floor",
    "transition_rounds",
    "virtual_round_trip",
];

/// The least and the greatest time.
const TIMES: [Time; 2] = [Time(1_000_000), Time::from_s(1_000_000)];

/// The greatest count.
const COUNT_MAX: u64 = 1_000_000_000;

/// The first time or count of `settings` that makes no sense, as a line for the user.
pub(crate) fn fault(settings: &impl Serialize) -> Option<String> {
    // Settings are serialised wherever a scenario is shown; this is the one generic way to visit
    // each of their fields.
    within("", &serde_json::to_value(settings).ok()?)
}

fn within(path: &str, value: &Value) -> Option<String> {
    let may_be_zero = || ZERO_SAYS.contains(&path);
    match value {
        Value::Object(fields) => fields.iter().find_map(|(name, field)| match path {
            "" => within(name, field),
            _ => within(&format!("{path}.{name}"), field),
        }),
        Value::String(text) => {
            let time: Time = text.parse().ok()?;
            let is_sound = (TIMES[0]..=TIMES[1]).contains(&time) || time == Time::ZERO && may_be_zero();
            let [least, most] = TIMES;
            (!is_sound).then(|| format!("{path} is {time}; it is at least {least} and at most {most}"))
        }
        Value::Number(number) => {
            let count = number.as_u64()?;
            let is_sound = (1..=COUNT_MAX).contains(&count) || count == 0 && may_be_zero();
            (!is_sound).then(|| format!("{path} is {count}; it is from 1 to {COUNT_MAX}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn times_and_counts_without_sense_are_named_by_their_place() {
        for (settings, said) in [
            (json!({"least_window": "0 s"}), "least_window is 0 s; it is at least 1 us and at most 1000000 s"),
            (json!({"a": {"b": "1 ps"}}), "a.b is 1 ps; it is at least 1 us and at most 1000000 s"),
            (json!({"a": "2000000 s"}), "a is 2000000 s; it is at least 1 us and at most 1000000 s"),
            (json!({"rounds": 0}), "rounds is 0; it is from 1 to 1000000000"),
        ] {
            assert_eq!(fault(&settings).as_deref(), Some(said));
        }
        for settings in
            [json!({"burst": "0 s", "timeout": {"tick": "0 s"}}), json!({"kind": "bbr", "gain": 0.0, "x": null})]
        {
            assert_eq!(fault(&settings), None, "{settings}");
        }
    }
}
