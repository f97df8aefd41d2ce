import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Synchronization
import Testing
import ToolSupport

@testable import MatrixBackend

/// History that the server returns, as in a public room, and for which this device never got the keys.
@Suite(.enabled(if: EncryptionSetting.isOn), .timeLimit(.minutes(10))) struct UnsharedHistoryTests {
    private let folder = TemporaryFolder()
    private let credentials = MemoryCredentialStore()
    private let devices = KnownDevices()
    private let older = Older()

    /// The events of the room's history, newest first.
    private final class Older: Sendable {
        private let stored = Mutex<[JSONValue]>([])

        var events: [JSONValue] { stored.withLock { $0 } }
        func set(_ events: [JSONValue]) { stored.withLock { $0 = events } }
    }

    private func start() async throws -> EncryptedAccount {
        try await EncryptedAccount.start(in: folder, credentials, devices: devices) { [older] request in
            request.url.path.hasSuffix("/messages") ? ["chunk": .array(older.events)] : nil
        }
    }

    /// - Parameter membership: That of the user when the event was sent, which most servers add.
    private func text(
        _ id: String, by peer: SealingPeer, membership: String?, at time: Int64 = 1_800_000_000_000
    ) throws -> JSONValue {
        var unsigned: [String: JSONValue] = [:]
        unsigned["membership"] = membership.map { .string($0) }
        return try peer.event(id, ["msgtype": "m.text", "body": .string(id)], at: time, unsigned: .object(unsigned))
    }

    private static let ownJoin = Events.event(
        "$join", "m.room.member", ["membership": "join", "displayname": "Me"], by: EncryptedAccount.user.rawValue,
        stateKey: EncryptedAccount.user.rawValue)

    /// Makes the account join the room again, with these events after a gap, and loads the history in it.
    private func join(_ account: EncryptedAccount, _ events: [JSONValue], _ key: JSONValue) async throws {
        try await account.sync(
            toDevice: [key],
            [
                "state": ["events": .array(EncryptedAccount.state)],
                "timeline": ["limited": true, "prev_batch": "p", "events": .array([Self.ownJoin] + events)],
            ])
        _ = try await account.backend.messages(in: account.room, before: .max, limit: 50)
    }

    /// What is shown of each message: its text, or why it is sealed.
    private func shown(in account: EncryptedAccount) async throws -> [String] {
        try await account.messages.map { message in message.seal.map { "\($0)" } ?? message.text }
    }

    @Test("What was sent before the user joined stays sealed and says so; what follows can be read")
    func beforeJoining() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let lost = try text("$1", by: ann, membership: "leave")
        let unknown = try text("$2", by: ann, membership: nil)
        let invited = try text("$3", by: ann, membership: "invite")
        try ann.rotate()
        // The session goes on after the join, and its key reads only what follows.
        let early = try text("$4", by: ann, membership: "leave")
        let unnamed = try text("$5", by: ann, membership: nil)
        older.set([unnamed, early, invited, unknown, lost])
        let key = try ann.key()
        try await join(account, [text("$6", by: ann, membership: "join")], key)
        #expect(
            try await shown(in: account)
                == ["beforeMembership", "noKey", "noKey", "beforeMembership", "beforeKey", "$6"])
        await account.close()
    }

    @Test("What was sent while the user had left stays sealed after joining again; all else can be read")
    func whileAway() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let key = try ann.key()
        let first = try text("$1", by: ann, membership: "join")
        try await account.sync([first], toDevice: [key])
        #expect(try await shown(in: account) == ["$1"])
        let leave: JSONValue = [
            "timeline": ["events": [Events.member(EncryptedAccount.user.rawValue, "Me", "leave")]]
        ]
        account.server.sync(["next_batch": "left", "rooms": ["leave": .object([account.room.rawValue: leave])]])
        try await account.server.waitUntilConsumed()
        // Who shares keys begins another session when somebody leaves, and yet another one when they return.
        try ann.rotate()
        older.set([try text("$2", by: ann, membership: "leave"), first])
        try ann.rotate()
        let later = try ann.key()
        try await join(account, [text("$3", by: ann, membership: "join")], later)
        #expect(try await shown(in: account) == ["$1", "beforeMembership", "$3"])
        await account.close()
    }

    @Test("A new device cannot read what was sent before it was there, and says so; what follows it can")
    func beforeTheDevice() async throws {
        let account = try await start()
        let ann = try await account.peer()
        let lost = try text("$1", by: ann, membership: "join", at: 1_000_000)
        try ann.rotate()
        older.set([try text("$2", by: ann, membership: "join", at: 1_000_001), lost])
        let key = try ann.key()
        try await join(account, [text("$3", by: ann, membership: "join")], key)
        #expect(try await shown(in: account) == ["beforeSignIn", "beforeKey", "$3"])
        await account.close()
    }

    @Test("A message that arrived without the keys says that it is from before the join once they are there")
    func keysWereNotOpen() async throws {
        var account = try await start()
        let ann = try await account.peer()
        await account.close()
        account = try await EncryptedAccount.start(in: folder, nil, devices: devices)
        try await account.sync([text("$1", by: ann, membership: "leave")])
        #expect(try await account.message("$1")?.seal == .keysUnavailable)
        await account.close()
        account = try await start()
        #expect(try await account.message("$1") { $0.seal != .keysUnavailable }.seal == .beforeMembership)
        await account.close()
    }
}
