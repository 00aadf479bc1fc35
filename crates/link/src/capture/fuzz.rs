//! The fuzz targets of captures: what must hold whatever the bytes are.

use super::pairing::{Kind, Pairing, PairingError, pair};
use super::{CaptureError, Clock, Frame, LENGTH_MAX, LinkType, Reader, Stamp, Writer};
use fairq_sched::units::Time;
use std::io::Read;

/// Reads `bytes` as a capture and asserts what must hold of any: no panic; arrival times that never
/// go back; lengths that agree; work bounded by the bytes; the same records however the bytes come
/// in pieces; what is written reads back.
///
/// # Panics
/// If one of these does not hold, which is a bug.
pub fn fuzz_capture(bytes: &[u8]) {
    let mut reader = match Reader::new(bytes, "fuzz") {
        Ok(reader) => reader,
        Err(error) => return assert_one_line(&error),
    };
    let mut in_pieces = Reader::new(Pieces(bytes), "pieces").expect("a capture opens however it comes in pieces");
    let mut writer = Writer::new(Vec::new()).expect("memory takes all that is written");
    let mut written: Vec<Frame<'_>> = Vec::new();
    let mut written_data: Vec<Vec<u8>> = Vec::new();
    let mut clock = Clock::new(Time::from_s(1));
    let mut now = Time::ZERO;
    let mut captured = 0;
    loop {
        let record = match (reader.next(), in_pieces.next()) {
            (None, None) => break,
            (Some(Err(error)), Some(Err(_))) => {
                assert_one_line(&error);
                break;
            }
            (Some(Ok(record)), Some(Ok(same))) => {
                assert_eq!(record, same, "a record depends on the pieces the bytes came in");
                record
            }
            (one, other) => panic!("reading depends on the pieces the bytes came in: {one:?}, {other:?}"),
        };
        let arrival = clock.arrival(record.stamp);
        assert!(now <= arrival && arrival <= Clock::LATEST, "time went from {now} to {arrival}");
        now = arrival;
        assert!(record.data.len() <= record.length as usize && record.length >= 1, "{record:?}");
        assert!(record.data.len() <= bytes.len() && record.length <= 2 * LENGTH_MAX);
        assert!(record.link_type.is_supported());
        captured += record.data.len();
        if writer.write(&record.frame()).is_ok() {
            let stamp = Stamp(record.stamp.0.div_euclid(1000) * 1000);
            written.push(Frame { stamp, data: &[], ..record.frame() });
            written_data.push(record.data.to_vec());
        }
    }
    assert!(reader.next().is_none(), "there is something after the end");
    assert!(reader.bytes_read() <= bytes.len() as u64);
    // The shortest record of either format has 16 bytes.
    assert!(reader.packets() <= bytes.len() as u64 / 16 && captured <= bytes.len(), "more records than bytes for them");
    assert!(clock.report().restarts <= clock.report().backward_steps && reader.mended() <= reader.packets());

    let file = writer.finish().expect("memory takes all that is written");
    let mut again = Reader::new(&file[..], "again").expect("what was written is a capture");
    for (frame, data) in written.iter().zip(&written_data) {
        let record = again.next().expect("as many records as were written").expect("what was written can be read");
        assert_eq!(record.frame(), Frame { data, ..*frame }, "a frame was changed by being written");
    }
    assert!(again.next().is_none() && again.mended() == 0);
}

/// Pairs two captures and asserts what must hold of any: no panic; each packet of either in one
/// row; a capture paired with itself has every packet at both ends at one time.
///
/// # Panics
/// If one of these does not hold, which is a bug.
pub fn fuzz_pairing(first: &[u8], second: &[u8]) {
    let paired = |a: &[u8], b: &[u8]| -> Option<Pairing> {
        let (a, b) = (Reader::new(a, "fuzz").ok()?, Reader::new(b, "fuzz").ok()?);
        match pair(a, b, &mut || true) {
            Ok(pairing) => Some(pairing),
            Err(PairingError::Capture(error)) => {
                assert_one_line(&error);
                None
            }
            Err(PairingError::Stopped) => panic!("it was not stopped"),
        }
    };
    if let Some(found) = paired(first, second) {
        let [one, two] = [0, 1].map(|end| found.counts[end].paired as usize);
        let seen = |times: &dyn Fn(usize) -> f64| (0..found.rows.len()).filter(|at| !times(*at).is_nan()).count();
        assert_eq!(seen(&|at| found.rows[at].first_s), one, "a packet of the first is in no row or in two");
        assert_eq!(seen(&|at| found.rows[at].second_s), two, "a packet of the second is in no row or in two");
        assert_eq!(found.flows.len(), found.reverse.len());
        for (flow, back) in found.reverse.iter().enumerate() {
            assert!(back.is_none_or(|back| found.reverse[back as usize] == Some(flow as u32)), "back is not back");
        }
        for row in &found.rows {
            assert!((row.flow as usize) < found.flows.len(), "{row:?} is of no flow");
            assert!(!row.first_s.is_nan() || !row.second_s.is_nan(), "{row:?} is in no capture");
        }
        assert!(found.flows.iter().all(|name| !name.contains('\n')));
    }
    if let Some(found) = paired(first, first) {
        let is_same = |row: &super::Row| row.first_s == row.second_s && row.hops == 0 && row.kind == Kind::Plain;
        assert!(found.rows.iter().all(is_same), "a capture is not the same as itself: {:?}", found.rows);
        assert_eq!(found.counts[0], found.counts[1]);
    }
}

/// An error is told in one line that names the capture.
fn assert_one_line(error: &CaptureError) {
    let text = error.to_string();
    assert!(text.starts_with("fuzz: ") && !text.contains('\n') && text.len() < 200, "{text}");
    assert!(!matches!(error, CaptureError::LinkType { number, .. } if LinkType(*number).is_supported()));
}

/// Gives its bytes at most five at a time.
struct Pieces<'a>(&'a [u8]);

impl Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let (piece, rest) = self.0.split_at(self.0.len().min(buffer.len()).min(5));
        buffer[..piece.len()].copy_from_slice(piece);
        self.0 = rest;
        Ok(piece.len())
    }
}
