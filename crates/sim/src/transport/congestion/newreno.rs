//! NewReno: Reno's window with a recovery that repairs all losses of a window before it ends.
//!
//! Use when: you need Reno's window with one halving for several losses, without selective
//! acknowledgements. For today's recovery use `reno` or `cubic` with `recovery = "rack"`.
//! Source: RFC 6582 (The NewReno Modification to TCP's Fast Recovery Algorithm); the window:
//! RFC 5681.
//! Chosen: the congestion control is Reno's to the last bit and its settings are Reno's. Partial
//! acknowledgements, which are the difference, belong to the connection (`recovery = "newreno"`,
//! the default with this name).
//! Cost: O(1) a packet.
//! Bound: Reno's, and one halving for a window in which several packets are lost.

pub use super::reno::{Reno as NewReno, Settings};
