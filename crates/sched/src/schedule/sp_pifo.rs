//! SP-PIFO: a PIFO approximated by a few strict-priority FIFO queues whose bounds follow the ranks.
//!
//! Use when: you ask how well a switch with a few priority queues approximates an order by rank. It
//! has no worst-case bound and can reorder a flow; for the exact order use `pifo`.
//! Source: Alcoz, Dietmüller and Vanbever, "SP-PIFO: Approximating Push-In First-Out Behaviors
//! using Strict-Priority Queues", NSDI 2020 (section 4: push-up, push-down).
//! Chosen: bounds move when a packet joins, not when one is refused or dropped; a packet that is
//! dropped is charged to no flow; with ranks that only grow, as virtual times do, the bounds follow
//! and are never set back.
//! Cost: O(queues) a packet.
//! Bound: none in the worst case; with one queue it is a FIFO, and inversions against the exact
//! PIFO become fewer with the number of queues (ranked.rs: sp_pifo_inverts_less_with_more_queues).
//! Packets of one flow may overtake each other when the bounds fall between them (ranked.rs:
//! sp_pifo_breaks_the_order_of_a_flow).
//! Changes: a weight counts for the ranks of the packets that arrive from then on; ranks given and
//! the bounds of the queues stand. A rate means nothing to it.

use crate::change::no_changes;
use crate::contract::{Flow, Gone, Line, Next, Scheduler, Slot, Tag, traits};
use crate::facts::{Facts, Queues};
use crate::packet::Packet;
use crate::part::{Part, settings};
use crate::program::{Named, Program, Rank};
use crate::queue::Queue;
use crate::rank::{self, Ranks};
use crate::reading::{Reading, Unit};
use crate::store::Store;
use crate::units::Time;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

settings! {
    /// The program and the number of queues.
    pub struct Settings {
        /// The program that gives a packet its rank.
        pub rank: Rank = Rank::default(),
        /// Strict-priority queues, 1 to 64.
        pub queues: u32 = 8,
    }
}

impl Part for Settings {
    fn facts(&self) -> Facts {
        let facts = Facts { queues: Queues::Own, ranks_packets: true, ..self.rank.facts() };
        // With one queue it is a FIFO.
        if self.queues > 1 { facts } else { Facts { tells_flows_apart: false, goes_by_weights: false, ..facts } }
    }

    fn fault(&self, _queue: &Queue) -> Option<String> {
        (!(1..=64).contains(&self.queues)).then(|| format!("sp_pifo: queues is {}; write 1 to 64", self.queues))
    }

    fn variants() -> Vec<Self> {
        alloc::vec![Self { queues: 1, ..Self::default() }, Self { rank: Rank::ShortestRemaining, queues: 3 }]
    }
}

/// Queues with bounds; number 0 is served first.
pub struct SpPifo {
    program: Named,
    /// q1 ≤ … ≤ qn: a packet joins the last queue whose bound it reaches.
    bounds: Vec<u128>,
    /// Which queues hold packets, a bit each.
    backlogged: u64,
    ranks: Ranks,
}

impl SpPifo {
    /// All bounds are 0.
    #[must_use]
    pub fn new(settings: &Settings, _: &Line) -> Self {
        let bounds = alloc::vec![0; settings.queues.clamp(1, 64) as usize];
        Self { program: Named::new(settings.rank), bounds, backlogged: 0, ranks: Ranks::new() }
    }
}

impl Scheduler for SpPifo {
    traits!(queue_per_flow = false, hears_idle = true);

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        let rank = self.program.peek(flow, packet);
        self.bounds.iter().rposition(|bound| rank >= *bound).unwrap_or(0) as Slot
    }

    fn arrive(&mut self, now: Time, queue: Slot, flow: Flow, packet: &Packet) -> Tag {
        let rank = self.program.rank(now, flow, packet);
        let first = self.bounds[0];
        if rank >= first {
            // Push up: the queue's bound is the rank of its last packet.
            self.bounds[queue as usize] = rank;
        } else {
            // Push down: all bounds fall by what the packet of highest priority was short of.
            for bound in &mut self.bounds {
                *bound -= first - rank;
            }
        }
        self.ranks.tag(rank)
    }

    fn backlogged(&mut self, queue: Slot, _tag: Tag) {
        self.backlogged |= 1 << queue;
    }

    fn next(&mut self, _now: Time, _store: &Store) -> Next {
        if self.backlogged == 0 { Next::Empty } else { Next::Queue(self.backlogged.trailing_zeros()) }
    }

    fn sent(&mut self, _now: Time, queue: Slot, _packet: &Packet, tag: Tag, head: Option<Tag>) {
        self.program.sent(rank::value(tag));
        if head.is_none() {
            self.backlogged &= !(1 << queue);
        }
    }

    fn removed(&mut self, _now: Time, gone: Gone<'_>) {
        self.program.removed(gone.flow.slot, rank::value(gone.tag), gone.packet);
        if gone.head.is_none() {
            self.backlogged &= !(1 << gone.queue);
        }
    }

    fn idle(&mut self, _now: Time) {
        self.program.idle();
    }

    no_changes!(Weight);

    fn is_clear(&mut self, _now: Time, flow: Slot) -> bool {
        self.program.is_clear(flow)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        visit(Reading::real("least_bound", Unit::None, self.bounds[0] as f64));
    }
}
