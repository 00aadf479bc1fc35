//! The flows of the report: a number and a name for each, up to a limit.
//!
//! A table belongs to the replay. If a classifier is given all lanes share one; else there is one
//! for each classifier that a discipline uses.

use fairq_sched::contract::{Classifier, Line};
use fairq_sched::flows::{Flows as Slots, SHARED};
use fairq_sched::hash::Hash;
use fairq_sched::packet::{Address, Header};
use fairq_sched::registry::ClassifierSettings;
use fairq_sched::units::Rate;
use std::net::{Ipv4Addr, Ipv6Addr};

/// The most flows with a row of their own. Later ones share a row, so that memory is bounded.
pub const FLOWS_NAMED_MAX: usize = 65_536;

/// The name of the shared row.
pub const OTHERS: &str = "others";

/// A map from header to flow.
pub(super) struct Flows {
    settings: ClassifierSettings,
    classifier: Box<dyn Classifier>,
    hash: Hash,
    slots: Slots,
    /// By number; 0 is the shared row.
    names: Vec<String>,
}

impl Flows {
    pub(super) fn new(settings: ClassifierSettings, rate: Rate, seed: u64) -> Self {
        let classifier = settings.boxed(&Line { seed, ..Line::new(rate) });
        let hash = Hash::new(seed);
        let slots = Slots::new(hash, Vec::new(), Vec::new(), FLOWS_NAMED_MAX as u32 + 1);
        Self { settings, classifier, hash, slots, names: vec![OTHERS.to_owned()] }
    }

    /// The classifier of its flows.
    pub(super) const fn settings(&self) -> &ClassifierSettings {
        &self.settings
    }

    /// The number of the flow of `header`; it is named after the first header seen.
    pub(super) fn of(&mut self, header: &Header) -> u32 {
        let key = self.classifier.key(header, self.hash);
        let flow = self.slots.slot(key, |_| false);
        if flow as usize == self.names.len() && flow != SHARED {
            self.names.push(name(&self.settings, header));
        }
        flow
    }

    /// The name of a flow.
    pub(super) fn name(&self, flow: u32) -> &str {
        self.names.get(flow as usize).map_or(OTHERS, String::as_str)
    }

    /// The number of flows with a name of their own.
    pub(super) const fn named(&self) -> u64 {
        self.names.len() as u64 - 1
    }

    /// Whether there is no room for another name.
    pub(super) const fn are_all_named_taken(&self) -> bool {
        self.names.len() > FLOWS_NAMED_MAX
    }
}

/// The fields of the header that a classifier uses, as text.
fn name(settings: &ClassifierSettings, header: &Header) -> String {
    let (source, destination) = (address(&header.source), address(&header.destination));
    match settings {
        ClassifierSettings::Source(_) => source,
        ClassifierSettings::Destination(_) => destination,
        ClassifierSettings::Pair(_) => format!("{source} > {destination}"),
        ClassifierSettings::Tos(_) => format!("dscp {}", header.tos >> 2),
        ClassifierSettings::PortPair(_) => {
            let source = with_port(&header.source, header.source_port);
            let destination = with_port(&header.destination, header.destination_port);
            format!("{source} > {destination} {}", protocol(&header.source, header.protocol))
        }
    }
}

pub(super) fn address(address: &Address) -> String {
    match address {
        Address::Node(number) => format!("node {number}"),
        Address::V4(bytes) => Ipv4Addr::from(*bytes).to_string(),
        Address::V6(bytes) => Ipv6Addr::from(*bytes).to_string(),
        Address::Mac(bytes) => bytes.map(|byte| format!("{byte:02x}")).join(":"),
    }
}

fn with_port(of: &Address, port: u16) -> String {
    match of {
        _ if port == 0 => address(of),
        Address::V6(bytes) => format!("[{}]:{port}", Ipv6Addr::from(*bytes)),
        _ => format!("{}:{port}", address(of)),
    }
}

/// The name of the protocol with this `number`, between addresses as `of`.
pub(super) fn protocol(of: &Address, number: u16) -> String {
    match (of, number) {
        (Address::Mac(_), ether_type) => format!("ethertype 0x{ether_type:04x}"),
        (_, 1) => "icmp".to_owned(),
        (_, 6) => "tcp".to_owned(),
        (_, 17) => "udp".to_owned(),
        (_, 58) => "icmpv6".to_owned(),
        (_, number) => format!("protocol {number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(last: u32) -> Header {
        Header {
            source: Address::V4([10, 0, 0, 1]),
            destination: Address::V4((0x0a01_0000 + last).to_be_bytes()),
            protocol: 17,
            source_port: 53,
            destination_port: 4000,
            tos: 0xb8,
        }
    }

    #[test]
    fn a_flow_is_named_by_what_its_classifier_looks_at() {
        for (classifier, expected) in [
            ("pair", "10.0.0.1 > 10.1.0.7"),
            ("source", "10.0.0.1"),
            ("destination", "10.1.0.7"),
            ("port_pair", "10.0.0.1:53 > 10.1.0.7:4000 udp"),
            ("tos", "dscp 46"),
        ] {
            let settings = ClassifierSettings::by_name(classifier).unwrap();
            let mut flows = Flows::new(settings, Rate::new(1).unwrap(), 0);
            let flow = flows.of(&header(7));
            assert_eq!((flow, flows.name(flow)), (1, expected));
        }
        let six = Address::V6(Ipv6Addr::LOCALHOST.octets());
        assert_eq!((with_port(&six, 80), with_port(&six, 0)), ("[::1]:80".to_owned(), "::1".to_owned()));
    }

    #[test]
    fn flows_beyond_the_greatest_number_share_one_row() {
        let settings = ClassifierSettings::by_name("pair").unwrap();
        let mut flows = Flows::new(settings, Rate::new(1).unwrap(), 0);
        for n in 0..FLOWS_NAMED_MAX as u32 {
            assert_eq!(flows.of(&header(n)), n + 1);
        }
        assert_eq!((flows.of(&header(70_000)), flows.name(0)), (0, OTHERS));
        assert_eq!((flows.of(&header(5)), flows.named()), (6, FLOWS_NAMED_MAX as u64));
    }
}
