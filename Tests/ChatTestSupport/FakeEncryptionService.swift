public import ChatCore
public import Foundation
import Synchronization

/// Publishes what a test sets, and records calls. Each call succeeds at once unless a failure or a gate is set for it.
public final class FakeEncryptionService: EncryptionService {
    public static let recoveryKey = RecoveryKey("EsTc LW2K PGiF wKEA 3As5 g5c4")

    private struct State {
        var calls: [String] = []
        var failures: [String: [EncryptionError]] = [:]
        var gates: [String: Gate] = [:]
        var devices: [AccountDevice] = []
    }

    private let state = Mutex(State())
    private let statusFeed = Feed(EncryptionStatus())
    private let verificationFeed = Feed<[Verification]>([])
    private let identityFeeds = Mutex<[MemberID: Feed<UserIdentity>]>([:])
    private let trustFeeds = Mutex<[RoomID: Feed<RoomTrust>]>([:])

    public init() {}

    /// The calls, as `name argument`.
    public var calls: [String] { state.withLock { $0.calls } }
    public func clearCalls() { state.withLock { $0.calls = [] } }
    /// Makes the next calls of a function fail with these errors, in order.
    public func fail(_ name: String, with errors: EncryptionError...) { state.withLock { $0.failures[name] = errors } }
    /// Has calls of a function that changes something wait for a gate, also those that fail.
    public func hold(_ name: String, at gate: Gate) { state.withLock { $0.gates[name] = gate } }
    public func set(_ status: EncryptionStatus) { statusFeed.send(status) }
    public func set(_ verifications: [Verification]) { verificationFeed.send(verifications) }
    public func set(_ devices: [AccountDevice]) { state.withLock { $0.devices = devices } }
    public func set(_ identity: UserIdentity, of user: MemberID) { feed(of: user).send(identity) }
    public func set(_ trust: RoomTrust, of room: RoomID) { feed(of: room).send(trust) }

    private func record(_ name: String, _ argument: String = "") async throws {
        let (failure, gate) = state.withLock { state -> (EncryptionError?, Gate?) in
            state.calls.append(argument.isEmpty ? name : "\(name) \(argument)")
            let hasFailure = state.failures[name]?.isEmpty == false
            return (hasFailure ? state.failures[name]?.removeFirst() : nil, state.gates[name])
        }
        await gate?.pass()
        if let failure { throw failure }
    }

    // MARK: EncryptionService

    public func encryptionStatuses() -> AsyncStream<EncryptionStatus> { statusFeed.stream() }
    public func createIdentity(password: String?) async throws -> RecoveryKey {
        try await record("createIdentity", password ?? "")
        return Self.recoveryKey
    }
    public func replaceIdentity(password: String?) async throws -> RecoveryKey {
        try await record("replaceIdentity", password ?? "")
        return Self.recoveryKey
    }
    public func recover(with secret: String) async throws { try await record("recover", secret) }
    public func replaceRecoveryKey() async throws -> RecoveryKey {
        try await record("replaceRecoveryKey")
        return Self.recoveryKey
    }
    public func confirmRecoveryKey() async throws { try await record("confirmRecoveryKey") }
    public func setBackupEnabled(_ isEnabled: Bool) async throws {
        try await record("setBackupEnabled", "\(isEnabled)")
    }
    public func exportKeys(to file: URL, passphrase: String) async throws -> Int {
        try await record("exportKeys", "\(file.lastPathComponent) \(passphrase)")
        return 3
    }
    public func importKeys(from file: URL, passphrase: String) async throws -> ImportedKeyCount {
        try await record("importKeys", "\(file.lastPathComponent) \(passphrase)")
        return ImportedKeyCount(total: 5, new: 2)
    }
    public func devices() async throws -> [AccountDevice] {
        try await record("devices")
        return state.withLock { $0.devices }
    }
    public func renameDevice(_ device: String, to name: String) async throws {
        try await record("renameDevice", "\(device) \(name)")
        state.withLock { state in
            for index in state.devices.indices where state.devices[index].id == device {
                state.devices[index].name = name
            }
        }
    }
    public func signOutDevices(_ devices: [String], password: String?) async throws {
        try await record(
            "signOutDevices", ([devices.joined(separator: ",")] + [password].compactMap { $0 }).joined(separator: " "))
        state.withLock { $0.devices.removeAll { devices.contains($0.id) } }
    }
    public func identities(of user: MemberID) -> AsyncStream<UserIdentity> { feed(of: user).stream() }
    public func acceptIdentity(_ key: IdentityKey, of user: MemberID) async throws {
        try await record("acceptIdentity", "\(user.rawValue) \(key.text)")
    }
    public func withdrawVerification(of user: MemberID) async throws {
        try await record("withdrawVerification", user.rawValue)
    }
    public func trust(of room: RoomID) -> AsyncStream<RoomTrust> { feed(of: room).stream() }
    public func verifications() -> AsyncStream<[Verification]> { verificationFeed.stream() }
    public func verifyDevice(_ device: String?) async throws -> Verification.ID {
        try await record("verifyDevice", device ?? "")
        return "outgoing"
    }
    public func verify(_ user: MemberID) async throws -> Verification.ID {
        try await record("verify", user.rawValue)
        return "outgoing"
    }
    /// Updates or removes the verification as a real service does.
    public func perform(_ action: Verification.Action, in verification: Verification.ID) async throws {
        try await record("\(action)", verification)
        verificationFeed.change { list in
            guard let index = list.firstIndex(where: { $0.id == verification }) else { return }
            switch action {
            case .accept: list[index].phase = .preparing
            case .cancel: list[index].phase = .canceled(.here)
            case .confirmMatch: list[index].phase = .confirming
            case .reportMismatch: list[index].phase = .canceled(.mismatch)
            case .dismiss: list.remove(at: index)
            }
        }
    }

    private func feed(of user: MemberID) -> Feed<UserIdentity> {
        identityFeeds.withLock { feeds in
            let feed = feeds[user] ?? Feed(.unknown)
            feeds[user] = feed
            return feed
        }
    }

    private func feed(of room: RoomID) -> Feed<RoomTrust> {
        trustFeeds.withLock { feeds in
            let feed = feeds[room] ?? Feed(RoomTrust())
            feeds[room] = feed
            return feed
        }
    }
}

/// Sends the newest value to any number of streams.
private final class Feed<Value: Sendable>: Sendable {
    private struct State {
        var value: Value
        var receivers: [AsyncStream<Value>.Continuation] = []
    }

    private let state: Mutex<State>

    init(_ value: Value) { state = Mutex(State(value: value)) }

    func send(_ value: Value) { change { $0 = value } }

    func change(_ change: (inout Value) -> Void) {
        state.withLock { state in
            change(&state.value)
            for receiver in state.receivers { receiver.yield(state.value) }
        }
    }

    func stream() -> AsyncStream<Value> {
        AsyncStream { continuation in
            state.withLock { state in
                state.receivers.append(continuation)
                continuation.yield(state.value)
            }
        }
    }
}
