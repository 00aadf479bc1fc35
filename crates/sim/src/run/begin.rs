//! What a run is made of before its first event: both ends of each flow, transfers, sessions.

use super::urgency::Urgency;
use super::{Connection, Upcoming};
use crate::multicast::session::Session;
use crate::net::path::Path;
use crate::plan::{Files, FlowPlan, Plan};
use crate::processing::Processing;
use crate::traffic::registry::{Context, Entry};
use crate::traffic::until::Until;
use crate::traffic::{Source, Transfers};
use crate::transfers::Group;
use crate::transport::tcp::Setup;
use fairq_link::random::{self, Stream};
use fairq_sched::units::{Time, Weight};
use std::sync::Arc;

/// The groups of transfers of `plan`; sets the group of their connections.
pub(super) fn groups(plan: &Plan, seed: u64, connections: &mut [Connection]) -> Vec<Group> {
    let mut groups = Vec::with_capacity(plan.transfers.len());
    for transfers in &plan.transfers {
        let copies = transfers.first as usize..(transfers.first + transfers.count) as usize;
        let flows = &plan.flows[copies.clone()];
        let stream = |name: &str| Stream::new(seed, &format!("{name}/traffic"));
        let entry = Entry {
            starts: flows.iter().map(|flow| start(flow, seed)).collect(),
            streams: flows.iter().map(|flow| stream(&flow.name)).collect(),
            stream: stream(&transfers.name),
        };
        // Whether the traffic is transfers was decided when the plan was made.
        let Some(first) = flows.first() else { continue };
        let Some(mut traffic) = first.entry.traffic.build_transfers(entry) else { continue };
        if let Some(stop) = first.entry.stop {
            traffic = Box::new(Until::<dyn Transfers>::new(traffic, stop));
        }
        for connection in &mut connections[copies] {
            connection.group = Some(groups.len() as u32);
        }
        groups.push(Group::new(traffic, transfers, first.entry.deadline));
    }
    groups
}

/// The paths of flows and, behind them, of the sessions' branches; the sessions; and by branch its
/// session with its number there.
pub(super) fn paths_and_sessions(plan: &Plan, seed: u64) -> (Vec<Path>, Vec<Session>, Vec<(usize, usize)>) {
    let mut paths: Vec<Path> = plan.flows.iter().map(|flow| flow.path.clone()).collect();
    let mut branches = Vec::new();
    let mut sessions = Vec::with_capacity(plan.sessions.len());
    let mut receivers = 0;
    for (number, session) in plan.sessions.iter().enumerate() {
        sessions.push(Session::new(session, paths.len() as u32, receivers, seed));
        paths.extend(session.paths());
        branches.extend((0..session.shape.branches.len()).map(|branch| (number, branch)));
        receivers += session.receivers.len() as u32;
    }
    (paths, sessions, branches)
}

/// By flow: the urgency that its packets carry; empty if no flow's packets do.
pub(super) fn urgencies(plan: &Plan, seed: u64) -> Vec<Option<Urgency>> {
    let tells = |flow: &FlowPlan| flow.tells_remaining || flow.entry.deadline.is_some();
    if !plan.flows.iter().any(tells) {
        return Vec::new();
    }
    plan.flows.iter().map(|flow| tells(flow).then(|| Urgency::of(flow, start(flow, seed)))).collect()
}

/// When `flow` starts.
fn start(flow: &FlowPlan, seed: u64) -> Time {
    match flow.entry.start {
        Some(time) => time,
        None => {
            let part = Stream::new(seed, &format!("{}/start", flow.name)).uniform();
            Time((part * flow.entry.start_within.0 as f64) as u64)
        }
    }
}

impl Connection {
    /// A connection begins in place of the one before, if there was one.
    pub(super) fn begin(&mut self, now: Time, bytes: u64, packet: u32) {
        if self.changes_port && self.counts.is_some() {
            self.incarnation = self.incarnation.wrapping_add(1);
        }
        self.sender.begin(now, bytes, packet);
    }

    /// The connection of `flow`, and when its traffic begins.
    pub(super) fn new(flow: &FlowPlan, seed: u64, files: Files<'_>) -> Result<(Self, Time), String> {
        let start = start(flow, seed);
        let file = flow.entry.traffic.file().map(files).transpose()?;
        let stream = Stream::new(seed, &format!("{}/traffic", flow.name));
        let key = random::key(seed, &format!("{}/transport", flow.name));
        let mut source = flow.entry.traffic.build(Context { start, stream, file: file.as_deref() })?;
        let ends = flow.entry.transport.build(Setup {
            supply: flow.entry.traffic.supply(),
            connection: Arc::clone(&flow.entry.connection),
            seed: key,
        });
        if let Some(stop) = flow.entry.stop {
            source = Box::new(Until::<dyn Source>::new(source, stop));
        }
        let first = source.next();
        let upcoming = if flow.entry.traffic.offers_packets() {
            first.map(|emission| Upcoming::Packet { source, emission })
        } else {
            flow.entry.stop.map(Upcoming::Stop)
        };
        let connection = Self {
            upcoming: upcoming.map(Box::new),
            accepts: ends.sender.accepts(),
            sender: ends.sender,
            receiver: ends.receiver,
            acknowledgement: flow.entry.acknowledgement,
            processing: Processing::new(flow.processing, key),
            group: None,
            incarnation: 0,
            heard: 0,
            changes_port: flow.entry.weight == Weight::ONE && flow.entry.class.is_none(),
            counts: None,
        };
        Ok((connection, first.map_or(Time::NEVER, |emission| emission.time)))
    }
}
