"""ratchets_peer.py - other implementations of Olm and Megolm, for RatchetsTests.PeerTests to talk to.

usage: ratchets_peer.py vodozemac|olm

Reads a JSON array a line, [NAME, ARGUMENT...], and answers with a line each: {"answer": …} or {"error": …}. NAME is a
method of the classes below. build-aux/ratchets-peers installs what they need.
"""
import hashlib
import hmac
import json
import sys


class Standard:
    """What Python itself computes."""

    def pbkdf2(self, passphrase, salt, rounds):
        return hashlib.pbkdf2_hmac("sha512", passphrase.encode(), bytes.fromhex(salt), rounds, 64).hex()

    def hmac(self, key, data):
        return hmac.new(bytes.fromhex(key), bytes.fromhex(data), hashlib.sha256).hexdigest()


class Vodozemac(Standard):
    """The same library by another binding."""

    def __init__(self):
        import vodozemac
        self.v = vodozemac
        self.own = vodozemac.Account()

    def account(self):
        return {"ed25519": self.own.ed25519_key.to_base64(), "curve25519": self.own.curve25519_key.to_base64()}

    def one_time_key(self):
        self.own.generate_one_time_keys(1)
        key = next(iter(self.own.one_time_keys.values()))
        self.own.mark_keys_as_published()
        return key.to_base64()

    def begin(self, identity, key):
        load = self.v.Curve25519PublicKey.from_base64
        self.session = self.own.create_outbound_session(load(identity), load(key))

    def receive(self, identity, message):
        message = self.v.PreKeyMessage.from_base64(message)
        self.session, plaintext = self.own.create_inbound_session(self.v.Curve25519PublicKey.from_base64(identity), message)
        return plaintext.decode()

    def encrypt(self, text):
        import base64
        kind, message = self.session.encrypt(text.encode()).to_parts()
        return [kind, base64.b64encode(message).decode().rstrip("=")]

    def decrypt(self, kind, message):
        import base64
        raw = base64.b64decode(message + "=" * (-len(message) % 4))
        return self.session.decrypt(self.v.AnyOlmMessage.from_parts(kind, raw)).decode()

    def group_out(self):
        self.out = self.v.GroupSession()
        return {"id": self.out.session_id, "key": self.out.session_key.to_base64()}

    def group_encrypt(self, text):
        return self.out.encrypt(text.encode()).to_base64()

    def group_in(self, key):
        self.reader = self.v.InboundGroupSession(self.v.SessionKey(key))

    def group_import(self, key):
        self.reader = self.v.InboundGroupSession.import_session(self.v.ExportedSessionKey(key))

    def group_decrypt(self, message):
        found = self.reader.decrypt(self.v.MegolmMessage.from_base64(message))
        return [found.plaintext.decode(), found.message_index]

    def group_export(self, index):
        return self.reader.export_at(index).to_base64()

    def sas(self):
        self.verification = self.v.Sas()
        return self.verification.public_key.to_base64()

    def sas_agree(self, key):
        self.verification = self.verification.diffie_hellman(self.v.Curve25519PublicKey.from_base64(key))

    def sas_bytes(self, info):
        found = self.verification.bytes(info)
        return {"emoji": list(found.emoji_indices), "numbers": list(found.decimals)}

    def sas_mac(self, text, info):
        return self.verification.calculate_mac(text, info)

    def sas_old_mac(self, text, info):
        return self.verification.calculate_mac_invalid_base64(text, info)

    def backup(self):
        self.decryption = self.v.PkDecryption()
        return self.decryption.public_key.to_base64()

    def backup_decrypt(self, ephemeral, mac, ciphertext):
        return self.decryption.decrypt(self.v.Message.from_base64(ciphertext, mac, ephemeral)).decode()

    def backup_encrypt(self, key, text):
        return list(self.v.PkEncryption.from_key(self.v.Curve25519PublicKey.from_base64(key)).encrypt(text.encode()).to_base64())

    def sign(self, text):
        return self.own.sign(text.encode()).to_base64()

    def verify(self, key, text, signature):
        key = self.v.Ed25519PublicKey.from_base64(key)
        key.verify_signature(text.encode(), self.v.Ed25519Signature.from_base64(signature))
        return True


class Libolm(Standard):
    """Another implementation, in C++; for tests alone."""

    def __init__(self):
        import olm
        import olm.pk
        self.olm = olm
        self.own = olm.Account()

    def account(self):
        return self.own.identity_keys

    def one_time_key(self):
        self.own.generate_one_time_keys(1)
        key = next(iter(self.own.one_time_keys["curve25519"].values()))
        self.own.mark_keys_as_published()
        return key

    def begin(self, identity, key):
        self.session = self.olm.OutboundSession(self.own, identity, key)

    def receive(self, identity, message):
        message = self.olm.OlmPreKeyMessage(message)
        self.session = self.olm.InboundSession(self.own, message, identity)
        self.own.remove_one_time_keys(self.session)
        return self.session.decrypt(message)

    def encrypt(self, text):
        message = self.session.encrypt(text)
        return [message.message_type, message.ciphertext]

    def decrypt(self, kind, message):
        return self.session.decrypt(self.olm.OlmMessage(message) if kind else self.olm.OlmPreKeyMessage(message))

    def group_out(self):
        self.out = self.olm.OutboundGroupSession()
        return {"id": self.out.id, "key": self.out.session_key}

    def group_encrypt(self, text):
        return self.out.encrypt(text)

    def group_in(self, key):
        self.reader = self.olm.InboundGroupSession(key)

    def group_import(self, key):
        self.reader = self.olm.InboundGroupSession.import_session(key)

    def group_decrypt(self, message):
        return list(self.reader.decrypt(message))

    def group_export(self, index):
        return self.reader.export_session(index)

    def sas(self):
        self.verification = self.olm.Sas()
        return self.verification.pubkey

    def sas_agree(self, key):
        self.verification.set_their_pubkey(key)

    def sas_bytes(self, info):
        six = int.from_bytes(self.verification.generate_bytes(info, 6), "big")
        return {"emoji": [six >> (42 - 6 * n) & 63 for n in range(7)],
                "numbers": [(six >> (35 - 13 * n) & 0x1FFF) + 1000 for n in range(3)]}

    def sas_mac(self, text, info):
        return self.verification.calculate_mac_fixed_base64(text, info)

    def sas_old_mac(self, text, info):
        return self.verification.calculate_mac(text, info)

    def backup(self):
        self.decryption = self.olm.pk.PkDecryption()
        return self.decryption.public_key

    def backup_decrypt(self, ephemeral, mac, ciphertext):
        return self.decryption.decrypt(self.olm.pk.PkMessage(ephemeral, mac, ciphertext))

    def backup_encrypt(self, key, text):
        made = self.olm.pk.PkEncryption(key).encrypt(text)
        return [made.ephemeral_key, made.mac, made.ciphertext]

    def sign(self, text):
        return self.own.sign(text)

    def verify(self, key, text, signature):
        self.olm.utility.ed25519_verify(key, text, signature)
        return True


peer = {"vodozemac": Vodozemac, "olm": Libolm}[sys.argv[1]]()
for line in sys.stdin:
    name, *arguments = json.loads(line)
    try:
        said = {"answer": getattr(peer, name)(*arguments)}
    except Exception as error:  # whatever the peer makes of it is the answer
        said = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(said), flush=True)
