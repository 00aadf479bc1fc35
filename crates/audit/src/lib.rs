//! Does a discipline keep what its card promises? Its invariants are checked call by call in random
//! test networks; its bounds are measured over every interval of random and of adversarial runs.
//!
//! [`audit`] runs the proof and gives a [`report::Report`]; the tests of the registry run the same
//! test networks and cases.

pub mod arrivals;
pub mod case;
pub mod document;
pub mod draw;
pub mod driver;
pub mod measure;
mod probe;
pub mod report;
mod runs;
pub mod subject;
pub mod uneven_line;
pub mod work;
pub mod world;
mod yardstick;

use driver::Journey;
use fairq_sched::units::Time;
pub use fairq_sched::{checked, invariant};
use measure::fluid_gap::fluid_departures;
use report::Report;
use runs::{Run, Runs};
use subject::Subject;

/// Seeds of each kind of run, unless told otherwise.
pub const SEEDS: u64 = 200;
/// Seeds of a quick audit.
pub const QUICK_SEEDS: u64 = 10;

/// Why an audit gave no report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The progress said so.
    Interrupted,
    /// There is no such run.
    NoRun(String),
}

/// Audits `subject` with `seeds` seeds of each kind of run. `variants` are settings of it that take
/// other paths: they keep the same invariants. `progress` is called with the number of finished
/// runs and of all runs; it stops the audit by returning `false`.
///
/// # Errors
/// If it was stopped.
pub fn audit(
    subject: &dyn Subject,
    variants: &[&dyn Subject],
    seeds: u64,
    progress: &mut dyn FnMut(u64, u64) -> bool,
) -> Result<Report, Stopped> {
    let list = runs::list(seeds);
    let all = list.len() as u64;
    let mut runs = Runs::new(subject, variants);
    for (done, run) in (0..).zip(&list) {
        if !progress(done, all) {
            return Err(Stopped::Interrupted);
        }
        runs.run(*run);
    }
    Ok(runs.report)
}

/// The packets of a run: what became of each, and when it left the fluid that serves those that
/// were sent, if the run is one that is compared with it.
pub type Packets = Vec<(Journey, Option<Time>)>;

/// Runs one run of an audit again, by the name that a report gave it, and gives what became of
/// each packet too.
///
/// # Errors
/// If there is no run of that name.
pub fn replay(subject: &dyn Subject, variants: &[&dyn Subject], name: &str) -> Result<(Report, Packets), Stopped> {
    let run: Run = name.parse().map_err(Stopped::NoRun)?;
    let mut runs = Runs::new(subject, variants);
    let journeys = runs.run(run);
    let fluid = match run.case() {
        Some(case) => fluid_departures(case.line.rate, &journeys, &case.weights),
        None => vec![None; journeys.len()],
    };
    Ok((runs.report, journeys.into_iter().zip(fluid).collect()))
}
