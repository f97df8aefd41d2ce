import ChatCore
import ChatTestSupport
import Foundation

@testable import MatrixBackend

/// What tests of identities and verifications wait for.
extension MatrixUser {
    /// How encryption stands, once it stands as it is to.
    @discardableResult
    func status(where condition: (EncryptionStatus) -> Bool) async throws -> EncryptionStatus {
        for await status in backend.encryptionStatuses() where condition(status) { return status }
        throw CancellationError()
    }

    /// The newest verification in a phase, once there is one.
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

    /// Waits until this device knows that a room is encrypted.
    func untilEncrypted(_ room: RoomID) async throws {
        while try await !backend.keys.isEncrypted(room) { try await Task.sleep(for: .milliseconds(20)) }
    }

    /// Waits until this device knows that another person is in a room.
    func untilJoined(_ user: MemberID, in room: RoomID) async throws {
        try await members(of: room) { all in all.contains { $0.id == user && !$0.hasLeft } }
    }

    /// Waits until this device knows that another one of the user is confirmed.
    func untilConfirmed(_ device: String) async throws {
        while try await backend.devices().first(where: { $0.id == device })?.trust != .confirmed {
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Another device of the user, with keys of its own.
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

    /// What the user is shown, as symbols.
    var emoji: [String] {
        if case .comparing(let emoji, _) = self { emoji.map(\.symbol) } else { [] }
    }
}
