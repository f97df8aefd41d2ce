import ChatArchive
import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import Fuzzing
import JSONReading
import LocalBackend
import MessageMarkup
import Testing

@testable import ChatViewModels
@testable import MatrixBackend

/// Passes messages through every stage of their round trip and checks at each that their content is unchanged.
struct WrittenTrip {
    let messages: [WrittenMessage]
    let bob: MatrixUser
    let room: RoomID
    /// The target room of forwarded messages.
    let other: RoomID
    private(set) var ann: MatrixUser
    /// The messages as Ann and Bob have them, in the order sent.
    private var own: [Message] = []
    private var received: [Message] = []
    private let bodies = MessageBodies(readsPlainTexts: true)

    /// Creates two empty rooms with Ann and Bob.
    init(of count: Int, seed: UInt64) async throws {
        ann = try await MatrixUser.make("ann", sliding: true)
        bob = try await MatrixUser.make("bob", sliding: false)
        var rooms: [RoomID] = []
        for name in ["Trip", "Elsewhere"] {
            let room = try await ann.backend.createRoom(named: name)
            try await ann.backend.invite(bob.session.user.rawValue, to: room)
            _ = try await bob.backend.join(room.rawValue)
            try await bob.waitForRoom(room) { $0.room.name == name }
            rooms.append(room)
        }
        (room, other) = (rooms[0], rooms[1])
        let people = ["@ann:a.example": ann.session.user, "@ann1:a.example": bob.session.user]
        var random = RandomMarkup(SeededBytes(seed: seed))
        var messages: [WrittenMessage] = []
        while messages.count < count {
            guard let next = random.nextWritten() else { break }
            let message = WrittenMessage(
                Self.naming(people, in: next), kind: messages.count % 8 == 7 ? .emote : .text)
            // Skip random messages that exceed a limit.
            if (try? ChatLimits.check(message)) != nil { messages.append(message) }
        }
        self.messages = messages
    }

    /// Returns the text with unknown users replaced by these members of the room.
    private static func naming(_ people: [String: MemberID], in text: WrittenText) -> WrittenText {
        let marks = text.marks.map { mark in
            guard case .member(let id)? = mark.mention, let person = people[id] else { return mark }
            return WrittenText.Mark(.mention(.member(person.rawValue)), over: mark.range)
        }
        return WrittenText(text.source, syntax: text.syntax, marks: marks) ?? text
    }

    func close() async {
        await ann.close()
        await bob.close()
    }

    // MARK: Stations

    /// Sends the messages through outbox and server into both accounts' stores.
    mutating func send() async throws {
        try await deliver(messages, by: ann, to: room)
        try await check(texts: messages.map(\.text), "sent")
        try await checkNotified()
    }

    /// Edits each message to the next one's text and back, based on the stored content each time.
    mutating func editThereAndBack() async throws {
        let texts = own.map { EditableMessage($0, body: bodies.body(of: $0)).text }
        try await edit(to: texts.indices.map { texts[($0 + 1) % texts.count] })
        try await check(texts: messages.indices.map { messages[($0 + 1) % messages.count].text }, "edited")
        try await edit(to: texts)
        try await check(texts: messages.map(\.text), "edited back")
    }

