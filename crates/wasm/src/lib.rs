//! The simulator for a page in the browser: one function that takes a request as JSON text and
//! gives
//! its answer as JSON text (`request.rs` has all requests). Nothing is imported from the page.
//!
//! The page writes a request to `alloc(length)`, calls `call(pointer, length)` and reads
//! `answer_length()` bytes at what that gives, before the next call. After a trap it makes a new
//! instance; `panic_text()` of the old one says why.
#![expect(unsafe_code, reason = "bytes cross from the page by their address in the module's memory")]

mod asked;
pub mod lab;
mod measures;
mod refused;
mod request;
mod run;
mod scenario;
mod shown;

use lab::Lab;
use std::cell::RefCell;

#[derive(Default)]
struct State {
    lab: Lab,
    answer: Vec<u8>,
}

thread_local! {
    // A page's module has one thread.
    static STATE: RefCell<State> = RefCell::default();
    static PANIC: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Room for a request of `length` bytes; [`call`] frees it.
#[unsafe(no_mangle)]
pub extern "C" fn alloc(length: usize) -> *mut u8 {
    Box::leak(vec![0; length].into_boxed_slice()).as_mut_ptr()
}

/// Answers a request; its answer stays until the next call.
///
/// # Safety
/// `pointer` is what [`alloc`] gave for `length`, and was not given here before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn call(pointer: *mut u8, length: usize) -> *const u8 {
    std::panic::set_hook(Box::new(|info| PANIC.with_borrow_mut(|text| *text = info.to_string())));
    // SAFETY: the caller's promise.
    let request = unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(pointer, length)) };
    STATE.with_borrow_mut(|state| {
        state.answer = state.lab.call(&request).into_bytes();
        state.answer.as_ptr()
    })
}

/// The bytes of the last answer.
#[unsafe(no_mangle)]
pub extern "C" fn answer_length() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}

/// Why the module trapped, UTF-8 text.
#[unsafe(no_mangle)]
pub extern "C" fn panic_text() -> *const u8 {
    PANIC.with_borrow(|text| text.as_ptr())
}

/// The bytes of [`panic_text`].
#[unsafe(no_mangle)]
pub extern "C" fn panic_length() -> usize {
    PANIC.with_borrow(String::len)
}
