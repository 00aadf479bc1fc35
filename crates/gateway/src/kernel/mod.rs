//! Hosts that are kernels of their own in virtual time: user-mode Linux, whose clock is ours, so
//! that real Linux TCP meets the disciplines on any machine, as fast or as slow as it is, and the
//! same packets come twice.
//!
//! [`launch`] starts the kernels; [`run`](mod@run) lets them and the network take turns.

mod card;
mod clock;
pub mod launch;
mod machine;
mod ring;
pub mod run;
mod script;
mod wire;

use crate::fault::Fault;
use crate::network::Network;
use crate::plan::Plan;
use fairq_sched::units::Time;
use launch::Settings;
use run::Ran;

/// Runs the hosts of `plan` as kernels until the command in the foreground ends, or until `end`.
///
/// # Errors
/// If a kernel cannot be started, or breaks the rules of its clock or of its network card.
pub fn emulate(plan: &Plan, settings: &Settings<'_>, network: &mut Network, end: Time) -> Result<Ran, Fault> {
    let mut kernels = launch::start(plan, settings)?;
    let ran = run::run(&mut kernels.machines, network, end).map_err(|cause| Fault::of("a host's kernel", &cause))?;
    Ok(ran)
}