    /// Restarts the sender's backend.
    mutating func restart() async throws {
        ann = try await ann.restarted()
        own = try await ann.messages(in: room) { [count = messages.count] in $0.count == count }
        try await check(texts: messages.map(\.text), "restarted")
        for (index, message) in own.enumerated() {
            let earlier = try await ann.backend.revisions(of: message.id, in: room).map(\.wording.written?.unshortened)
            #expect(
                earlier == [messages[index].text, messages[(index + 1) % messages.count].text],
                "before the edits: \(messages[index].text)")
        }
    }

    /// Forwards the messages, by their sender and by their recipient.
    func forward() async throws {
        let forwarded = own.map { WrittenMessage(forwarding: $0, readsPlainTexts: true) }
        let (copies, seen) = try await pass(forwarded, by: ann, to: bob)
        for (index, message) in messages.enumerated() {
            expectSame(copies[index].written?.unshortened, message.text, "forwarded")
            expectSameLetters(seen[index], received[index], of: message, "forwarded")
        }
        let again = received.map { WrittenMessage(forwarding: $0, readsPlainTexts: true) }
        let (_, back) = try await pass(again, by: bob, to: ann)
        for (index, message) in messages.enumerated() where !isLossy(received[index]) {
            expectSameLetters(back[index], received[index], of: message, "forwarded by another")
        }
    }

    /// Exports both accounts as JSON and HTML and imports them into another application's rooms.
    func exportAndImport() async throws {
        for format in [ExportFormat.json, .html] {
            let mine = try await imported(by: ann, as: format)
            let theirs = try await imported(by: bob, as: format)
            try #require(mine.count == messages.count && theirs.count == messages.count)
            for (index, message) in messages.enumerated() {
                let people = [
                    ann.session.user: LocalBackend.ownUserID, bob.session.user: MemberID("import-\(bob.session.user)"),
                ]
                let text = Self.naming(
                    Dictionary(uniqueKeysWithValues: people.map { ($0.rawValue, $1) }), in: message.text)
                expectSame(mine[index].written?.unshortened, text, "\(format) by its author")
                let seen = MessageBodies(readsPlainTexts: false).body(of: theirs[index])
                expectSame(
                    seen.markedLetters, bodies.body(of: received[index]).markedLetters,
                    "\(format) by another: \(message.text)")
            }
        }
    }

    // MARK: Checks

    /// Checks that Ann has what she wrote, and that Bob sees everything of it that the event format can express.
    private func check(texts: [WrittenText], _ station: String) async throws {
        for (index, text) in texts.enumerated() {
            let isEmote = messages[index].kind == .emote
            expectSame(own[index].written?.unshortened, text, "\(station), what Ann has")
            let seen = bodies.body(of: received[index])
            expectSame(
                seen.markedLetters, MessageMarkup.body(of: text, isEmote: isEmote).markedLetters,
                "\(station), what Bob sees of \(text)")
            #expect(seen.isEmote == isEmote && received[index].kind == messages[index].kind)
        }
    }

    /// Checks that exactly the mentioned users are notified.
    private func checkNotified() async throws {
        for (index, message) in messages.enumerated() {
            let event = try #require(try await bob.client.event(received[index].id, in: room))
            let sentMentions = event.content["m.mentions"]
            let users = Set((sentMentions?["user_ids"]?.array ?? []).compactMap(\.string))
            let targets = message.text.mentions.map(\.target)
            let named = targets.compactMap { if case .member(let id) = $0 { id } else { nil } }
            #expect(users == Set(named), "\(message.text)")
            #expect((sentMentions?["room"]?.bool ?? false) == targets.contains(.everyone), "\(message.text)")
        }
    }

    private func expectSame<Value: Equatable>(_ found: Value, _ expected: Value, _ comment: @autoclosure () -> String) {
        if found != expected { Issue.record("\(comment()):\n\(found)\n\(expected)") }
    }

    private func expectSameLetters(
        _ found: Message, _ expected: Message, of message: WrittenMessage, _ station: String
    ) {
        expectSame(
            bodies.body(of: found).markedLetters, bodies.body(of: expected).markedLetters, "\(station): \(message.text)"
        )
    }

    /// Returns whether Markdown cannot express everything that others see of a message.
    private func isLossy(_ message: Message) -> Bool {
        message.formattedText.map { !MessageMarkup.written(html: $0).losses.isEmpty } ?? false
    }

    // MARK: Delivery

    private mutating func deliver(_ messages: [WrittenMessage], by sender: MatrixUser, to room: RoomID) async throws {
        let transactions = messages.map { _ in TransactionID(UUID().uuidString) }
        try await sender.backend.send(Array(zip(transactions, messages)), to: room)
        own = try await sender.messages(in: room) { found in
            found.count == messages.count && found.allSatisfy { LocalEchoes.transaction(of: $0.id) == nil }
        }
        received = try await bob.messages(in: room) { $0.count == messages.count }
        #expect(own.map(\.transactionID) == transactions && received.map(\.id) == own.map(\.id))
    }

    private mutating func edit(to texts: [WrittenText]) async throws {
        let before = Dictionary(uniqueKeysWithValues: own.map { ($0.id, $0.editedAt ?? .distantPast) })
        for (message, text) in zip(own, texts) { try await ann.backend.edit(message.id, in: room, to: text) }
        @Sendable func areEdited(_ found: [Message]) -> Bool {
            found.allSatisfy { message in
                message.pendingChange == nil
                    && before[message.id].map { $0 < message.editedAt ?? .distantPast } ?? false
            }
        }
        own = try await ann.messages(in: room, where: areEdited)
        received = try await bob.messages(in: room, where: areEdited)
    }

    /// - Returns: the copies as the sender and as the recipient have them.
    private func pass(
        _ copies: [WrittenMessage], by sender: MatrixUser, to reader: MatrixUser
    ) async throws -> (sent: [Message], seen: [Message]) {
        let transactions = copies.map { _ in TransactionID(UUID().uuidString) }
        try await sender.backend.send(Array(zip(transactions, copies)), to: other)
        let sent = try await sender.messages(in: other) { found in
            let arrived = found.filter { LocalEchoes.transaction(of: $0.id) == nil }.map(\.transactionID)
            return transactions.allSatisfy { arrived.contains($0) }
        }.filter { $0.transactionID.map(transactions.contains) ?? false }
        let expected = Set(sent.map(\.id))
        let seen = try await reader.messages(in: other) { expected.isSubset(of: $0.map(\.id)) }
            .filter { expected.contains($0.id) }
        return (sent, seen)
    }

    private func imported(by user: MatrixUser, as format: ExportFormat) async throws -> [Message] {
        let folder = TemporaryFolder()
        let store = try await ChatStore.open(in: folder.path("store"))
        let backend = try await LocalBackend.start(
            over: store, ownDisplayName: "Robin", clock: ManualClock(), now: { Fixtures.date })
        let archive = RoomArchive(source: user.backend, destination: backend)
        let exported = try await archive.export(
            room, named: "Trip", as: format, into: folder.path("."), progress: { _ in })
        let report = try await archive.importConversations(
            from: exported.folder, resolveRepeats: { _ in .newRooms }, progress: { _ in })
        let made = try #require(report.conversations.first?.room)
        let page = try await store.messages(in: made, before: .max, limit: 1_000)
        await store.close()
        return page.messages
    }
}

extension WrittenText {
    /// The text without the short names of its mentions, which only a composer needs and an edit adds.
    fileprivate var unshortened: WrittenText {
        WrittenText(source, syntax: syntax, marks: marks.map { WrittenText.Mark($0.content, over: $0.range) }) ?? self
    }
}
