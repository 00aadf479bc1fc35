//! Hosts in namespaces: made, used and left, as root and as a user without rights.
//!
//! Each case runs in a process of its own, which this program starts: namespaces are for good, and
//! are entered by a process with one thread. Where this machine has no namespaces a case is
//! skipped, but with `FAIRQ_NAMESPACES=required` it fails.

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    fairq_testkit::skip::skip("namespaces are Linux'");
}
