import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import Testing
import ToolSupport

@testable import MatrixBackend

/// Two users on a real homeserver, with sliding and plain sync.
@Suite(.timeLimit(.minutes(10))) struct ConversationTests {
    /// Creates Ann's room with Bob in it.
    private func meet(sliding: Bool) async throws -> (ann: MatrixUser, bob: MatrixUser, room: RoomID) {
        let ann = try await MatrixUser.make("ann", sliding: sliding)
        let bob = try await MatrixUser.make("bob", sliding: !sliding)
        let room = try await ann.backend.createRoom(named: "A room")
        try await ann.backend.invite(bob.session.user.rawValue, to: room)
        #expect(try await bob.backend.join(room.rawValue) == room)
        try await bob.waitForRoom(room) { $0.room.name == "A room" }
        return (ann, bob, room)
    }

    @Test(arguments: [true, false]) func twoUsersChat(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        let hello = try await ann.say("Hello **Bob**", in: room)
        #expect(hello.sender == ann.session.user && hello.delivery == .sent)
        let received = try await bob.messages(in: room) { $0.contains { $0.id == hello.id } }
        #expect(received.last?.text == "Hello **Bob**" && received.last?.formattedText?.contains("<strong>") == true)
        let answer = try await bob.say("Hello", in: room, replyTo: hello.id)
        try await ann.messages(in: room) { $0.last?.replyTo == hello.id }

        try await ann.backend.edit(hello.id, in: room, text: "Hello Bob!")
        let edited = try await bob.messages(in: room) { $0.contains { $0.text == "Hello Bob!" } }
        #expect(edited.first { $0.id == hello.id }?.editedAt != nil && edited.count == 2)
        #expect(try await bob.backend.revisions(of: hello.id, in: room).map(\.text) == ["Hello **Bob**"])

        let edit = try #require(
            try await ann.client.history(of: room, before: nil, limit: 10).events.first {
                $0.content["m.relates_to"]?["rel_type"]?.string == "m.replace"
            })
        _ = try await ann.client.redact(edit.id.rawValue, in: room, transaction: "undo")
        for user in [ann, bob] {
            try await user.messages(in: room) { $0.first?.text == "Hello **Bob**" && $0.first?.editedAt == nil }
            #expect(try await user.backend.revisions(of: hello.id, in: room).isEmpty)
        }

        try await bob.backend.react("👍", isAdded: true, to: hello.id, in: room)
        try await ann.messages(in: room) { $0.first?.reactions.first?.senders == [bob.session.user] }
        try await bob.messages(in: room) { $0.first?.reactions.isEmpty == false }
        try await bob.backend.react("👍", isAdded: false, to: hello.id, in: room)
        try await ann.messages(in: room) { $0.first?.reactions.isEmpty == true }

        try await bob.backend.delete(answer.id, in: room)
        let left = try await ann.messages(in: room) { $0.last?.isDeleted == true }
        #expect(left.map(\.id) == [hello.id, answer.id] && left.last?.text == "")
        await ann.close()
        await bob.close()
    }

    @Test(arguments: [true, false]) func avatarsOfMembersAndRoomsAreShown(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        let picture = SampleImages.png(width: 64, height: 48)
        let file = ann.folder.path("face.png")
        try Data(picture).write(to: file)
        let uri = try await bob.client.upload(file, named: "face.png", type: "image/png")
        let profile = ["client", "v3", "profile", bob.session.user.rawValue, "avatar_url"]
        _ = try await bob.client.call(.put, profile, body: ["avatar_url": .string(uri)])
        let others = try await ann.members(of: room) { $0.contains { $0.avatar == uri } }
        #expect(others.first { $0.avatar == uri }?.id == bob.session.user)
        let media = MediaReference(uri: uri, name: "", type: "image/*")
        #expect(try Array(Data(contentsOf: try await ann.backend.content(of: media))) == picture)

        let state = ["client", "v3", "rooms", room.rawValue, "state", "m.room.avatar", ""]
        _ = try await ann.client.call(.put, state, body: ["url": .string(uri)])
        try await bob.waitForRoom(room) { $0.room.avatar == uri }
        await ann.close()
        await bob.close()
    }

    /// Synapse creates thumbnails of uploads; the sender does not download the file again.
    @Test func imagesAreSentWithTheirInfo() async throws {
        let (ann, bob, room) = try await meet(sliding: true)
        let picture = SampleImages.png(width: 900, height: 600) + [UInt8](repeating: 0, count: 70_000)
        var file = try await ann.backend.storeMedia(.data(Data(picture)), named: "a.png", type: "image/png") { _ in }
        (file.width, file.height, file.blurHash, file.altText) = (900, 600, "00TI:j", "Nothing but grey")
        var video = try await ann.backend.storeMedia(.file(SampleVideos.webM), named: "f.webm", type: "video/webm") {
            _ in
        }
        video.thumbnailURI = try await ann.backend.storeMedia(
            .data(Data(SampleImages.jpeg)), named: "p", type: "image/jpeg"
        ) { _ in }.uri
        (video.width, video.height, video.duration) = (160, 90, 3008)
        try await ann.backend.send(
            WrittenMessage("", kind: .image, files: [file, video]), as: TransactionID("t-\(UUID().uuidString)"),
            to: room
        )
        let received = try await bob.messages(in: room) { $0.count == 2 }.flatMap(\.attachments)
        #expect(received.map(\.name) == ["a.png", "f.webm"])
        #expect(
            received[0].blurHash == "00TI:j" && received[0].altText == "Nothing but grey" && received[0].width == 900)
        #expect(received[1].duration == 3008 && received[1].thumbnailURI?.hasPrefix("mxc://") == true)

        let small = try Data(contentsOf: await bob.backend.thumbnail(of: received[0], fitting: 320, by: 213))
        #expect(!small.isEmpty && small.count < picture.count)
        #expect(await bob.backend.cachedContent(of: received[0]) == nil)
        #expect(try Data(contentsOf: await bob.backend.content(of: received[0])) == Data(picture))
        let poster = MediaReference(uri: try #require(received[1].thumbnailURI), name: "p", type: "image/jpeg")
        #expect(try Data(contentsOf: await bob.backend.content(of: poster)) == Data(SampleImages.jpeg))

        let own = try await ann.messages(in: room) { $0.count == 2 && $0.allSatisfy { $0.delivery == .sent } }
        for media in own.flatMap(\.attachments) { #expect(await ann.backend.cachedContent(of: media) != nil) }
        await ann.close()
        await bob.close()
    }

    @Test func sentMessageIsShownAtOnceAndOnlyOnce() async throws {
        let (ann, bob, room) = try await meet(sliding: true)
        let transaction = TransactionID("t-\(UUID().uuidString)")
        let message = WrittenMessage("Once")
        let updates = ann.backend.timeline(of: room, limit: 50)
        let echo = try await ann.backend.send(message, as: transaction, to: room)
        #expect(echo.transactionID == transaction)
        var shown: [MessageID: Message] = [:]
        var most = 0
        var wasPending = false
        for await update in updates {
            if case .opened(let page, _, _) = update {
                for message in page.messages where message.event == nil { shown[message.id] = message }
            }
            if case .changed(let messages) = update {
                for message in messages where message.event == nil { shown[message.id] = message }
            }
            if case .removed(let ids) = update { for id in ids { shown[id] = nil } }
            most = max(most, shown.count)
            wasPending = wasPending || shown.values.contains { $0.delivery == .sending }
            if shown.values.contains(where: { LocalEchoes.transaction(of: $0.id) == nil }) { break }
        }
        #expect(most == 1 && shown.count == 1 && wasPending)
        let again = try await ann.backend.send(message, as: transaction, to: room)
        #expect(again.id == shown.values.first?.id, "a transaction is one message")
        let received = try await bob.messages(in: room) { !$0.isEmpty }
        #expect(received.map(\.text) == ["Once"])
        await ann.close()
        await bob.close()
    }

    @Test(arguments: [true, false]) func longHistoryIsFetchedOnRequest(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        await ann.close()
        // More events than a sync response holds while Ann is offline, sent by a raw client.
        var last: MessageID?
        for number in 1...70 {
            let content: JSONValue = ["msgtype": "m.text", "body": .string("\(number)")]
            last = try await bob.client.send("m.room.message", content, to: room, transaction: "n\(number)")
        }
        // Mark all as read, so that nothing is fetched only to be counted.
        try await ann.readElsewhere(try #require(last), in: room)
        try await bob.messages(in: room) { $0.last?.readReceipts.map(\.member) == [ann.session.user] }
        let back = try await ann.restarted()
        let newest = try await back.messages(in: room) { $0.last?.text == "70" }
        #expect(newest.count < 70, "it did not come with the sync")
        let far = try #require(
            try await bob.backend.messages(in: room, around: .date(.distantPast), limit: 50).messages
                .first { $0.event == nil })
        #expect(try await back.backend.messages([far.id], in: room).map(\.text) == [far.text], "for a quote")
        #expect(try await back.store.messages([far.id], in: room).isEmpty)
        let around = try await back.backend.messages(in: room, around: .message(far.id), limit: 6)
        #expect(around.messages.contains { $0.id == far.id } && around.hasNewer, "for a jump")
        var texts: [String] = []
        var position = Int64.max
        var page: TimelinePage
        repeat {
            page = try await back.backend.messages(in: room, before: position, limit: 20)
            texts = page.messages.filter { $0.event == nil }.map(\.text) + texts
            position = page.messages.first?.position ?? position
        } while page.hasOlder && !page.messages.isEmpty
        let all: [String] = (1...70).map { "\($0)" }
        #expect(texts == all)
        #expect(try await back.store.gaps(in: room).isEmpty)
        await back.close()
        await bob.close()
    }

    /// A jump to a message or a day long before the stored history loads a page around it, which continues in both
    /// directions.
    @Test(arguments: [true, false]) func jumpIntoAGapLoadsBothDirections(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        await ann.close()
        var ids: [MessageID] = []
        for number in 1...260 {
            let content: JSONValue = ["msgtype": "m.text", "body": .string("\(number)")]
            ids.append(
                try await bob.client.send("m.room.message", content, to: room, transaction: "n\(number)"))
        }
        let sent = try #require(try await bob.client.event(ids[59], in: room)?.sentAt)
        try await ann.readElsewhere(ids[259], in: room)
        // Once another user knows, a sync of the reader's does as well. Before, what is between is fetched to be counted.
        try await bob.messages(in: room) { $0.last?.readReceipts.map(\.member) == [ann.session.user] }
        let back = try await ann.restarted()
        try await back.messages(in: room) { $0.last?.text == "260" }
        func said(_ page: TimelinePage) -> [String] { page.messages.filter { $0.event == nil }.map(\.text) }

        let middle = try await back.backend.messages(in: room, around: .message(ids[129]), limit: 20)
        #expect(said(middle).contains("130") && middle.hasOlder && middle.hasNewer)
        #expect(try await back.store.messages([ids[195], ids[60]], in: room).isEmpty, "what is between is not fetched")
        var texts = said(middle)
        var position = try #require(middle.messages.last?.position)
        while true {
            let page = try await back.backend.messages(in: room, after: position, limit: 30)
            texts += said(page)
            position = page.messages.last?.position ?? position
            if !page.hasNewer { break }
        }
        let first = try #require(Int(texts[0]))
        #expect(texts == (first...260).map { "\($0)" }, "forwards to the end")

        let day = try await back.backend.messages(in: room, around: .date(sent), limit: 20)
        #expect(said(day).contains("60"))
        texts = []
        position = .max
        while true {
            let page = try await back.backend.messages(in: room, before: position, limit: 50)
            texts = said(page) + texts
            position = page.messages.first?.position ?? position
            if !page.hasOlder || page.messages.isEmpty { break }
        }
        #expect(texts == (1...260).map { "\($0)" }, "backwards to the beginning")
        #expect(try await back.store.gaps(in: room).isEmpty)
        await #expect(throws: ChatError.notFound) {
            try await back.backend.messages(in: room, around: .message(MessageID("$none")), limit: 10)
        }
        await back.close()
        await bob.close()
    }

    @Test(arguments: [true, false]) func roomEventsAreShown(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        func happened(to user: MatrixUser, until kind: RoomEvent.Kind) async throws -> [RoomEvent] {
            try await user.messages(in: room, withEvents: true) { $0.last?.event?.kind == kind }.compactMap(\.event)
                .filter { $0.kind != .invited }  // On a slow machine it comes after the minute of the room's creation.
        }
        let name = try #require(bob.session.user.rawValue.dropFirst().split(separator: ":").first.map(String.init))
        let joined = RoomEvent(.joined, subject: bob.session.user, name: name)
        #expect(try await happened(to: ann, until: .joined) == [joined])
        try await ann.say("Welcome", in: room)
        try await ann.backend.renameRoom(room, to: "Another room")
        #expect(
            try await happened(to: bob, until: .roomNamed).last
                == RoomEvent(.roomNamed, before: "A room", after: "Another room"))
        // On a fast machine the first topic may be grouped with the creation of the room.
        for topic in ["This", "This and that"] { try await ann.backend.setTopic(topic, of: room) }
        try await bob.messages(in: room, withEvents: true) {
            $0.last?.event == RoomEvent(.topicSet, before: "This", after: "This and that")
        }
        try await bob.backend.setDisplayName("Bobby")
        let renamed = try await happened(to: ann, until: .renamed).last
        #expect(renamed == RoomEvent(.renamed, subject: bob.session.user, name: name, before: name, after: "Bobby"))
        try await bob.backend.leaveRoom(room)
        let left = try await happened(to: ann, until: .left)
        #expect(left.last == RoomEvent(.left, subject: bob.session.user, name: "Bobby"))
        let remaining = left.filter { $0 != RoomEvent(.topicSet, after: "This") }
        #expect(remaining.map(\.kind) == [.joined, .roomNamed, .topicSet, .renamed, .left])
        try await ann.waitForRoom(room) { $0.unreadCount == 0 && $0.lastMessage?.text == "Welcome" }
        await ann.close()
        await bob.close()
    }

    @Test(arguments: [true, false]) func mentionsAndReadReceiptsAreShown(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        let first = try await bob.say("Hello", in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 1 && $0.mentionCount == 0 }
        let mention: JSONValue = [
            "msgtype": "m.text", "body": "You?", "m.mentions": ["user_ids": [.string(ann.session.user.rawValue)]],
        ]
        _ = try await bob.client.send("m.room.message", mention, to: room, transaction: "mention")
        try await ann.waitForRoom(room) { $0.unreadCount == 2 && $0.mentionCount == 1 }
        let shown = try await ann.messages(in: room) { $0.last?.text == "You?" }
        try await ann.backend.markRead(first.id, in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 1 && $0.mentionCount == 1 }
        try await bob.messages(in: room) { $0.first?.readReceipts.map(\.member) == [ann.session.user] }
        try await ann.backend.markRead(try #require(shown.last?.id), in: room)
        try await ann.waitForRoom(room) { $0.unreadCount == 0 && $0.mentionCount == 0 }
        let read = try await bob.messages(in: room) { $0.last?.readReceipts.map(\.member) == [ann.session.user] }
        #expect(read.first?.readReceipts == [])
        await ann.close()
        await bob.close()
    }

    @Test func filesAreSentWithMessages() async throws {
        let (ann, bob, room) = try await meet(sliding: true)
        let data = Data("What is in the file.".utf8)
        let file = try await ann.backend.storeMedia(.data(data), named: "né w.txt", type: "text/plain") { _ in }
        let message = WrittenMessage("See", kind: .file, files: [file])
        try await ann.backend.send(message, as: TransactionID(UUID().uuidString), to: room)
        let received = try await bob.messages(in: room) { $0.last?.attachments.isEmpty == false }
        let got = try #require(received.last?.attachments.first)
        #expect(received.last?.text == "See" && got.name == "né w.txt" && got.bytes == data.count)
        #expect(try Data(contentsOf: try await bob.backend.content(of: got)) == data)
        #expect(try await bob.backend.namedFile(of: got).lastPathComponent == "né w.txt")
        await ann.close()
        await bob.close()
    }

    @Test(arguments: [true, false]) func nothingIsSentUnencryptedToAnEncryptedRoom(_ sliding: Bool) async throws {
        let (ann, bob, room) = try await meet(sliding: sliding)
        let crypt: JSONValue = ["algorithm": "m.megolm.v1.aes-sha2"]
        try await ann.client.setState("m.room.encryption", crypt, of: room)
        _ = try await ann.client.send(
            "m.room.encrypted", ["algorithm": "m.megolm.v1.aes-sha2", "ciphertext": "x"], to: room, transaction: "e")
        let shown = try await bob.messages(in: room) { !$0.isEmpty }
        #expect(shown.first?.kind == .sealed && shown.first?.seal != nil, "it says why it cannot be read")
        // Bob's keys are not open, so the message waits. A program without encryption rejects it.
        _ = try? await bob.backend.send(Fixtures.outgoing("clear"), to: room)
        // The room counts as encrypted even if the store's record of it is lost.
        try await bob.store.updateRoomState(of: room) { $0.encryption = .unknown }
        try await bob.backend.retry(nil, in: room)
        try await ann.backend.setTopic("Later", of: room)
        while try await bob.backend.topic(of: room) != "Later" { try await Task.sleep(for: .milliseconds(20)) }
        #expect(try await bob.store.outboxRequests().count == (EncryptionSetting.isOn ? 1 : 0))
        let history = try await ann.client.history(of: room, before: nil, limit: 50)
        #expect(!history.events.contains { $0.type == "m.room.message" })
        await ann.close()
        await bob.close()
    }

    @Test func queuedMessageIsSentAfterRestart() async throws {
        let (ann, bob, room) = try await meet(sliding: true)
        // Queued offline, the message survives a restart.
        await ann.backend.outbox.setOnline(false)
        try await ann.backend.send(Fixtures.outgoing("later", transaction: "later"), to: room)
        let back = try await ann.restarted()
        let sent = try await back.syncedMessage(TransactionID("later"), in: room)
        #expect(sent.text == "later")
        let received = try await bob.messages(in: room) { !$0.isEmpty }
        #expect(received.map(\.text) == ["later"])
        await back.close()
        await bob.close()
    }

    @Test func endedSessionIsReportedAndKeepsItsData() async throws {
        let ann = try await MatrixUser.make(sliding: true)
        let room = try await ann.backend.createRoom(named: "Kept")
        try await ann.say("Still here", in: room)
        try await ann.client.logOut()
        // Synapse does not end a pending long poll on logout.
        let back = try await ann.restarted()
        for await state in back.backend.connectionStates() {
            if case .signedOut(let isSoft) = state {
                #expect(!isSoft)
                break
            }
        }
        try await back.messages(in: room) { $0.last?.text == "Still here" }
        await back.close()
    }

    @Test func typingIsPublished() async throws {
        let (ann, bob, room) = try await meet(sliding: true)
        let updates = ann.backend.timeline(of: room, limit: 10)
        await bob.backend.setTyping(true, in: room)
        for await update in updates {
            if case .typing(let members) = update, members == [bob.session.user] { break }
        }
        await ann.close()
        await bob.close()
    }

    @Test func wrongPasswordIsRejected() async throws {
        let transport = CurlTransport()
        let server = try await Discovery(transport: transport).homeserver(for: TestHomeserver.url().absoluteString)
        let client = MatrixClient(server: server.url, transport: transport)
        #expect(try await client.loginFlows().contains("m.login.password"))
        do {
            _ = try await client.logIn(name: "nobody", password: "wrong", deviceName: "Parlance")
            Issue.record("no error")
        } catch MatrixError.rejected(403, "M_FORBIDDEN", _) {}
        transport.close()
    }
}
