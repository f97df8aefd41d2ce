import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Synchronization
import Testing

@testable import LocalBackend

@Suite(.timeLimit(.minutes(10))) struct GuideConversationTests {
    private typealias Updates = AsyncStream<TimelineUpdate>.Iterator

    private let enough = Duration.seconds(5)

    private func opened(_ room: RoomID, of harness: LocalBackendHarness) async -> Updates {
        var updates = harness.backend.timeline(of: room, limit: 50).makeAsyncIterator()
        _ = await updates.next()
        return updates
    }

    /// Returns the guide's next message.
    private func nextGuideMessage(_ updates: inout Updates) async -> Message? {
        while let update = await updates.next(isolation: #isolation) {
            if case .changed(let messages) = update,
                let message = messages.first(where: { $0.sender == LocalBackend.guideID })
            {
                return message
            }
        }
        return nil
    }

    private func history(_ room: RoomID, of harness: LocalBackendHarness) async throws -> [String] {
        try await harness.backend.messages(in: room, before: .max, limit: 50).messages.map(\.sender.rawValue)
    }

    @Test func typesBeforeReplying() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        let sent = try await harness.backend.send(Fixtures.outgoing("How do I edit?"), to: room)
        #expect(await updates.next() == .changed([sent]))
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: GuideResponder.reactionDelay)
        #expect(await updates.next() == .typing([LocalBackend.guideID]))
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: .milliseconds(699))
        #expect(harness.clock.sleeperCount == 1)
        var late = harness.backend.timeline(of: room, limit: 1).makeAsyncIterator()
        _ = await late.next()
        #expect(await late.next() == .typing([LocalBackend.guideID]))
        harness.clock.advance(by: enough)
        #expect(await updates.next() == .typing([]))
        guard case .changed(let messages) = await updates.next() else {
            Issue.record("no answer")
            return
        }
        #expect(messages.map(\.sender) == [LocalBackend.guideID])
        #expect(messages[0].text.contains("choose **Edit**"))
        #expect(messages[0].position == sent.position + 1)
        #expect(messages[0].replyTo == sent.id)
    }

    @Test func repliesToSeveralMessagesAtOnce() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        try await harness.backend.send(Fixtures.outgoing("How do I edit?"), to: room)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: GuideResponder.reactionDelay)
        await harness.clock.waitForSleepers()
        try await harness.backend.send(Fixtures.outgoing("And a newline?"), to: room)
        harness.clock.advance(by: enough)
        let first = await nextGuideMessage(&updates)
        #expect(first?.text.contains("choose **Edit**") == true)
        #expect(first?.text.contains("Press `Shift+Return`") == true)
        try await harness.backend.send(Fixtures.outgoing("thanks"), to: room)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: enough)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: enough)
        #expect(await nextGuideMessage(&updates)?.text == "You’re welcome!")
        let senders = try await history(room, of: harness)
        #expect(senders == ["guide", "guide", "guide", "own", "own", "guide", "own", "guide"])
    }

    @Test func repliesAfterRestartToUnansweredMessages() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        try await harness.backend.send(Fixtures.outgoing("Is my draft safe?"), to: room)
        let again = try await harness.restarted()
        var updates = await opened(room, of: again)
        await again.clock.waitForSleepers()
        again.clock.advance(by: enough)
        await again.clock.waitForSleepers()
        again.clock.advance(by: enough)
        #expect(await nextGuideMessage(&updates)?.text.contains("Drafts are saved") == true)
        let third = try await again.restarted()
        #expect(third.clock.sleeperCount == 0)
        #expect(try await history(room, of: third) == ["guide", "guide", "guide", "own", "guide"])
    }

    /// Sends a message, and returns it once the guide has responded.
    private func say(_ text: String, _ room: RoomID, _ harness: LocalBackendHarness) async throws -> Message {
        let sent = try await harness.backend.send(Fixtures.outgoing(text), to: room)
        let task = await harness.backend.guide.conversations[room]?.task
        let advancing = Task { [clock = harness.clock] in
            // Two sleeps if the guide has something to say, else one.
            while !Task.isCancelled {
                if clock.sleeperCount > 0 { clock.advance(by: enough) }
                await Task.yield()
            }
        }
        await task?.value
        advancing.cancel()
        await advancing.value
        return try #require(try await harness.backend.messages([sent.id], in: room).first)
    }

    /// A harness whose guide has already made all its suggestions.
    private func quietHarness() async throws -> (LocalBackendHarness, RoomID) {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var memory = GuideMemory(encoded: try await harness.store.setting(GuideMemory.setting, of: room))
        for topic in GuideTopic.ID.suggested { memory.finish(topic) }
        try await harness.store.set(memory.encoded(), for: GuideMemory.setting, of: room)
        return (harness, room)
    }

    @Test func onlyReactsToStatementsInTheEnd() async throws {
        let (harness, room) = try await quietHarness()
        let sent = try await say("a mushroom", room, harness)
        #expect(sent.reactions.map(\.text) == ["👍"])
        #expect(sent.reactions.first?.senders == [LocalBackend.guideID])
        #expect(try await history(room, of: harness).last == "own")
    }

    @Test func messageWithAReactionIsAnswered() async throws {
        let (harness, room) = try await quietHarness()
        // If the guide read this message again, drafts would be among the answers to it.
        let first = try await say("thank my draft horse", room, harness)
        #expect(first.reactions == [])
        _ = try await say("a mushroom", room, harness)
        let question = try await say("how do I edit?", room, harness)
        #expect(question.reactions == [])
        let last = try #require(try await harness.backend.messages(in: room, before: .max, limit: 1).messages.last)
        #expect(last.text.hasPrefix("Open the menu"))
        #expect(last.replyTo == question.id)
    }

    @Test func messageWithAReactionStaysAnsweredOverARestart() async throws {
        let (harness, room) = try await quietHarness()
        let sent = try await say("a mushroom", room, harness)
        try await harness.backend.react("👍", isAdded: true, to: sent.id, in: room)
        let again = try await harness.restarted()
        #expect(again.clock.sleeperCount == 0)
        #expect(await again.backend.guide.conversations[room]?.task == nil)
        let question = try await say("how do I edit?", room, again)
        let last = try #require(try await again.backend.messages(in: room, before: .max, limit: 1).messages.last)
        #expect(last.replyTo == question.id)
        #expect(last.text.hasPrefix("Open the menu"))
    }

    @Test func newsAreAnnouncedThoughTheLastMessageHasOnlyAReaction() async throws {
        let (harness, room) = try await quietHarness()
        _ = try await say("a mushroom", room, harness)
        var memory = GuideMemory(encoded: try await harness.store.setting(GuideMemory.setting, of: room))
        memory.introduced.removeAll { $0 == .accounts }
        try await harness.store.set(memory.encoded(), for: GuideMemory.setting, of: room)
        let again = try await harness.restarted()
        let last = try #require(try await again.backend.messages(in: room, before: .max, limit: 1).messages.last)
        #expect(last.text == "New in this version:\n- Sign in to Matrix to chat with others")
    }

    @Test func followsChangesOfTheSendKey() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        for key in [SendKey.return, .ctrlReturn] {
            harness.sendKey.key.withLock { $0 = key }
            _ = try await say("which key sends?", room, harness)
            let last = try #require(try await harness.backend.messages(in: room, before: .max, limit: 1).messages.last)
            #expect(last.text.hasPrefix("Press `\(key == .return ? "Return" : "Ctrl+Return")` to send."))
        }
    }

    @Test func ignoresDeletedMessages() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        let sent = try await harness.backend.send(Fixtures.outgoing("Is my draft safe?"), to: room)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: GuideResponder.reactionDelay)
        await harness.clock.waitForSleepers()
        try await harness.backend.delete(sent.id, in: room)
        harness.clock.advance(by: enough)
        let remark = await nextGuideMessage(&updates)
        #expect(remark?.text.contains("You deleted a message") == true)
        #expect(remark?.text.contains("Drafts are saved") == false)
    }

    @Test func repliesToTheEditedText() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        let sent = try await harness.backend.send(Fixtures.outgoing("Is my draught safe?"), to: room)
        await harness.clock.waitForSleepers()
        try await harness.backend.edit(sent.id, in: room, text: "Is my draft safe?")
        harness.clock.advance(by: enough)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: enough)
        let reply = await nextGuideMessage(&updates)
        #expect(reply?.text.contains("Drafts are saved") == true)
        #expect(reply?.text.contains("You edited a message") == true)
    }

    @Test func removingTheGuideStopsItAndMakesTheRoomOrdinary() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        try await harness.backend.send(Fixtures.outgoing("Hello"), to: room)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: GuideResponder.reactionDelay)
        #expect(await updates.next { $0 == .typing([LocalBackend.guideID]) } != nil)
        await harness.clock.waitForSleepers()
        try await harness.backend.removeMember(LocalBackend.guideID, from: room)
        #expect(await updates.next() == .typing([]))
        guard case .members(let members) = await updates.next() else {
            Issue.record("the members were not told")
            return
        }
        #expect(members.filter(\.hasLeft).map(\.id) == [LocalBackend.guideID])
        guard case .changed(let noted) = await updates.next() else {
            Issue.record("it was not noted")
            return
        }
        #expect(noted.map(\.event?.kind) == [.removed])
        #expect(harness.clock.sleeperCount == 0)
        let sent = try await harness.backend.send(Fixtures.outgoing("Anyone?"), to: room)
        #expect(await updates.next() == .changed([sent]))
        #expect(harness.clock.sleeperCount == 0)
        #expect(await harness.summaries().first { $0.id == room }?.room.kind == .group)
        let again = try await harness.restarted()
        #expect(again.clock.sleeperCount == 0)
        #expect(try await history(room, of: again).last == "own")
    }

    @Test func leavingTheRoomStopsTheGuide() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        try await harness.backend.send(Fixtures.outgoing("Hello"), to: room)
        await harness.clock.waitForSleepers()
        try await harness.backend.leaveRoom(room)
        #expect(await updates.next { $0 == .closed } != nil)
        #expect(harness.clock.sleeperCount == 0)
    }

    @Test func staysSilentInOtherRooms() async throws {
        let harness = try await LocalBackendHarness()
        let group = try await harness.backend.createRoom(named: "Group")
        for room in [group, await harness.room(.notes)] {
            var updates = await opened(room, of: harness)
            let sent = try await harness.backend.send(Fixtures.outgoing("Hello, how do I edit?"), to: room)
            #expect(await updates.next() == .changed([sent]))
        }
        #expect(harness.clock.sleeperCount == 0)
        #expect(await harness.backend.guide.conversations.values.allSatisfy { $0.task == nil })
    }

    @Test func doesNotRepeatRemarks() async throws {
        let harness = try await LocalBackendHarness()
        let room = await harness.room(.guide)
        var updates = await opened(room, of: harness)
        let sent = try await harness.backend.send(Fixtures.outgoing("one"), to: room)
        try await harness.backend.edit(sent.id, in: room, text: "two")
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: enough)
        await harness.clock.waitForSleepers()
        harness.clock.advance(by: enough)
        _ = await nextGuideMessage(&updates)
        try await harness.backend.edit(sent.id, in: room, text: "three")
        await harness.clock.waitForSleepers()
        let task = await harness.backend.guide.conversations[room]?.task
        harness.clock.advance(by: enough)
        await task?.value
        #expect(try await history(room, of: harness).count == 5)
        #expect(await harness.backend.guide.conversations[room]?.task == nil)
    }
}
