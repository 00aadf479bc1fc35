//! The text form of a policy of a dispatcher: `sfq_d(depth=4)`.
//!
//! ```
//! let policy = fairq_text::policy("drr(quantum=10ms)")?;
//! let mut server = fairq_sched::work::Dispatcher::with_policy(Default::default(), policy);
//! server.push(&"shop", Default::default(), "price").expect("there is room");
//! assert_eq!(fairq_text::policy("ddr").unwrap_err(), "`ddr` is no policy; did you mean drr?");
//! # Ok::<(), String>(())
//! ```

use crate::written::assignment;
use crate::{near_miss, outside_brackets, part, typed};
use fairq_sched::work::policy::Policy;
use fairq_sched::work::registry::{POLICIES, PolicySettings};
use serde_json::{Map, Value};

/// The policy that `text` says, `name(setting=value, …)`.
///
/// # Errors
/// One line: what is not known or does not fit.
pub fn policy(text: &str) -> Result<Box<dyn Policy>, String> {
    policy_settings(text).map(|settings| settings.build())
}

/// The settings of the policy that `text` says.
///
/// # Errors
/// One line: what is not known or does not fit.
pub fn policy_settings(text: &str) -> Result<PolicySettings, String> {
    let names = || POLICIES.iter().flat_map(|card| std::iter::once(card.name).chain(card.aliases.iter().copied()));
    if text.trim().is_empty() {
        let names: Vec<&str> = POLICIES.iter().map(|card| card.name).collect();
        return Err(format!("a policy has no name; there are {}", names.join(", ")));
    }
    let table = part(text)?;
    let name = table.get("kind").and_then(Value::as_str).unwrap_or_default().to_owned();
    if !POLICIES.iter().any(|card| card.is_called(&name)) {
        return Err(format!("`{name}` is no policy{}", near_miss(&name, names())));
    }
    let settings: PolicySettings = typed(&Value::Object(table)).map_err(|fault| match fault.path.as_str() {
        "" => fault.message,
        path => format!("{path}: {}", fault.message),
    })?;
    settings.fault().map_or(Ok(settings), Err)
}

/// The policies that `text` says, with a comma between them: `fcfs, sfq_d(depth=4)`.
///
/// # Errors
/// One line: what is not known or does not fit, and a policy that is named twice.
pub fn policies(text: &str) -> Result<Vec<PolicySettings>, String> {
    let mut found: Vec<PolicySettings> = Vec::new();
    for text in outside_brackets(text, ',') {
        let settings = policy_settings(text)?;
        if found.contains(&settings) {
            return Err(format!("{} is named twice", policy_written(&settings)));
        }
        found.push(settings);
    }
    Ok(found)
}

/// The text form of a policy, without the settings that are their defaults: [`policy_settings`]
/// reads it back.
#[must_use]
pub fn policy_written(settings: &PolicySettings) -> String {
    let name = settings.name();
    let tree = |settings: &PolicySettings| -> Map<String, Value> {
        serde_json::to_value(settings).ok().and_then(|tree| tree.as_object().cloned()).unwrap_or_default()
    };
    let default = PolicySettings::by_name(name).map(|default| tree(&default)).unwrap_or_default();
    let given = tree(settings).into_iter().filter(|(key, value)| default.get(key) != Some(value) && !value.is_null());
    let given: Vec<String> = given.map(|(key, value)| assignment(&key, &value)).collect();
    if given.is_empty() { name.to_owned() } else { format!("{name}({})", given.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::units::Time;
    use fairq_sched::work::amount::{Amount, Part, Unit};
    use fairq_sched::work::policies::{drr, max_in_flight, sfq_d};

    #[test]
    fn a_policy_is_its_name_with_settings() {
        let read = |text: &str| policy_settings(text).unwrap_or_else(|fault| panic!("{text}: {fault}"));
        assert_eq!(read("sfq_d(depth=4)"), PolicySettings::SfqD(sfq_d::Settings { depth: Some(4) }));
        assert_eq!(read(" fifo "), read("fcfs()"));
        let drr = |quantum| PolicySettings::Drr(drr::Settings { quantum });
        let time = Amount::Time(Time::from_ms(10));
        assert_eq!([read("drr(quantum=250)"), read("drr(quantum=10ms)")], [drr(Amount::Number(250)), drr(time)]);
        let thousandths = Unit { number: 1000.0, second: 2000.0 };
        let steps = ["drr(quantum=250)", "drr(quantum=10ms)"].map(|text| read(text).in_steps(thousandths));
        assert_eq!(steps, [drr(Amount::Number(250_000)), drr(Amount::Number(20))]);
        let share = Part::from_thousandths(50).expect("a part");
        let noisy = PolicySettings::MaxInFlight(max_in_flight::Settings { share, least: 3 });
        assert_eq!(read("max_in_flight(share=5%, least=3)"), noisy);
        assert_eq!(read("max_in_flight(share=0.05, least=3)"), noisy);
        assert_eq!(policies("fcfs, vtc(input_weight=1, output_weight=2),apf").map(|found| found.len()), Ok(3));
    }

    #[test]
    fn what_is_written_is_read_back() {
        for settings in POLICIES.iter().flat_map(|card| PolicySettings::variants(card.name)) {
            let text = policy_written(&settings);
            assert_eq!(policy_settings(&text), Ok(settings), "{text}");
        }
        assert_eq!(policy_written(&policy_settings("sfq_d").expect("a policy")), "sfq_d");
        assert_eq!(policy_written(&policy_settings("drr(quantum=1us)").expect("a policy")), "drr(quantum=1 us)");
    }

    #[test]
    fn what_is_not_known_is_said_with_the_near_miss() {
        for (text, said) in [
            ("", "a policy has no name; there are apf, drr, fcfs, max_in_flight, round_robin, sfq_d"),
            ("fcsf", "`fcsf` is no policy; did you mean fcfs?"),
            ("round-robin", "`round-robin` is no policy; did you mean round_robin?"),
            ("lottery", "`lottery` is no policy; there are apf, "),
            ("fcfs(depth=3)", "depth: fcfs has no settings"),
            ("sfq_d(dept=4)", "dept: no such field of sfq_d; did you mean depth?"),
            ("drr(quantum=1, depth=4)", "depth: no such field of drr; "),
            ("sfq_d(depth=0)", "sfq_d: depth is at least 1"),
            ("sfq_d(depth=-1)", "depth: write a whole number from 0 to 4294967295, not `-1`"),
            ("sfq_d(depth=4", "a bracket is not closed"),
            ("drr(quantum=fast)", "quantum: "),
            ("drr(quantum=0)", "drr: quantum is at least 1"),
            ("drr(quantum=1.5)", "quantum: write an amount of service: a whole number"),
            (
                "max_in_flight(share=150%)",
                "share: `150%`: write a part from 0 to 1 in whole thousandths, like 0.1 or 10%",
            ),
            ("max_in_flight(share=1.5)", "share: write a part from 0 to 1"),
            ("vtc(output_weight=0)", "vtc: output_weight is at least 1"),
            ("apf(queues=4, hand=5)", "apf: hand is at least 1 and at most queues"),
            ("apf(queues=1024, hand=7)", "lower the hand"),
        ] {
            let error = policy_settings(text).expect_err(text);
            assert!(error.contains(said) && !error.contains('\n'), "{text}: {error}");
        }
        assert_eq!(policies("fcfs, fifo").unwrap_err(), "fcfs is named twice");
        assert!(policies("fcfs,").unwrap_err().starts_with("a policy has no name"));
    }
}
