//! The account of a device: its identity keys, one-time keys and fallback keys.

use crate::olm::OlmSession;
use crate::{Bytes, Outcome, Status, array, bytes, fill, give, put, release, shared, status, unique};
use vodozemac::olm::{Account, AccountPickle, PreKeyMessage, SessionConfig, SessionCreationError};
use vodozemac::{Curve25519PublicKey, KeyId};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_new(account: *mut *mut Account) -> i32 {
    status(unsafe { give(Account::new(), account) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_free(account: *mut Account) {
    unsafe { release(account) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_pickle(account: *const Account, key: *const u8, pickle: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let (account, key) = unsafe { (shared(account)?, array(key)?) };
        unsafe { put(account.pickle().encrypt(key).into_bytes(), pickle) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_unpickle(
    pickle: *const u8,
    length: usize,
    key: *const u8,
    account: *mut *mut Account,
) -> i32 {
    let run = || -> Outcome {
        let (pickle, key) = unsafe { (crate::text(pickle, length)?, array(key)?) };
        let found = AccountPickle::from_encrypted(pickle, key).map_err(|_| Status::Pickle)?;
        unsafe { give(Account::from_pickle(found), account) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_keys(account: *const Account, ed25519: *mut u8, curve25519: *mut u8) -> i32 {
    let run = || -> Outcome {
        let account = unsafe { shared(account) }?;
        unsafe { fill(account.ed25519_key().as_bytes(), ed25519) }?;
        unsafe { fill(account.curve25519_key().as_bytes(), curve25519) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_sign(
    account: *const Account,
    message: *const u8,
    length: usize,
    signature: *mut u8,
) -> i32 {
    let run = || -> Outcome {
        let (account, message) = unsafe { (shared(account)?, bytes(message, length)?) };
        unsafe { fill(&account.sign(message).to_bytes(), signature) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_generate_one_time_keys(account: *mut Account, count: usize) -> i32 {
    let run = || -> Outcome {
        let account = unsafe { unique(account) }?;
        if count > account.max_number_of_one_time_keys() {
            return Err(Status::Argument);
        }
        account.generate_one_time_keys(count);
        Ok(())
    };
    status(run())
}

/// One record for each key: the length of its ID as one byte, the ID, 32 bytes.
fn records(keys: impl IntoIterator<Item = (KeyId, Curve25519PublicKey)>) -> Vec<u8> {
    let mut keys: Vec<_> = keys.into_iter().collect();
    keys.sort_by_key(|(id, _)| *id);
    let mut written = Vec::new();
    for (id, key) in keys {
        let id = id.to_base64();
        written.push(u8::try_from(id.len()).unwrap_or(0));
        written.extend_from_slice(id.as_bytes());
        written.extend_from_slice(key.as_bytes());
    }
    written
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_one_time_keys(account: *const Account, keys: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let account = unsafe { shared(account) }?;
        unsafe { put(records(account.one_time_keys()), keys) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_generate_fallback_key(account: *mut Account) -> i32 {
    let run = || -> Outcome {
        unsafe { unique(account) }?.generate_fallback_key();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_fallback_key(account: *const Account, keys: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let account = unsafe { shared(account) }?;
        unsafe { put(records(account.fallback_key()), keys) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_forget_fallback_key(account: *mut Account) -> i32 {
    let run = || -> Outcome {
        unsafe { unique(account) }?.forget_fallback_key();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_mark_as_published(account: *mut Account) -> i32 {
    let run = || -> Outcome {
        unsafe { unique(account) }?.mark_keys_as_published();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_session_to(
    account: *const Account,
    identity_key: *const u8,
    one_time_key: *const u8,
    session: *mut *mut OlmSession,
) -> i32 {
    let run = || -> Outcome {
        let account = unsafe { shared(account) }?;
        let identity = Curve25519PublicKey::from_bytes(*unsafe { array(identity_key) }?);
        let one_time = Curve25519PublicKey::from_bytes(*unsafe { array(one_time_key) }?);
        let made = account
            .create_outbound_session(SessionConfig::version_1(), identity, one_time)
            .map_err(|_| Status::Key)?;
        unsafe { give(made, session) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_account_session_from(
    account: *mut Account,
    identity_key: *const u8,
    message: *const u8,
    length: usize,
    session: *mut *mut OlmSession,
    plaintext: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        // Reject invalid arguments before the account gives up its one-time key.
        if session.is_null() || plaintext.is_null() {
            return Err(Status::Argument);
        }
        let account = unsafe { unique(account) }?;
        let identity = Curve25519PublicKey::from_bytes(*unsafe { array(identity_key) }?);
        let message = PreKeyMessage::from_bytes(unsafe { bytes(message, length) }?).map_err(|_| Status::Malformed)?;
        let made = account.create_inbound_session(SessionConfig::version_1(), identity, &message).map_err(|error| match error {
            SessionCreationError::MissingOneTimeKey(_) => Status::UnknownOneTimeKey,
            SessionCreationError::MismatchedIdentityKey(..) => Status::Mismatch,
            SessionCreationError::MismatchedSessionConfig { .. } => Status::Malformed,
            SessionCreationError::Decryption(error) => crate::olm::failure(&error),
            SessionCreationError::NonContributoryKey => Status::Key,
        })?;
        unsafe { give(made.session, session) }?;
        unsafe { put(made.plaintext, plaintext) }
    };
    status(run())
}
