//! Both directions of a relay's line, without a socket: what is sent, and what has arrived by a
//! time. Everything happens at its own time on the line, in order, however late a call is.

use super::settings::{RelaySettings, Way, WayChange};
use super::stream::Stream;
use super::tally::Tally;
use fairq_link::path::{Path, Poll};
use fairq_sched::contract::Discipline;
use fairq_sched::packet::{Header, Reason};
use fairq_sched::units::{Rate, Time};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Names of the directions: to the target, and back to the client.
pub(super) const DIRECTIONS: [&str; 2] = ["up", "down"];

/// One direction of a conversation.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) header: Header,
    /// 0 or 1, as [`DIRECTIONS`].
    pub(super) way: usize,
    pub(super) tally: Tally,
    /// None for datagrams, and for a connection that is closed.
    pub(super) stream: Option<Stream>,
}

/// A packet on the line.
struct Parcel {
    flow: usize,
    sent: Time,
    length: u32,
    content: Content,
}

enum Content {
    Datagram(Vec<u8>),
    /// The number of a segment; its bytes stay with the stream.
    Segment(u64),
}

/// Something for the flow's receiver.
pub(super) struct Arrival {
    pub(super) flow: usize,
    /// When, by the line's clock.
    pub(super) at: Time,
    /// None: the stream has more for its reader.
    pub(super) datagram: Option<Vec<u8>>,
}

/// What the sender of a segment hears of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Word {
    Acknowledged,
    SendAgain,
}

/// What a sender will hear: time, order, flow, segment.
type Said = (Time, u64, usize, u64, Word);

/// The line.
pub(super) struct Ways {
    ways: [Way; 2],
    paths: [Path<Box<dyn Discipline>, Parcel>; 2],
    pub(super) flows: Vec<Flow>,
    words: BinaryHeap<Reverse<Said>>,
    number: u64,
    now: Time,
    /// When the next thing happens, as of the last call of [`Ways::advance`].
    next: Option<Time>,
}

impl Ways {
    pub(super) fn new(settings: &RelaySettings) -> Result<Self, String> {
        let [up, down] = &settings.ways;
        let ways = [Way::of(up)?, Way::of(down)?];
        let paths = [ways[0].path(settings.seed), ways[1].path(settings.seed.wrapping_add(1))];
        Ok(Self { ways, paths, flows: Vec::new(), words: BinaryHeap::new(), number: 0, now: Time::ZERO, next: None })
    }

    /// A flow that begins; its number.
    pub(super) fn begin(&mut self, header: Header, way: usize, stream: Option<Stream>) -> usize {
        self.flows.push(Flow { header, way, tally: Tally::default(), stream });
        self.flows.len() - 1
    }

    /// Sends a datagram now, which is the time of the last [`Ways::advance`].
    pub(super) fn send_datagram(&mut self, flow: usize, bytes: Vec<u8>, headers: u32) {
        let length = bytes.len() as u32 + headers;
        self.push(flow, length, Content::Datagram(bytes));
    }

    /// Sends a segment of a stream now; no bytes end it.
    pub(super) fn send_segment(&mut self, flow: usize, bytes: Vec<u8>) {
        let now = self.now;
        let Some(stream) = &mut self.flows[flow].stream else { return };
        let (number, length) = stream.send(now, bytes);
        self.push(flow, length, Content::Segment(number));
    }

    fn push(&mut self, flow: usize, length: u32, content: Content) {
        let Flow { header, way, tally, .. } = &mut self.flows[flow];
        tally.arrived.add(length);
        self.paths[*way].push(self.now, length, header, Parcel { flow, sent: self.now, length, content });
    }

    /// Runs the line up to `now`; what has arrived.
    pub(super) fn advance(&mut self, now: Time, arrivals: &mut Vec<Arrival>) {
        loop {
            self.next = None;
            for way in 0..2 {
                self.poll(way, arrivals);
            }
            let word = self.words.peek().map(|Reverse(word)| word.0);
            self.next = self.next.into_iter().chain(word).min();
            match self.next.filter(|next| *next <= now) {
                // A word may be due at once.
                Some(next) => self.now = self.now.max(next),
                None => break,
            }
            while let Some(Reverse(word)) = self.words.peek().copied().filter(|Reverse(word)| word.0 <= self.now) {
                self.words.pop();
                self.tell(word.2, word.3, word.4);
            }
        }
        self.now = self.now.max(now);
    }

