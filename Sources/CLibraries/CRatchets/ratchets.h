// The encryption library: vodozemac and RustCrypto (library/src), for C.
//
// Every function that can fail returns a `ratchet_status` and leaves its outputs alone unless that is RATCHET_OK.
// Bytes are a pointer and a length, or a pointer to as many as are named; null with a length of 0 is none. What comes
// out as `ratchet_bytes` is the caller's, to be freed with `ratchet_bytes_free`, which wipes it. Objects are freed by
// the function of their own; null is nothing to free. One object is used by one thread at a time.
//
// A pickle is an object encrypted with a key of 32 bytes. Keys are raw: Curve25519 and Ed25519 32 bytes, signatures 64.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

enum {
    RATCHET_OK = 0,
    RATCHET_ARGUMENT = 1,              // null, a wrong length, not UTF-8, or not at this time
    RATCHET_MALFORMED = 2,             // not what it should be: can't be read at all
    RATCHET_KEY = 3,                   // a public key that is none, or of small order
    RATCHET_SIGNATURE = 4,             // the signature does not hold
    RATCHET_MAC = 5,                   // damaged, or encrypted with another key
    RATCHET_UNKNOWN_ONE_TIME_KEY = 6,  // begins a session with a key that is not there, or no longer
    RATCHET_UNKNOWN_INDEX = 7,         // from before the session's first message, or none is left
    RATCHET_MESSAGE_KEY = 8,           // its key was used already, or lies too far ahead
    RATCHET_PICKLE = 9,                // the pickle is damaged, or its key another
    RATCHET_MISMATCH = 10,             // of another session, or from another identity key
    RATCHET_RANDOM = 11,               // the system has no random numbers
    RATCHET_ABSENT = 12,               // the program was built without the library
};
typedef int32_t ratchet_status;

typedef struct {
    uint8_t *_Nullable data;
    size_t length;
} ratchet_bytes;

void ratchet_bytes_free(ratchet_bytes owned);

// "vodozemac 0.10.0", or empty where the library is absent; never freed.
const char *_Nonnull ratchet_library_version(void);

#pragma clang assume_nonnull begin

// An account: the identity keys of a device, and the one-time keys that others begin sessions with.

typedef struct ratchet_account ratchet_account;
typedef struct ratchet_olm ratchet_olm;

ratchet_status ratchet_account_new(ratchet_account *_Nullable *_Nonnull account);
void ratchet_account_free(ratchet_account *_Nullable account);
ratchet_status ratchet_account_pickle(const ratchet_account *account, const uint8_t *key, ratchet_bytes *pickle);
ratchet_status ratchet_account_unpickle(
    const uint8_t *_Nullable pickle, size_t length, const uint8_t *key, ratchet_account *_Nullable *_Nonnull account);
ratchet_status ratchet_account_keys(const ratchet_account *account, uint8_t *ed25519, uint8_t *curve25519);
ratchet_status ratchet_account_sign(
    const ratchet_account *account, const uint8_t *_Nullable message, size_t length, uint8_t *signature);
// At most 50 at a time. Those beyond 5,000 push out the oldest.
ratchet_status ratchet_account_generate_one_time_keys(ratchet_account *account, size_t count);
// Those not marked as published, one record each: the length of its identifier (1 byte), the identifier, the key.
ratchet_status ratchet_account_one_time_keys(const ratchet_account *account, ratchet_bytes *keys);
// The one before it stays usable until it is forgotten.
ratchet_status ratchet_account_generate_fallback_key(ratchet_account *account);
// As one record, or nothing once it is published.
ratchet_status ratchet_account_fallback_key(const ratchet_account *account, ratchet_bytes *keys);
ratchet_status ratchet_account_forget_fallback_key(ratchet_account *account);
ratchet_status ratchet_account_mark_as_published(ratchet_account *account);
ratchet_status ratchet_account_session_to(
    const ratchet_account *account, const uint8_t *identity_key, const uint8_t *one_time_key,
    ratchet_olm *_Nullable *_Nonnull session);
// From a message that begins a session. The one-time key is gone from the account once that was decrypted: both are
// written together or neither.
ratchet_status ratchet_account_session_from(
    ratchet_account *account, const uint8_t *identity_key, const uint8_t *_Nullable message, size_t length,
    ratchet_olm *_Nullable *_Nonnull session, ratchet_bytes *plaintext);

// Olm: a session with one device. A message is of the kind 0, which begins a session, or 1.

void ratchet_olm_free(ratchet_olm *_Nullable session);
ratchet_status ratchet_olm_pickle(const ratchet_olm *session, const uint8_t *key, ratchet_bytes *pickle);
ratchet_status ratchet_olm_unpickle(
    const uint8_t *_Nullable pickle, size_t length, const uint8_t *key, ratchet_olm *_Nullable *_Nonnull session);
