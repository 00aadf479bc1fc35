//! What a discipline shows of itself, by name.

use fairq_sched::contract::Discipline;
use fairq_sched::units::Time;

/// All numbers at `now`, by name; those of a queue as `queue/name`.
pub fn all(discipline: &(impl Discipline + ?Sized), now: Time) -> Vec<(String, f64)> {
    let mut shown = Vec::new();
    discipline.readings(now, &mut |reading| {
        let queue = reading.queue.map_or(String::new(), |queue| format!("{queue}/"));
        shown.push((format!("{queue}{}", reading.name), reading.value.real()));
    });
    shown
}

/// The number of this name, where time does not matter.
pub fn find(discipline: &(impl Discipline + ?Sized), name: &str) -> Option<f64> {
    all(discipline, Time::ZERO).into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// As `find`, of a number that is there.
pub fn number(discipline: &(impl Discipline + ?Sized), name: &str) -> f64 {
    find(discipline, name).unwrap_or_else(|| panic!("{name} is shown"))
}
