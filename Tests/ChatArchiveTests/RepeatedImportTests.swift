import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import LocalBackend
import Testing

/// Imports the same export again, or a later export of the same conversation.
@Suite(.timeLimit(.minutes(10))) struct RepeatedImportTests {
    private static let query = SearchQuery(text: "lunch", matching: .terms)

    /// Writes a WhatsApp chat with a message for each of these minutes.
    private func chat(_ minutes: [Int], in fixture: ArchiveFixture) throws -> URL {
        let lines = minutes.map { minute in
            let time = "\(10 + minute / 60):\(minute % 60 < 10 ? "0" : "")\(minute % 60)"
            return "31.12.19, \(time) - \(minute % 2 == 0 ? "Ann" : "Bob"): lunch \(minute)\n"
        }
        return try fixture.write(Data(lines.joined().utf8), as: "WhatsApp Chat with Family.txt")
    }

    private func minutes(in room: RoomID, of fixture: ArchiveFixture) async throws -> [Int] {
        try await fixture.messages(in: room).compactMap { Int($0.text.drop { !$0.isNumber }) }
    }

    private func begin(_ minutes: [Int], in fixture: ArchiveFixture) async throws -> RoomID {
        let report = try await fixture.archive.importConversations(from: chat(minutes, in: fixture)) { _ in }
        return try #require(report.conversations.first).room
    }

    @Test func mergeInsertsOnlyMissingMessagesInOrder() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([10, 12, 13, 20], in: fixture)
        let all = [8, 9, 10, 11, 12, 13, 14, 15, 20, 21]
        let (report, asked) = try await fixture.importFile(chat(all, in: fixture)) { _ in .merge }
        #expect(asked.map(\.room) == [room] && asked.map(\.name) == ["Family"] && asked.map(\.newMessages) == [6])
        #expect(report.conversations == [.init(room: room, name: "Family", messages: 6)])
        #expect(try await minutes(in: room, of: fixture) == all)
        let again = try await fixture.importFile(chat(all, in: fixture)) { _ in .merge }
        #expect(again.asked.map(\.newMessages) == [0] && again.report.messages == 0)
        #expect(try await minutes(in: room, of: fixture) == all)
        #expect(try await fixture.roomNames() == ["Family", "Notes", "Welcome"])
        let summary = try #require(try await fixture.store.roomSummaries().first { $0.id == room })
        #expect(summary.unreadCount == 0 && summary.lastMessage?.text == "lunch 21")
        #expect(try await fixture.store.search(Self.query).messages.count == all.count)
        #expect(try await fixture.store.stagedRooms().isEmpty)
        #expect(try await fixture.store.integrityProblems() == [])
    }

    @Test func laterPartialExportsMatchTheExistingRoom() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin(Array(0..<40), in: fixture)
        let (_, asked) = try await fixture.importFile(chat(Array(30..<90), in: fixture)) { _ in .merge }
        #expect(asked.map(\.newMessages) == [50])
        #expect(try await minutes(in: room, of: fixture) == Array(0..<90))
        let middle = try await fixture.importFile(chat(Array(35..<55), in: fixture)) { _ in .merge }
        #expect(middle.asked.map(\.newMessages) == [0])
        #expect(try await minutes(in: room, of: fixture) == Array(0..<90))
    }

    /// Two identical messages within the same minute stay two messages.
    @Test func identicalMessagesInTheSameMinuteStaySeparate() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([5, 5, 6], in: fixture)
        let (_, asked) = try await fixture.importFile(chat([5, 5, 5, 6], in: fixture)) { _ in .merge }
        #expect(asked.map(\.newMessages) == [1])
        #expect(try await minutes(in: room, of: fixture) == [5, 5, 5, 6])
    }

    @Test func mergePreservesTheUsersChanges() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([10, 12, 14], in: fixture)
        let messages = try await fixture.messages(in: room)
        let backend = fixture.backend
        try await backend.renameRoom(room, to: "Home")
        try await backend.react("👍", isAdded: true, to: messages[2].id, in: room)
        _ = try await fixture.store.edit(
            messages[1].id, in: room, to: Wording("12, corrected"), by: messages[1].sender, at: Fixtures.date)
        _ = try await fixture.store.delete(messages[0].id, in: room, by: messages[0].sender)
        _ = try await backend.send(WrittenMessage("99, my own"), as: TransactionID("t"), to: room)
        let (_, asked) = try await fixture.importFile(chat([9, 10, 11, 12, 13, 14, 15], in: fixture)) { _ in .merge }
        #expect(asked.map(\.name) == ["Home"] && asked.map(\.newMessages) == [4])
        let merged = try await fixture.messages(in: room)
        #expect(
            merged.filter { $0.event == nil && !$0.isDeleted }.map(\.text) == [
                "lunch 9", "lunch 11", "12, corrected", "lunch 13", "lunch 14", "lunch 15", "99, my own",
            ])
        #expect(merged.contains { $0.id == messages[0].id && $0.isDeleted })
        let liked = try #require(merged.first { $0.id == messages[2].id })
        #expect(liked.reactions.map(\.text) == ["👍"])
        #expect(try await backend.revisions(of: messages[1].id, in: room).map(\.text) == ["lunch 12"])
        #expect(try await fixture.store.search(Self.query).messages.count == 5)
        #expect(try await fixture.store.integrityProblems() == [])
    }

    @Test func importingAsANewRoomLeavesTheExistingOneUnchanged() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([1, 2], in: fixture)
        let (report, asked) = try await fixture.importFile(chat([1, 2, 3], in: fixture)) { _ in .newRooms }
        #expect(asked.count == 1)
        let second = try #require(report.conversations.first).room
        #expect(second != room && report.messages == 3)
        #expect(try await minutes(in: room, of: fixture) == [1, 2])
        #expect(try await minutes(in: second, of: fixture) == [1, 2, 3])
        let third = try await fixture.importFile(chat([1, 2, 3, 4], in: fixture)) { _ in .merge }
        #expect(third.asked.map(\.room) == [second], "the one that has more of it")
    }

    @Test func cancelingARepeatedImportChangesNothing() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([1, 2], in: fixture)
        await #expect(throws: CancellationError.self) {
            _ = try await fixture.importFile(chat([1, 2, 3], in: fixture)) { _ in throw CancellationError() }
        }
        #expect(try await minutes(in: room, of: fixture) == [1, 2])
        #expect(try await fixture.roomNames() == ["Family", "Notes", "Welcome"])
        #expect(try await fixture.store.stagedRooms().isEmpty)
    }

    /// The store's files while the question is open are what a kill would leave.
    @Test func importInterruptedByProcessExitLeavesNothing() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([1, 2], in: fixture)
        let copy = fixture.folder.path("copy")
        _ = try await fixture.importFile(chat([1, 2, 3], in: fixture)) { _ in
            try FileManager.default.copyItem(at: fixture.folder.path("store"), to: copy)
            return .merge
        }
        let store = try await ChatStore.open(in: copy)
        let backend = try await LocalBackend.start(over: store, ownDisplayName: "Robin", clock: ManualClock())
        while try await !store.stagedRooms().isEmpty { await Task.yield() }
        #expect(
            try await store.messages(in: room, before: .max, limit: 10).messages.map(\.text) == [
                "lunch 1", "lunch 2",
            ])
        #expect(try await store.roomSummaries().count == 3)
        #expect(try await store.search(Self.query).messages.count == 2)
        await backend.close()
        await store.close()
    }

    @Test func mergesAreAllOrNothing() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([1, 2], in: fixture)
        await #expect(throws: ChatError.notFound) {
            _ = try await fixture.importFile(chat([1, 2, 3], in: fixture)) { known in
                _ = try await fixture.backend.finishImport([
                    FinishedImport(staged: known[0].staged, name: "", mergedInto: room),
                    FinishedImport(staged: RoomID("none"), name: "None"),
                ])
                return .merge
            }
        }
        #expect(try await minutes(in: room, of: fixture) == [1, 2])
        #expect(try await fixture.store.stagedRooms().isEmpty)
    }

    @Test func openTimelineShowsMergedMessages() async throws {
        let fixture = try await ArchiveFixture()
        let room = try await begin([2, 4], in: fixture)
        var updates = fixture.backend.timeline(of: room, limit: 50).makeAsyncIterator()
        guard case .opened(let first, _, _) = await updates.next() else {
            Issue.record("not opened")
            return
        }
        #expect(first.messages.count == 2)
        _ = try await fixture.importFile(chat([1, 2, 3, 4], in: fixture)) { _ in .merge }
        guard case .opened(let second, let members, _) = await updates.next() else {
            Issue.record("not told anew")
            return
        }
        #expect(second.messages.map(\.text) == (1...4).map { "lunch \($0)" })
        #expect(members.map(\.displayName).sorted() == ["Ann", "Bob", "Robin"])
    }

    /// Where exports carry chat IDs, parts of one chat are matched by ID, and similar chats stay separate.
    @Test func exportsWithChatIDsAreMatchedByID() async throws {
        let fixture = try await ArchiveFixture()
        func chat(_ number: Int, _ messages: ClosedRange<Int>) throws -> URL {
            let list = messages.map {
                #"{"id": \#($0), "type": "message", "date_unixtime": "\#(1_682_928_000 + $0)", "from": "Ann", "#
                    + #""from_id": "user11", "text": "lunch \#($0)"}"#
            }
            let text =
                #"{"name": "Plans", "type": "private_group", "id": \#(number), "messages": ["#
                + list.joined(separator: ",") + "]}"
            return try fixture.write(Data(text.utf8), as: "result.json")
        }
        let report = try await fixture.archive.importConversations(from: chat(1, 1...3)) { _ in }
        let room = try #require(report.conversations.first).room
        let later = try await fixture.importFile(chat(1, 7...9)) { _ in .merge }
        #expect(later.asked.map(\.room) == [room] && later.asked.map(\.newMessages) == [3])
        let between = try await fixture.importFile(chat(1, 4...6)) { _ in .merge }
        #expect(between.asked.map(\.newMessages) == [3])
        #expect(try await minutes(in: room, of: fixture) == Array(1...9))
        let other = try await fixture.importFile(chat(2, 1...3)) { _ in .merge }
        #expect(other.asked.isEmpty && other.report.messages == 3)
    }

    /// Every export format is recognized when the whole export is imported again.
    @Test(arguments: ["telegram/result.json", "element.json", "whatsapp-ios-us.txt", "slack.zip"])
    func reimportingTheSameExportIsRecognized(_ name: String) async throws {
        let fixture = try await ArchiveFixture()
        let first = try await fixture.importFile(name)
        let texts = try await first.conversations.asyncMap { try await fixture.texts(in: $0.room) }
        let again = try await fixture.importFile(ArchiveFixture.export(name)) { _ in .merge }
        #expect(Set(again.asked.map(\.room)) == Set(first.conversations.map(\.room)))
        #expect(again.asked.allSatisfy { $0.newMessages == 0 } && again.report.messages == 0)
        #expect(try await first.conversations.asyncMap { try await fixture.texts(in: $0.room) } == texts)
    }
}

extension Array {
    fileprivate func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
