//! AES-256-CTR, SHA-256, HMAC-SHA-256, HKDF-SHA-256 and PBKDF2-HMAC-SHA-512.

use crate::{Outcome, Status, array, bytes, fill, give, release, status, unique};
use aes::Aes256;
use ctr::Ctr128BE;
use ctr::cipher::{KeyIvInit, StreamCipher};
use hkdf::Hkdf;
use hmac::{Hmac, Mac};
use sha2::{Digest, Sha256, Sha512};
use zeroize::Zeroize;

pub type Stream = Ctr128BE<Aes256>;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_aes_ctr_new(key: *const u8, counter: *const u8, stream: *mut *mut Stream) -> i32 {
    let run = || -> Outcome {
        let (key, counter): (&[u8; 32], &[u8; 16]) = unsafe { (array(key)?, array(counter)?) };
        unsafe { give(Stream::new(key.into(), counter.into()), stream) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_aes_ctr_free(stream: *mut Stream) {
    unsafe { release(stream) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_aes_ctr_update(stream: *mut Stream, data: *mut u8, length: usize) -> i32 {
    let run = || -> Outcome {
        let stream = unsafe { unique(stream) }?;
        if length == 0 {
            return Ok(());
        }
        if data.is_null() || length > isize::MAX as usize {
            return Err(Status::Argument);
        }
        let data = unsafe { std::slice::from_raw_parts_mut(data, length) };
        // `apply_keystream` would panic at the end of the keystream.
        stream.try_apply_keystream(data).map_err(|_| Status::Argument)
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sha256_new(hash: *mut *mut Sha256) -> i32 {
    status(unsafe { give(Sha256::new(), hash) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sha256_free(hash: *mut Sha256) {
    unsafe { release(hash) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sha256_update(hash: *mut Sha256, data: *const u8, length: usize) -> i32 {
    let run = || -> Outcome {
        unsafe { unique(hash)?.update(bytes(data, length)?) };
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sha256_finish(hash: *mut Sha256, digest: *mut u8) -> i32 {
    let run = || -> Outcome { unsafe { fill(&unique(hash)?.finalize_reset().into(), digest) } };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sha256(data: *const u8, length: usize, digest: *mut u8) -> i32 {
    let run = || -> Outcome { unsafe { fill(&Sha256::digest(bytes(data, length)?).into(), digest) } };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_hmac_sha256(
    key: *const u8,
    key_length: usize,
    data: *const u8,
    length: usize,
    mac: *mut u8,
) -> i32 {
    let run = || -> Outcome {
        let key = unsafe { bytes(key, key_length) }?;
        let mut made = Hmac::<Sha256>::new_from_slice(key).map_err(|_| Status::Argument)?;
        made.update(unsafe { bytes(data, length) }?);
        unsafe { fill(&made.finalize().into_bytes().into(), mac) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_hkdf_sha256(
    secret: *const u8,
    secret_length: usize,
    salt: *const u8,
    salt_length: usize,
    info: *const u8,
    info_length: usize,
    into: *mut u8,
    length: usize,
) -> i32 {
    let run = || -> Outcome {
        if into.is_null() || length > isize::MAX as usize {
            return Err(Status::Argument);
        }
        let (secret, salt, info) =
            unsafe { (bytes(secret, secret_length)?, bytes(salt, salt_length)?, bytes(info, info_length)?) };
        let into = unsafe { std::slice::from_raw_parts_mut(into, length) };
        into.fill(0);
        Hkdf::<Sha256>::new(Some(salt), secret).expand(info, into).map_err(|_| Status::Argument)
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_pbkdf2_sha512(
    password: *const u8,
    password_length: usize,
    salt: *const u8,
    salt_length: usize,
    rounds: u32,
    into: *mut u8,
    length: usize,
) -> i32 {
    let run = || -> Outcome {
        // More than 64 bytes are rejected, as each further block costs all rounds again and Matrix needs none. Also
        // rejected are zero rounds, and more than a server may demand.
        if into.is_null() || length == 0 || length > 64 || rounds == 0 || rounds > 10_000_000 {
            return Err(Status::Argument);
        }
        let (password, salt) = unsafe { (bytes(password, password_length)?, bytes(salt, salt_length)?) };
        let mut made = [0u8; 64];
        pbkdf2::pbkdf2_hmac::<Sha512>(password, salt, rounds, &mut made);
        unsafe { std::ptr::copy_nonoverlapping(made.as_ptr(), into, length) };
        made.zeroize();
        Ok(())
    };
    status(run())
}
