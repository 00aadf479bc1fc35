//! Packets for tests, made plainly.

use super::checksum::{complete, pseudo, write_ipv4};
use super::{Shape, TCP, UDP, put_u16};
use std::net::IpAddr;

/// What a test wants of a packet.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub(crate) source: IpAddr,
    pub(crate) destination: IpAddr,
    pub(crate) protocol: u8,
    pub(crate) ports: [u16; 2],
    pub(crate) sequence: u32,
    pub(crate) acknowledges: u32,
    pub(crate) flags: u8,
    pub(crate) tos: u8,
    pub(crate) id: u16,
    pub(crate) data: Vec<u8>,
}

impl Made {
    pub(crate) fn tcp(source: &str, destination: &str, data: usize) -> Self {
        Self::new(TCP, source, destination, data)
    }

    pub(crate) fn udp(source: &str, destination: &str, data: usize) -> Self {
        Self::new(UDP, source, destination, data)
    }

    fn new(protocol: u8, source: &str, destination: &str, data: usize) -> Self {
        Self {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            protocol,
            ports: [4000, 5000],
            sequence: 1000,
            acknowledges: 77,
            flags: super::ACK,
            tos: 0,
            id: 1,
            data: (0..data).map(|at| at as u8).collect(),
        }
    }

    /// The packet; its checksum is complete, or has the sum of the pseudo header only.
    pub(crate) fn bytes(&self, is_complete: bool) -> Vec<u8> {
        let mut transport = Vec::new();
        transport.extend(self.ports.iter().flat_map(|port| port.to_be_bytes()));
        let field = if self.protocol == TCP {
            transport.extend(self.sequence.to_be_bytes());
            transport.extend(self.acknowledges.to_be_bytes());
            // Twelve bytes of options: two of padding and time stamps.
            transport.extend([0x80, self.flags, 1, 0, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 9, 0, 0, 0, 8]);
            16
        } else {
            transport.extend(((8 + self.data.len()) as u16).to_be_bytes());
            transport.extend([0, 0]);
            6
        };
        transport.extend(&self.data);
        let mut packet = Vec::new();
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                packet.extend([0x45, self.tos]);
                packet.extend(((20 + transport.len()) as u16).to_be_bytes());
                packet.extend(self.id.to_be_bytes());
                packet.extend([0x40, 0, 64, self.protocol, 0, 0]);
                packet.extend(source.octets());
                packet.extend(destination.octets());
                write_ipv4(&mut packet);
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                packet.extend([0x60 | self.tos >> 4, self.tos << 4, 0, 0]);
                packet.extend((transport.len() as u16).to_be_bytes());
                packet.extend([self.protocol, 64]);
                packet.extend(source.octets());
                packet.extend(destination.octets());
            }
            _ => panic!("addresses of two families"),
        }
        let at = packet.len();
        packet.extend(&transport);
        let shape = Shape::of(&packet).expect("it is well formed");
        let sum = pseudo(&packet, &shape, transport.len());
        put_u16(&mut packet, at + field, sum);
        if is_complete {
            complete(&mut packet, (at as u16, field as u16));
        }
        packet
    }
}
