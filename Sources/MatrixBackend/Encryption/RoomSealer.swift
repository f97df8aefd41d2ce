import ChatCore
import ChatOutbox
import JSONReading
import MatrixCrypto

/// Encrypts an event for a room, once the member and device lists are current and the devices have the key.
struct RoomSealer: Sendable {
    /// More rounds than any message needs: members, devices and one-time keys, each requested twice, and room keys, whose
    /// rejected batches are halved from 250 devices to one.
    private static let maxRounds = 20

    let keys: AccountEncryption
    let client: MatrixClient
    let ownUserID: MemberID
    let syncStatus: SyncStatus

    /// Checks what is known without the server, before files are encrypted and uploaded in vain.
    func requireReadiness() async throws(DeliveryError) {
        guard syncStatus.hasCaughtUp else { throw DeliveryError.unreachable }
        try await keys.requireKeys()
    }

    /// Makes the requests that have to be made before a message can be encrypted, so that a failure of them
    /// repeats no upload whose address is not stored.
    /// - Throws: see ``sealed(_:_:in:verifying:)``.
    func prepare(in room: RoomID) async throws {
        for _ in 0..<Self.maxRounds {
            guard syncStatus.hasCaughtUp else { throw DeliveryError.unreachable }
            guard let obstacle = try await keys.prepareSealing(in: room) else { return }
            try await overcome(obstacle, in: room)
        }
        throw DeliveryError.unreachable
    }

    /// - Parameter other: see ``CryptoMachine/seal(_:_:in:verifying:at:)``.
    /// - Returns: The content of an `m.room.encrypted` event.
    /// - Throws: ``DeliveryError``, or an error of the server or the storage.
    func sealed(
        _ type: String, _ content: JSONValue, in room: RoomID, verifying other: ExactText? = nil
    ) async throws -> JSONValue {
        for _ in 0..<Self.maxRounds {
            // Before that, the member list may contain users who have left.
            guard syncStatus.hasCaughtUp else { throw DeliveryError.unreachable }
            let sealing = try await keys.seal(type, content.object ?? [:], in: room, verifying: other)
            if case .sealed(let sealed) = sealing { return sealed }
            try await overcome(sealing, in: room)
        }
        throw DeliveryError.unreachable
    }

    /// Makes the requests that a message waits for.
    private func overcome(_ obstacle: CryptoMachine.Sealing, in room: RoomID) async throws {
        switch obstacle {
        case .sealed: break
        case .needsMembers(let version): try await requestMembers(of: room, since: version)
        case .waits: guard await keys.makeAllRequests() else { throw DeliveryError.unreachable }
        case .refused(let rejection): throw DeliveryError.rejected(reason: Self.reason(rejection, by: ownUserID))
        }
    }

    private func requestMembers(of room: RoomID, since version: CryptoMachine.AudienceVersion) async throws {
        let settings = try await client.state("m.room.encryption", of: room)
        // A server that denies a room's encryption is not believed.
        if let settings { try await keys.noteEncrypted([(ExactText(room.rawValue), settings)]) }
        let visibility = try await client.state("m.room.history_visibility", of: room)
        let members = try await client.memberships(of: room, except: keys.endedMemberships)
        guard members[ExactText(ownUserID.rawValue)] == "join" else {
            throw MatrixError.malformed(reason: "a list of members without the one who asks")
        }
        _ = try await keys.setMembers(
            members, visibility: visibility?["history_visibility"]?.string, of: room, since: version)
    }

    private static let changedIdentity = "the identity of "

    /// Whether a message was rejected because of an identity that the user has yet to verify or accept, or that has yet
    /// to confirm this device.
    /// - Parameter reason: ``OutboxRequest/failure``.
    static func isHeld(reason: String) -> Bool { reason.hasPrefix(changedIdentity) }

    /// - Parameter ownUserID: the user who is sending.
    static func reason(_ rejection: CryptoMachine.Rejection, by ownUserID: MemberID) -> String {
        switch rejection {
        case .clear: DeliveryReason.unknownEncryption.rawValue
        case .algorithm: DeliveryReason.unknownAlgorithm.rawValue
        case .replaced: DeliveryReason.replacedKeys.rawValue
        // There is nobody to verify or accept before this device is confirmed.
        case .changedIdentities(let users) where users.contains(ExactText(ownUserID.rawValue)):
            DeliveryReason.ownIdentityReplaced.rawValue
        case .changedIdentities(let users):
            changedIdentity + users.prefix(3).map(\.text).joined(separator: ", ") + " has changed since it was verified"
        case .content: DeliveryReason.unencodable.rawValue
        }
    }
}
