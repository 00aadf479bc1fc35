//! What is to be emulated, as the command line says it.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A job: a scenario, and what runs in it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Job {
    /// The scenario's text.
    pub(super) text: String,
    /// Its name, for messages and for the files that it names.
    pub(super) name: String,
    /// Fields that the command line sets.
    pub(super) sets: Vec<(String, String)>,
    /// The congestion control of hosts that have no other; the system's choice if none.
    pub(super) control: Option<String>,
    /// That of hosts by name.
    pub(super) controls: BTreeMap<String, String>,
    /// Whether the connections of all hosts ask for ECN.
    pub(super) ecn: bool,
    /// The command of the terminal, whose end is the end of the run.
    pub(super) front: Option<Command>,
    /// Commands that run for as long as the run lasts.
    pub(super) back: Vec<Command>,
    /// How long it runs; without a limit if not said.
    pub(super) duration_s: Option<f64>,
    /// `exact` or `fast`.
    pub(super) mode: String,
    /// Whether the loop spins before a departure.
    pub(super) spin: bool,
    /// `auto`, `tun` or `packet`.
    pub(super) device: String,
    /// The distance of samples.
    pub(super) series: Option<String>,
    /// The flow whose packets are recorded.
    pub(super) packets: Option<String>,
    /// The folder of captures.
    pub(super) capture: Option<String>,
    /// By `link/direction`, the file of its log in the format of Mahimahi.
    pub(super) logs: BTreeMap<String, String>,
    /// Whether to say what is under way, twice a second.
    pub(super) watch: bool,
    /// The second number of addresses.
    pub(super) prefix: Option<u8>,
    /// The user-mode Linux that each host is, in virtual time.
    pub(super) host_kernel: Option<PathBuf>,
    /// The folder for the files of such a run, which no later one has.
    pub(super) temporary: PathBuf,
    /// The folder in which commands run there.
    pub(super) folder: String,
    /// The host that is the namespace of the caller.
    pub(super) outer: Option<String>,
}

/// A command in a host.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Command {
    /// The host's name.
    pub(super) host: String,
    /// The program and its arguments.
    pub(super) argv: Vec<String>,
}

impl Job {
    /// The hosts that commands and controls name.
    pub(super) fn named_hosts(&self) -> impl Iterator<Item = &str> {
        let commands = self.front.iter().chain(&self.back).map(|command| command.host.as_str());
        commands.chain(self.controls.keys().map(String::as_str)).chain(self.outer.as_deref())
    }
}
