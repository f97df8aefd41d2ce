import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatViewModels

/// Replies on the disk.
@MainActor @Suite(.timeLimit(.minutes(10))) struct UnsentRepliesTests {
    private let folder = TemporaryFolder()
    private let target = NotificationTarget(account: "@ann:x", room: RoomID("room"), message: MessageID("$one"))

    private func loaded() async -> UnsentReplies {
        let replies = UnsentReplies(in: UnsentReplyFolder(folder.path("replies")))
        await replies.load()
        return replies
    }

    @Test("Replies come back as they were, oldest first, with those that come before they are loaded")
    func repliesAreLoaded() async throws {
        let first = await loaded()
        let older = (1...4).map { number in
            UnsentReplies.Reply(
                "one\n\"\(number)\"", to: target, at: Date(timeIntervalSince1970: TimeInterval(number)))
        }
        for reply in older.reversed() { first.add(reply) }
        #expect(first.accept(" \n", answering: target) == nil)
        await first.move(older[1], to: .joiningDraft)
        let second = UnsentReplies(in: UnsentReplyFolder(folder.path("replies")))
        let newest = try #require(second.accept("newest", answering: target))
        await second.flush()
        await second.load()
        #expect(second.replies.map(\.id) == (older + [newest]).map(\.id))
        #expect(second.replies[0] == older[0] && second.replies[4] == newest && newest.target == target)
        #expect(second.replies[1].stage == .joiningDraft)
        second.remove(older[0])
        await second.load()
        let rest = (older.dropFirst() + [newest]).map(\.id)
        #expect(second.replies.map(\.id) == rest)
        #expect(await loaded().replies.map(\.id) == rest)
    }

    @Test("What is on the disk can be read by the user alone, and what is not a reply stays there")
    func filesArePrivate() async throws {
        let replies = await loaded()
        _ = replies.accept("secret", answering: target)
        await replies.flush()
        let stored = folder.path("replies")
        let names = try FileManager.default.contentsOfDirectory(atPath: stored.path)
        #expect(names.count == 1)
        let file = stored.appending(path: try #require(names.first))
        for (path, mode) in [(stored.path, 0o700), (file.path, 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
        try Data("{\"id\":\"newer\"}".utf8).write(to: stored.appending(path: "newer.json"))
        #expect(await loaded().replies.map(\.text) == ["secret"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: stored.path).count == 2)
    }

    @Test("A reply that cannot be stored stays in memory, and is reported")
    func failedWriteIsReported() async throws {
        let failures = Recorder<Void>()
        let file = folder.path("file")
        try Data().write(to: file)
        let replies = UnsentReplies(in: UnsentReplyFolder(file)) { failures.record(()) }
        _ = replies.accept("one", answering: target)
        await replies.flush()
        #expect(failures.values.count == 1 && replies.replies.map(\.text) == ["one"])
    }

    @Test("A stage that cannot be stored does not hold, unless nothing of the reply is stored")
    func unstoredStageDoesNotHold() async throws {
        let replies = await loaded()
        let reply = try #require(replies.accept("one", answering: target))
        await replies.flush()
        // A folder in the place of the file that is written.
        let obstacle = folder.path("replies/\(reply.id).new")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: false)
        #expect(await !replies.move(reply, to: .joiningDraft))
        #expect(replies.replies == [reply])
        #expect(await loaded().replies == [reply])
        try FileManager.default.removeItem(at: obstacle)
        #expect(await replies.move(reply, to: .joiningDraft))
        #expect(await loaded().replies.map(\.stage) == [.joiningDraft])

        let file = folder.path("file")
        try Data().write(to: file)
        let unstored = UnsentReplies(in: UnsentReplyFolder(file))
        let other = try #require(unstored.accept("two", answering: target))
        #expect(await unstored.move(other, to: .joiningDraft))
        #expect(unstored.replies.map(\.stage) == [.joiningDraft])
    }

    @Test("No part of a text stays in a file that was not finished")
    func unfinishedFilesAreRemoved() async throws {
        let stored = folder.path("replies")
        let reply = UnsentReplies.Reply("secret", to: target)
        // A folder in the place of the finished file.
        let obstacle = stored.appending(path: reply.id + ".json")
        try FileManager.default.createDirectory(at: obstacle, withIntermediateDirectories: true)
        let names = { try FileManager.default.contentsOfDirectory(atPath: stored.path).sorted() }
        let replies = UnsentReplies(in: UnsentReplyFolder(stored))
        replies.add(reply)
        await replies.flush()
        #expect(try names() == [obstacle.lastPathComponent])

        // One that a killed process has left, and one that another process is writing.
        let (left, fresh) = (stored.appending(path: "left.new"), stored.appending(path: "fresh.new"))
        for file in [left, fresh] { try Data("secret".utf8).write(to: file) }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -120)], ofItemAtPath: left.path)
        #expect(await loaded().replies.isEmpty)
        #expect(try names() == [obstacle.lastPathComponent, fresh.lastPathComponent].sorted())

        try Data("secret".utf8).write(to: stored.appending(path: reply.id + ".new"))
        replies.remove(reply)
        await replies.flush()
        #expect(try names() == [obstacle.lastPathComponent, fresh.lastPathComponent].sorted())
    }

    private static let earlier = #"{"account":"@ann:x","roomID":"room","text":"Hi"}"#

    @Test("Replies of earlier versions are for the draft, and are adopted once; what is no reply is kept")
    func earlierRepliesAreAdopted() async {
        let (texts, rest) = ([Self.earlier, "from a newer version"], ["", "from a newer version"])
        let replies = await loaded()
        #expect(await replies.adopt(texts) == rest)
        #expect(await replies.adopt(texts) == rest)
        #expect(replies.replies.map(\.text) == ["Hi"] && replies.replies.map(\.stage) == [.waiting])
        let again = await loaded()
        #expect(await again.adopt(texts) == rest)
        #expect(await again.adopt(rest) == rest)
        #expect(again.replies == replies.replies)
    }

    @Test("A reply of an earlier version that cannot be stored is kept where it was, until it can")
    func unstoredEarlierReplyStays() async throws {
        let (file, texts) = (folder.path("file"), [Self.earlier])
        try Data().write(to: file)
        let replies = UnsentReplies(in: UnsentReplyFolder(file))
        #expect(await replies.adopt(texts) == texts)
        #expect(replies.replies.map(\.text) == ["Hi"])
        try FileManager.default.removeItem(at: file)
        #expect(await replies.adopt(texts) == [""])
        #expect(replies.replies.count == 1)
        replies.remove(replies.replies[0])
        #expect(await replies.adopt(texts) == [""])
        #expect(replies.replies.isEmpty)
    }

    @Test("A reply is delivered by one caller at a time, as it is then, and not after it was removed")
    func deliveriesExclude() async throws {
        let replies = UnsentReplies()
        let reply = try #require(replies.accept("one", answering: target))
        #expect(replies.beginDelivery(of: reply) == reply)
        #expect(replies.beginDelivery(of: reply) == nil)
        await replies.move(reply, to: .waiting)
        replies.endDelivery(of: reply)
        #expect(replies.beginDelivery(of: reply)?.stage == .waiting)
        replies.remove(reply)
        replies.endDelivery(of: reply)
        #expect(replies.beginDelivery(of: reply) == nil)
    }
}
