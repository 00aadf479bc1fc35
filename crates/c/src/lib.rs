//! The C interface of `fairq-sched`. What each function promises is said once, in
//! `include/fairq.h`.
//!
//! Nothing unwinds into C: a panic is caught, the discipline is then *broken*, and every later call
//! on it is refused.
#![expect(unsafe_code, reason = "pointers from C can be trusted only as far as the header asks for it")]

pub mod codes;
pub mod dispatcher;
pub mod records;

use codes::{
    FAIRQ_DROPPED, FAIRQ_EMPTY, FAIRQ_ERROR_BROKEN, FAIRQ_ERROR_CHANGE, FAIRQ_ERROR_NULL, FAIRQ_ERROR_RATE,
    FAIRQ_ERROR_TEXT, FAIRQ_ERROR_TIME, FAIRQ_ERROR_WEIGHT, FAIRQ_NONE, FAIRQ_NOT_BEFORE, FAIRQ_OK, FAIRQ_SEND,
    FAIRQ_TIME_MAX,
};
use fairq_sched::change::Change;
use fairq_sched::contract::{Dequeue, Discipline, Handle, Line};
use fairq_sched::packet::Fates;
use fairq_sched::units::{Rate, Time, Weight};
use records::{FairqFate, FairqHeader, FairqLine, FairqPacket, FairqReading, cut};
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

/// `struct fairq`.
pub struct Fairq {
    discipline: Box<dyn Discipline>,
    fates: Fates,
    now: Time,
    is_broken: bool,
}

/// Builds the discipline of a text.
///
/// # Safety
/// `text` is NULL or ends with a zero; `line` and what it points to, `queue`, and `size` bytes at
/// `message` are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_new(
    text: *const c_char,
    line: *const FairqLine,
    queue: *mut *mut Fairq,
    message: *mut c_char,
    size: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let (text, line) = unsafe { (text_at(text), line.as_ref()) };
    let Some(queue) = NonNull::new(queue) else { return FAIRQ_ERROR_NULL };
    // SAFETY: the caller's promise.
    unsafe { queue.write(std::ptr::null_mut()) };
    let (Some(text), Some(line)) = (text, line) else { return FAIRQ_ERROR_NULL };
    let built = catch_unwind(|| {
        // SAFETY: the caller's promise.
        let line = unsafe { read_line(line) }.map_err(|code| (code, of_code(code)))?;
        let text = text.to_str().map_err(|_| (FAIRQ_ERROR_TEXT, "the text is not UTF-8".to_owned()))?;
        let parts = fairq_text::queue(text).map_err(|message| (FAIRQ_ERROR_TEXT, message))?;
        Ok(Fairq { discipline: parts.build(&line), fates: Fates::new(), now: Time::ZERO, is_broken: false })
    });
    let (code, said) = match built {
        Ok(Ok(fairq)) => {
            // SAFETY: the caller's promise.
            unsafe { queue.write(Box::into_raw(Box::new(fairq))) };
            return FAIRQ_OK;
        }
        Ok(Err(refused)) => refused,
        Err(_) => (FAIRQ_ERROR_BROKEN, of_code(FAIRQ_ERROR_BROKEN)),
    };
    // SAFETY: the caller's promise.
    unsafe { write_text(message, size, &said) };
    code
}

/// Frees a discipline.
///
/// # Safety
/// `queue` is NULL or was made by [`fairq_new`] and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_free(queue: *mut Fairq) {
    if !queue.is_null() {
        // SAFETY: it came out of a box in fairq_new, and the caller gives it back.
        let queue = unsafe { Box::from_raw(queue) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(queue)));
    }
}

