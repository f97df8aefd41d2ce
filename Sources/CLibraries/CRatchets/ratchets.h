// The encryption library for C: vodozemac and RustCrypto (library/src).
//
// Every function that can fail returns a `ratchet_status`; its outputs are valid only if that is RATCHET_OK. Bytes are
// passed as a pointer and a length, or as a pointer to a fixed number of bytes; null is valid with a length of 0. The
// caller owns a returned `ratchet_bytes` and frees it with `ratchet_bytes_free`, which wipes it. Each type of object
// has its own free function, which accepts null. An object may be used by one thread at a time.
//
// A pickle is an object encrypted with a 32-byte key. Keys are raw: 32 bytes for Curve25519 and Ed25519, 64 for
// signatures.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

enum {
    RATCHET_OK = 0,
    RATCHET_ARGUMENT = 1,              // null, a wrong length, not UTF-8, or a call at the wrong time
    RATCHET_MALFORMED = 2,             // the input cannot be parsed
    RATCHET_KEY = 3,                   // a public key that is invalid or of small order
    RATCHET_SIGNATURE = 4,             // an invalid signature
    RATCHET_MAC = 5,                   // damaged, or encrypted with another key
    RATCHET_UNKNOWN_ONE_TIME_KEY = 6,  // begins a session with a one-time key that is unknown or used up
    RATCHET_UNKNOWN_INDEX = 7,         // before the session's first index, or no index is left
    RATCHET_MESSAGE_KEY = 8,           // the message key was used already, or is too far ahead
    RATCHET_PICKLE = 9,                // a damaged pickle, or a wrong key
    RATCHET_MISMATCH = 10,             // of another session, or from another identity key
    RATCHET_RANDOM = 11,               // the system provides no random numbers
    RATCHET_ABSENT = 12,               // the program was built without the library
};
typedef int32_t ratchet_status;

typedef struct {
    uint8_t *_Nullable data;
    size_t length;
} ratchet_bytes;

void ratchet_bytes_free(ratchet_bytes owned);

// For example "vodozemac 0.10.0", or empty if the library is absent; not to be freed.
const char *_Nonnull ratchet_library_version(void);

#pragma clang assume_nonnull begin

// An account: a device's identity keys, and the one-time keys with which others establish sessions.

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
// At most 50 at a time. Beyond 5,000, the oldest are discarded.
ratchet_status ratchet_account_generate_one_time_keys(ratchet_account *account, size_t count);
// The unpublished keys, one record each: the length of the key ID (1 byte), the key ID, the key.
ratchet_status ratchet_account_one_time_keys(const ratchet_account *account, ratchet_bytes *keys);
// The previous one stays usable until it is forgotten.
ratchet_status ratchet_account_generate_fallback_key(ratchet_account *account);
// One record, or nothing once the key is published.
ratchet_status ratchet_account_fallback_key(const ratchet_account *account, ratchet_bytes *keys);
ratchet_status ratchet_account_forget_fallback_key(ratchet_account *account);
ratchet_status ratchet_account_mark_as_published(ratchet_account *account);
ratchet_status ratchet_account_session_to(
    const ratchet_account *account, const uint8_t *identity_key, const uint8_t *one_time_key,
    ratchet_olm *_Nullable *_Nonnull session);
// Establishes the session that a pre-key message begins. Decrypting the message uses up the one-time key, so store
// session and account together.
ratchet_status ratchet_account_session_from(
    ratchet_account *account, const uint8_t *identity_key, const uint8_t *_Nullable message, size_t length,
    ratchet_olm *_Nullable *_Nonnull session, ratchet_bytes *plaintext);

// Olm: a session with one device. A message is of kind 0 (a pre-key message, which begins a session) or 1.

void ratchet_olm_free(ratchet_olm *_Nullable session);
ratchet_status ratchet_olm_pickle(const ratchet_olm *session, const uint8_t *key, ratchet_bytes *pickle);
ratchet_status ratchet_olm_unpickle(
    const uint8_t *_Nullable pickle, size_t length, const uint8_t *key, ratchet_olm *_Nullable *_Nonnull session);
ratchet_status ratchet_olm_id(const ratchet_olm *session, ratchet_bytes *id);
ratchet_status ratchet_olm_has_received(const ratchet_olm *session, bool *answer);
// Whether a message of kind 0 belongs to this session.
ratchet_status ratchet_olm_begins_with(
    const ratchet_olm *session, const uint8_t *_Nullable message, size_t length, bool *answer);
