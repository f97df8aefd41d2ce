import ChatCore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import MatrixCrypto
import Testing

@testable import MatrixBackend

/// Backups by this program and by matrix-rust-sdk, each restored by the other, over a real homeserver.
/// `PARLANCE_PEER_KEYS` is the number of keys, 10,000 in `make soak`.
@Suite(
    .enabled(if: !PeerClient.sdk.command.isEmpty, "no peer: build-aux/ratchets-peers --sdk installs it"), .serialized,
    .timeLimit(.minutes(90))
)
struct PeerBackupTests {
    private static let count = ProcessInfo.processInfo.environment["PARLANCE_PEER_KEYS"].flatMap(Int.init) ?? 20
    private static let batch = 100
    private static let algorithm = "m.megolm.v1.aes-sha2"

    /// Signs in matrix-rust-sdk on another device of a user, with settings that accept keys from a backup.
    private func device(of user: MatrixUser) async throws -> MatrixPeer {
        try await MatrixPeer(
            user.session.user, server: user.server.url, client: .sdk, options: ["--restored"])
    }

    /// Returns all messages of a room.
    private func messages(of user: MatrixUser, in room: RoomID) async throws -> [Message] {
        var (all, position): ([Message], Int64) = ([], .max)
        while true {
            let page = try await user.backend.messages(in: room, before: position, limit: 200)
            all = page.messages + all
            guard page.hasOlder, let first = page.messages.first else { return all.filter { $0.event == nil } }
            position = first.position
        }
    }

    private func inboundSessions(of user: MatrixUser) async throws -> Int {
        let machine = try #require(await user.backend.keys.machine)
        var (count, last): (Int, SessionID?) = (0, nil)
        while true {
            let page = try await machine.exportedSessions(after: last, limit: 500)
            guard let session = page.last else { return count }
            count += page.count
            last = SessionID(room: session.room, session: session.id)
        }
    }

    @Test("All keys of its backup are restored here, with its recovery key") func theirs() async throws {
        let owner = try await MatrixUser.make("ann", sliding: true)
        let peer = try await device(of: owner)
        let room = try await owner.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: false))
        try await owner.client.setState("m.room.encryption", ["algorithm": .string(Self.algorithm)], of: room)
        try await peer.ask("join", .string(room.rawValue))
        for first in stride(from: 0, to: Self.count, by: Self.batch) {
            try await peer.ask(
                "say_numbers", .string(room.rawValue), .integer(Int64(first)),
                .integer(Int64(min(Self.batch, Self.count - first))))
        }
        let key = try #require(try await peer.ask("enable_recovery").string)
        try await peer.ask("back_up")

        let ann = try await owner.anotherDevice()
        await owner.close()
        try await ann.waitForRoom(room)
        #expect(try await inboundSessions(of: ann) == 0)
        let start = ContinuousClock.now
        try await ann.backend.recover(with: key)
        // The keys are restored after `recover` has returned.
        while try await inboundSessions(of: ann) < Self.count { try await Task.sleep(for: .milliseconds(50)) }
        try await ann.status { $0.identity == .confirmed && $0.backup == .on(remaining: 0) && !$0.isRestoring }
        print("\(Self.count) keys of matrix-rust-sdk's backup restored in \(ContinuousClock.now - start)")
        #expect(try await inboundSessions(of: ann) == Self.count)
        var read = try await messages(of: ann, in: room)
        // Sealed messages are opened after their keys were restored.
        while read.contains(where: { $0.seal != nil }) {
            try await Task.sleep(for: .milliseconds(50))
            read = try await messages(of: ann, in: room)
        }
        #expect(read.count == Self.count)
        #expect(Set(read.map(\.text)) == Set((0..<Self.count).map { "\($0)" }))
        await ann.close()
    }

    @Test("It restores all keys of a backup created here, with our recovery key") func ours() async throws {
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: true, hasIdentity: false)
        let recovery = try await ann.backend.createIdentity(password: "password")
        let room = try await ann.backend.createRoom(RoomRequest(name: "Sealed", isEncrypted: false))
        try await ann.waitForRoom(room)
        // Create a new session for each message.
        try await ann.client.setState(
            "m.room.encryption", ["algorithm": .string(Self.algorithm), "rotation_period_msgs": 1], of: room)
        try await ann.untilEncrypted(room)
        for first in stride(from: 0, to: Self.count, by: Self.batch) {
            let numbers = first..<min(first + Self.batch, Self.count)
            for number in numbers {
                try await ann.backend.send(WrittenMessage("\(number)"), as: TransactionID("\(number)"), to: room)
            }
            _ = try await ann.syncedMessage(TransactionID("\(numbers.upperBound - 1)"), in: room)
        }
        try await ann.status { $0.backup == .on(remaining: 0) }
        #expect(try await inboundSessions(of: ann) == Self.count)

        let peer = try await device(of: ann)
        let start = ContinuousClock.now
        try await peer.ask("recover", .string(recovery.text))
        try await peer.ask("reach", "verification", "VERIFIED")
        try await peer.ask("reach", "backup", "ENABLED")
        print("\(Self.count) keys of our backup restored by matrix-rust-sdk in \(ContinuousClock.now - start)")
        try await peer.ask("join", .string(room.rawValue))
        let read = try #require(try await peer.ask("read_all", .string(room.rawValue)).object)
        #expect(read.count == Self.count)
        #expect(Set(read.values.compactMap(\.string)) == Set((0..<Self.count).map { "\($0)" }))
        await ann.close()
    }
}