/// Offers a packet.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; the others are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_enqueue(
    queue: *mut Fairq,
    now: u64,
    packet: *const FairqPacket,
    header: *const FairqHeader,
    handle: *mut u64,
) -> c_int {
    // SAFETY: the caller's promise.
    let (queue, packet, header) = unsafe { (queue.as_mut(), packet.as_ref(), header.as_ref()) };
    guarded(queue, |queue| {
        let (Some(packet), Some(header)) = (packet, header) else { return Err(FAIRQ_ERROR_NULL) };
        let header = header.header()?;
        let now = queue.at(now)?;
        let held = queue.discipline.enqueue(now, packet.packet(now), &header, &mut queue.fates);
        if let (Some(handle), Some(held)) = (NonNull::new(handle), held) {
            // SAFETY: the caller's promise.
            unsafe { handle.write(held.to_bits()) };
        }
        Ok(if held.is_some() { FAIRQ_OK } else { FAIRQ_DROPPED })
    })
}

/// Asks for the next packet.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; the others are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_dequeue(
    queue: *mut Fairq,
    now: u64,
    packet: *mut FairqPacket,
    not_before: *mut u64,
) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { queue.as_mut() }, |queue| {
        let (packet, not_before) = (needed(packet)?, needed(not_before)?);
        let now = queue.at(now)?;
        Ok(match queue.discipline.dequeue(now, &mut queue.fates) {
            Dequeue::Send(sent) => {
                // SAFETY: the caller's promise.
                unsafe { packet.write(FairqPacket::of(&sent)) };
                FAIRQ_SEND
            }
            Dequeue::NotBefore(time) => {
                // SAFETY: the caller's promise.
                unsafe { not_before.write(time.0) };
                FAIRQ_NOT_BEFORE
            }
            Dequeue::Empty => FAIRQ_EMPTY,
        })
    })
}

/// Moves fates to the caller; how many.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; `fates` is NULL or has room for
/// `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_fates(queue: *mut Fairq, fates: *mut FairqFate, count: usize) -> usize {
    // SAFETY: the caller's promise.
    let Some(queue) = (unsafe { queue.as_mut() }) else { return 0 };
    if fates.is_null() {
        return 0;
    }
    // Fates are handed over even by a broken discipline: they are packets of the caller.
    let taken = queue.fates.len().min(count);
    for (place, fate) in queue.fates.drain(..taken).enumerate() {
        // SAFETY: `place` is below `count`, for which there is room; what was there may never have
        // been written.
        unsafe { fates.add(place).write(FairqFate::of(&fate)) };
    }
    taken
}

/// Writes what the discipline shows of itself; how many numbers that are.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; `readings` is NULL or has room
/// for `count`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_readings(
    queue: *mut Fairq,
    now: u64,
    readings: *mut FairqReading,
    count: usize,
) -> usize {
    let room = if readings.is_null() { 0 } else { count };
    let mut found = 0;
    // SAFETY: the caller's promise.
    let code = guarded(unsafe { queue.as_mut() }, |queue| {
        let now = queue.at(now)?;
        queue.discipline.readings(now, &mut |reading| {
            if found < room {
                // SAFETY: `found` is below `count`, for which there is room.
                unsafe { readings.add(found).write(FairqReading::of(&reading)) };
            }
            found += 1;
        });
        Ok(FAIRQ_OK)
    });
    if code == FAIRQ_OK { found } else { 0 }
}

/// When an update is due.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; `when` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_next_update(queue: *mut Fairq, when: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { queue.as_mut() }, |queue| {
        let when = needed(when)?;
        Ok(match queue.discipline.next_update() {
            Some(time) => {
                // SAFETY: the caller's promise.
                unsafe { when.write(time.0) };
                FAIRQ_OK
            }
            None => FAIRQ_NONE,
        })
    })
}

/// Runs what is due.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_update(queue: *mut Fairq, now: u64) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { queue.as_mut() }, |queue| {
        let now = queue.at(now)?;
        queue.discipline.update(now);
        Ok(FAIRQ_OK)
    })
}

