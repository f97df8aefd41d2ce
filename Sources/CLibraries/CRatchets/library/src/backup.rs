//! The public-key encryption of the key backup on the server.

use crate::{Bytes, Outcome, Status, array, bytes, fill, give, put, release, shared, status};
use vodozemac::pk_encryption::{Error, Message, PkDecryption, PkEncryption};
use vodozemac::{Curve25519PublicKey, Curve25519SecretKey};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_backup_new(key: *const u8, backup: *mut *mut PkDecryption) -> i32 {
    let run = || -> Outcome {
        let key = Curve25519SecretKey::from_slice(unsafe { array(key) }?);
        unsafe { give(PkDecryption::from_key(key), backup) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_backup_free(backup: *mut PkDecryption) {
    unsafe { release(backup) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_backup_key(backup: *const PkDecryption, public_key: *mut u8) -> i32 {
    let run = || -> Outcome {
        let backup = unsafe { shared(backup) }?;
        unsafe { fill(backup.public_key().as_bytes(), public_key) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_backup_encrypt(
    public_key: *const u8,
    plaintext: *const u8,
    length: usize,
    ephemeral_key: *mut u8,
    mac: *mut u8,
    ciphertext: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        let key = Curve25519PublicKey::from_bytes(*unsafe { array(public_key) }?);
        let made = PkEncryption::from_key(key).encrypt(unsafe { bytes(plaintext, length) }?).map_err(|_| Status::Key)?;
        let tag: &[u8; 8] = made.mac.as_slice().try_into().map_err(|_| Status::Mac)?;
        unsafe { fill(made.ephemeral_key.as_bytes(), ephemeral_key) }?;
        unsafe { fill(tag, mac) }?;
        unsafe { put(made.ciphertext, ciphertext) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_backup_decrypt(
    backup: *const PkDecryption,
    ephemeral_key: *const u8,
    mac: *const u8,
    mac_length: usize,
    ciphertext: *const u8,
    length: usize,
    plaintext: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        let backup = unsafe { shared(backup) }?;
        let mac = unsafe { bytes(mac, mac_length) }?;
        // vodozemac accepts a truncated tag; a single byte of it would prove nothing.
        if mac.len() < 8 {
            return Err(Status::Mac);
        }
        let message = Message {
            ciphertext: unsafe { bytes(ciphertext, length) }?.to_vec(),
            mac: mac.to_vec(),
            ephemeral_key: Curve25519PublicKey::from_bytes(*unsafe { array(ephemeral_key) }?),
        };
        let found = backup.decrypt(&message).map_err(|error| match error {
            Error::NonContributoryKey => Status::Key,
            Error::InvalidPadding(_) | Error::Mac(_) => Status::Mac,
        })?;
        unsafe { put(found, plaintext) }
    };
    status(run())
}
