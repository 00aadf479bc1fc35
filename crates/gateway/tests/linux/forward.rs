//! A gateway of two hosts that forwards what comes, as it comes.

use fairq_gateway::device::Device;
use fairq_gateway::sandbox;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

/// Forwards between two devices until told to stop.
pub(crate) struct Forwarder {
    stop: Arc<AtomicBool>,
    pub(crate) packets: Arc<AtomicU64>,
    thread: JoinHandle<Vec<Box<dyn Device>>>,
}

impl Forwarder {
    pub(crate) fn new(devices: Vec<Box<dyn Device>>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let packets = Arc::new(AtomicU64::new(0));
        let (flag, count) = (Arc::clone(&stop), Arc::clone(&packets));
        let thread = thread::spawn(move || forward(devices, &flag, &count));
        Self { stop, packets, thread }
    }

    pub(crate) fn stop(self) -> Vec<Box<dyn Device>> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.join().expect("the forwarder ends")
    }
}

fn forward(mut devices: Vec<Box<dyn Device>>, stop: &AtomicBool, packets: &AtomicU64) -> Vec<Box<dyn Device>> {
    let sandbox = sandbox::enter();
    assert!(sandbox.capabilities, "{sandbox:?}");
    let mut buffer = vec![0; 1 << 17];
    while !stop.load(Ordering::Relaxed) {
        let mut waiting: Vec<PollFd<'_>> =
            devices.iter().map(|device| PollFd::from_borrowed_fd(device.descriptor(), PollFlags::IN)).collect();
        poll(&mut waiting, Some(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 })).expect("devices can be polled");
        for from in 0..2 {
            while let Some((length, offload)) = devices[from].read(&mut buffer).expect("the device is there") {
                if length > 0 {
                    packets.fetch_add(1, Ordering::Relaxed);
                    devices[1 - from].write(&buffer[..length], &offload).expect("the device is there");
                }
            }
        }
    }
    devices
}