/// How much waits.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; the others are NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_held(queue: *mut Fairq, packets: *mut u64, bytes: *mut u64) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { queue.as_mut() }, |queue| {
        let (packets, bytes) = (needed(packets)?, needed(bytes)?);
        let held = queue.discipline.held();
        // SAFETY: the caller's promise.
        unsafe {
            packets.write(held.packets);
            bytes.write(held.bytes);
        }
        Ok(FAIRQ_OK)
    })
}

/// Takes a held packet out.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; `packet` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_remove(queue: *mut Fairq, now: u64, handle: u64, packet: *mut FairqPacket) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { queue.as_mut() }, |queue| {
        let packet = needed(packet)?;
        let now = queue.at(now)?;
        let Some(removed) = queue.discipline.remove(now, Handle::from_bits(handle)) else { return Ok(FAIRQ_NONE) };
        // SAFETY: the caller's promise.
        unsafe { packet.write(FairqPacket::of(&removed)) };
        Ok(FAIRQ_OK)
    })
}

/// Hands `change` to the discipline of `queue`.
fn change(queue: &mut Fairq, now: Time, change: &Change<'_>) -> Result<c_int, c_int> {
    queue.discipline.change(now, change).map(|()| FAIRQ_OK).map_err(|_| FAIRQ_ERROR_CHANGE)
}

/// Changes the line's rate.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_set_rate(queue: *mut Fairq, now: u64, bit_per_s: u64) -> c_int {
    // SAFETY: the caller's promise.
    guarded(unsafe { queue.as_mut() }, |queue| {
        let rate = Rate::new(bit_per_s).ok_or(FAIRQ_ERROR_RATE)?;
        let now = queue.at(now)?;
        change(queue, now, &Change::Rate(rate))
    })
}

/// Changes the weight of a flow.
///
/// # Safety
/// `queue` is NULL or a discipline that no other thread uses now; `header` is NULL or valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fairq_set_weight(
    queue: *mut Fairq,
    now: u64,
    header: *const FairqHeader,
    thousandths: u32,
) -> c_int {
    // SAFETY: the caller's promise.
    let (queue, header) = unsafe { (queue.as_mut(), header.as_ref()) };
    guarded(queue, |queue| {
        let header = header.ok_or(FAIRQ_ERROR_NULL)?.header()?;
        let weight = Weight::from_thousandths(thousandths).ok_or(FAIRQ_ERROR_WEIGHT)?;
        let now = queue.at(now)?;
        change(queue, now, &Change::Weight(header, weight))
    })
}

/// What a code means.
#[unsafe(no_mangle)]
pub extern "C" fn fairq_message(code: c_int) -> *const c_char {
    codes::message(code).as_ptr()
}

impl Fairq {
    /// The time of a call, which does not go back.
    fn at(&mut self, now: u64) -> Result<Time, c_int> {
        if now < self.now.0 || now > FAIRQ_TIME_MAX {
            return Err(FAIRQ_ERROR_TIME);
        }
        self.now = Time(now);
        Ok(self.now)
    }
}

/// Does `call` unless it cannot be done, and keeps a panic on this side.
fn guarded<T: Breakable>(held: Option<&mut T>, call: impl FnOnce(&mut T) -> Result<c_int, c_int>) -> c_int {
    let Some(held) = held else { return FAIRQ_ERROR_NULL };
    if *held.is_broken() {
        return FAIRQ_ERROR_BROKEN;
    }
    // What a panic may have left half done is not used again.
    match catch_unwind(AssertUnwindSafe(|| call(held))) {
        Ok(Ok(code) | Err(code)) => code,
        Err(_) => {
            *held.is_broken() = true;
            FAIRQ_ERROR_BROKEN
        }
    }
}

/// What C holds, and whether a call on it has panicked.
trait Breakable {
    fn is_broken(&mut self) -> &mut bool;
}

impl Breakable for Fairq {
    fn is_broken(&mut self) -> &mut bool {
        &mut self.is_broken
    }
}

