//! What own parts are shown: frozen objects of numbers, made for one call.

use fairq_sched::contract::{self, Line as SchedLine, Slot};
use fairq_sched::packet::{Address, Header as SchedHeader, Marks, Packet as SchedPacket};
use fairq_sched::store::Store;
use fairq_sched::units::Time;
use fairq_sim::transport::congestion::{Acked as SimAcked, Beginning as SimBeginning, Congested as SimCongested};
use pyo3::prelude::*;

/// A flow at one queue: its number there, from 0 up and never another flow's, and its weight.
#[pyclass(frozen, get_all)]
pub(crate) struct Flow {
    number: u32,
    weight: f64,
}

#[pymethods]
impl Flow {
    pub(super) fn __repr__(&self) -> String {
        format!("<Flow {}, weight {}>", self.number, self.weight)
    }
}

/// The flows of a queue that were shown, each made once as long as its weight stands.
#[derive(Default)]
pub(super) struct Flows(Vec<Option<(f64, Py<Flow>)>>);

impl Flows {
    pub(super) fn of(&mut self, py: Python<'_>, flow: contract::Flow) -> PyResult<Py<Flow>> {
        let (at, weight) = (flow.slot as usize, f64::from(flow.weight.thousandths()) / 1000.0);
        if self.0.len() <= at {
            self.0.resize_with(at + 1, || None);
        }
        if let Some((_, known)) = self.0[at].as_ref().filter(|(known, _)| *known == weight) {
            return Ok(known.clone_ref(py));
        }
        let made = Py::new(py, Flow { number: flow.slot, weight })?;
        self.0[at] = Some((weight, made.clone_ref(py)));
        Ok(made)
    }
}

/// A packet at a queue. Times are seconds since the start of the run.
#[pyclass(frozen, freelist = 64)]
pub(crate) struct Packet {
    pub(super) packet: SchedPacket,
    pub(super) number: u64,
}

impl Packet {
    /// `packet` by the number that its owner gave it.
    pub(super) const fn of(packet: &SchedPacket) -> Self {
        Self { packet: *packet, number: packet.token }
    }
}

#[pymethods]
impl Packet {
    /// Its number: no other packet that waits in this queue has it.
    #[getter]
    const fn number(&self) -> u64 {
        self.number
    }

    /// Bytes on the line.
    #[getter]
    const fn bytes(&self) -> u32 {
        self.packet.length
    }

    /// When it arrived at this queue.
    #[getter]
    fn arrival(&self) -> f64 {
        self.packet.arrival.as_s()
    }

    /// When it should have left the network; None if it does not matter.
    #[getter]
    fn deadline(&self) -> Option<f64> {
        (self.packet.deadline != Time::NEVER).then(|| self.packet.deadline.as_s())
    }

    /// Bytes of its transfer not sent before it, itself included; 0 if not known.
    #[getter]
    const fn remaining(&self) -> u32 {
        self.packet.remaining
    }

    /// Whether it carries the mark CE, *congestion experienced*.
    #[getter]
    const fn is_marked(&self) -> bool {
        self.packet.marks.intersects(Marks::CE)
    }

    /// Whether it may be marked with CE in place of being dropped.
    #[getter]
    const fn takes_marks(&self) -> bool {
        self.packet.accepts.intersects(Marks::CE)
    }

    /// Whether it is an acknowledgement without data.
    #[getter]
    const fn is_acknowledgement(&self) -> bool {
        self.packet.acknowledges.is_some()
    }

    /// The type-of-service byte.
    #[getter]
    const fn tos(&self) -> u8 {
        self.packet.tos
    }

    pub(super) fn __repr__(&self) -> String {
        format!("<Packet {}, {} B>", self.number, self.packet.length)
    }
}

/// The queue of a packet, as a buffer policy sees it, and all queues of the line together.
#[pyclass(frozen, get_all)]
pub(crate) struct Queue {
    number: u32,
    packets: u32,
    bytes: u64,
    all_packets: u64,
    all_bytes: u64,
}

