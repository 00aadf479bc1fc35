//! Commands in hosts: their start, their output, their end.

use crate::fault::Fault;
use crate::host::Host;
use crate::plan::HostPlan;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Commands that run.
pub struct Commands {
    ended: OwnedFd,
}

/// How the commands of a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit status of the command in the foreground; 128 and the number of the signal if one
    /// ended it, or the gateway; 0 if there was none.
    pub status: i32,
}

/// Starts the commands of `plans`, waits until each listens, for at most a second, and then starts
/// `foreground`: the number of a host, and a command that has the terminal.
///
/// # Errors
/// If a command is not there.
pub fn start(hosts: &[Host], plans: &[HostPlan], foreground: Option<(usize, Vec<String>)>) -> Result<Commands, Fault> {
    let _ = (hosts, plans, foreground);
    Err(Fault::new("this machine cannot start commands"))
}

impl Commands {
    /// Becomes readable when the run is to end: the command in the foreground has ended, or the
    /// gateway was told to.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// Ends all that still runs.
    pub fn finish(self) -> Ended {
        Ended::default()
    }
}