ratchet_status ratchet_olm_id(const ratchet_olm *session, ratchet_bytes *id);
ratchet_status ratchet_olm_has_received(const ratchet_olm *session, bool *answer);
// Whether a message of the kind 0 is one of this session.
ratchet_status ratchet_olm_begins_with(
    const ratchet_olm *session, const uint8_t *_Nullable message, size_t length, bool *answer);
ratchet_status ratchet_olm_encrypt(
    ratchet_olm *session, const uint8_t *_Nullable plaintext, size_t length, uint32_t *kind, ratchet_bytes *message);
// Changes nothing if it fails.
ratchet_status ratchet_olm_decrypt(
    ratchet_olm *session, uint32_t kind, const uint8_t *_Nullable message, size_t length, ratchet_bytes *plaintext);

// Megolm: what one device sends to a room, and what others of it read.

typedef struct ratchet_group_out ratchet_group_out;
typedef struct ratchet_group_in ratchet_group_in;

ratchet_status ratchet_group_out_new(ratchet_group_out *_Nullable *_Nonnull session);
void ratchet_group_out_free(ratchet_group_out *_Nullable session);
ratchet_status ratchet_group_out_pickle(const ratchet_group_out *session, const uint8_t *key, ratchet_bytes *pickle);
ratchet_status ratchet_group_out_unpickle(
    const uint8_t *_Nullable pickle, size_t length, const uint8_t *key, ratchet_group_out *_Nullable *_Nonnull session);
ratchet_status ratchet_group_out_id(const ratchet_group_out *session, ratchet_bytes *id);
// That of the next message.
ratchet_status ratchet_group_out_index(const ratchet_group_out *session, uint32_t *index);
// What others need to read the next message and those after it.
ratchet_status ratchet_group_out_key(const ratchet_group_out *session, ratchet_bytes *key);
ratchet_status ratchet_group_out_encrypt(
    ratchet_group_out *session, const uint8_t *_Nullable plaintext, size_t length, ratchet_bytes *message);

// From a session key, which its sender signed.
ratchet_status ratchet_group_in_new(
    const uint8_t *_Nullable key, size_t length, ratchet_group_in *_Nullable *_Nonnull session);
// From an export, which nobody signed.
ratchet_status ratchet_group_in_import(
    const uint8_t *_Nullable export_, size_t length, ratchet_group_in *_Nullable *_Nonnull session);
void ratchet_group_in_free(ratchet_group_in *_Nullable session);
ratchet_status ratchet_group_in_pickle(const ratchet_group_in *session, const uint8_t *key, ratchet_bytes *pickle);
ratchet_status ratchet_group_in_unpickle(
    const uint8_t *_Nullable pickle, size_t length, const uint8_t *key, ratchet_group_in *_Nullable *_Nonnull session);
ratchet_status ratchet_group_in_id(const ratchet_group_in *session, ratchet_bytes *id);
ratchet_status ratchet_group_in_first_index(const ratchet_group_in *session, uint32_t *index);
ratchet_status ratchet_group_in_decrypt(
    ratchet_group_in *session, const uint8_t *_Nullable message, size_t length, uint32_t *index,
    ratchet_bytes *plaintext);
ratchet_status ratchet_group_in_export(ratchet_group_in *session, uint32_t index, ratchet_bytes *export_);
// 0: the same, 1: the first begins earlier, -1: later, 2: they are not of one session.
ratchet_status ratchet_group_in_compare(ratchet_group_in *session, ratchet_group_in *other, int32_t *order);

// Short authentication strings. The other's key is given once; what follows from it can be asked for then.

typedef struct ratchet_sas ratchet_sas;

ratchet_status ratchet_sas_new(ratchet_sas *_Nullable *_Nonnull sas);
void ratchet_sas_free(ratchet_sas *_Nullable sas);
ratchet_status ratchet_sas_key(const ratchet_sas *sas, uint8_t *key);
ratchet_status ratchet_sas_agree(ratchet_sas *sas, const uint8_t *their_key);
ratchet_status ratchet_sas_bytes(
    const ratchet_sas *sas, const uint8_t *_Nullable info, size_t info_length, uint8_t *six);
// 32 bytes.
ratchet_status ratchet_sas_mac(
    const ratchet_sas *sas, const uint8_t *_Nullable input, size_t input_length, const uint8_t *_Nullable info,
    size_t info_length, uint8_t *mac);
// As text, with the mistake in base64 that `hkdf-hmac-sha256` without `.v2` keeps.
ratchet_status ratchet_sas_old_mac(
    const ratchet_sas *sas, const uint8_t *_Nullable input, size_t input_length, const uint8_t *_Nullable info,
    size_t info_length, ratchet_bytes *mac);
