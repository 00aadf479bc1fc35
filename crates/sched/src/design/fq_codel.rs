//! FQ-CoDel: flows are hashed into queues, which take turns by DRR++ and are each kept short by
//! CoDel.
//!
//! Use when: a router's queues should be short and fair with few settings. To shape and to share by
//! host use `cake`; on a host with paced senders, `linux_fq`; for L4S, `dualpi2`.
//! Source: Hoeiland-Joergensen, McKenney, Taht, Gettys and Dumazet, "The Flow Queue CoDel Packet
//! Scheduler and Active Queue Management Algorithm", RFC 8290 (2018), and Linux 6.1,
//! sch_fq_codel.c.
//!
//! Steps:
//! 1. A packet arrives: a hash of its flow names its queue, whose tail it joins. If the queue is in
//!    neither list, it joins the end of the new list, with a credit of a quantum.
//! 2. If more waits than limit or memory allow, the fattest queue loses packets from its head: half
//!    of its bytes, at most `drop_batch` packets; with `rfc` one packet at a time.
//! 3. The line is free: look at the first queue of the new list; if that list is empty, at the
//!    first of the old list.
//! 4. If its credit is not above 0, it gains a quantum and joins the end of the old list; back to
//!    step 3.
//! 5. If it holds no packet: from the new list it joins the end of the old one (not with Linux's
//!    rules if that is empty), from the old list it leaves; back to step 3.
//! 6. CoDel judges its head. If a signal is due, the head is marked, or dropped if it accepts no
//!    mark or `ecn` is off; after a drop back to step 3.
//! 7. A queue of the new list has the turn: send its head, and take the length off its credit.
//! 8. A queue of the old list has the turn: send its head, and take the length off its credit.
//!
//! Rules: Linux's, by default: CoDel lets be what leaves no more than `mtu` in all queues together
//! (`fq_codel_dequeue` hands the whole backlog to `codel_dequeue`); a new queue that empties joins
//! the old ones only if there are any; without room half of the fattest queue goes at once, at most
//! `drop_batch` packets, each of which counts as a signal (`fq_codel_drop`), and only once for a
//! packet that finds no room; memory is a packet's buffer and what describes it (`truesize`), as a
//! socket makes them: 768 B for up to 176 B, 1280 B for up to 688 B, 2304 B for up to 1712 B;
//! CoDel's arithmetic is the kernel's.
//! The RFC's, with `rfc`: what is left in the packet's own queue counts; a new queue that empties
//! joins the old ones in any case; one packet at a time leaves the fattest queue; the square root
//! is exact. It is composed of `drr_plus_plus`, `codel` and longest-queue drop by bytes, whose
//! cards hold for it, and its memory is the lengths of packets.
//! Departs: a packet that needs more memory than there is is refused and takes no other with it.
//! Linux raises a quantum to 256 B.
//! Chosen: the flow is the classifier's if one is named, else the five-tuple (section 4.1). Without
//! a limit 10240 packets may wait.
//! Cost: O(1) a packet while the quantum is at least the largest packet, and O(log `queues`) for a
//! drop that makes room.
//! Bound: Linux's rules to the packet (docs/agreement/linux.md); with `rfc` the rules of section 4
//! (designs.rs: fq_codel_follows_the_rules_of_its_rfc); flows that share no queue are served as
//! fairly as by DRR++ (designs.rs: fq_codel_is_fair_to_flows_that_share_no_queue); a million flows
//! cost no more memory than its queues (designs.rs:
//! a_flood_of_flows_costs_bounded_memory_and_work).
//! Changes: a new limit counts from the next arrival on, and `memory` stands. A rate means nothing
//! to it; weights, pacing and classes are refused.

mod linux;

use crate::buffer::codel::{self, Codel, fault_of};
use crate::buffer::longest_queue_drop::LongestQueueDrop;
use crate::buffer::with_overflow::WithOverflow;
use crate::compose::Composition;
use crate::contract::{Discipline, Line};
use crate::facts::Facts;
use crate::mark::none::None as NoMarker;
use crate::part::{Part, settings};
use crate::queue::Queue;
use crate::schedule::drr_plus_plus::{self, DrrPlusPlus};
use crate::turns::Sends;
use crate::units::{Bytes, Time};
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

