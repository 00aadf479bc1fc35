//! System calls that rustix has not, each behind a function that cannot be misused.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;
use std::time::Duration;

/// What a call answered, as a result.
fn checked(answer: c_int) -> io::Result<c_int> {
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok(answer) }
}

/// Leaves the named kinds of namespaces (`CLONE_NEW…`) for new ones.
pub(crate) fn unshare(kinds: c_int) -> io::Result<()> {
    // SAFETY: the kinds that the crate passes are of namespaces; none takes memory or descriptors
    // away from other threads.
    checked(unsafe { libc::unshare(kinds) }).map(|_| ())
}

/// A copy of the process: its number in the parent, `None` in the child. The process must have one
/// thread, or the child make system calls only.
pub(crate) fn fork() -> io::Result<Option<c_int>> {
    // SAFETY: the callers keep to what is said above, so that no lock of another thread is copied
    // in the locked state and then waited for.
    let child = checked(unsafe { libc::fork() })?;
    Ok((child > 0).then_some(child))
}

/// Ends the process at once: nothing that it shares with its parent is written or undone twice.
pub(crate) fn exit_now(status: c_int) -> ! {
    // SAFETY: it takes a number and does not come back.
    unsafe { libc::_exit(status) }
}

/// Threads of this process, or 1 if that cannot be known.
pub(crate) fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(1, Iterator::count)
}

/// Sends a signal to a process; to its group, if `process` is negative, and to all that it may, if
/// it is −1.
pub(crate) fn signal(process: c_int, signal: c_int) -> io::Result<()> {
    // SAFETY: it takes two numbers.
    checked(unsafe { libc::kill(process, signal) }).map(|_| ())
}

/// A set of `signals`.
fn signal_set(signals: &[c_int]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: the first call initialises the whole set; the others take the initialised one.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        for &signal in signals {
            libc::sigaddset(set.as_mut_ptr(), signal);
        }
        set.assume_init()
    }
}

/// Keeps `signals` waiting until [`wait_signal`] takes them, in this thread and those it starts.
pub(crate) fn hold_signals(signals: &[c_int]) {
    let set = signal_set(signals);
    // SAFETY: the set is initialised and outlives the call; the old one is not asked for.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut()) };
}

/// Lets a program that is started get all signals, also those that its parent holds.
pub(crate) fn free_signals(command: &mut std::process::Command) {
    let free = || {
        let none = signal_set(&[]);
        // SAFETY: the set is initialised and outlives the call; the old one is not asked for.
        checked(unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut()) }).map(|_| ())
    };
    // SAFETY: between fork and exec the closure makes calls only that are allowed there
    // (signal-safety(7)), and takes no memory.
    unsafe { std::os::unix::process::CommandExt::pre_exec(command, free) };
}

/// Our group of processes, if it is the one that standard input's terminal listens to.
pub(crate) fn terminal() -> Option<c_int> {
    // SAFETY: it takes a number, and answers −1 if that is no terminal.
    let group = unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) };
    // SAFETY: it takes nothing.
    (group > 0 && group == unsafe { libc::getpgrp() }).then_some(group)
}

/// Gives the terminal to a group again.
pub(crate) fn take_terminal(group: c_int) {
    hold_signals(&[libc::SIGTTOU]);
    // SAFETY: it takes two numbers; a group in the background may do it with the signal held.
    unsafe { libc::tcsetpgrp(libc::STDIN_FILENO, group) };
}

/// The next of `signals` that were held, if one comes before `patience` is over.
pub(crate) fn wait_signal(signals: &[c_int], patience: Duration) -> Option<c_int> {
    let set = signal_set(signals);
    let time = libc::timespec {
        tv_sec: libc::time_t::try_from(patience.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: libc::c_long::from(patience.subsec_nanos().cast_signed()),
    };
    // SAFETY: set and time outlive the call; what was sent with the signal is not asked for.
    let signal = unsafe { libc::sigtimedwait(&raw const set, ptr::null_mut(), &raw const time) };
    (signal > 0).then_some(signal)
}

/// A child that has ended, and its status as a shell says it; `None`: none has. An error: there is
/// no child.
pub(crate) fn ended_child() -> io::Result<Option<(c_int, c_int)>> {
    let mut status = 0;
    // SAFETY: the status outlives the call.
    let child = checked(unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) })?;
    let status = if libc::WIFSIGNALED(status) { 128 + libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
    Ok((child > 0).then_some((child, status)))
}

/// Waits for one child and gives its status as a shell says it.
pub(crate) fn wait_for(child: c_int) -> io::Result<c_int> {
    let mut status = 0;
    loop {
        // SAFETY: the status outlives the call.
        match checked(unsafe { libc::waitpid(child, &raw mut status, 0) }) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
            Ok(_) if libc::WIFSIGNALED(status) => return Ok(128 + libc::WTERMSIG(status)),
            Ok(_) => return Ok(libc::WEXITSTATUS(status)),
        }
    }
}

