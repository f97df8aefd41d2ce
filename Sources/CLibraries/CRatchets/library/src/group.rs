//! Megolm: encryption of one sender's messages to a room.

use crate::{Bytes, Outcome, Status, array, bytes, give, put, release, shared, status, text, unique};
use vodozemac::megolm::{
    DecryptionError, ExportedSessionKey, GroupSession, GroupSessionPickle, InboundGroupSession,
    InboundGroupSessionPickle, MegolmMessage, SessionConfig, SessionKey, SessionKeyDecodeError, SessionOrdering,
};

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_new(session: *mut *mut GroupSession) -> i32 {
    status(unsafe { give(GroupSession::new(SessionConfig::version_1()), session) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_free(session: *mut GroupSession) {
    unsafe { release(session) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_pickle(session: *const GroupSession, key: *const u8, pickle: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let (session, key) = unsafe { (shared(session)?, array(key)?) };
        unsafe { put(session.pickle().encrypt(key).into_bytes(), pickle) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_unpickle(
    pickle: *const u8,
    length: usize,
    key: *const u8,
    session: *mut *mut GroupSession,
) -> i32 {
    let run = || -> Outcome {
        let (pickle, key) = unsafe { (text(pickle, length)?, array(key)?) };
        let found = GroupSessionPickle::from_encrypted(pickle, key).map_err(|_| Status::Pickle)?;
        unsafe { give(GroupSession::from_pickle(found), session) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_id(session: *const GroupSession, id: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        unsafe { put(session.session_id().into_bytes(), id) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_index(session: *const GroupSession, index: *mut u32) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        *unsafe { unique(index) }? = session.message_index();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_key(session: *const GroupSession, key: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        unsafe { put(session.session_key().to_bytes(), key) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_out_encrypt(
    session: *mut GroupSession,
    plaintext: *const u8,
    length: usize,
    message: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        if message.is_null() {
            return Err(Status::Argument);
        }
        let session = unsafe { unique(session) }?;
        // The index would wrap to 0 and reuse a key.
        if session.message_index() == u32::MAX {
            return Err(Status::UnknownIndex);
        }
        let made = session.encrypt(unsafe { bytes(plaintext, length) }?);
        unsafe { put(made.to_bytes(), message) }
    };
    status(run())
}

fn undecoded(error: SessionKeyDecodeError) -> Status {
    match error {
        SessionKeyDecodeError::Signature(_) => Status::Signature,
        SessionKeyDecodeError::PublicKey(_) => Status::Key,
        _ => Status::Malformed,
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_new(
    key: *const u8,
    length: usize,
    session: *mut *mut InboundGroupSession,
) -> i32 {
    let run = || -> Outcome {
        let key = SessionKey::from_bytes(unsafe { bytes(key, length) }?).map_err(undecoded)?;
        unsafe { give(InboundGroupSession::new(&key, SessionConfig::version_1()), session) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_import(
    export: *const u8,
    length: usize,
    session: *mut *mut InboundGroupSession,
) -> i32 {
    let run = || -> Outcome {
        let key = ExportedSessionKey::from_bytes(unsafe { bytes(export, length) }?).map_err(undecoded)?;
        unsafe { give(InboundGroupSession::import(&key, SessionConfig::version_1()), session) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_free(session: *mut InboundGroupSession) {
    unsafe { release(session) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_pickle(
    session: *const InboundGroupSession,
    key: *const u8,
    pickle: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        let (session, key) = unsafe { (shared(session)?, array(key)?) };
        unsafe { put(session.pickle().encrypt(key).into_bytes(), pickle) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_unpickle(
    pickle: *const u8,
    length: usize,
    key: *const u8,
    session: *mut *mut InboundGroupSession,
) -> i32 {
    let run = || -> Outcome {
        let (pickle, key) = unsafe { (text(pickle, length)?, array(key)?) };
        let found = InboundGroupSessionPickle::from_encrypted(pickle, key).map_err(|_| Status::Pickle)?;
        unsafe { give(InboundGroupSession::from_pickle(found), session) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_id(session: *const InboundGroupSession, id: *mut Bytes) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        unsafe { put(session.session_id().into_bytes(), id) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_first_index(session: *const InboundGroupSession, index: *mut u32) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { shared(session) }?;
        *unsafe { unique(index) }? = session.first_known_index();
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_decrypt(
    session: *mut InboundGroupSession,
    message: *const u8,
    length: usize,
    index: *mut u32,
    plaintext: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        if index.is_null() || plaintext.is_null() {
            return Err(Status::Argument);
        }
        let session = unsafe { unique(session) }?;
        let message = MegolmMessage::from_bytes(unsafe { bytes(message, length) }?).map_err(|_| Status::Malformed)?;
        let found = session.decrypt(&message).map_err(|error| match error {
            DecryptionError::Signature(_) => Status::Signature,
            DecryptionError::UnknownMessageIndex(..) => Status::UnknownIndex,
            DecryptionError::InvalidMACLength(..) => Status::Malformed,
            _ => Status::Mac,
        })?;
        *unsafe { unique(index) }? = found.message_index;
        unsafe { put(found.plaintext, plaintext) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_export(
    session: *mut InboundGroupSession,
    index: u32,
    export: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        let session = unsafe { unique(session) }?;
        let key = session.export_at(index).ok_or(Status::UnknownIndex)?;
        unsafe { put(key.to_bytes(), export) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_group_in_compare(
    session: *mut InboundGroupSession,
    other: *mut InboundGroupSession,
    order: *mut i32,
) -> i32 {
    let run = || -> Outcome {
        // Comparing a session with itself would borrow it mutably twice.
        let found = if std::ptr::eq(session, other) {
            unsafe { shared(session) }?;
            SessionOrdering::Equal
        } else {
            let (session, other) = unsafe { (unique(session)?, unique(other)?) };
            session.compare(other)
        };
        *unsafe { unique(order) }? = match found {
            SessionOrdering::Equal => 0,
            SessionOrdering::Better => 1,
            SessionOrdering::Worse => -1,
            SessionOrdering::Unconnected => 2,
        };
        Ok(())
    };
    status(run())
}
