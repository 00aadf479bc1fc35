//! Kernels as processes: the folder of their sockets, their command lines, and a machine that gives
//! them nothing random.

use super::machine::Machine;
use super::run;
use super::script::{self, Front};
use crate::fault::Fault;
use crate::plan::Plan;
use crate::sys;
use std::fs::{self, DirBuilder};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

/// What is to be started.
#[derive(Clone, Debug)]
pub struct Settings<'a> {
    /// The kernel: a user-mode Linux with time travel.
    pub kernel: &'a Path,
    /// A folder for the folder of the run; its name is short, for that of a socket is in it.
    pub temporary: &'a Path,
    /// Memory of each, in MiB.
    pub memory: u32,
    /// The host and the command whose end is the end of the run.
    pub front: Option<(usize, Vec<String>)>,
}

/// Kernels that run; they end, and their files go, when this is dropped.
pub(crate) struct Kernels {
    pub(crate) machines: Vec<Machine>,
    children: Vec<Child>,
    /// What passes on the output of the command in front.
    output: Vec<thread::JoinHandle<()>>,
    folder: PathBuf,
}

impl Drop for Kernels {
    fn drop(&mut self) {
        for child in &mut self.children {
            // One that has ended already is not there to be ended.
            let _ = child.kill();
            let _ = child.wait();
        }
        for output in self.output.drain(..) {
            // It has nothing to say.
            let _ = output.join();
        }
        // What is left there is small, and no later run looks at it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts a kernel for each host of `plan`; each stands still until it is told to run.
pub(crate) fn start(plan: &Plan, settings: &Settings<'_>) -> Result<Kernels, Fault> {
    let folder = folder(settings.temporary)?;
    let mut kernels = Kernels { machines: Vec::new(), children: Vec::new(), output: Vec::new(), folder };
    let wrong = |cause: io::Error| Fault::of("the files of the hosts' kernels", &cause);
    let names = kernels.folder.join("hosts");
    fs::write(&names, script::hosts_file(&plan.hosts)).map_err(wrong)?;
    let plans = plan.hosts.len();
    let is_one_of_many = plan.hosts.iter().any(|host| !host.commands.is_empty());
    for (host, plan) in plan.hosts.iter().enumerate() {
        let front = settings.front.as_ref().filter(|(at, _)| *at == host);
        let front = front.map(|(_, argv)| Front { argv, is_one_of_many });
        let wait = 2 * (plans - host);
        let first = kernels.folder.join(format!("init{host}"));
        fs::write(&first, script::script(plan, &names, wait, front)).map_err(wrong)?;
        fs::set_permissions(&first, fs::Permissions::from_mode(0o700)).map_err(wrong)?;
        let listen = |kind: &str| UnixListener::bind(kernels.folder.join(format!("{kind}{host}"))).map_err(wrong);
        let (clock, card) = (listen("clock")?, listen("card")?);
        let mut child = spawn(command(settings, &kernels.folder, host))
            .map_err(|cause| Fault::of(&format!("the host's kernel {}", settings.kernel.display()), &cause))?;
        kernels.output.extend(child.stdout.take().map(|output| thread::spawn(move || passed_on(output))));
        let connected = connected(&clock, &mut child);
        kernels.children.push(child);
        kernels.machines.push(Machine::new(connected?, run::card(host, card), run::starts(host)));
    }
    Ok(kernels)
}

/// A new folder that belongs to the user alone.
fn folder(parent: &Path) -> Result<PathBuf, Fault> {
    let mut number = 0;
    loop {
        let path = parent.join(format!("fairq-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Ok(()) => return Ok(path),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(cause) => return Err(Fault::of(&format!("the folder {}", path.display()), &cause)),
        }
    }
}

fn command(settings: &Settings<'_>, folder: &Path, host: usize) -> Command {
    // The name of the folder, which is another each time, is not in it: the kernel makes random
    // numbers of its command line.
    let mut command = Command::new(settings.kernel);
    let is_front = settings.front.as_ref().is_some_and(|(at, _)| *at == host);
    command
        .args(["root=/dev/root", "rootfstype=hostfs", "rw", "quiet", "con=null", "con0=null,fd:1"])
        .arg(format!("mem={}M", settings.memory))
        .arg(format!("time-travel=ext:{host}:clock{host}"))
        // The number of a network card (virtio 1.2, section 5).
        .arg(format!("virtio_uml.device=card{host}:1"))
        .arg("uml_dir=./")
        .arg(format!("umid=host{host}"))
        .arg(format!("init=/proc/self/cwd/init{host}"))
        .env_clear()
        // The C library registers a place of its own with the machine's kernel; it is not there any
        // more in the processes that a user-mode Linux makes, and they are killed for it.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env("HOME", folder)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(if is_front { Stdio::piped() } else { Stdio::null() })
        .stderr(Stdio::null());
    command
}

/// Passes on what a kernel writes to its console, whose lines end in two letters. The console is
/// not given a terminal of this machine: it would change its settings, and leave them so.
fn passed_on(mut output: impl Read) {
    let mut bytes = [0; 4096];
    while let Ok(length @ 1..) = output.read(&mut bytes) {
        let text: Vec<u8> = bytes[..length].iter().copied().filter(|byte| *byte != b'\r').collect();
        let mut to = io::stdout().lock();
        // Without a reader it is lost.
        let _ = to.write_all(&text).and_then(|()| to.flush());
    }
}

/// Starts it so that neither it nor its children get random numbers of this machine: two runs are
/// to be the same. A thread of its own has the filter of system calls, which children inherit.
fn spawn(mut command: Command) -> io::Result<Child> {
    let thread = thread::spawn(move || {
        rustix::thread::set_no_new_privs(true)?;
        // Where the program lies decides how much memory it has, and that the sizes of its tables.
        sys::fix_addresses()?;
        sys::seccomp(&no_random_numbers())?;
        command.spawn()
    });
    thread.join().map_err(|_| io::Error::other("its thread failed"))?
}

/// Refuses `getrandom` as a machine that has none.
fn no_random_numbers() -> [libc::sock_filter; 4] {
    let step = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    [
        // The number of the call is the first field of `struct seccomp_data`.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_getrandom as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

/// The connection of a kernel to its clock, which is the first thing that it does.
fn connected(clock: &UnixListener, child: &mut Child) -> Result<std::os::unix::net::UnixStream, Fault> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let wrong = |cause: io::Error| Fault::of("the clock of a host's kernel", &cause);
    let step = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
    // A minute: on a machine that is busy, nothing is at once.
    for _ in 0..1200 {
        let mut waits = [PollFd::new(clock, PollFlags::IN)];
        if poll(&mut waits, Some(&step)).map_err(|cause| wrong(cause.into()))? > 0 {
            return clock.accept().map(|(stream, _)| stream).map_err(wrong);
        }
        if let Some(status) = child.try_wait().map_err(wrong)? {
            let message = format!(
                "the host's kernel ended at once ({status}); build one with UML_TIME_TRAVEL_SUPPORT \
                 (docs/guide/host-kernel.md)"
            );
            return Err(Fault::new(message));
        }
    }
    Err(Fault::new(
        "the host's kernel does not connect to its clock; build one with UML_TIME_TRAVEL_SUPPORT \
         (docs/guide/host-kernel.md)",
    ))
}
