//! `fairq detect`: the packets of two captures of one path, as columns.

use crate::capture_replay::{Failure, open};
use fairq_link::capture::{Counts, Pairing, PairingError, Reader, Row, pair};
use serde_json::{Value, json};

/// The columns of the rows of a pairing, each as the little-endian bytes of its numbers.
pub(crate) struct Columns {
    /// Of each row the place of its flow: `u32`.
    pub(crate) flow: Vec<u8>,
    /// Seconds after the first packet of the first capture, NaN for none: `f64`.
    pub(crate) first: Vec<u8>,
    /// Seconds after the first packet of the second capture, NaN for none: `f64`.
    pub(crate) second: Vec<u8>,
    /// Bytes on the wire: `u32`.
    pub(crate) length: Vec<u8>,
    /// By how much more it may still be forwarded at the first end: `i16`.
    pub(crate) hops: Vec<u8>,
    /// The number of the packet's kind, by what became of it: `u8`.
    pub(crate) kind: Vec<u8>,
    /// The number of the datagram of which it is a fragment, 0 for none, in the first capture:
    /// `u32`.
    pub(crate) datagram_first: Vec<u8>,
    /// The number of the datagram in the second capture, 0 for none: `u32`.
    pub(crate) datagram_second: Vec<u8>,
}

/// Pairs the packets of the captures at these paths: what is said of all as JSON, and the columns.
/// `go_on` is called now and then; return `false` to stop.
///
/// # Errors
/// One line.
pub(crate) fn pair_captures(
    first: &str,
    second: &str,
    go_on: &mut dyn FnMut() -> bool,
) -> Result<(String, Columns), Failure> {
    let reader = |path: &str| {
        let (file, _) = open(path)?;
        Reader::new(file, path).map_err(|error| Failure::Capture(error.to_string()))
    };
    let Pairing { flows, reverse, offset_s, counts, rows } =
        pair(reader(first)?, reader(second)?, go_on).map_err(|error| match error {
            PairingError::Capture(error) => Failure::Capture(error.to_string()),
            PairingError::Stopped => Failure::Stopped,
        })?;
    let about = json!({
        "flows": flows,
        "reverse": reverse,
        "offset_s": offset_s,
        "counts": counts.iter().map(told).collect::<Value>(),
    });
    fn bytes<const N: usize>(rows: &[Row], of: impl Fn(&Row) -> [u8; N]) -> Vec<u8> {
        rows.iter().flat_map(of).collect()
    }
    let columns = Columns {
        flow: bytes(&rows, |row| row.flow.to_le_bytes()),
        first: bytes(&rows, |row| row.first_s.to_le_bytes()),
        second: bytes(&rows, |row| row.second_s.to_le_bytes()),
        length: bytes(&rows, |row| row.length.to_le_bytes()),
        hops: bytes(&rows, |row| row.hops.to_le_bytes()),
        kind: bytes(&rows, |row| [row.kind as u8]),
        datagram_first: bytes(&rows, |row| row.datagrams[0].to_le_bytes()),
        datagram_second: bytes(&rows, |row| row.datagrams[1].to_le_bytes()),
    };
    Ok((about.to_string(), columns))
}

/// Whether the file at `path` begins as a capture does.
///
/// # Errors
/// One line that says why it does not.
pub(crate) fn check_capture(path: &str) -> Result<(), Failure> {
    let (file, _) = open(path)?;
    Reader::new(file, path).map(drop).map_err(|error| Failure::Capture(error.to_string()))
}

fn told(counts: &Counts) -> Value {
    let Counts { packets, paired, fragments, mended, doubles, cut, tunnels } = counts;
    json!({
        "packets": packets, "paired": paired, "fragments": fragments, "mended": mended, "doubles": doubles, "cut": cut,
        "tunnels": tunnels,
    })
}
