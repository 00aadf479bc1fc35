//! Schedulers of a tree of classes whose leaves have a queue each: one skeleton, [`Rules`] for what
//! differs. The tag of a packet is its length.

use crate::change::{Change, Unsupported};
use crate::class_tree::ClassTree;
use crate::contract::{Flow, Gone, Heads, Line, Next, Scheduler, Slot, Tag, traits};
use crate::packet::Packet;
use crate::part::Part;
use crate::reading::Reading;
use crate::store::Store;
use crate::units::Time;
use alloc::boxed::Box;
use alloc::vec::Vec;

/// Settings of such a scheduler.
pub trait TreeSettings: Part {
    /// The leaf of packets that belong to no other; without it the first.
    fn default_leaf(&self) -> Option<&str>;

    /// How the leaves of `tree`, the tree of its places, share `line`. Nothing has arrived.
    fn rules(&self, tree: ClassTree, line: &Line) -> Box<dyn Rules>;
}

/// What tells one scheduler of a tree from another. Methods that are called as those of
/// [`Scheduler`] do what is said there; `leaf` is the class whose queue it is about, `head` the
/// length of its first packet now.
pub trait Rules: Send {
    /// The tree that it was made with.
    fn tree(&self) -> &ClassTree;

    /// [`Scheduler::heads`].
    fn heads(&self, _leaf: usize) -> Heads {
        Heads::OnTurn
    }

    /// A packet is about to join a queue.
    fn arrive(&mut self, _now: Time) {}

    /// `leaf`, empty before, has its first packet.
    fn backlogged(&mut self, leaf: usize, head: u32);

    /// [`Scheduler::next`].
    fn next(&mut self, now: Time, store: &Store) -> Next;

    /// The head of `leaf`, of `length` bytes, was taken to be sent.
    fn sent(&mut self, now: Time, leaf: usize, length: u32, head: Option<u32>);

    /// A packet of `leaf` was dropped or removed from anywhere in its queue.
    fn removed(&mut self, now: Time, leaf: usize, head: Option<u32>);

    /// [`Scheduler::change`].
    ///
    /// # Errors
    ///
    /// If it cannot; then nothing has changed.
    fn change(&mut self, _now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        change.not_used()
    }

    /// What it keeps of `class`.
    fn reading(&self, class: usize) -> Reading<'_>;
}

/// Sends as its rules say.
pub struct ByClass(Box<dyn Rules>);

impl ByClass {
    /// Nothing has arrived.
    #[must_use]
    pub fn new(settings: &impl TreeSettings, line: &Line) -> Self {
        Self(settings.rules(ClassTree::new(&settings.places(), settings.default_leaf()), line))
    }

    fn leaf(&self, queue: Slot) -> usize {
        self.0.tree().leaves()[queue as usize]
    }
}

/// The length of a packet from its tag.
const fn length(tag: Tag) -> u32 {
    tag as u32
}

impl Scheduler for ByClass {
    traits!(queue_per_flow = false);

    fn classes(&self) -> Vec<&str> {
        self.0.tree().leaf_names()
    }

    fn queue_of(&self, flow: Flow, packet: &Packet, _store: &Store) -> Slot {
        self.0.tree().leaf_of(flow, packet)
    }

    fn heads(&self, queue: Slot) -> Heads {
        self.0.heads(self.leaf(queue))
    }

    fn arrive(&mut self, now: Time, _queue: Slot, _flow: Flow, packet: &Packet) -> Tag {
        self.0.arrive(now);
        packet.length.into()
    }

    fn backlogged(&mut self, queue: Slot, tag: Tag) {
        self.0.backlogged(self.leaf(queue), length(tag));
    }

    fn next(&mut self, now: Time, store: &Store) -> Next {
        self.0.next(now, store)
    }

    fn sent(&mut self, now: Time, queue: Slot, packet: &Packet, _tag: Tag, head: Option<Tag>) {
        self.0.sent(now, self.leaf(queue), packet.length, head.map(length));
    }

    fn removed(&mut self, now: Time, gone: Gone<'_>) {
        self.0.removed(now, self.leaf(gone.queue), gone.head.map(length));
    }

    fn is_clear(&mut self, _now: Time, _flow: Slot) -> bool {
        true
    }

    fn change(&mut self, now: Time, change: &Change<'_, Slot>) -> Result<(), Unsupported> {
        self.0.change(now, change)
    }

    fn readings(&self, _now: Time, visit: &mut dyn FnMut(Reading<'_>)) {
        let tree = self.0.tree();
        (0..tree.len()).for_each(|class| visit(self.0.reading(class).of_queue(tree.name(class))));
    }
}
