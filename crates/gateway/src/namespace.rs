//! Namespaces of the gateway: user, mount, network and process; all end with it.
//!
//! Three processes for a moment, two for the run. The caller leaves its user namespace for a new
//! one; a short-lived copy of it, which stayed, says which users the new one knows: the same ones.
//! Then the caller makes the other namespaces and copies itself into them; the copy goes on, as the
//! first process of its process namespace, and the caller only waits for it. When either is killed
//! the kernel ends the other, and with the first process of a process namespace all that are in it:
//! also the children of commands that have left their parents.

use crate::fault::Fault;
use crate::sys;
use rustix::fs::{Mode, OFlags, open, openat};
use rustix::io::{Errno, read, write};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_bind, mount_change};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Signal, getegid, geteuid, set_parent_process_death_signal};
use rustix::thread::{CapabilitySet, capabilities, configure_capability_in_ambient_set, set_capabilities};
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Signals that the gateway waits for, in a thread of its own, and its caller passes on.
pub(crate) const SIGNALS: [i32; 5] = [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];

/// What programs in hosts may do there: `ping`, `tcpdump`, `tc`, ports below 1024.
const AMBIENT: CapabilitySet =
    CapabilitySet::NET_ADMIN.union(CapabilitySet::NET_RAW).union(CapabilitySet::NET_BIND_SERVICE);

/// How the namespaces were entered.
pub(crate) struct Entered {
    /// Whether there is a user namespace.
    pub(crate) user: bool,
    /// What could not be had and is not needed.
    pub(crate) notes: Vec<String>,
}

/// Enters new namespaces; see above for which process returns from it. The network namespace of
/// the one that does is the middle one: no host's.
///
/// # Errors
/// If the kernel refuses, or the process has other threads.
pub(crate) fn enter() -> Result<Entered, Fault> {
    if sys::threads() > 1 {
        return Err(Fault::new("namespaces are entered by a process with one thread, and this one has more"));
    }
    let is_able = has(CapabilitySet::SYS_ADMIN);
    let user = match enter_user() {
        Ok(()) => true,
        Err(_) if is_able => false,
        Err(fault) => return Err(fault),
    };
    sys::unshare(libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWPID).map_err(|e| refused(&e))?;
    let mut notes = Vec::new();
    if let Err(e) = keep_capabilities() {
        notes.push(format!("commands have no rights in their hosts: {e}"));
    }
    copy_into()?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(|e| Fault::of("mounts cannot be made private", &e.into()))?;
    let hidden = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    if let Err(e) = mount("proc", "/proc", "proc", hidden, None) {
        notes.push(format!("/proc shows the processes outside: {e}"));
    }
    Ok(Entered { user, notes })
}

/// Whether the calling thread has a capability.
pub(crate) fn has(capability: CapabilitySet) -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(capability))
}