impl Queue {
    pub(super) fn of(store: &Store, queue: Slot) -> Self {
        Self {
            number: queue,
            packets: store.queue_packets(queue),
            bytes: store.queue_bytes(queue),
            all_packets: store.packets(),
            all_bytes: store.bytes(),
        }
    }
}

#[pymethods]
impl Queue {
    pub(super) fn __repr__(&self) -> String {
        format!("<Queue {}, {} packets, {} B>", self.number, self.packets, self.bytes)
    }
}

/// The fields by which packets are told apart; addresses are texts.
#[pyclass(frozen, get_all)]
pub(crate) struct Header {
    source: String,
    destination: String,
    protocol: u16,
    source_port: u16,
    destination_port: u16,
    tos: u8,
}

impl Header {
    pub(super) fn of(header: &SchedHeader) -> Self {
        let SchedHeader { source, destination, protocol, source_port, destination_port, tos } = *header;
        Self {
            source: address(source),
            destination: address(destination),
            protocol,
            source_port,
            destination_port,
            tos,
        }
    }
}

pub(super) fn address(address: Address) -> String {
    match address {
        Address::Node(number) => number.to_string(),
        Address::V4(bytes) => std::net::Ipv4Addr::from(bytes).to_string(),
        Address::V6(bytes) => std::net::Ipv6Addr::from(bytes).to_string(),
        Address::Mac(bytes) => bytes.map(|byte| format!("{byte:02x}")).join(":"),
    }
}

/// The line of a queue: its nominal rate in bit/s, and the seed of all that is random there.
#[pyclass(frozen, get_all)]
pub(crate) struct Line {
    rate: u64,
    seed: u64,
}

impl Line {
    pub(super) const fn of(line: &SchedLine) -> Self {
        Self { rate: line.rate.bit_per_s(), seed: line.seed }
    }
}

/// The answer that no packet may leave before a time, in seconds since the start of the run.
#[pyclass(frozen)]
pub(crate) struct NotBefore {
    #[pyo3(get)]
    time: f64,
}

#[pymethods]
impl NotBefore {
    #[new]
    const fn new(time: f64) -> Self {
        Self { time }
    }

    pub(super) fn __repr__(&self) -> String {
        format!("NotBefore({})", self.time)
    }
}

impl NotBefore {
    /// The time, rounded up: at the time itself it has come.
    pub(super) fn after(&self, now: Time) -> Option<Time> {
        let nearest = Time::from_s_f64(self.time);
        let time = if nearest.as_s() < self.time { Time(nearest.0.saturating_add(1)) } else { nearest };
        (time > now && time != Time::NEVER && self.time.is_finite()).then_some(time)
    }
}

/// How a connection begins; the windows, initial and the receiver's, are packets.
#[pyclass(frozen, get_all)]
pub(crate) struct Beginning {
    now: f64,
    window: f64,
    window_max: f64,
    seed: u64,
}

impl Beginning {
    pub(super) fn of(beginning: &SimBeginning) -> Self {
        let SimBeginning { now, window, window_max, seed, .. } = *beginning;
        Self { now: now.as_s(), window, window_max, seed }
    }
}

/// How a source begins: when, and the seed of all that is random.
#[pyclass(frozen, get_all)]
pub(crate) struct SourceBeginning {
    now: f64,
    seed: u64,
}

impl SourceBeginning {
    pub(super) fn new(now: Time, seed: u64) -> Self {
        Self { now: now.as_s(), seed }
    }
}

/// An acknowledgement. Times are seconds; windows, flights and counts are packets.
#[pyclass(frozen)]
pub(crate) struct Acked(pub(super) SimAcked);

