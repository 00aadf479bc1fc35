//! Which room of `python/fairq` may use which. A wing is a room that the core does without: what
//! answers `fairq compare`, runs studies or is used by both reaches none.

use std::collections::BTreeSet;

use crate::Findings;
use crate::python_imports::Uses;

/// What a room may use besides itself, the compiled part and `statistics`. A room without a line
/// may use nothing.
const ROOMS: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("_native", &["core"]),
    ("statistics", &["core"]),
    ("theories", &["core"]),
    ("traffic_control", &["core"]),
    ("detection", &["core"]),
    ("audits", &["core"]),
    ("replays", &["core"]),
    ("serving", &["core"]),
    ("laboratory", &["core"]),
    ("manual", &["core"]),
    ("figures", &["core", "theories"]),
    ("topologies", &["core", "figures"]),
    ("questions", &["core", "theories"]),
    ("links", &["core", "questions", "emulation"]),
    ("studies", &["core", "questions"]),
    ("emulation", &["core", "questions"]),
    ("benchmarks", &["core", "studies"]),
    ("reports", &["core", "figures", "studies"]),
    ("papers", &["core", "figures", "reports"]),
    ("entries", &["core", "papers", "schemas"]),
];

/// Rooms that the core does without.
const WINGS: &[&str] = &[
    "traffic_control",
    "detection",
    "audits",
    "replays",
    "serving",
    "laboratory",
    "manual",
    "topologies",
    "papers",
    "links",
    "emulation",
];

/// Modules that may use more than their rooms: a wing, of which `fairq advise` and `fairq explain
/// --effects` are made, or the package as a user has it.
const MORE: &[(&str, &str)] = &[
    ("benchmarks.__main__", "fairq"),
    ("questions.advising", "traffic_control"),
    ("questions.candidates", "traffic_control"),
    ("questions.knobs", "traffic_control"),
    ("questions.own_capture", "detection"),
];

/// From here no wing is reached.
const CORE: &[&str] = &["core", "studies", "questions.comparing", "questions.each_alone"];

/// Above all rooms: these may use what they like, but `api` only those of `ABOVE_API`.
const ABOVE: &[&str] = &["fairq", "__main__", "cli", "api", "plots", "schemas"];

/// Alone may use what Python can call.
const ABOVE_API: &[&str] = &["fairq", "cli"];

/// Each use that no table allows, and each way from the core into a wing.
pub(crate) fn rooms(uses: &Uses) -> Findings {
    let uses: BTreeSet<(&str, &str)> = uses.keys().map(|(from, to)| (inside(from), inside(to))).collect();
    let told = uses.iter().filter(|(from, to)| !may_use(from, to));
    let mut findings: Findings = told
        .map(|(from, to)| format!("python/fairq: {from} uses {to}; the rooms of rooms.rs do not allow it"))
        .collect();
    for module in reached(&uses) {
        if WINGS.contains(&room(module)) {
            findings.push(format!("python/fairq: compare or a study reaches {module}, which is of a wing (rooms.rs)"));
        }
    }
    findings
}

/// A module without the name of the package.
fn inside(module: &str) -> &str {
    module.strip_prefix("fairq.").unwrap_or(module)
}

fn room(module: &str) -> &str {
    module.split('.').next().unwrap_or(module)
}

fn may_use(from: &str, to: &str) -> bool {
    let (own, other) = (room(from), room(to));
    if to == "api" {
        return ABOVE_API.contains(&own);
    }
    let is_below_all = matches!(to, "_native" | "statistics");
    let is_allowed = ROOMS.iter().any(|(name, allowed)| *name == own && allowed.contains(&other));
    own == other || is_below_all || is_allowed || ABOVE.contains(&own) || MORE.contains(&(from, other))
}

/// The modules of the core, and what they use, directly or not.
fn reached<'a>(uses: &BTreeSet<(&'a str, &'a str)>) -> BTreeSet<&'a str> {
    let is_core = |module: &str| CORE.iter().any(|core| module == *core || room(module) == *core);
    let mut found: BTreeSet<&str> = uses.iter().map(|(from, _)| *from).filter(|from| is_core(from)).collect();
    loop {
        let next: Vec<&str> = uses.iter().filter(|(from, _)| found.contains(from)).map(|(_, to)| *to).collect();
        let before = found.len();
        found.extend(next);
        if found.len() == before {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pairs: &[(&str, &str)]) -> Findings {
        rooms(
            &pairs.iter().map(|(from, to)| ((format!("fairq.{from}"), format!("fairq.{to}")), String::new())).collect(),
        )
    }

    #[test]
    fn rooms_use_what_is_below_them() {
        assert!(
            told(&[("studies.store", "questions.asked"), ("cli.program", "api"), ("core.rows", "_native")]).is_empty()
        );
        assert_eq!(told(&[("core.rows", "questions.asked")]).len(), 1);
        assert_eq!(told(&[("benchmarks.workloads", "api")]).len(), 1);
        assert_eq!(told(&[("a_new_room.module", "core.rows")]).len(), 1);
    }

    #[test]
    fn the_core_reaches_no_wing_on_any_way() {
        assert!(told(&[("questions.advising", "traffic_control.cake")]).is_empty());
        assert_eq!(told(&[("questions.comparing", "traffic_control.cake")]).len(), 2);
        let by_advice = [("questions.comparing", "questions.advising"), ("questions.advising", "traffic_control.cake")];
        assert_eq!(told(&by_advice).len(), 1);
    }
}