/// Lets programs that are started keep [`AMBIENT`].
fn keep_capabilities() -> Result<(), Errno> {
    let mut sets = capabilities(None)?;
    sets.inheritable |= AMBIENT;
    set_capabilities(None, sets)?;
    for capability in [CapabilitySet::NET_ADMIN, CapabilitySet::NET_RAW, CapabilitySet::NET_BIND_SERVICE] {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Enters a user namespace that knows the same users under the same numbers.
fn enter_user() -> Result<(), Fault> {
    let failed = |e: Errno| Fault::of("a user namespace cannot be made", &e.into());
    let maps = Maps::read();
    // By number the copy might not find us, if `/proc` is that of another process namespace.
    let ourselves = open("/proc/self", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|e| Fault::of("/proc/self cannot be opened", &e.into()))?;
    let (go, set_going) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
    let (answer, to_answer) = pipe_with(PipeFlags::CLOEXEC).map_err(failed)?;
    let Some(copy) = sys::fork().map_err(|e| Fault::of("a process cannot be made", &e))? else {
        drop(set_going);
        let mut byte = [0];
        if matches!(read(&go, &mut byte[..]), Ok(1)) {
            let done = maps.write(ourselves.as_fd()).map_or_else(|e| e.to_string(), |()| String::new());
            let _ = write(&to_answer, done.as_bytes());
        }
        sys::exit_now(0);
    };
    drop(to_answer);
    let entered = sys::unshare(libc::CLONE_NEWUSER);
    if entered.is_ok() {
        let _ = write(&set_going, &[1]);
    }
    drop(set_going);
    let mut said = [0; 200];
    let length = read(&answer, &mut said[..]).unwrap_or(0);
    let _ = sys::wait_for(copy);
    entered.map_err(|e| refused(&e))?;
    match &said[..length] {
        [] => Ok(()),
        why => Err(Fault::new(format!("users of the namespace cannot be set: {}", String::from_utf8_lossy(why)))),
    }
}

/// Which users and groups a new namespace knows.
struct Maps {
    /// All that we know, or only ourselves.
    texts: [String; 2],
    alone: [String; 2],
}

impl Maps {
    fn read() -> Self {
        let [user, group] = [geteuid().as_raw(), getegid().as_raw()];
        let alone = [format!("{user} {user} 1\n"), format!("{group} {group} 1\n")];
        if user != 0 {
            return Self { texts: alone.clone(), alone };
        }
        let same = |path: &str, alone: &String| match fs::read_to_string(path) {
            Ok(text) => text.lines().filter_map(same_outside).collect(),
            Err(_) => alone.clone(),
        };
        Self { texts: [same("/proc/self/uid_map", &alone[0]), same("/proc/self/gid_map", &alone[1])], alone }
    }

    /// Writes them for the process whose folder in `/proc` is given.
    fn write(&self, process: BorrowedFd<'_>) -> io::Result<()> {
        let put = |file: &str, text: &str| -> io::Result<()> {
            let file = openat(process, file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            write(&file, text.as_bytes())?;
            Ok(())
        };
        if put("uid_map", &self.texts[0]).is_ok() && put("gid_map", &self.texts[1]).is_ok() {
            return Ok(());
        }
        // A user without rights may name only itself, and gives up to leave its groups.
        let _ = put("uid_map", &self.alone[0]);
        put("setgroups", "deny")?;
        put("gid_map", &self.alone[1])
    }
}

/// A line of a map, `inside outside count`, that gives what is inside the same numbers again.
fn same_outside(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let (inside, count) = (words.next()?, words.nth(1)?);
    Some(format!("{inside} {inside} {count}\n"))
}

/// Goes on as a copy in the new process namespace; the caller waits for it, here, and ends as it
/// ends.
fn copy_into() -> Result<(), Fault> {
    sys::hold_signals(&SIGNALS);
    let failed = |e: Errno| Fault::of("the gateway cannot be tied to its caller", &e.into());
    let (parent_is_there, keep) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK).map_err(failed)?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    let copy = sys::fork().map_err(|e| Fault::of("a process cannot be made", &e))?;
    if let Some(copy) = copy {
        drop(parent_is_there);
        let terminal = sys::terminal();
        let status = wait_in_place(copy);
        // A shell in there has taken the terminal for itself, and cannot give it back: it does not
        // know the groups of processes outside.
        if let Some(group) = terminal {
            sys::take_terminal(group);
        }
        sys::exit_now(status);
    }
    drop(keep);
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    if matches!(read(&parent_is_there, &mut [0; 1][..]), Ok(0)) {
        // It was killed before we could say that we want to end with it.
        sys::exit_now(137);
    }
    Ok(())
}

/// Waits for the gateway, to which signals are passed on; a terminal sends it its own ones itself.
fn wait_in_place(gateway: i32) -> i32 {
    loop {
        match sys::wait_signal(&SIGNALS, Duration::from_secs(3600)) {
            Some(libc::SIGCHLD) => match sys::ended_child() {
                Ok(Some((child, status))) if child == gateway => return status,
                Ok(_) => {}
                Err(_) => return 1,
            },
            Some(signal @ (libc::SIGTERM | libc::SIGHUP)) => {
                let _ = sys::signal(gateway, signal);
            }
            _ => {}
        }
    }
}

/// Why namespaces were refused, and what lifts it.
pub(crate) fn refused(cause: &io::Error) -> Fault {
    let reads = |path: &str, value: &str| fs::read_to_string(path).is_ok_and(|text| text.trim() == value);
    let remedy = if reads("/proc/sys/user/max_user_namespaces", "0") {
        "`sysctl user.max_user_namespaces=10000` as root allows them, or run as root"
    } else if reads("/proc/sys/kernel/unprivileged_userns_clone", "0") {
        "`sysctl kernel.unprivileged_userns_clone=1` as root allows them, or run as root"
    } else if reads("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1") {
        "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` as root allows them, or run as root"
    } else if cause.raw_os_error() == Some(libc::ENOSPC) {
        "too many are in use: raise `user.max_user_namespaces` and `user.max_net_namespaces`"
    } else {
        "in a container, allow `unshare` (Docker: --security-opt seccomp=unconfined, or --privileged), or run as root"
    };
    Fault::new(format!("this machine refuses namespaces ({cause}); {remedy}"))
}

/// Puts `text` in the place of `/etc/hosts` for this process and its children.
///
/// # Errors
/// If the file cannot be written or put there.
pub(crate) fn set_hosts_file(text: &str) -> Result<(), Fault> {
    let what = "names of hosts cannot be set";
    let (path, mut file) = temporary().map_err(|e| Fault::of(what, &e))?;
    let written = file.write_all(text.as_bytes());
    let source = format!("/proc/self/fd/{}", file.as_raw_fd());
    let put = written.and_then(|()| mount_bind(&source, "/etc/hosts").map_err(io::Error::from));
    let removed = fs::remove_file(&path);
    put.and(removed).map_err(|e| Fault::of(what, &e))
}

/// A new file that only we know, readable for all.
fn temporary() -> io::Result<(PathBuf, fs::File)> {
    let mut last = io::Error::from(io::ErrorKind::NotFound);
    for folder in [std::env::temp_dir().as_path(), Path::new("/tmp"), Path::new("/dev/shm"), Path::new("/var/tmp")] {
        for attempt in 0..100 {
            let path = folder.join(format!("fairq-hosts-{}-{attempt}", std::process::id()));
            match fs::OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    use std::os::unix::fs::PermissionsExt;
                    file.set_permissions(fs::Permissions::from_mode(0o644))?;
                    return Ok((path, file));
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => {
                    last = e;
                    break;
                }
            }
        }
    }
    Err(last)
}

/// The network namespace of the calling thread, as a descriptor.
///
/// # Errors
/// If `/proc` is not there.
pub(crate) fn of_thread() -> io::Result<OwnedFd> {
    Ok(open("/proc/thread-self/ns/net", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_gives_the_same_numbers_as_inside() {
        assert_eq!(same_outside("         0     100000      65536").unwrap(), "0 0 65536\n");
        assert_eq!(same_outside("1000"), None);
    }

    #[test]
    fn a_refusal_names_a_remedy_in_one_line() {
        let message = refused(&io::Error::from_raw_os_error(libc::EPERM)).message;
        assert!(message.starts_with("this machine refuses namespaces (") && message.contains("root"), "{message}");
        assert!(!message.contains('\n'));
    }
}