#[pymethods]
impl Acked {
    /// When it arrived.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_s()
    }

    /// Packets that it acknowledges in order for the first time; 0 if it is a duplicate.
    #[getter]
    const fn newly(&self) -> u64 {
        self.0.newly
    }

    /// Packets newly known to have arrived, in order or not.
    #[getter]
    const fn delivered(&self) -> u64 {
        self.0.delivered
    }

    /// Packets that it reports as marked.
    #[getter]
    const fn marked(&self) -> u64 {
        self.0.marked
    }

    /// Bytes of a packet.
    #[getter]
    const fn bytes(&self) -> u32 {
        self.0.length
    }

    /// The round-trip sample that it gives; None without one.
    #[getter]
    fn round_trip(&self) -> Option<f64> {
        self.0.round_trip.map(Time::as_s)
    }

    /// The one-way delay of the packet that caused it; None if that is not known.
    #[getter]
    fn one_way(&self) -> Option<f64> {
        self.0.one_way.map(Time::as_s)
    }

    /// The smoothed round trip; 0 before the first sample.
    #[getter]
    fn smoothed(&self) -> f64 {
        self.0.smoothed.as_s()
    }

    /// The least round trip so far; None before the first sample.
    #[getter]
    fn least(&self) -> Option<f64> {
        least(self.0.least)
    }

    /// Packets that were in flight before it arrived.
    #[getter]
    const fn flight(&self) -> u64 {
        self.0.flight
    }

    /// Packets in flight now, without those that arrived or were found lost.
    #[getter]
    const fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    /// Whether the window limited the sender: a window that is not used should not grow.
    #[getter]
    const fn is_limited(&self) -> bool {
        self.0.is_limited
    }

    /// Whether losses are being repaired.
    #[getter]
    const fn is_recovering(&self) -> bool {
        self.0.is_recovering
    }

    /// Whether a window may grow by it: new data, no recovery, and a used window.
    #[getter]
    const fn may_grow(&self) -> bool {
        self.0.lets_grow()
    }

    /// Whether a round trip has passed since this was last so.
    #[getter]
    const fn begins_round(&self) -> bool {
        self.0.begins_round
    }

    /// Packets delivered in a second, if the control `measures_rate`; None without a sample.
    #[getter]
    fn rate(&self) -> Option<f64> {
        self.0.rate.map(|sample| sample.packets_per_s)
    }

    pub(super) fn __repr__(&self) -> String {
        format!("<Acked {} packets at {} s>", self.0.newly, self.0.now.as_s())
    }
}

/// A loss, a mark or a timeout. Times are seconds; flights and counts are packets.
#[pyclass(frozen)]
pub(crate) struct Congested(pub(super) SimCongested);

#[pymethods]
impl Congested {
    /// When it was noticed.
    #[getter]
    fn now(&self) -> f64 {
        self.0.now.as_s()
    }

    /// Packets found lost, or reported as marked, just now.
    #[getter]
    const fn packets(&self) -> u64 {
        self.0.packets
    }

    /// The packets to reduce from, as the connection's `reduces` says.
    #[getter]
    const fn flight(&self) -> u64 {
        self.0.flight
    }

    /// Packets in flight now, without those that arrived or were found lost.
    #[getter]
    const fn in_flight(&self) -> u64 {
        self.0.in_flight
    }

    /// The smoothed round trip; 0 before the first sample.
    #[getter]
    fn smoothed(&self) -> f64 {
        self.0.smoothed.as_s()
    }

    /// The least round trip so far; None before the first sample.
    #[getter]
    fn least(&self) -> Option<f64> {
        least(self.0.least)
    }

    /// Whether it is a second timeout of one packet, which should not reduce again.
    #[getter]
    const fn is_repeated(&self) -> bool {
        self.0.is_repeated
    }

    /// The window after a timeout.
    #[getter]
    const fn restart(&self) -> f64 {
        self.0.restart
    }

    pub(super) fn __repr__(&self) -> String {
        format!("<Congested {} of {} packets at {} s>", self.0.packets, self.0.flight, self.0.now.as_s())
    }
}

fn least(time: Time) -> Option<f64> {
    (time != Time::NEVER).then(|| time.as_s())
}
