//! Hosts that are kernels of their own in virtual time: user-mode Linux, whose clock is ours, so
//! that real Linux TCP meets the disciplines on any machine, as fast or as slow as it is, and the
//! same packets come twice.
//!
//! [`launch`] starts the kernels; [`run`](mod@run) lets them and the network take turns.

mod card;
mod clock;
pub mod facts;
pub mod launch;
mod machine;
mod ring;
pub mod run;
mod script;
mod wire;

use crate::drive;
use crate::fault::Fault;
use crate::measured::Effort;
use crate::network::Network;
use crate::plan::Plan;
use crate::report::Report;
use crate::setup;
use crate::stamp::{Mode, judge};
use fairq_sched::units::Time;
use launch::Settings;
use run::{Ran, Zero};
use script::NO_CONTROL;
use std::io;

/// Runs the hosts of `plan` as kernels until the command in the foreground ends, or until `end`.
///
/// # Errors
/// If a kernel cannot be started, or breaks the rules of its clock or of its network card.
pub fn emulate(plan: &Plan, settings: &Settings<'_>, network: &mut Network, end: Time) -> Result<Ran, Fault> {
    setup::check(plan)?;
    let mut kernels = launch::start(plan, settings)?;
    network.begin(Zero::of(plan.hosts.len()).stamp());
    let ran = run::run(&mut kernels.machines, network, end).map_err(|cause| Fault::of("a host's kernel", &cause))?;
    for (host, machine) in plan.hosts.iter().zip(&kernels.machines) {
        if machine.status == Some(NO_CONTROL) {
            let message = format!(
                "the kernel of host {} has not the congestion control {}; build it in, or write another",
                host.name, host.control
            );
            return Err(Fault::new(message));
        }
    }
    Ok(ran)
}

/// The report of a run that `ran`.
///
/// # Errors
/// If something that was recorded could not be written.
pub fn report(network: &mut Network, plan: &Plan, ran: &Ran) -> io::Result<Report> {
    let mut report = network.report(ran.elapsed);
    network.finish(ran.elapsed)?;
    report.gateway = Effort {
        packets: ran.given,
        wakeups: ran.turns,
        lost_behind: ran.lost,
        packet_time_s: drive::packet_time(plan).as_s(),
        ..Effort::default()
    };
    report.stamp = judge(Mode::Virtual, &report.lateness, &report.gateway, &report.refused);
    Ok(report)
}
