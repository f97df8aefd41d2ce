import ChatCore
import Foundation
import Synchronization

/// Encryption in the states to draw.
final class FixtureEncryption: EncryptionService {
    /// What becomes of an action.
    nonisolated enum Answer: Equatable, Sendable {
        case success
        case failure(EncryptionError)
        /// The action waits for another answer.
        case late
    }

    private struct State {
        var status = EncryptionStatus()
        var verifications: [Verification] = []
        var trust = RoomTrust()
        var identity = UserIdentity.unknown
        var answer = Answer.success
        var waiting: [CheckedContinuation<Answer, Never>] = []
        var statusReceivers: [AsyncStream<EncryptionStatus>.Continuation] = []
        var verificationReceivers: [AsyncStream<[Verification]>.Continuation] = []
        var trustReceivers: [AsyncStream<RoomTrust>.Continuation] = []
        var identityReceivers: [AsyncStream<UserIdentity>.Continuation] = []
    }

    private let state = Mutex(State())

    func set(_ status: EncryptionStatus) {
        state.withLock { state in
            state.status = status
            for receiver in state.statusReceivers { receiver.yield(status) }
        }
    }

    func set(_ verifications: [Verification]) {
        state.withLock { state in
            state.verifications = verifications
            for receiver in state.verificationReceivers { receiver.yield(verifications) }
        }
    }

    func set(_ trust: RoomTrust) {
        state.withLock { state in
            state.trust = trust
            for receiver in state.trustReceivers { receiver.yield(trust) }
        }
    }

    /// Sets the identity of every other user.
    func set(_ identity: UserIdentity) {
        state.withLock { state in
            state.identity = identity
            for receiver in state.identityReceivers { receiver.yield(identity) }
        }
    }

    /// Sets what becomes of every action from now on, and of those that wait.
    func answer(_ answer: Answer) {
        let waiting = state.withLock { state -> [CheckedContinuation<Answer, Never>] in
            let waiting = state.waiting
            state.answer = answer
            state.waiting = []
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: answer) }
    }

    private func waitForAnswer() async throws {
        let answer = await withCheckedContinuation { (continuation: CheckedContinuation<Answer, Never>) in
            let answer = state.withLock { state in
                if state.answer == .late { state.waiting.append(continuation) }
                return state.answer
            }
            if answer != .late { continuation.resume(returning: answer) }
        }
        if case .failure(let error) = answer { throw error }
    }

    // MARK: EncryptionService

    func encryptionStatuses() -> AsyncStream<EncryptionStatus> {
        AsyncStream { continuation in
            state.withLock { state in
                state.statusReceivers.append(continuation)
                continuation.yield(state.status)
            }
        }
    }
    func verifications() -> AsyncStream<[Verification]> {
        AsyncStream { continuation in
            state.withLock { state in
                state.verificationReceivers.append(continuation)
                continuation.yield(state.verifications)
            }
        }
    }
    func trust(of room: RoomID) -> AsyncStream<RoomTrust> {
        AsyncStream { continuation in
            state.withLock { state in
                state.trustReceivers.append(continuation)
                continuation.yield(state.trust)
            }
        }
    }
    func identities(of user: MemberID) -> AsyncStream<UserIdentity> {
        AsyncStream { continuation in
            state.withLock { state in
                state.identityReceivers.append(continuation)
                continuation.yield(state.identity)
            }
        }
    }
    func createIdentity(password: String?) async throws -> RecoveryKey {
        try await waitForAnswer()
        return Self.key
    }
    func replaceIdentity(password: String?) async throws -> RecoveryKey {
        try await createIdentity(password: password)
    }
    func recover(with secret: String) async throws {
        try await waitForAnswer()
        if secret != Self.key.text { throw EncryptionError.wrongRecoveryKey }
    }
    func replaceRecoveryKey() async throws -> RecoveryKey {
        try await waitForAnswer()
        return Self.key
    }
    func confirmRecoveryKey() async throws { try await waitForAnswer() }
    func setBackupEnabled(_ isEnabled: Bool) async throws { try await waitForAnswer() }
    func exportKeys(to file: URL, passphrase: String) async throws -> Int {
        try await waitForAnswer()
        return 1240
    }
    /// An empty passphrase is wrong.
    func importKeys(from file: URL, passphrase: String) async throws -> ImportedKeyCount {
        try await waitForAnswer()
        if passphrase.isEmpty { throw EncryptionError.wrongPassphrase }
        return ImportedKeyCount(total: 1240, new: 312, rejected: 2)
    }
    func devices() async throws -> [AccountDevice] {
        let status = state.withLock { $0.status }
        return Self.devices.map { device in
            var device = device
            if status.condition != .on {
                device.trust = .unknown
            } else if status.identity != .confirmed, device.trust != .withoutEncryption {
                device.trust = device.isThis ? .unconfirmed : .unproven
            }
            return device
        }
    }
    private static var devices: [AccountDevice] {
        [
            AccountDevice(id: "GKYXPCNWTZ", name: "Parlance on the desk", isThis: true, trust: .confirmed),
            AccountDevice(
                id: phone, name: "Phone", lastSeen: Gallery.now.addingTimeInterval(-86_400), trust: .confirmed),
            AccountDevice(
                id: borrowed, name: "A borrowed notebook with a long name",
                lastSeen: Gallery.now.addingTimeInterval(-8_640_000), trust: .unconfirmed),
            AccountDevice(id: "BRIDGE", name: "", trust: .withoutEncryption),
        ]
    }
    func renameDevice(_ device: String, to name: String) async throws { try await waitForAnswer() }
    func signOutDevices(_ devices: [String], password: String?) async throws { try await waitForAnswer() }
    func acceptIdentity(_ key: IdentityKey, of user: MemberID) async throws { try await waitForAnswer() }
    func withdrawVerification(of user: MemberID) async throws { try await waitForAnswer() }
    func verifyDevice(_ device: String?) async throws -> Verification.ID {
        try await waitForAnswer()
        return ""
    }
    func verify(_ user: MemberID) async throws -> Verification.ID {
        try await waitForAnswer()
        return ""
    }
    func perform(_ action: Verification.Action, in verification: Verification.ID) async throws {
        if action == .dismiss { return set([Verification]()) }
        try await waitForAnswer()
    }

    static let phone = "PHONE"
    static let borrowed = "BORROWED"
    static let key = RecoveryKey("EsTc LW2K PGiF wKEA 3As5 g5c4 BXwk qeeJ ZJV8 Q9fu gUMN UE4d")
}
