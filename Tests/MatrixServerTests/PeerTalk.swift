import ChatCore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Ratchets
import Testing

@testable import MatrixBackend

/// Exchanges messages with another client and counts how many the other side could decrypt: texts, replies, edits and
/// files, with new sessions, restarts and late keys.
struct PeerTalk {
    /// The number of messages per side in a group: two texts, a reply, an edit and a file.
    static let group = 5
    private static let timeout = Duration.seconds(30)

    let client: PeerClient
    /// The number of the other client's messages that were decrypted here.
    private(set) var read = 0
    /// The number of messages sent here that the other client decrypted.
    private(set) var written = 0
    private(set) var restarts = 0
    private(set) var lateKeys = 0

    private var ann: MatrixUser
    private let credential: KeyCredential
    private let peer: MatrixPeer
    private let room: RoomID
    /// The first message of the peer's last group.
    private var lastText: MessageID?

    init(with client: PeerClient, sliding: Bool) async throws {
        self.client = client
        (ann, credential) = try await RoomKeyTests.person("ann", sliding: sliding)
        (room, peer) = try await RoomKeyTests.room(with: ann, sliding: sliding, client: client)
        // Both sides rotate the session after this number of messages.
        let settings: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": 20]
        try await ann.client.setState("m.room.encryption", settings, of: room)
        try await ann.untilEncrypted(room)
    }

    /// - Parameter count: the number of messages per side.
    mutating func run(_ count: Int) async throws {
        for group in 0..<count / Self.group {
            if group % 4 == 1 { try await peer.ask("rotate", .string(room.rawValue)) }
            if group % 10 == 2 {
                ann = try await ann.restarted(open: credential)
                restarts += 1
            }
            try await readGroup(group, isLate: group % 10 == 3)
            try await writeGroup(group)
        }
        await ann.close()
    }

    // MARK: Reading

    private mutating func readGroup(_ group: Int, isLate: Bool) async throws {
        if isLate {
            try await peer.ask("rotate", .string(room.rawValue))
            ann = try await ann.restarted()
        }
        let first = try await peer.say("Größe \(group)", in: room)
        let reply = try await peer.send(
            [
                "msgtype": "m.text", "body": .string("Reply \(group)"),
                "m.relates_to": ["m.in_reply_to": ["event_id": .string(first.rawValue)]],
            ], in: room)
        let second = try await peer.say("Second \(group)", in: room)
        try await peer.send(
            [
                "msgtype": "m.text", "body": "* x",
                "m.new_content": ["msgtype": "m.text", "body": .string("Edited \(group)")],
                "m.relates_to": ["rel_type": "m.replace", "event_id": .string(second.rawValue)],
            ], in: room)
        let size = 1000 + group
        let file = try await peer.sendFile("\(group).bin", size: size, in: room)
        lastText = first
        let ids = [first, reply, second, file]
        if isLate {
            _ = try await messages(ids) { all in all.count == 4 && all.values.allSatisfy { $0.seal != nil } }
            try await RoomKeyTests.open(ann, credential)
            lateKeys += 1
        }
        let all = try await messages(ids) { all in
            all.count == 4 && all.values.allSatisfy { $0.seal == nil } && all[second]?.editedAt != nil
        }
        if all[first]?.text == "Größe \(group)" { read += 1 }
        if all[reply]?.text == "Reply \(group)", all[reply]?.replyTo == first { read += 1 }
        if let edited = all[second] {
            let before = try await ann.backend.revisions(of: edited.id, in: room)
            if before.map(\.text) == ["Second \(group)"] { read += 1 }
            if edited.text == "Edited \(group)" { read += 1 }
        }
        if let attachment = all[file]?.attachments.first,
            try Data(contentsOf: await ann.backend.content(of: attachment)) == Self.data(size)
        {
            read += 1
        }
    }

    /// Returns stored messages once they satisfy a condition, or when the time is up.
    private func messages(
        _ ids: [MessageID], until condition: ([MessageID: Message]) -> Bool
    ) async throws -> [MessageID: Message] {
        let end = ContinuousClock.now + Self.timeout
        while true {
            let found = try await ann.backend.messages(ids, in: room)
            let all = Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) })
            if condition(all) || ContinuousClock.now > end { return all }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private static func data(_ size: Int) -> Data {
        Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    }

    // MARK: Writing

    private mutating func writeGroup(_ group: Int) async throws {
        let data = Self.data(2000 + group)
        let stored = try await ann.backend.storeMedia(
            .data(data), named: "\(group).bin", type: "application/octet-stream", progress: { _ in })
        let messages = [
            ("first", WrittenMessage("Größe \(group)")),
            ("reply", WrittenMessage("Reply \(group)", replyTo: lastText)),
            ("second", WrittenMessage("Second \(group)")),
            ("file", WrittenMessage("", files: [stored])),
        ].map { (transaction: TransactionID("\($0.0) \(group)"), message: $0.1) }
        try await ann.backend.send(messages, to: room, leaving: nil)
        var sent: [MessageID] = []
        for message in messages {
            sent.append(try await ann.syncedMessage(message.transaction, in: room).id)
        }
        try await ann.backend.edit(sent[2], in: room, to: WrittenText("Edited \(group)"))
        let edit = try await edit(of: sent[2])

        if try await body(of: sent[0]) == "Größe \(group)" { written += 1 }
        if let reply = try await peer.read(sent[1], in: room),
            reply["body"]?.string?.hasSuffix("Reply \(group)") == true,
            reply["m.relates_to"]?["m.in_reply_to"]?["event_id"]?.string == lastText?.rawValue
        {
            written += 1
        }
        if try await body(of: sent[2]) == "Second \(group)" { written += 1 }
        if try await peer.read(edit: edit, of: sent[2], in: room) == "Edited \(group)" { written += 1 }
        let digest = try SHA256.digest(of: Array(data)).map { String(format: "%02x", $0) }.joined()
        if try await peer.digest(ofFileOf: sent[3], in: room) == digest { written += 1 }
    }

    private func body(of message: MessageID) async throws -> String? {
        try await peer.read(message, in: room)?["body"]?.string
    }

    /// Returns the event that edits a message, once it was sent.
    private func edit(of message: MessageID) async throws -> MessageID {
        _ = try await messages([message]) { $0[message]?.editedAt != nil && $0[message]?.pendingChange == nil }
        let events = try await ann.client.history(of: room, before: nil, limit: 10).events
        let edit = try #require(
            events.first { event in
                let relation = event.content["m.relates_to"]
                return relation?["rel_type"]?.string == "m.replace"
                    && relation?["event_id"]?.string == message.rawValue
            })
        #expect(edit.type == "m.room.encrypted")
        return edit.id
    }
}
