//! vodozemac and RustCrypto behind the C header `ratchets.h`, which documents each function.
//!
//! Nothing here may panic on any input, as a panic ends the whole program: no indexing, no unwrapping, and no
//! arithmetic that input can make overflow.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![allow(clippy::missing_safety_doc)]

mod account;
mod backup;
mod group;
mod hashes;
mod keys;
mod olm;
mod sas;

use std::ffi::c_char;
use zeroize::Zeroize;

/// The result of a call, with the values of the header.
#[repr(i32)]
#[derive(Clone, Copy)]
pub enum Status {
    Ok = 0,
    Argument = 1,
    Malformed = 2,
    Key = 3,
    Signature = 4,
    Mac = 5,
    UnknownOneTimeKey = 6,
    UnknownIndex = 7,
    MessageKey = 8,
    Pickle = 9,
    Mismatch = 10,
    Random = 11,
}

/// The result of a call's body. Errors are returned to the caller as codes.
pub type Outcome = Result<(), Status>;

pub fn status(outcome: Outcome) -> i32 {
    match outcome {
        Ok(()) => Status::Ok as i32,
        Err(status) => status as i32,
    }
}

/// Bytes that the caller frees with `ratchet_bytes_free`, which wipes them.
#[repr(C)]
pub struct Bytes {
    data: *mut u8,
    length: usize,
}

/// The caller's bytes. Null is valid only with a length of 0.
pub unsafe fn bytes<'a>(data: *const u8, length: usize) -> Result<&'a [u8], Status> {
    if length == 0 {
        return Ok(&[]);
    }
    if data.is_null() || length > isize::MAX as usize {
        return Err(Status::Argument);
    }
    Ok(unsafe { std::slice::from_raw_parts(data, length) })
}

/// `N` bytes of the caller, such as a key.
pub unsafe fn array<'a, const N: usize>(data: *const u8) -> Result<&'a [u8; N], Status> {
    unsafe { bytes(data, N) }?.try_into().map_err(|_| Status::Argument)
}

pub unsafe fn text<'a>(data: *const u8, length: usize) -> Result<&'a str, Status> {
    std::str::from_utf8(unsafe { bytes(data, length) }?).map_err(|_| Status::Argument)
}

pub unsafe fn shared<'a, T>(handle: *const T) -> Result<&'a T, Status> {
    unsafe { handle.as_ref() }.ok_or(Status::Argument)
}

pub unsafe fn unique<'a, T>(handle: *mut T) -> Result<&'a mut T, Status> {
    unsafe { handle.as_mut() }.ok_or(Status::Argument)
}

/// Transfers ownership of bytes to the caller.
pub unsafe fn put(found: Vec<u8>, into: *mut Bytes) -> Outcome {
    let into = unsafe { unique(into) }?;
    let mut found = found.into_boxed_slice();
    into.length = found.len();
    into.data = found.as_mut_ptr();
    std::mem::forget(found);
    Ok(())
}

/// Copies `N` bytes into the caller's buffer.
pub unsafe fn fill<const N: usize>(found: &[u8; N], into: *mut u8) -> Outcome {
    if into.is_null() {
        return Err(Status::Argument);
    }
    unsafe { std::ptr::copy_nonoverlapping(found.as_ptr(), into, N) };
    Ok(())
}

/// Transfers ownership of an object to the caller.
pub unsafe fn give<T>(object: T, into: *mut *mut T) -> Outcome {
    let into = unsafe { unique(into) }?;
    *into = Box::into_raw(Box::new(object));
    Ok(())
}

pub unsafe fn release<T>(handle: *mut T) {
    if !handle.is_null() {
        drop(unsafe { Box::from_raw(handle) });
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_bytes_free(owned: Bytes) {
    if !owned.data.is_null() {
        let slice = std::ptr::slice_from_raw_parts_mut(owned.data, owned.length);
        let mut owned = unsafe { Box::from_raw(slice) };
        owned.zeroize();
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ratchet_library_version() -> *const c_char {
    const VERSION: &str = concat!("vodozemac 0.10.0", "\0");
    VERSION.as_ptr().cast()
}
