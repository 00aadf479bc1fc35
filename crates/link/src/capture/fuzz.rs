//! The fuzz target of captures: what must hold whatever the bytes are.

use super::{CaptureError, Clock, Frame, LENGTH_MAX, LinkType, Reader, Stamp, Writer};
use fairq_sched::units::Time;
use std::io::Read;

/// Reads `bytes` as a capture and asserts what must hold of any: no panic; arrival times that never go back; lengths
/// that agree; work bounded by the bytes; the same records however the bytes come in pieces; what is written reads back.
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
