//! What is known of a kernel before it runs, and of hosts that are made of it.

use crate::fault::Fault;
use crate::interface::MTU;
use crate::plan::Plan;
use serde::Serialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// How hosts are made, for the results.
#[derive(Clone, Debug, Serialize)]
pub struct Facts {
    /// Release of the kernel.
    pub kernel: String,
    /// `kernel`.
    pub back_end: &'static str,
    /// Largest packet of the cards, in bytes.
    pub mtu: u32,
    /// By host.
    pub hosts: Vec<HostFacts>,
}

/// How a host is made.
#[derive(Clone, Debug, Serialize)]
pub struct HostFacts {
    /// Its name.
    pub name: String,
    /// Congestion control of its connections.
    pub control: String,
    /// Whether its connections ask for ECN.
    pub ecn: bool,
}

/// The facts of hosts of `plan` that `kernel` makes; it is asked what it is.
///
/// # Errors
/// If it cannot be started, or is no user-mode Linux with time travel.
pub fn facts(plan: &Plan, kernel: &Path) -> Result<Facts, Fault> {
    let wrong = |what: &str| Fault::new(format!("the host's kernel {}: {what}", kernel.display()));
    let mut asked = Command::new(kernel);
    asked.arg("--help").stdin(Stdio::null()).env_clear();
    let said = asked.output().map_err(|cause| wrong(&cause.to_string()))?;
    let said = [said.stdout, said.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let Some((_, behind)) = said.split_once("User Mode Linux v") else {
        return Err(wrong("it is no user-mode Linux; docs/guide/host-kernel.md says how one is built"));
    };
    if !said.contains("time-travel=ext:") {
        let what = "it has no time travel; build one with UML_TIME_TRAVEL_SUPPORT (docs/guide/host-kernel.md)";
        return Err(wrong(what));
    }
    let host = |host: &crate::plan::HostPlan| HostFacts {
        name: host.name.to_string(),
        control: host.control.to_string(),
        ecn: host.ecn,
    };
    Ok(Facts {
        kernel: behind.split_whitespace().next().unwrap_or_default().to_owned(),
        back_end: "kernel",
        mtu: MTU,
        hosts: plan.hosts.iter().map(host).collect(),
    })
}
