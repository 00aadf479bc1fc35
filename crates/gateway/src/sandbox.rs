//! Gives up rights that a thread which only moves packets does not need.
//!
//! All three are of the calling thread and of threads and programs that it starts later; the
//! threads of hosts, which start commands, keep theirs.

use crate::sys;
use rustix::thread::{CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities, set_no_new_privs};
use serde::Serialize;
use std::io;

/// What the calling thread may no longer do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sandbox {
    /// It has no capability.
    pub capabilities: bool,
    /// It opens no file (Landlock).
    pub landlock: bool,
    /// It makes none but listed system calls; others are refused with `EPERM` (seccomp).
    pub seccomp: bool,
}

/// Gives up the rights of the calling thread, as far as the kernel can. Descriptors that it has
/// stay as they are: files are to be opened before.
pub fn enter() -> Sandbox {
    let capabilities = drop_capabilities().is_ok();
    let is_bound = set_no_new_privs(true).is_ok();
    Sandbox {
        capabilities,
        landlock: is_bound && close_files().is_ok(),
        seccomp: is_bound && sys::seccomp(&filter()).is_ok(),
    }
}

fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    clear_ambient_capability_set()?;
    Ok(set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?)
}

/// Kinds of access to files that each version of Landlock knows (`LANDLOCK_ACCESS_FS_…`): thirteen
/// at first, then references to other folders, cutting, and control of devices.
const ACCESSES: [u32; 5] = [13, 14, 15, 15, 16];

fn close_files() -> io::Result<()> {
    let version = usize::try_from(sys::landlock_version()?).map_err(io::Error::other)?;
    let kinds = ACCESSES[version.clamp(1, ACCESSES.len()) - 1];
    sys::landlock((1 << kinds) - 1)
}

/// System calls of a loop that reads, writes and waits, of the memory that it takes and the locks
/// that it shares; and of its end.
const ALLOWED: &[libc::c_long] = &[
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_write,
    libc::SYS_writev,
    libc::SYS_recvfrom,
    libc::SYS_recvmsg,
    libc::SYS_recvmmsg,
    libc::SYS_sendto,
    libc::SYS_sendmsg,
    libc::SYS_sendmmsg,
    libc::SYS_getsockopt,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_pwait,
    libc::SYS_epoll_pwait2,
    libc::SYS_epoll_ctl,
    libc::SYS_ppoll,
    libc::SYS_timerfd_settime,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_nanosleep,
    libc::SYS_getrusage,
    libc::SYS_lseek,
    libc::SYS_fsync,
    libc::SYS_ftruncate,
    libc::SYS_close,
    libc::SYS_futex,
    libc::SYS_mmap,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_mprotect,
    libc::SYS_brk,
    libc::SYS_getrandom,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_tgkill,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_prctl,
    libc::SYS_rseq,
    libc::SYS_exit,
    libc::SYS_exit_group,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_epoll_wait,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// `AUDIT_ARCH_…`: by another way of calls than this one nothing is allowed.
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;
/// No filter is set elsewhere: it would be refused, as a program without an end.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
const ARCHITECTURE: u32 = 0;

/// Places in `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE_AT: u32 = 4;
const ALLOW: u32 = 0x7fff_0000;
const REFUSE: u32 = 0x0005_0000 | 1;

/// The program that is run before each system call: the list, and then no.
fn filter() -> Vec<libc::sock_filter> {
    if ARCHITECTURE == 0 {
        return Vec::new();
    }
    let step = |code: u32, k| libc::sock_filter { code: u16::try_from(code).unwrap_or(0), jt: 0, jf: 0, k };
    let load = |at| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at);
    let is = |value, jt, jf| libc::sock_filter { jt, jf, ..step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, value) };
    let answer = |what| step(libc::BPF_RET | libc::BPF_K, what);
    let mut program = vec![load(ARCHITECTURE_AT), is(ARCHITECTURE, 1, 0), answer(REFUSE), load(NUMBER)];
    for &call in ALLOWED {
        // Numbers of system calls are small.
        program.extend([is(u32::try_from(call).unwrap_or(u32::MAX), 0, 1), answer(ALLOW)]);
    }
    program.push(answer(REFUSE));
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Read, Write};

    /// In a thread of its own, for it is for good.
    fn inside<T: Send>(what: impl FnOnce(Sandbox) -> T + Send) -> T {
        std::thread::scope(|scope| scope.spawn(|| what(enter())).join().unwrap())
    }

    #[test]
    fn no_file_is_opened_and_no_socket_made() {
        let (before, mut to_it) = std::os::unix::net::UnixStream::pair().unwrap();
        inside(|sandbox| {
            if !(sandbox.landlock || sandbox.seccomp) {
                return fairq_testkit::skip::skip("this kernel has neither Landlock nor seccomp");
            }
            assert!(File::open("/etc/passwd").is_err(), "{sandbox:?}");
            assert!(File::create("/tmp/fairq-sandbox").is_err(), "{sandbox:?}");
            if sandbox.seccomp {
                assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_err());
                assert!(std::process::Command::new("/bin/true").spawn().is_err());
            }
        });
        // Others of this process go on.
        assert!(File::open("/etc/passwd").is_ok());
        to_it.write_all(b"x").unwrap();
        drop(before);
    }

    #[test]
    fn what_was_open_is_read_and_written_and_memory_is_had() {
        let (mut one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        inside(|_| {
            one.write_all(b"packet").unwrap();
            let mut got = [0; 6];
            other.read_exact(&mut got).unwrap();
            assert_eq!(&got, b"packet");
            assert_eq!(vec![7_u8; 40 << 20].iter().filter(|byte| **byte == 7).count(), 40 << 20);
            std::thread::sleep(std::time::Duration::from_millis(1));
        });
    }

    #[test]
    fn the_capabilities_are_gone() {
        inside(|sandbox| {
            assert!(sandbox.capabilities);
            let sets = rustix::thread::capabilities(None);
            // The question itself may be refused by then.
            assert!(sets.is_err() || sets.unwrap().effective.is_empty());
        });
    }

    #[test]
    fn the_program_ends_with_a_refusal() {
        let program = filter();
        assert_eq!(program.last().map(|step| step.k), Some(REFUSE));
        assert_eq!(program.len(), 5 + 2 * ALLOWED.len());
    }
}
