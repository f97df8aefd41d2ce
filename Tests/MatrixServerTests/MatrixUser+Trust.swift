import ChatCore
import ChatTestSupport
import Foundation

@testable import MatrixBackend

/// Waiting for states of identities, verifications and devices.
extension MatrixUser {
    /// Returns the encryption status once it satisfies a condition.
    @discardableResult
    func status(where condition: (EncryptionStatus) -> Bool) async throws -> EncryptionStatus {
        for await status in backend.encryptionStatuses() where condition(status) { return status }
        throw CancellationError()
    }

    /// Returns the newest verification whose phase satisfies a condition, once there is one.
    @discardableResult
    func verification(where condition: (Verification.Phase) -> Bool) async throws -> Verification {
        for await all in backend.verifications() {
            if let found = all.last(where: { condition($0.phase) }) { return found }
        }
        throw CancellationError()
    }

    func identity(of other: MemberID, is expected: UserIdentity) async throws {
        for await identity in backend.identities(of: other) where identity == expected { return }
    }

    /// Returns another user's identity once it has changed after it was verified.
    func changedIdentity(of other: MemberID) async throws -> IdentityKey {
        for await identity in backend.identities(of: other) {
            if case .changedAfterVerification(let key) = identity { return key }
        }
        throw CancellationError()
    }

    /// Waits until this device knows that a room is encrypted.
    func untilEncrypted(_ room: RoomID) async throws {
        while try await !backend.keys.isEncrypted(room) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Waits until this device knows that another user has joined a room.
    func untilJoined(_ user: MemberID, in room: RoomID) async throws {
        try await members(of: room) { all in all.contains { $0.id == user && !$0.hasLeft } }
    }

    /// Waits until another device of the user is confirmed for this one.
    func untilConfirmed(_ device: String) async throws {
        while try await backend.devices().first(where: { $0.id == device })?.trust != .confirmed {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Signs in on another device, which gets its own keys.
    func anotherDevice(sliding: Bool = true) async throws -> MatrixUser {
        let other = try await elsewhere(sliding: sliding)
        let name = session.user.rawValue
        try await RoomKeyTests.open(other, KeyCredential(account: name, place: MemoryCredentialStore()))
        return other
    }
}

extension Verification.Phase {
    var isComparing: Bool {
        if case .comparing = self { true } else { false }
    }

    /// The emoji to compare.
    var emoji: [String] {
        if case .comparing(let emoji, _) = self { emoji.map(\.symbol) } else { [] }
    }
}