    /// All that has happened on one way by the present.
    fn poll(&mut self, way: usize, arrivals: &mut Vec<Arrival>) {
        loop {
            match self.paths[way].poll(self.now) {
                Poll::Delivered { at, payload, .. } => self.delivered(at, payload, arrivals),
                Poll::Dropped { at, why, payload } => self.dropped(at, why, &payload),
                Poll::NotBefore(time) => return self.next = self.next.into_iter().chain([time]).min(),
                Poll::Empty => return,
            }
        }
    }

    fn delivered(&mut self, at: Time, parcel: Parcel, arrivals: &mut Vec<Arrival>) {
        let Parcel { flow, sent, length, content } = parcel;
        let Flow { way, tally, stream, .. } = &mut self.flows[flow];
        tally.delivered(sent, at, length);
        let datagram = match content {
            Content::Datagram(bytes) => Some(bytes),
            Content::Segment(number) => {
                let Some(stream) = stream else { return };
                stream.arrived(number);
                let heard = at.saturating_add(self.ways[1 - *way].delay);
                self.note(heard, flow, number, Word::Acknowledged);
                None
            }
        };
        arrivals.push(Arrival { flow, at, datagram });
    }

    fn dropped(&mut self, at: Time, why: Reason, parcel: &Parcel) {
        let least = self.ways[0].delay.saturating_add(self.ways[1].delay);
        let Flow { tally, stream, .. } = &mut self.flows[parcel.flow];
        let counted = if why == Reason::Lost { &mut tally.lost } else { &mut tally.dropped };
        counted.add(parcel.length);
        if let (Content::Segment(number), Some(stream)) = (&parcel.content, stream) {
            let patience = stream.dropped(*number, least);
            self.note(at.saturating_add(patience), parcel.flow, *number, Word::SendAgain);
        }
    }

    fn note(&mut self, at: Time, flow: usize, segment: u64, word: Word) {
        self.words.push(Reverse((at, self.number, flow, segment, word)));
        self.number += 1;
    }

    fn tell(&mut self, flow: usize, segment: u64, word: Word) {
        let (now, Flow { tally, stream, .. }) = (self.now, &mut self.flows[flow]);
        let Some(stream) = stream else { return };
        match word {
            Word::Acknowledged => stream.acknowledged(now, segment),
            Word::SendAgain => {
                if let Some(length) = stream.send_again(segment) {
                    tally.retransmitted.add(length);
                    self.push(flow, length, Content::Segment(segment));
                }
            }
        }
    }

    /// When the next thing happens, if no call changes that.
    pub(super) const fn next_time(&self) -> Option<Time> {
        self.next
    }

    /// What is wrong with a change, if anything is.
    pub(super) fn check(&self, way: usize, change: &WayChange) -> Result<(), String> {
        self.ways[way].changed(change).map(drop)
    }

    /// Changes one direction from the time of the last [`Ways::advance`] on.
    pub(super) fn change(&mut self, way: usize, change: &WayChange) -> Result<(), String> {
        self.ways[way].change_path(self.now, change, &mut self.paths[way])
    }

    /// The rate of the faster direction.
    pub(super) fn rate(&self) -> Rate {
        self.ways[0].rate.max(self.ways[1].rate)
    }

    /// What went through the queues.
    pub(super) fn queues(&self) -> Vec<Value> {
        let rows = self.ways.iter().zip(&self.paths).zip(DIRECTIONS);
        rows.map(|((way, path), direction)| {
            let (counts, held) = (path.counts(), path.held());
            json!({
                "direction": direction,
                "queue": way.queue.name(),
                "rate_bit_per_s": (way.rate != Rate::MAX).then(|| way.rate.bit_per_s()),
                "delay_s": way.delay.as_s(),
                "arrived_packets": counts.arrived.packets,
                "arrived_bytes": counts.arrived.bytes,
                "sent_packets": counts.sent.packets,
                "sent_bytes": counts.sent.bytes,
                "dropped_packets": counts.dropped.packets,
                "held_packets": held.packets,
                "held_bytes": held.bytes,
            })
        })
        .collect()
    }
}

#[cfg(test)]
mod tests;
