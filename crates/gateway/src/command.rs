//! Commands in hosts: their start, their output, their end.
//!
//! One thread, the keeper, starts them, takes the signals that [`setup`](crate::setup) has put
//! aside, and sees children end: also those that commands have left behind, for the gateway is the
//! first process of its process namespace.

use crate::clock::now;
use crate::fault::Fault;
use crate::host::Host;
use crate::listening;
use crate::namespace::SIGNALS;
use crate::plan::HostPlan;
use crate::setup::INSIDE;
use crate::sys;
use rustix::event::{EventfdFlags, eventfd};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Commands that run.
#[derive(Debug)]
pub struct Commands {
    ended: Arc<OwnedFd>,
    finish: Sender<()>,
    keeper: JoinHandle<Ended>,
}

/// How the commands of a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// The exit status of the command in the foreground; 128 and the number of the signal if one
    /// ended it, or the gateway; 0 if there was none.
    pub status: i32,
    /// Commands in the background that ended before the foreground did, with another status than 0:
    /// a line each, for the results.
    pub failed: Vec<String>,
}

/// How long others are waited for before the command in the foreground starts.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long commands that were told to end may take.
const GRACE: Duration = Duration::from_secs(1);
/// The first pause between two looks at others.
const LOOK: Duration = Duration::from_millis(10);

/// Starts the commands of `plans`, and when each listens, or a second later, `foreground`: the
/// number of a host, and a command that has the terminal. It returns when all but `foreground` have
/// been started: until `foreground` is, packets are to be moved already.
///
/// # Errors
/// If a command is not there.
pub fn start(hosts: &[Host], plans: &[HostPlan], foreground: Option<(usize, Vec<String>)>) -> Result<Commands, Fault> {
    let ended = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
        .map_err(|e| Fault::of("the end of commands cannot be waited for", &e.into()))?;
    let ended = Arc::new(ended);
    let mut keeper = Keeper { children: Vec::new(), ended: Arc::clone(&ended), outcome: Ended::default() };
    for (host, plan) in hosts.iter().zip(plans) {
        for words in &plan.commands {
            keeper.children.push(start_one(host, words, false)?);
        }
    }
    let foreground = match foreground {
        None => None,
        Some((number, words)) => {
            let host = hosts.get(number).ok_or_else(|| Fault::new(format!("there is no host {number}")))?.clone();
            // What is not there is said before others are waited for.
            is_there(&words, &host)?;
            Some((host, words))
        }
    };
    let others = hosts.iter().zip(plans).filter(|(_, plan)| !plan.commands.is_empty());
    let others: Vec<Host> = others.map(|(host, _)| host.clone()).collect();
    let (finish, told) = channel();
    let keeper = thread::Builder::new()
        .name("commands".to_owned())
        .spawn(move || keeper.run(foreground, &others, &told))
        .map_err(|e| Fault::of("a thread for commands cannot be made", &e))?;
    Ok(Commands { ended, finish, keeper })
}

impl Commands {
    /// Becomes readable when the run is to end: the command in the foreground has ended, or the
    /// gateway was told to.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.ended.as_fd()
    }

    /// Ends all that still runs: by SIGTERM, and what is there a second later by SIGKILL.
    pub fn finish(self) -> Ended {
        let _ = self.finish.send(());
        self.keeper.join().unwrap_or_default()
    }
}

/// A command that was started.
#[derive(Debug)]
struct Child {
    process: i32,
    said: String,
    is_foreground: bool,
    status: Option<i32>,
    output: Vec<JoinHandle<()>>,
}

/// What the thread has.
struct Keeper {
    children: Vec<Child>,
    ended: Arc<OwnedFd>,
    outcome: Ended,
}

impl Keeper {
    fn run(mut self, foreground: Option<(Host, Vec<String>)>, others: &[Host], told: &Receiver<()>) -> Ended {
        if let Some((host, words)) = foreground {
            let is_over = self.wait_for_others(others);
            if !is_over {
                match start_one(&host, &words, true) {
                    Ok(child) => self.children.push(child),
                    Err(fault) => {
                        eprintln!("fairq: {fault}");
                        self.end_with(127);
                    }
                }
            }
        }
        while matches!(told.recv_timeout(Duration::ZERO), Err(RecvTimeoutError::Timeout)) {
            if let Some(signal) = sys::wait_signal(&SIGNALS, LOOK * 5) {
                self.take(signal);
            }
            self.reap();
        }
        self.end_all();
        self.outcome
    }

    /// Whether the run is over before the command in the foreground could start.
    fn wait_for_others(&mut self, others: &[Host]) -> bool {
        let until = now() + nanoseconds(PATIENCE);
        let mut pause = LOOK;
        while now() < until {
            self.reap();
            let is_done = self.children.iter().all(|child| child.status.is_some());
            if is_done || others.iter().all(|host| host.run(listening::is_any).unwrap_or(true)) {
                return false;
            }
            if let Some(signal) = sys::wait_signal(&SIGNALS, pause)
                && self.take(signal)
            {
                return true;
            }
            // The kernel walks through all sockets of the machine for it.
            pause *= 2;
        }
        false
    }

    /// What a signal asks; whether it ends the run. A terminal sends Ctrl-C to the command in the
    /// foreground itself, and what that does decides.
    fn take(&mut self, signal: i32) -> bool {
        let has_foreground = self.children.iter().any(|child| child.is_foreground);
        match signal {
            libc::SIGTERM | libc::SIGHUP => self.end_with(128 + signal),
            libc::SIGINT | libc::SIGQUIT if !has_foreground => self.end_with(128 + signal),
            _ => return false,
        }
        true
    }

