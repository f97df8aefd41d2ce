//! Ed25519, random numbers, base64, comparison and wiping.

use crate::{Bytes, Outcome, Status, array, bytes, fill, give, put, release, shared, status};
use subtle::ConstantTimeEq;
use vodozemac::{Ed25519PublicKey, Ed25519SecretKey, Ed25519Signature, base64_decode, base64_encode};
use zeroize::Zeroize;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_signing_new(seed: *const u8, key: *mut *mut Ed25519SecretKey) -> i32 {
    let run = || -> Outcome {
        let made = if seed.is_null() { Ed25519SecretKey::new() } else { Ed25519SecretKey::from_slice(unsafe { array(seed) }?) };
        unsafe { give(made, key) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_signing_free(key: *mut Ed25519SecretKey) {
    unsafe { release(key) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_signing_key(key: *const Ed25519SecretKey, public_key: *mut u8) -> i32 {
    let run = || -> Outcome { unsafe { fill(shared(key)?.public_key().as_bytes(), public_key) } };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_signing_seed(key: *const Ed25519SecretKey, seed: *mut u8) -> i32 {
    let run = || -> Outcome {
        let mut found = unsafe { shared(key) }?.to_bytes();
        let filled = unsafe { fill(&found, seed) };
        found.zeroize();
        filled
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_signing_sign(
    key: *const Ed25519SecretKey,
    message: *const u8,
    length: usize,
    signature: *mut u8,
) -> i32 {
    let run = || -> Outcome {
        let (key, message) = unsafe { (shared(key)?, bytes(message, length)?) };
        unsafe { fill(&key.sign(message).to_bytes(), signature) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_ed25519_verify(
    public_key: *const u8,
    message: *const u8,
    length: usize,
    signature: *const u8,
) -> i32 {
    let run = || -> Outcome {
        let key = Ed25519PublicKey::from_slice(unsafe { array(public_key) }?).map_err(|_| Status::Key)?;
        let signature: &[u8; 64] = unsafe { array(signature) }?;
        let signature = Ed25519Signature::from_slice(signature).map_err(|_| Status::Signature)?;
        key.verify(unsafe { bytes(message, length) }?, &signature).map_err(|_| Status::Signature)
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_random(into: *mut u8, length: usize) -> i32 {
    let run = || -> Outcome {
        if length == 0 {
            return Ok(());
        }
        if into.is_null() || length > isize::MAX as usize {
            return Err(Status::Argument);
        }
        let into = unsafe { std::slice::from_raw_parts_mut(into, length) };
        into.fill(0);
        getrandom::fill(into).map_err(|_| Status::Random)
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_equal(one: *const u8, other: *const u8, length: usize) -> bool {
    match unsafe { (bytes(one, length), bytes(other, length)) } {
        (Ok(one), Ok(other)) => one.ct_eq(other).into(),
        _ => false,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_wipe(data: *mut u8, length: usize) {
    if !data.is_null() && length <= isize::MAX as usize {
        unsafe { std::slice::from_raw_parts_mut(data, length) }.zeroize();
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_base64_encode(data: *const u8, length: usize, text: *mut Bytes) -> i32 {
    let run = || -> Outcome { unsafe { put(base64_encode(bytes(data, length)?).into_bytes(), text) } };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_base64_decode(text: *const u8, length: usize, data: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let found = base64_decode(unsafe { bytes(text, length) }?).map_err(|_| Status::Malformed)?;
        unsafe { put(found, data) }
    };
    status(run())
}
