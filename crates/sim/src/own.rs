//! Congestion controls and sources of packets that are written outside this tree
//! ([`fairq_sched::own`]).

use crate::traffic::registry::Context;
use crate::traffic::{Lengths, PACKET, Release, Source, Traffic};
use crate::transport::congestion::{Beginning, Congestion, LawSettings};
use fairq_sched::own::{Own, Place};
use fairq_sched::units::Bytes;

/// What builds an own part of a flow: a congestion control for each connection, over TCP's loss
/// recovery, or a source for each copy of a flow. A part builds what its [`Place`] says.
pub trait MakeFlow: Send + Sync {
    /// The congestion control of a connection.
    fn control(&self, _beginning: &Beginning) -> Option<Box<dyn Congestion>> {
        None
    }

    /// The source of a flow's packets, which are sent as they come where no transport is named.
    fn source(&self, _context: Context<'_>) -> Option<Box<dyn Source>> {
        None
    }

    /// Bytes of the longest packet of a source.
    fn packet(&self) -> Bytes {
        PACKET
    }

    /// What a source asks for on average, in bit/s; `None` if it takes all that it gets.
    fn demand(&self) -> Option<f64> {
        None
    }
}

impl LawSettings for Own<dyn MakeFlow> {
    fn fault(&self) -> Option<String> {
        Self::fault(self)
    }
}

impl Traffic for Own<dyn MakeFlow> {
    fn release(&self) -> Release {
        Release::Stream
    }

    fn lengths(&self) -> Lengths<'_> {
        Lengths::All(self.make().map_or(PACKET, |make| make.packet()))
    }

    fn packet_mut(&mut self) -> Option<&mut Option<Bytes>> {
        None
    }

    fn demand(&self) -> Option<f64> {
        self.make().and_then(|make| make.demand())
    }

    fn fault(&self) -> Option<&'static str> {
        self.make().is_none().then_some("it is a part that is not known here")
    }

    fn example() -> Self {
        Self::new("own", [])
    }

    fn source(&self, context: Context<'_>) -> Result<Box<dyn Source>, String> {
        Ok(self.built(Place::Traffic, |make| make.source(context)))
    }
}
