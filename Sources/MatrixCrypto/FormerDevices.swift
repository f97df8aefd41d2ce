import ChatCore
import Foundation
import Ratchets

/// The user's devices whose keys this storage had before. What they sent was sent from here, so it stays readable
/// although the server does not list them any more.
enum FormerDevices {
    private static let recordKey = CryptoRecord.Key(.position, id: "formerDevices")

    static func contain(_ owner: InboundSession.Owner, in storage: any CryptoStorage) async throws -> Bool {
        try await all(in: storage).contains(owner)
    }

    /// Returns the change that adds the device whose keys are stored.
    static func change(
        of user: ExactText, in storage: any CryptoStorage, key: KeyMaterial
    ) async throws -> CryptoChange {
        var owners = try await all(in: storage)
        let accounts = try await storage.cryptoRecords(.account, owner: nil)
        // Keys that cannot be read do not keep another device from beginning. What was sent with them stays sealed.
        if let device = try await CryptoMachine.device(in: storage),
            let former = try? KeyUpkeep(user: user, device: device, records: accounts, key: key)
        {
            owners.append(
                InboundSession.Owner(
                    user: user, identityKey: former.account.identityKey, signingKey: former.account.signingKey))
        }
        guard !owners.isEmpty else { return CryptoChange() }
        return CryptoChange(put: [CryptoRecord(recordKey, value: try JSONEncoder().encode(owners))])
    }

    /// Reads the messages that arrived while the keys of the stored device were unavailable (``UnopenedMessages``): no
    /// other device can. If its records are damaged, the messages stay unread.
    /// - Throws: If the storage fails.
    static func receiveUnopened(
        of user: ExactText, in storage: any CryptoStorage, key: KeyMaterial, at now: Date?
    ) async throws {
        guard try await storage.cryptoRecordCount(.unopenedMessage) > 0,
            let device = try await CryptoMachine.device(in: storage)
        else { return }
        do {
            let former = try await CryptoMachine(user: user, device: device, storage: storage, key: key)
            _ = try await former.receiveUnopened(at: now ?? Date(timeIntervalSince1970: 0))
        } catch let error where !error.isOfStorage {}
    }

    private static func all(in storage: any CryptoStorage) async throws -> [InboundSession.Owner] {
        // With a damaged record, what they have sent counts as sent by unknown devices.
        try await storage.cryptoRecord(recordKey)
            .flatMap { try? JSONDecoder().decode([InboundSession.Owner].self, from: $0.value) } ?? []
    }
}