settings! {
    /// Queues, their turns, and CoDel's times.
    pub struct Settings {
        /// How many queues flows are hashed into.
        pub queues: u32 = 1024,
        /// What a queue may send in a turn.
        pub quantum: Bytes = Bytes(1514),
        /// How many bytes of the kernel's memory may be used, beside the limit; a packet of 1514 B
        /// takes 2304. With `rfc` how many bytes may wait.
        pub memory: Bytes = Bytes(32 << 20),
        /// The delay that is acceptable.
        pub target: Time = codel::Settings::default().target,
        /// How long the delay may be above the target.
        pub interval: Time = codel::Settings::default().interval,
        /// The largest packet: a queue that is left with no more than this is never too long.
        pub mtu: Bytes = codel::Settings::default().mtu,
        /// Whether packets that accept CE are marked in place of being dropped.
        pub ecn: bool = true,
        /// The rules of RFC 8290 and RFC 8289 in place of Linux's.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub rfc: bool = false,
        /// How many packets an overflow takes at most at once; not with `rfc`.
        pub drop_batch: u32 = 64,
        /// A packet that accepts CE and has waited longer is marked in any case.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub ce_threshold: Option<Time> = None,
        /// Which bits of the type-of-service byte `ce_threshold` looks at; 0: it counts for all
        /// packets.
        pub ce_threshold_mask: u8 = 0,
        /// What those bits are in the packets that `ce_threshold` counts for: 1 under mask 3 is
        /// ECT(1).
        pub ce_threshold_selector: u8 = 0,
        /// With `rfc`: how many bytes of each packet turns and the search for the fattest queue
        /// leave out: a header that only the line adds, as the 2 bytes of PPP under a queue disc of
        /// ns-3.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "Option::is_none"))]
        pub uncounted: Option<Bytes> = None,
        /// With `rfc`: whether of equally fat queues the one with the lowest number loses, as in
        /// Linux, whichever packet comes; else that of the packet that comes, if it is one of them.
        #[cfg_attr(feature = "schema", serde(skip_serializing_if = "core::ops::Not::not"))]
        pub lowest_loses: bool = false,
    }
}

impl Settings {
    const fn codel(&self) -> codel::Settings {
        let Self { target, interval, mtu, ecn, rfc, ce_threshold, ce_threshold_mask, ce_threshold_selector, .. } =
            *self;
        codel::Settings { target, interval, mtu, ecn, rfc, ce_threshold, ce_threshold_mask, ce_threshold_selector }
    }

    const fn turns(&self) -> drr_plus_plus::Settings {
        drr_plus_plus::Settings { quantum: self.quantum, buckets: Some(self.queues) }
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        Facts {
            classifier: Some(super::FIVE_TUPLE),
            marks_congestion: self.ecn || self.ce_threshold.is_some(),
            own_limit: super::OWN_LIMIT,
            memory: Some(self.memory),
            ..Facts::PLAIN
        }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        let times = || fault_of("fq_codel", self.target, self.interval);
        let codel = || times().or_else(|| self.codel().selector_fault("fq_codel"));
        let only_rfc = || {
            let said = (self.uncounted.is_some() || self.lowest_loses) && !self.rfc;
            said.then(|| "fq_codel: uncounted and lowest_loses go with rfc=true".to_string())
        };
        let batch = || (self.drop_batch == 0).then(|| "fq_codel: drop_batch is at least 1".to_string());
        let queues = super::fault_of_queues("fq_codel", self.queues, self.quantum, self.memory);
        queues.or_else(codel).or_else(only_rfc).or_else(batch)
    }

    fn variants() -> Vec<Self> {
        // Little room, few queues, and so impatient that most packets are signals.
        let (target, interval, mtu) = (Time(1), Time(1_000_000), Bytes(0));
        let eager = Self { queues: 3, memory: Bytes(5000), target, interval, mtu, ..Self::default() };
        let early = Self { ce_threshold: Some(Time::from_ms(1)), ..Self::default() };
        let plain = Self { ecn: false, quantum: Bytes(300), ..eager.clone() };
        alloc::vec![Self { rfc: true, ..plain.clone() }, plain, Self { rfc: true, ..eager.clone() }, eager, early]
    }
}

/// The steps of the card that send.
const SENDS: Sends = Sends { new: 7, old: 8 };

/// Builds the discipline of `settings`.
#[must_use]
pub fn build(settings: &Settings, queue: &Queue, line: &Line) -> Box<dyn Discipline> {
    if !settings.rfc {
        return Box::new(linux::FqCodel::new(settings, queue, line));
    }
    let early = Codel::new(&settings.codel(), line);
    let uncounted = settings.uncounted.unwrap_or_default();
    let full =
        LongestQueueDrop::of_fattest(settings.memory).without(uncounted).with_lowest_losing(settings.lowest_loses);
    let buffer = WithOverflow { early, full: Some(full) };
    let scheduler = DrrPlusPlus::new(&settings.turns(), line).without(uncounted).in_steps(SENDS);
    let classifier = queue.classifier().build(line);
    Box::new(Composition::new(classifier, scheduler, buffer, NoMarker, queue.capacity(), line))
}
