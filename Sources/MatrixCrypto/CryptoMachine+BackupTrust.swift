import ChatCore
public import JSONReading
import Ratchets

/// Proof that a backup belongs to the user.
extension CryptoMachine {
    /// Signs a backup's `auth_data` with this device's key, and with the master key if this device has it.
    public func signed(_ object: [String: JSONValue]) async throws -> [String: JSONValue] {
        try await change { state, _ in
            let account = state.upkeep.account
            let signed = try SignedJSON.signed(object, by: user, keyID: device) { try account.sign($0) }
            guard let own = state.own, own.isVerified,
                let seed = try await PrivateKeys.stored(.master, in: storage, key: key)
            else { return signed }
            let master = try SigningKey(seed: seed)
            guard master.publicKey == own.master else { return signed }
            return try SignedJSON.signed(signed, by: user, keyID: ExactText("\(own.master)")) { try master.sign($0) }
        }
    }

    /// Whether a backup's `auth_data` is signed by the user's identity, as verified by this device, or by a device that
    /// the identity confirms.
    public func trusts(_ object: [String: JSONValue]) async throws -> Bool {
        try await change { state, _ in
            guard let own = state.own, own.isVerified else { return false }
            func isSigned(by key: Ed25519Key, _ id: ExactText) -> Bool {
                // An invalid signature counts as a missing one.
                (try? SignedJSON.verify(object, by: user, keyID: id, key: key)) != nil
            }
            if isSigned(by: own.master, ExactText("\(own.master)")) { return true }
            let devices = try await devices(of: user, &state.tracker)
            return devices.contains { own.confirms($0) && isSigned(by: $0.signingKey, $0.device) }
        }
    }
}
