//! The buffers of lines whose queue names no limit. A limit is known at once, a time of the line by
//! its rate, a bandwidth-delay product once all paths are known.

use crate::scenario::Scenario;
use crate::scenario::edition::Edition;
use crate::values::BufferSize;
use fairq_sched::queue::Queue;
use fairq_sched::units::{Bytes, Limit, PS_PER_S, Rate, Time};
use fairq_sim::plan::{FlowPlan, LinePlan};
use fairq_text::Fault;
use std::sync::Arc;

/// The buffers of a scenario's lines.
pub(super) struct Buffers {
    edition: Edition,
    /// Whether its packets come from outside: it has no flow.
    is_open: bool,
    /// The longest packet of the scenario's traffic: a buffer holds at least one.
    packet: Bytes,
    products: Vec<Product>,
    /// The discipline of access lines without their own.
    usual_access: Option<Arc<Queue>>,
}

/// A buffer whose size depends on the paths.
struct Product {
    line: usize,
    /// The number of bandwidth-delay products.
    number: f64,
    rate: Rate,
    /// The least size in bytes.
    least: u64,
    /// The place in the scenario that names its queue.
    path: String,
}

/// The place of a buffer.
pub(super) struct At<'a> {
    /// The number of its line.
    pub(super) line: usize,
    /// The line's rate, if it has one.
    pub(super) rate: Option<Rate>,
    /// Bytes that its link layer adds to every packet.
    pub(super) link_header: u8,
    /// The place in the scenario that names its queue.
    pub(super) path: &'a str,
}

impl Buffers {
    pub(super) fn new(scenario: &Scenario) -> Self {
        let edition = scenario.edition();
        // The packet lengths of a file are known only when it is read.
        let of_flows = scenario.flows.iter().map(|flow| flow.traffic.0.packet().unwrap_or(edition.packet()));
        let of_sessions = scenario.sessions.iter().filter_map(|session| session.packet);
        let packet = of_flows.chain(of_sessions).max().unwrap_or(edition.packet());
        let is_open = scenario.flows.is_empty() && scenario.sessions.is_empty();
        Self { edition, is_open, packet, products: Vec::new(), usual_access: None }
    }

    /// Gives `queue` a limit, if it names none: `size`, else the default of its edition. Returns
    /// whether the scenario names the limit.
    pub(super) fn fill(&mut self, queue: &mut Queue, size: Option<BufferSize>, at: &At<'_>) -> bool {
        // Leaves have limits of their own.
        if queue.limit.is_some() || (size.is_none() && queue.has_leaves()) {
            return true;
        }
        let least = self.packet.0 + u64::from(at.link_header);
        queue.limit = Some(match (size, at.rate) {
            (None, _) => self.edition.limit(queue),
            (Some(BufferSize::Limit(limit)), _) => limit,
            // At a line without a rate no packet waits.
            (Some(_), None) => Limit::Unlimited,
            (Some(BufferSize::Time(time)), Some(rate)) => Limit::Bytes(bytes_in(rate, time).max(least)),
            (Some(BufferSize::Product(number)), Some(rate)) => {
                self.products.push(Product { line: at.line, number, rate, least, path: at.path.to_string() });
                Limit::Bytes(least)
            }
        });
        size.is_some()
    }

    /// The discipline of an access line, which is the same for most; `given` if the scenario names
    /// one.
    pub(super) fn access_queue(&mut self, given: Option<&Queue>, size: Option<BufferSize>, at: &At<'_>) -> Arc<Queue> {
        if size.is_some() || given.is_some() {
            let mut queue = given.cloned().unwrap_or_else(Queue::unlimited_fifo);
            self.fill(&mut queue, size, at);
            return Arc::new(queue);
        }
        Arc::clone(self.usual_access.get_or_insert_with(|| {
            let mut queue = Queue::unlimited_fifo();
            queue.limit = Some(self.edition.limit(&queue));
            Arc::new(queue)
        }))
    }

    /// Computes the buffers that depend on the paths of `flows`.
    pub(super) fn finish(self, lines: &mut [LinePlan], flows: &[FlowPlan]) -> Result<(), Fault> {
        if self.products.is_empty() {
            return Ok(());
        }
        let is_open = self.is_open;
        // Without a flow no path is known: a line's round trip is then that of its link.
        let own = |line: &LinePlan| if is_open { line.delay.saturating_add(line.delay) } else { Time::ZERO };
        let mut longest: Vec<Time> = lines.iter().map(own).collect();
        for flow in flows {
            let both_ways = || flow.path.forward().iter().chain(flow.path.backward()).map(|line| *line as usize);
            let round_trip = both_ways().map(|line| lines[line].delay).fold(Time::ZERO, Time::saturating_add);
            both_ways().for_each(|line| longest[line] = longest[line].max(round_trip));
        }
        for Product { line, number, rate, least, path } in self.products {
            let bytes = number * rate.bit_per_s() as f64 * longest[line].as_s() / 8.0;
            let queue = Arc::make_mut(&mut lines[line].queue);
            queue.limit = Some(Limit::Bytes((bytes as u64).clamp(least, BYTES_MAX)));
            if let Some(fault) = queue.fault() {
                return Err(Fault::new(path, fault));
            }
        }
        Ok(())
    }
}

/// The largest limit that a scenario can name.
const BYTES_MAX: u64 = 1 << 40;

/// The bytes that a line of `rate` sends in `time`.
fn bytes_in(rate: Rate, time: Time) -> u64 {
    let bytes = u128::from(rate.bit_per_s()) * u128::from(time.0) / (8 * u128::from(PS_PER_S));
    u64::try_from(bytes).unwrap_or(u64::MAX).min(BYTES_MAX)
}

/// Why `size` has no meaning for a line whose directions have `rates`; `None` if it has one.
pub(super) fn fault(size: Option<BufferSize>, rates: [Option<Rate>; 2]) -> Option<String> {
    let by_rate = size.filter(|size| !matches!(size, BufferSize::Limit(_)))?;
    let message =
        format!("`{by_rate}` is as many bytes as the line sends meanwhile, and its rate is unlimited; leave it out");
    rates.iter().all(Option::is_none).then_some(message)
}
