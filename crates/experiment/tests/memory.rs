//! The memory of a connection, by counting allocations. One test, because the counter is that of
//! the whole program.

use cap::Cap;
use fairq_experiment::experiment::Experiment;
use fairq_sched::units::Time;
use fairq_sim::run::Simulation;
use std::alloc::System;

#[global_allocator]
static ALLOCATED: Cap<System> = Cap::new(System, usize::MAX);

const CONNECTIONS: usize = 10_000;

/// Reno with selective acknowledgements over one line. No connection starts in the first second.
fn scenario() -> String {
    format!(
        "edition = 1\n[measure]\nduration = \"3 s\"\n\
         [defaults]\nqueue = \"fq + 5000packets\"\ntransport = \"reno\"\nconnection = {{ recovery = \"sack\" }}\n\
         [[links]]\nname = \"line\"\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\ndelay = \"25 ms\"\n\
         [[flows]]\nname = \"c\"\ncount = {CONNECTIONS}\nfrom = \"a\"\nto = \"b\"\ntraffic = \"ftp\"\nstart = \"1 s\"\n"
    )
}

/// The bytes that `make` leaves allocated for each connection.
fn each<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATED.allocated();
    let made = make();
    (made, (ALLOCATED.allocated() - before) / CONNECTIONS)
}

#[test]
fn an_idle_connection_takes_at_most_722_bytes() {
    let no_file = |name: &str| Err(name.to_string());
    let (experiment, planned) = each(|| Experiment::read(&scenario(), "many", &[]).expect("a scenario"));
    let plan = &experiment.plans()[0].1;
    let (mut simulation, idle) = each(|| Simulation::new(plan, 1, &no_file).expect("no file is read"));
    println!("a connection: {planned} bytes in the plan, {idle} idle");
    // Sender, receiver, congestion control, path, counts, traffic, its places in the event set: all
    // that a simulation keeps. Of these, 18 bytes say whether the window is used and which port the
    // connection has, 24 separate successive connections on the same ends, and detect a lost
    // retransmission, 8 lead to what may be undone, and 10 count in whole packets.
    assert!(idle <= 722, "{idle} bytes");
    assert!(planned <= 200, "{planned} bytes of the plan");
    let before = ALLOCATED.allocated();
    simulation.run_until(Time::from_s(3));
    let busy = idle + (ALLOCATED.allocated() - before) / CONNECTIONS;
    println!("after two seconds of overload: {busy}, packets under way and the line's queues included");
    assert!(busy <= 3000, "{busy} bytes");
}
