//! Olm: a session with one device.

use crate::{Bytes, Outcome, Status, array, bytes, give, put, release, shared, status, text, unique};
use vodozemac::olm::{DecryptionError, OlmMessage, PreKeyMessage, Session, SessionPickle};

pub type OlmSession = Session;

pub fn failure(error: &DecryptionError) -> Status {
    match error {
        DecryptionError::InvalidMAC(_) | DecryptionError::InvalidPadding(_) => Status::Mac,
        DecryptionError::InvalidMACLength(..) => Status::Malformed,
        DecryptionError::NonContributoryKey => Status::Key,
        DecryptionError::MissingMessageKey(_) | DecryptionError::TooBigMessageGap(..) => Status::MessageKey,
        // Further errors of a newer vodozemac.
        #[allow(unreachable_patterns)]
        _ => Status::Mac,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_free(session: *mut OlmSession) {
    unsafe { release(session) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_pickle(session: *const OlmSession, key: *const u8, pickle: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let (session, key) = unsafe { (shared(session)?, array(key)?) };
        unsafe { put(session.pickle().encrypt(key).into_bytes(), pickle) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_unpickle(
    pickle: *const u8,
    length: usize,
    key: *const u8,
    session: *mut *mut OlmSession,
) -> i32 {
    let run = || -> Outcome {
        let (pickle, key) = unsafe { (text(pickle, length)?, array(key)?) };
        let found = SessionPickle::from_encrypted(pickle, key).map_err(|_| Status::Pickle)?;
        unsafe { give(Session::from_pickle(found), session) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_id(session: *const OlmSession, id: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        unsafe { put(session.session_id().into_bytes(), id) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_has_received(session: *const OlmSession, answer: *mut bool) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        *unsafe { unique(answer) }? = session.has_received_message();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_begins_with(
    session: *const OlmSession,
    message: *const u8,
    length: usize,
    answer: *mut bool,
) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        let message = PreKeyMessage::from_bytes(unsafe { bytes(message, length) }?).map_err(|_| Status::Malformed)?;
        *unsafe { unique(answer) }? = message.session_keys() == session.session_keys();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_encrypt(
    session: *mut OlmSession,
    plaintext: *const u8,
    length: usize,
    kind: *mut u32,
    message: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        if kind.is_null() || message.is_null() {
            return Err(Status::Argument);
        }
        let session = unsafe { unique(session) }?;
        let made = session.encrypt(unsafe { bytes(plaintext, length) }?).map_err(|_| Status::Key)?;
        let (number, ciphertext) = made.to_parts();
        *unsafe { unique(kind) }? = u32::try_from(number).map_err(|_| Status::Malformed)?;
        unsafe { put(ciphertext, message) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_olm_decrypt(
    session: *mut OlmSession,
    kind: u32,
    message: *const u8,
    length: usize,
    plaintext: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        if plaintext.is_null() {
            return Err(Status::Argument);
        }
        let session = unsafe { unique(session) }?;
        let kind = usize::try_from(kind).map_err(|_| Status::Malformed)?;
        let message = OlmMessage::from_parts(kind, unsafe { bytes(message, length) }?).map_err(|_| Status::Malformed)?;
        if let OlmMessage::PreKey(message) = &message {
            // It belongs to another session: decryption would fail for a misleading reason.
            if message.session_keys() != session.session_keys() {
                return Err(Status::Mismatch);
            }
        }
        let found = session.decrypt(&message).map_err(|error| failure(&error))?;
        unsafe { put(found, plaintext) }
    };
    status(run())
}