/// Where an answer goes. It is written as a whole and never read: C need not have set it.
fn needed<T>(place: *mut T) -> Result<NonNull<T>, c_int> {
    NonNull::new(place).ok_or(FAIRQ_ERROR_NULL)
}

/// A text of C.
///
/// # Safety
/// `text` is NULL or ends with a zero and stays as it is.
unsafe fn text_at<'a>(text: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller's promise.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) })
}

/// What the line tells.
///
/// # Safety
/// The weights are NULL or there are as many as is said.
unsafe fn read_line(line: &FairqLine) -> Result<Line, c_int> {
    let mut read = Line::new(Rate::new(line.bit_per_s).ok_or(FAIRQ_ERROR_RATE)?);
    read.seed = line.seed;
    if line.weights_count > 0 && line.weights.is_null() {
        return Err(FAIRQ_ERROR_NULL);
    }
    for place in 0..line.weights_count {
        // SAFETY: the pointer is not NULL and `place` is below the number of weights.
        let weight = unsafe { &*line.weights.add(place) };
        let thousandths = Weight::from_thousandths(weight.thousandths).ok_or(FAIRQ_ERROR_WEIGHT)?;
        read.weights.push((weight.header.header()?, thousandths));
    }
    Ok(read)
}

/// Writes `text` and a zero, cut to `size` bytes.
///
/// # Safety
/// `to` is NULL or has room for `size` bytes.
unsafe fn write_text(to: *mut c_char, size: usize, text: &str) {
    if to.is_null() || size == 0 {
        return;
    }
    let text = cut(text, size - 1);
    // SAFETY: the text and a zero are at most `size` bytes, and Rust's text does not lie in the
    // caller's buffer.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), to.cast(), text.len());
        to.add(text.len()).write(0);
    }
}

fn of_code(code: c_int) -> String {
    codes::message(code).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairq_sched::change::Unsupported;
    use fairq_sched::contract::Held;
    use fairq_sched::packet::{Header, Packet};
    use fairq_sched::reading::Reading;
    use fairq_sched::traits::Traits;
    use fairq_sched::waiting::Waiting;

    /// A discipline with a fault.
    struct Faulty;

    impl Discipline for Faulty {
        fn traits(&self) -> Traits {
            Traits { hears_idle: true, ..Traits::PLAIN }
        }
        fn enqueue(&mut self, _: Time, _: Packet, _: &Header, _: &mut Fates) -> Option<Handle> {
            panic!("a fault, on purpose")
        }
        fn dequeue(&mut self, _: Time, _: &mut Fates) -> Dequeue {
            Dequeue::Empty
        }
        fn change(&mut self, _now: Time, change: &Change<'_>) -> Result<(), Unsupported> {
            change.not_used()
        }
        fn held(&self) -> Held {
            Held::default()
        }

        fn readings(&self, _now: Time, _visit: &mut dyn FnMut(Reading<'_>)) {}

        fn waiting(&self, _visit: &mut dyn FnMut(Waiting<'_>)) {}
    }

    #[test]
    fn a_panic_stays_on_this_side_and_what_it_left_is_not_used_again() {
        let mut queue = Fairq { discipline: Box::new(Faulty), fates: Fates::new(), now: Time::ZERO, is_broken: false };
        let (packet, header) = (FairqPacket::default(), FairqHeader::default());
        let (mut sent, mut not_before) = (FairqPacket::default(), 0);
        // SAFETY: all pointers are to the values above.
        unsafe {
            assert_eq!(fairq_dequeue(&mut queue, 0, &mut sent, &mut not_before), FAIRQ_EMPTY);
            let answer = fairq_enqueue(&mut queue, 0, &packet, &header, std::ptr::null_mut());
            assert_eq!(answer, FAIRQ_ERROR_BROKEN);
            assert_eq!(fairq_dequeue(&mut queue, 0, &mut sent, &mut not_before), FAIRQ_ERROR_BROKEN);
        }
    }
}