    /// Takes notice of children that have ended.
    fn reap(&mut self) {
        while let Ok(Some((process, status))) = sys::ended_child() {
            let Some(child) = self.children.iter_mut().find(|child| child.process == process) else { continue };
            child.status = Some(status);
            if child.is_foreground {
                self.end_with(status);
            } else if status != 0 {
                let line = format!("{} ended with status {status}", child.said);
                eprintln!("fairq: {line}");
                self.outcome.failed.push(line);
            }
        }
    }

    fn end_with(&mut self, status: i32) {
        self.outcome.status = status;
        // A counter of 64 bits is not full.
        let _ = rustix::io::write(&self.ended, &1_u64.to_ne_bytes());
    }

    /// Ends what is left: commands, and what they have left behind.
    fn end_all(&mut self) {
        let outcome = self.outcome.clone();
        for (signal, patience) in [(libc::SIGTERM, GRACE), (libc::SIGKILL, GRACE)] {
            // All of the process namespace, but not its first process, which we are.
            if std::process::id() == 1 {
                let _ = sys::signal(-1, signal);
            }
            let until = now() + nanoseconds(patience);
            while !self.are_all_gone() && now() < until {
                sys::wait_signal(&[libc::SIGCHLD], LOOK);
            }
        }
        for child in &mut self.children {
            for output in child.output.drain(..) {
                let _ = output.join();
            }
        }
        self.outcome = outcome;
    }

    fn are_all_gone(&mut self) -> bool {
        loop {
            match sys::ended_child() {
                Ok(Some(_)) => {}
                Ok(None) => return false,
                Err(_) => return true,
            }
        }
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

/// Starts a command in a host.
fn start_one(host: &Host, words: &[String], is_foreground: bool) -> Result<Child, Fault> {
    let Some((program, arguments)) = words.split_first() else {
        return Err(Fault::new(format!("host {}: a command has no words", host.name())));
    };
    let mut command = Command::new(program);
    command.args(arguments).env(INSIDE, crate::setup::prefix().to_string());
    sys::free_signals(&mut command);
    if !is_foreground {
        // Keys of the terminal are not for it.
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    }
    let child = host.run(move || command.spawn())?;
    let mut child = child.map_err(|e| not_started(host, program, &e))?;
    let mut output = Vec::new();
    let streams: [Option<Box<dyn Read + Send>>; 2] =
        [child.stdout.take().map(|s| Box::new(s) as _), child.stderr.take().map(|s| Box::new(s) as _)];
    for stream in streams.into_iter().flatten() {
        let name = Arc::clone(host.name());
        let thread = thread::Builder::new().name(format!("output of {name}"));
        let thread = thread.spawn(move || pass_on(&name, stream));
        output.push(thread.map_err(|e| Fault::of("a thread for output cannot be made", &e))?);
    }
    Ok(Child {
        process: child.id().cast_signed(),
        said: format!("host {}: `{}`", host.name(), words.join(" ")),
        is_foreground,
        status: None,
        output,
    })
}

/// Why a command was not started.
fn not_started(host: &Host, program: &str, cause: &io::Error) -> Fault {
    match cause.kind() {
        io::ErrorKind::NotFound => Fault::new(format!("host {}: there is no command `{program}`", host.name())),
        _ => Fault::of(&format!("host {}: command `{program}` cannot be started", host.name()), cause),
    }
}

/// Refuses a command that no folder of the path has.
fn is_there(words: &[String], host: &Host) -> Result<(), Fault> {
    let Some(program) = words.first() else {
        return Err(Fault::new(format!("host {}: a command has no words", host.name())));
    };
    let is_found = if program.contains('/') {
        std::fs::exists(program).unwrap_or(true)
    } else {
        let folders = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
        std::env::split_paths(&folders).any(|folder| folder.join(program).exists())
    };
    if is_found { Ok(()) } else { Err(not_started(host, program, &io::ErrorKind::NotFound.into())) }
}

/// Writes what a command in the background says to standard error, each line after its host's name.
fn pass_on(name: &str, stream: impl Read) {
    let mut stream = BufReader::new(stream);
    let mut line = Vec::new();
    loop {
        line.clear();
        // A line without an end is written in pieces.
        match stream.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                if line.last() != Some(&b'\n') {
                    line.push(b'\n');
                }
                let mut whole = format!("{name}: ").into_bytes();
                whole.extend_from_slice(&line);
                let _ = io::stderr().write_all(&whole);
            }
        }
    }
}

const LINE: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_is_not_there_is_named_with_its_host() {
        let (host, ()) = Host::new("right".into(), || Ok(())).unwrap();
        let plan = HostPlan {
            name: "right".into(),
            addresses: Vec::new(),
            control: "reno".into(),
            ecn: false,
            commands: vec![vec!["fairq-no-such-command".to_owned()]],
        };
        let refused = start(std::slice::from_ref(&host), &[plan], None).unwrap_err();
        assert_eq!(refused.message, "host right: there is no command `fairq-no-such-command`");
        let words = vec!["/fairq/none".to_owned()];
        let refused = start(&[host], &[], Some((0, words))).unwrap_err();
        assert_eq!(refused.message, "host right: there is no command `/fairq/none`");
    }
}
