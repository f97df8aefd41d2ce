//! Short authentication strings.

use crate::{Bytes, Outcome, Status, array, fill, give, put, release, shared, status, text, unique};
use vodozemac::Curve25519PublicKey;
use vodozemac::sas::{EstablishedSas, Mac, Sas};

/// The ephemeral key pair, which is used once, until the other side's key arrives; afterwards the shared secret.
pub enum Verification {
    Waiting(Option<Sas>),
    Agreed(EstablishedSas),
}

impl Verification {
    fn agreed(&self) -> Result<&EstablishedSas, Status> {
        match self {
            Verification::Agreed(sas) => Ok(sas),
            Verification::Waiting(_) => Err(Status::Argument),
        }
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_new(sas: *mut *mut Verification) -> i32 {
    status(unsafe { give(Verification::Waiting(Some(Sas::new())), sas) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_free(sas: *mut Verification) {
    unsafe { release(sas) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_key(sas: *const Verification, key: *mut u8) -> i32 {
    let run = || -> Outcome {
        let public = match unsafe { shared(sas) }? {
            Verification::Waiting(own) => own.as_ref().ok_or(Status::Argument)?.public_key(),
            Verification::Agreed(sas) => sas.our_public_key(),
        };
        unsafe { fill(public.as_bytes(), key) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_agree(sas: *mut Verification, their_key: *const u8) -> i32 {
    let run = || -> Outcome {
        let sas = unsafe { unique(sas) }?;
        let theirs = Curve25519PublicKey::from_bytes(*unsafe { array(their_key) }?);
        let Verification::Waiting(own) = sas else { return Err(Status::Argument) };
        // A rejected key ends the verification: this side's secret key is gone, too.
        let own = own.take().ok_or(Status::Argument)?;
        *sas = Verification::Agreed(own.diffie_hellman(theirs).map_err(|_| Status::Key)?);
        Ok(())
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_bytes(
    sas: *const Verification,
    info: *const u8,
    info_length: usize,
    six: *mut u8,
) -> i32 {
    let run = || -> Outcome {
        let (sas, info) = unsafe { (shared(sas)?.agreed()?, text(info, info_length)?) };
        let found = sas.bytes_raw(info, 6).map_err(|_| Status::Argument)?;
        let found: &[u8; 6] = found.as_slice().try_into().map_err(|_| Status::Argument)?;
        unsafe { fill(found, six) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_mac(
    sas: *const Verification,
    input: *const u8,
    input_length: usize,
    info: *const u8,
    info_length: usize,
    mac: *mut u8,
) -> i32 {
    let run = || -> Outcome {
        let sas = unsafe { shared(sas) }?.agreed()?;
        let (input, info) = unsafe { (text(input, input_length)?, text(info, info_length)?) };
        let found = sas.calculate_mac(input, info);
        let found: &[u8; 32] = found.as_bytes().try_into().map_err(|_| Status::Argument)?;
        unsafe { fill(found, mac) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_old_mac(
    sas: *const Verification,
    input: *const u8,
    input_length: usize,
    info: *const u8,
    info_length: usize,
    mac: *mut Bytes,
) -> i32 {
    let run = || -> Outcome {
        let sas = unsafe { shared(sas) }?.agreed()?;
        let (input, info) = unsafe { (text(input, input_length)?, text(info, info_length)?) };
        unsafe { put(sas.calculate_mac_invalid_base64(input, info).into_bytes(), mac) }
    };
    status(run())
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn ratchet_sas_check_mac(
    sas: *const Verification,
    input: *const u8,
    input_length: usize,
    info: *const u8,
    info_length: usize,
    mac: *const u8,
) -> i32 {
    let run = || -> Outcome {
        let sas = unsafe { shared(sas) }?.agreed()?;
        let (input, info) = unsafe { (text(input, input_length)?, text(info, info_length)?) };
        let mac: &[u8; 32] = unsafe { array(mac) }?;
        sas.verify_mac(input, info, &Mac::from_slice(mac)).map_err(|_| Status::Mac)
    };
    status(run())
}