ratchet_status ratchet_olm_encrypt(
    ratchet_olm *session, const uint8_t *_Nullable plaintext, size_t length, uint32_t *kind, ratchet_bytes *message);
// An error changes nothing.
ratchet_status ratchet_olm_decrypt(
    ratchet_olm *session, uint32_t kind, const uint8_t *_Nullable message, size_t length, ratchet_bytes *plaintext);

// Megolm: the session with which one device encrypts for a room, and the one with which others decrypt.

typedef struct ratchet_group_out ratchet_group_out;
typedef struct ratchet_group_in ratchet_group_in;

ratchet_status ratchet_group_out_new(ratchet_group_out *_Nullable *_Nonnull session);
void ratchet_group_out_free(ratchet_group_out *_Nullable session);
ratchet_status ratchet_group_out_pickle(const ratchet_group_out *session, const uint8_t *key, ratchet_bytes *pickle);
ratchet_status ratchet_group_out_unpickle(
    const uint8_t *_Nullable pickle, size_t length, const uint8_t *key, ratchet_group_out *_Nullable *_Nonnull session);
ratchet_status ratchet_group_out_id(const ratchet_group_out *session, ratchet_bytes *id);
// The index of the next message.
ratchet_status ratchet_group_out_index(const ratchet_group_out *session, uint32_t *index);
// The key that decrypts the next message and all later ones.
ratchet_status ratchet_group_out_key(const ratchet_group_out *session, ratchet_bytes *key);
ratchet_status ratchet_group_out_encrypt(
    ratchet_group_out *session, const uint8_t *_Nullable plaintext, size_t length, ratchet_bytes *message);

// From a session key signed by its sender.
ratchet_status ratchet_group_in_new(
    const uint8_t *_Nullable key, size_t length, ratchet_group_in *_Nullable *_Nonnull session);
// From an exported key, which is not signed.
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
// 0: equal, 1: the first begins earlier, -1: it begins later, 2: two different sessions.
ratchet_status ratchet_group_in_compare(ratchet_group_in *session, ratchet_group_in *other, int32_t *order);

// Short authentication strings. The other side's key is set once; strings and MACs require it.

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
// As text, with the base64 flaw of `hkdf-hmac-sha256` without `.v2`.
ratchet_status ratchet_sas_old_mac(
    const ratchet_sas *sas, const uint8_t *_Nullable input, size_t input_length, const uint8_t *_Nullable info,
    size_t info_length, ratchet_bytes *mac);
ratchet_status ratchet_sas_check_mac(
    const ratchet_sas *sas, const uint8_t *_Nullable input, size_t input_length, const uint8_t *_Nullable info,
    size_t info_length, const uint8_t *mac);

// Key backup, m.megolm_backup.v1.curve25519-aes-sha2. Its 8-byte MAC covers no data, so it proves no integrity.

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

// Ed25519, as used by cross-signing. A null seed generates a key.

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
// Takes the same time wherever the bytes differ.
bool ratchet_equal(const uint8_t *_Nullable one, const uint8_t *_Nullable other, size_t length);
void ratchet_wipe(uint8_t *_Nullable data, size_t length);
// Encodes without padding; decodes with or without.
ratchet_status ratchet_base64_encode(const uint8_t *_Nullable data, size_t length, ratchet_bytes *text);
ratchet_status ratchet_base64_decode(const uint8_t *_Nullable text, size_t length, ratchet_bytes *data);

// AES-256 in counter mode, in place; encryption and decryption are the same.

typedef struct ratchet_aes_ctr ratchet_aes_ctr;

ratchet_status ratchet_aes_ctr_new(
    const uint8_t *key, const uint8_t *counter, ratchet_aes_ctr *_Nullable *_Nonnull stream);
void ratchet_aes_ctr_free(ratchet_aes_ctr *_Nullable stream);
ratchet_status ratchet_aes_ctr_update(ratchet_aes_ctr *stream, uint8_t *_Nullable data, size_t length);

typedef struct ratchet_sha256 ratchet_sha256_state;

ratchet_status ratchet_sha256_new(ratchet_sha256_state *_Nullable *_Nonnull hash);
void ratchet_sha256_free(ratchet_sha256_state *_Nullable hash);
ratchet_status ratchet_sha256_update(ratchet_sha256_state *hash, const uint8_t *_Nullable data, size_t length);
// Resets the state.
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