/// Makes an open `/dev/net/tun` the device `name` with `flags` (`IFF_…`), in the namespace in which
/// it was opened.
pub(crate) fn set_tun(file: BorrowedFd<'_>, name: &str, flags: c_int) -> io::Result<()> {
    // SAFETY: all-zero bytes are a value of this struct of numbers.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    // The last byte stays 0.
    for (to, from) in request.ifr_name.iter_mut().take(libc::IFNAMSIZ - 1).zip(name.bytes()) {
        *to = from.cast_signed();
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).map_err(io::Error::other)?;
    // SAFETY: the call reads and writes one `ifreq`, which outlives it.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &raw mut request) }).map(|_| ())
}

/// Says what a TUN device's reader can cut by itself (`TUN_F_…`).
pub(crate) fn set_tun_offload(file: BorrowedFd<'_>, what: libc::c_uint) -> io::Result<()> {
    // SAFETY: the call takes a number.
    checked(unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD, libc::c_ulong::from(what)) }).map(|_| ())
}

/// Sets an option of a socket that is a number.
pub(crate) fn set_option(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: c_int) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<c_int>()).map_err(io::Error::other)?;
    // SAFETY: the value outlives the call and has the length that is said.
    checked(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, (&raw const value).cast(), length) }).map(|_| ())
}

/// Reads an option of a socket into `value`, and how many bytes of it are set.
pub(crate) fn option(socket: BorrowedFd<'_>, level: c_int, name: c_int, value: &mut [u8]) -> io::Result<usize> {
    let mut length = libc::socklen_t::try_from(value.len()).map_err(io::Error::other)?;
    let to = value.as_mut_ptr().cast();
    // SAFETY: `value` is as long as said and outlives the call; any bytes are a value of it.
    checked(unsafe { libc::getsockopt(socket.as_raw_fd(), level, name, to, &raw mut length) })?;
    Ok(usize::try_from(length).map_err(io::Error::other)?.min(value.len()))
}

/// Binds a packet socket to all frames of the device `index`.
pub(crate) fn bind_to_device(socket: BorrowedFd<'_>, index: u32) -> io::Result<()> {
    // SAFETY: all-zero bytes are a value of this struct of numbers.
    let mut address: libc::sockaddr_ll = unsafe { MaybeUninit::zeroed().assume_init() };
    address.sll_family = libc::c_ushort::try_from(libc::AF_PACKET).map_err(io::Error::other)?;
    address.sll_protocol = u16::try_from(libc::ETH_P_ALL).map_err(io::Error::other)?.to_be();
    address.sll_ifindex = index.cast_signed();
    let length = libc::socklen_t::try_from(size_of::<libc::sockaddr_ll>()).map_err(io::Error::other)?;
    // SAFETY: the address outlives the call and has the length that is said.
    checked(unsafe { libc::bind(socket.as_raw_fd(), (&raw const address).cast(), length) }).map(|_| ())
}

/// The highest version of Landlock that the kernel has.
pub(crate) fn landlock_version() -> io::Result<u32> {
    // SAFETY: no attribute is passed, and the flag asks for the version only.
    let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0_usize, 1_u32) };
    u32::try_from(version).map_err(|_| io::Error::last_os_error())
}

/// Takes from the calling thread all accesses to files named by `accesses`
/// (`LANDLOCK_ACCESS_FS_…`). It must have said before that it takes no new rights.
pub(crate) fn landlock(accesses: u64) -> io::Result<()> {
    // SAFETY: the attribute is the first field of the struct, as long as said, and outlives it all.
    let rules =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, &raw const accesses, size_of::<u64>(), 0_u32) };
    let rules = checked(c_int::try_from(rules).map_err(io::Error::other)?)?;
    // SAFETY: it takes two numbers, of which the first is the descriptor just made.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, rules, 0_u32) };
    let error = io::Error::last_os_error();
    // SAFETY: the descriptor is ours and not used again.
    unsafe { libc::close(rules) };
    if answer < 0 { Err(error) } else { Ok(()) }
}

/// Has programs that the calling thread starts lie at the same addresses each time.
pub(crate) fn fix_addresses() -> io::Result<()> {
    // SAFETY: it takes a number and touches no memory.
    checked(unsafe { libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong) }).map(|_| ())
}

/// Sets `program` before each system call of the calling thread. It must have said before that it
/// takes no new rights.
pub(crate) fn seccomp(program: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog {
        len: libc::c_ushort::try_from(program.len()).map_err(io::Error::other)?,
        filter: program.as_ptr().cast_mut(),
    };
    // SAFETY: the kernel reads the program, which is as long as said, and keeps no pointer to it.
    let answer = unsafe {
        libc::prctl(libc::PR_SET_SECCOMP, libc::c_ulong::from(libc::SECCOMP_MODE_FILTER), &raw const program)
    };
    checked(answer).map(|_| ())
}
