import ChatCore
import ChatTestSupport
import Foundation
import JSONReading
import Testing
import ToolSupport

@testable import MatrixBackend

/// This program and other clients decrypt each other's messages, over a real homeserver. `PARLANCE_PEER_MESSAGES` is
/// the number of messages per side, 1000 in `make soak`.
@Suite(.serialized, .timeLimit(.minutes(60))) struct PeerTests {
    static let count = ProcessInfo.processInfo.environment["PARLANCE_PEER_MESSAGES"].flatMap(Int.init) ?? 20
    private static let isLong = count > 100

    private func talk(with client: PeerClient, sliding: Bool, count: Int) async throws {
        var talk = try await PeerTalk(with: client, sliding: sliding)
        try await talk.run(count)
        #expect(talk.read == count && talk.written == count && talk.restarts > 0 && talk.lateKeys > 0)
        let name = client == .sdk ? "matrix-rust-sdk" : "matrix-nio"
        print(
            "\(name), \(sliding ? "sliding" : "plain") sync: \(talk.read) of \(count) read,",
            "\(talk.written) of \(count) written, \(talk.restarts) restarts, \(talk.lateKeys) times late keys")
    }

    @Test(
        "A client with the strictest settings decrypts messages of this program, and vice versa",
        .enabled(if: !PeerClient.sdk.command.isEmpty, "no peer: build-aux/ratchets-peers --sdk installs it"),
        arguments: [true, false])
    func strict(_ sliding: Bool) async throws {
        // In the long run, each kind of sync has half of the messages.
        try await talk(with: .sdk, sliding: sliding, count: Self.isLong ? Self.count / 2 : Self.count)
    }

    @Test(
        "A confirmed device of another client decrypts messages of this program, and vice versa",
        .enabled(if: !PeerClient.nio.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"),
        arguments: isLong ? [true, false] : [true])
    func confirmed(_ sliding: Bool) async throws {
        try await talk(with: .nio, sliding: sliding, count: Self.isLong ? Self.count / 2 : Self.count)
    }

    @Test(
        "An unconfirmed device gets no keys, and its messages are hidden",
        .enabled(if: !PeerClient.nio.command.isEmpty, "no peer: build-aux/ratchets-peers --matrix installs it"),
        arguments: [true, false])
    func unconfirmed(_ sliding: Bool) async throws {
        let count = Self.isLong ? Self.count / 2 : 5
        let (ann, _) = try await RoomKeyTests.person("ann", sliding: sliding)
        let (room, peer) = try await RoomKeyTests.room(with: ann, sliding: sliding, isConfirmed: false)
        var hidden = 0
        var readable = 0
        var withheld = 0
        for group in 0..<(count + 99) / 100 {
            let numbers = group * 100..<min(count, group * 100 + 100)
            var ids: Set<MessageID> = []
            for number in numbers { ids.insert(try await peer.say("\(number)", in: room)) }
            let received = try await ann.messages(in: room) { all in ids.isSubset(of: all.map(\.id)) }
            hidden += received.count { ids.contains($0.id) && $0.seal == .unconfirmedSender }
            for number in numbers {
                let sent = try await ann.say("\(number)", in: room)
                if try await peer.read(sent.id, in: room) != nil { readable += 1 }
                let event = try #require(try await ann.client.event(sent.id, in: room))
                let session = try #require(event.content["session_id"]?.string)
                let reason = try await peer.ask("withheld", .string(session))
                if reason == "m.unverified" { withheld += 1 }
            }
        }
        #expect(hidden == count && readable == 0 && withheld == count)
        print(
            "unconfirmed matrix-nio, \(sliding ? "sliding" : "plain") sync: \(count - hidden) of \(count) read,",
            "\(readable) of \(count) written; \(hidden) hidden as unconfirmed, \(withheld) withheld as unverified")
        await ann.close()
    }
}
