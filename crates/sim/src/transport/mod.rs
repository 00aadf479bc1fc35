//! Transports: how a source sends its data, and how the receiver acknowledges it.
//!
//! A sender is a function of its inputs: it is offered data, told of acknowledgements and of its
//! timer, and asked what to send and when to wake it. Loss recovery (`tcp`, `go_back_n`, `generic`)
//! is separate from congestion control (`congestion`), so that each congestion control is one file.
//! When and what to acknowledge is up to the receiver (`receiver`). Senders that keep a rate and
//! retransmit nothing (`fixed_rate`, `rap`, `tfrc`) are complete in themselves. What the ends send
//! each other is in `messages`.

/// What a transport with rules of its own answers as a [`Transport`]: its delivery, its window and
/// the ECN field of its packets.
macro_rules! answers {
    ($self:ident: $delivery:ident, window $window:expr, code_point $code_point:expr) => {
        fn delivery(&$self) -> $crate::transport::Delivery {
            $crate::transport::Delivery::$delivery
        }

        fn window(&$self) -> Option<u32> {
            $window
        }

        fn code_point(&$self) -> CodePoint {
            $code_point
        }
    };
}

pub mod congestion;
pub mod decbit;
pub mod ecn;
pub mod estimator;
pub mod fixed_rate;
pub mod fixed_window;
pub mod generic;
pub mod go_back_n;
pub mod held;
pub mod jk;
pub mod messages;
pub mod quick;
pub mod ranges;
pub mod rap;
pub mod receiver;
pub mod registry;
pub mod reports;
pub mod supply;
pub mod tcp;
pub mod tfrc;
pub mod uncontrolled;

use ecn::{Accepts, CodePoint};
use fairq_sched::units::Time;
use held::HeldTimes;
use messages::{Acknowledgement, Transmission};
use supply::Supply;

/// The sending side of a connection.
pub trait Sender: Send {
    /// The data that it has still to send.
    fn supply(&mut self) -> &mut Supply;

    /// Prefetches the state for an acknowledgement that the sender keeps elsewhere.
    fn fetch(&self) {}

    /// The traffic offers another packet of `length` bytes.
    fn offer(&mut self, length: u32) {
        self.supply().offer(length);
    }

    /// A new connection begins at `now` in place of the one before it, which is complete. It has
    /// `bytes` to send, in packets of `length` and a shorter last one. Packet numbers continue.
    fn begin(&mut self, _now: Time, bytes: u64, length: u32) {
        *self.supply() = Supply::Transfer { length, left: bytes };
    }

    /// Whether all its data was acknowledged; for a sender that waits for no acknowledgement,
    /// whether it was sent.
    fn is_complete(&mut self) -> bool {
        self.supply().is_empty()
    }

    /// What to send now; `None` if nothing. Called until it returns `None`, after each of the other
    /// calls.
    fn poll(&mut self, now: Time) -> Option<Transmission>;

    /// An acknowledgement arrives. Returns the round-trip sample that the source's estimator takes
    /// from it, if it takes one.
    fn acknowledge(&mut self, now: Time, ack: &Acknowledgement) -> Option<Time>;

    /// When the source wants to be woken; [`Time::NEVER`] if never. May change with every other
    /// call.
    fn deadline(&self) -> Time;

    /// The deadline has come. Returns whether a retransmission timer has expired by it.
    fn wake(&mut self, now: Time) -> bool;

    /// Whether it sends what acknowledgements release when they arrive, and not at a pace. Asked
    /// only of TCP connections.
    fn is_clocked(&self) -> bool {
        true
    }

    /// For how long it was held though its congestion control would have let it send, up to `now`
    /// and since that was last cleared. Only a TCP connection knows.
    fn held(&self, _now: Time) -> HeldTimes {
        HeldTimes::default()
    }

    /// Counts these times from `now` on.
    fn clear_held(&mut self, _now: Time) {}

    /// The marks that its packets may be given.
    fn accepts(&self) -> Accepts {
        Accepts::default()
    }

    /// The phase of its congestion control, in the words of the source; `None` without congestion
    /// control. Asked only where a run is sampled.
    fn phase(&self) -> Option<&'static str>;

    /// Passes its named inner values to `visit`.
    fn inspect(&self, _visit: &mut dyn FnMut(&str, f64)) {}
}

/// Both sides of a connection.
pub struct Ends {
    /// The sending side.
    pub sender: Box<dyn Sender>,
    /// The receiving side.
    pub receiver: Box<dyn receiver::Receiver>,
}

/// How a transport delivers the data that it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Sends all of it in the same instant, once, and heeds no answer.
    AtOnce,
    /// Sends it once at a rate that no answer changes.
    AtFixedRate,
    /// Sends it once at a rate that follows from the answers.
    AtControlledRate,
    /// Keeps packets until they are acknowledged, and sends lost ones again.
    Reliable,
}

/// Implemented by the settings of a transport with rules of its own. No method has a default where
/// forgetting would be a wrong number in a result, and no message. Those of a congestion control
/// over a TCP connection implement `LawSettings` (`congestion`) instead.
pub trait Transport {
    /// Both ends of a connection, with what it has to send.
    fn build(&self, supply: Supply) -> Ends;

    /// How it delivers the data that it is given.
    fn delivery(&self) -> Delivery;

    /// The most packets that may be unacknowledged; `None` if it sets no such limit. That it is
    /// from 1 to 1000000 is checked for all.
    fn window(&self) -> Option<u32>;

    /// The ECN field of the packets that it sends, new data at least.
    fn code_point(&self) -> CodePoint;

    /// Whether its setting `ecn` names the ECN field, as `ect0` or `ect1`: a message then says so.
    fn names_code_point(&self) -> bool {
        false
    }

    /// Why the settings make no sense, if they do not. What no time and no count may be is checked
    /// for all (`sense.rs`).
    fn fault(&self) -> Option<String>;
}