ratchet_status ratchet_sas_check_mac(
    const ratchet_sas *sas, const uint8_t *_Nullable input, size_t input_length, const uint8_t *_Nullable info,
    size_t info_length, const uint8_t *mac);

// Key backup, m.megolm_backup.v1.curve25519-aes-sha2. Its MAC, 8 bytes, is over nothing: it proves no integrity.

typedef struct ratchet_backup ratchet_backup;

ratchet_status ratchet_backup_new(const uint8_t *key, ratchet_backup *_Nullable *_Nonnull backup);
void ratchet_backup_free(ratchet_backup *_Nullable backup);
ratchet_status ratchet_backup_key(const ratchet_backup *backup, uint8_t *public_key);
ratchet_status ratchet_backup_encrypt(
    const uint8_t *public_key, const uint8_t *_Nullable plaintext, size_t length, uint8_t *ephemeral_key, uint8_t *mac,
    ratchet_bytes *ciphertext);
ratchet_status ratchet_backup_decrypt(
    const ratchet_backup *backup, const uint8_t *ephemeral_key, const uint8_t *_Nullable mac, size_t mac_length,
    const uint8_t *_Nullable ciphertext, size_t length, ratchet_bytes *plaintext);

// Ed25519, as cross-signing has it. A null seed makes a new key.

typedef struct ratchet_signing ratchet_signing;

ratchet_status ratchet_signing_new(const uint8_t *_Nullable seed, ratchet_signing *_Nullable *_Nonnull key);
void ratchet_signing_free(ratchet_signing *_Nullable key);
ratchet_status ratchet_signing_key(const ratchet_signing *key, uint8_t *public_key);
ratchet_status ratchet_signing_seed(const ratchet_signing *key, uint8_t *seed);
ratchet_status ratchet_signing_sign(
    const ratchet_signing *key, const uint8_t *_Nullable message, size_t length, uint8_t *signature);
ratchet_status ratchet_ed25519_verify(
    const uint8_t *public_key, const uint8_t *_Nullable message, size_t length, const uint8_t *signature);

ratchet_status ratchet_random(uint8_t *_Nullable into, size_t length);
// Takes as long whatever differs.
bool ratchet_equal(const uint8_t *_Nullable one, const uint8_t *_Nullable other, size_t length);
void ratchet_wipe(uint8_t *_Nullable data, size_t length);
// Without padding; read with or without.
ratchet_status ratchet_base64_encode(const uint8_t *_Nullable data, size_t length, ratchet_bytes *text);
ratchet_status ratchet_base64_decode(const uint8_t *_Nullable text, size_t length, ratchet_bytes *data);

// AES-256 in counter mode, in place; the same both ways.

typedef struct ratchet_aes_ctr ratchet_aes_ctr;

ratchet_status ratchet_aes_ctr_new(
    const uint8_t *key, const uint8_t *counter, ratchet_aes_ctr *_Nullable *_Nonnull stream);
void ratchet_aes_ctr_free(ratchet_aes_ctr *_Nullable stream);
ratchet_status ratchet_aes_ctr_update(ratchet_aes_ctr *stream, uint8_t *_Nullable data, size_t length);

typedef struct ratchet_sha256 ratchet_sha256_state;

ratchet_status ratchet_sha256_new(ratchet_sha256_state *_Nullable *_Nonnull hash);
void ratchet_sha256_free(ratchet_sha256_state *_Nullable hash);
ratchet_status ratchet_sha256_update(ratchet_sha256_state *hash, const uint8_t *_Nullable data, size_t length);
// Begins anew afterwards.
ratchet_status ratchet_sha256_finish(ratchet_sha256_state *hash, uint8_t *digest);
ratchet_status ratchet_sha256(const uint8_t *_Nullable data, size_t length, uint8_t *digest);
ratchet_status ratchet_hmac_sha256(
    const uint8_t *_Nullable key, size_t key_length, const uint8_t *_Nullable data, size_t length, uint8_t *mac);
// At most 8,160 bytes.
ratchet_status ratchet_hkdf_sha256(
    const uint8_t *_Nullable secret, size_t secret_length, const uint8_t *_Nullable salt, size_t salt_length,
    const uint8_t *_Nullable info, size_t info_length, uint8_t *into, size_t length);
// At most 64 bytes and 10,000,000 rounds, which take seconds.
ratchet_status ratchet_pbkdf2_sha512(
    const uint8_t *_Nullable password, size_t password_length, const uint8_t *_Nullable salt, size_t salt_length,
    uint32_t rounds, uint8_t *into, size_t length);

#pragma clang assume_nonnull end

#if defined(__cplusplus)
}
#endif
