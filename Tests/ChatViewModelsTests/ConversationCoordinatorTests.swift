import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

@MainActor @Suite(.timeLimit(.minutes(10))) final class ConversationCoordinatorTests: CoordinatorHarness {
    // MARK: Encryption

    @Test("A room whose encryption state cannot be read accepts no messages until it can")
    func unknownEncryptionBlocksMessages() async {
        service.encryption = { _ in throw ChatError.storage(reason: "unreadable") }
        let conversation = await start()
        await eventually { !conversation.acceptsMessages }
        #expect(!conversation.isEncrypted, "that is not known either")
        #expect(conversation.sendingNotice(.untranslated)?.contains("once the server confirms") == true)
        #expect(coordinator.toasts == [.failed(ChatError.storage(reason: "unreadable"))])
        service.encryption = { _ in false }
        await open(b)
        let again = await open(a)
        await eventually { again.acceptsMessages }
    }

    @Test("Unknown encryption of a room is requested again once the server can be reached")
    func unknownEncryptionIsCheckedAgainOnline() async {
        service.encryption = { _ in throw ChatError.unreachable }
        let conversation = await start()
        await eventually { !conversation.acceptsMessages }
        service.encryption = { _ in false }
        coordinator.environment.session.isOnline = true
        await eventually { conversation.acceptsMessages }
        #expect(conversation.sendingNotice(.untranslated) == nil)
    }

    @Test("An older check of the encryption that fails late does not replace what a newer one has found")
    func lateFailureOfAnOlderCheck() async {
        let conversation = await start()
        let gate = Gate()
        service.encryption = { _ in
            await gate.pass()
            throw ChatError.unreachable
        }
        conversation.checkEncryption()
        await eventually { gate.waiting == 1 }
        service.encryption = { _ in false }
        conversation.checkEncryption()
        await waitUntilIdle()
        gate.open()
        await waitUntilIdle()
        #expect(conversation.acceptsMessages && coordinator.toasts.isEmpty)
        service.encryption = { _ in throw ChatError.unreachable }
        conversation.checkEncryption()
        await eventually { !conversation.acceptsMessages }
        #expect(coordinator.toasts == [.failed(ChatError.unreachable)], "the newest check counts")
    }

    @Test("That a room is encrypted counts from an older check, too, and stays")
    func encryptionFoundByAnOlderCheck() async {
        let conversation = await start()
        let gate = Gate()
        service.encryption = { _ in
            await gate.pass()
            return true
        }
        conversation.checkEncryption()
        await eventually { gate.waiting == 1 }
        let failing = Gate()
        service.encryption = { _ in
            await failing.pass()
            throw ChatError.unreachable
        }
        conversation.checkEncryption()
        await eventually { failing.waiting == 1 }
        gate.open()
        await eventually { conversation.isEncrypted }
        failing.open()
        await waitUntilIdle()
        #expect(conversation.isEncrypted)
    }

    @Test("An encrypted room accepts messages unless the account's keys are off, and then shows the reason")
    func encryptedRoom() async {
        service.encryption = { [a] in $0 == a }
        let conversation = await start()
        await eventually { conversation.isEncrypted }
        #expect(conversation.acceptsMessages && conversation.sendingNotice(.untranslated) == nil)
        let problems: [EncryptionCondition.Problem] = [
            .locked(.locked), .credentialLost, .missing, .damaged(reason: "x"), .replaced, .noDevice,
            .storage(reason: "x"), .notBuilt,
        ]
        for problem in problems {
            coordinator.environment.session.encryption = .off(problem)
            #expect(!conversation.acceptsMessages)
            #expect(conversation.sendingNotice(.untranslated)?.isEmpty == false)
        }
        coordinator.environment.session.encryption = .on
        #expect(conversation.acceptsMessages && conversation.sendingNotice(.untranslated) == nil)
        service.encryption = { _ in false }
        coordinator.environment.session.encryption = .off(.notBuilt)
        let other = await open(b)
        await eventually { other.acceptsMessages }
    }

    @Test("With a keyring that was locked at the start, an encrypted room says so, until the keys are opened")
    func lockedKeyring() async {
        service.encryption = { _ in true }
        let conversation = await start()
        await eventually { conversation.isEncrypted }
        let account = Account(id: "@ann:example.org", kind: "matrix", server: "https://x", device: "D", name: "Ann")
        let session = coordinator.environment.session
        session.apply(AccountState(account: account, condition: .locked(.locked)))
        #expect(!conversation.acceptsMessages)
        #expect(
            conversation.sendingNotice(.untranslated)
                == "Unlock the keyring to send messages in this encrypted room.")
        session.apply(AccountState(account: account, condition: .online, encryption: .on))
        #expect(conversation.acceptsMessages && conversation.sendingNotice(.untranslated) == nil)
        // Keys that were opened before stay so.
        session.apply(AccountState(account: account, condition: .locked(.locked), encryption: .on))
        #expect(conversation.acceptsMessages)
    }

    // MARK: Permissions

    @Test("Without permission to send messages a room says so and keeps the draft, until its levels change")
    func permissionChanges() async throws {
        service.headlines[a] = RoomHeadline(forbiddenMessages: [.unencrypted, .encrypted])
        let conversation = await start()
        conversation.composer.handle(.insert("half", origin: .paste))
        await eventually { conversation.hiddenDraft == HiddenDraft(text: "half") }
        let reason = "You do not have permission to send messages in this room."
        #expect(!conversation.acceptsMessages && conversation.sendingNotice(.untranslated) == reason)
        await eventually { self.messages(in: conversation).map(\.canReply) == [false, false] }
        #expect(messages(in: conversation).map(\.canEdit) == [false, false])
        // A sync brings the event that permits it.
        service.headlines[a] = RoomHeadline()
        var event = own("m3", in: "a")
        event.kind = .event
        event.event = RoomEvent(.permissionsSet)
        service.publish(.changed([event]), in: a)
        await eventually { conversation.acceptsMessages }
        #expect(conversation.sendingNotice(.untranslated) == nil && conversation.hiddenDraft == nil)
        #expect(conversation.composer.document.text == "half")
        // A sync leaves out the event that forbids it.
        service.headlines[a] = RoomHeadline(forbiddenMessages: [.unencrypted, .encrypted])
        service.publish(try #require(service.openings[a]), in: a)
        await eventually { !conversation.acceptsMessages }
        service.successions[a] = RoomSuccession(next: "b")
        conversation.refresh()
        await eventually { conversation.succession.next == "b" }
        #expect(conversation.sendingNotice(.untranslated) == nil, "the link to the new room is shown")
    }

    @Test("An encrypted room needs the permission to send encrypted messages, and others that for unencrypted ones")
    func permissionByEncryption() async {
        service.headlines[a] = RoomHeadline(forbiddenMessages: .unencrypted)
        let conversation = await start()
        await eventually { !conversation.acceptsMessages }
        conversation.noteEncrypted()
        #expect(conversation.acceptsMessages)
        service.headlines[a] = RoomHeadline(forbiddenMessages: .encrypted)
        conversation.refresh()
        await eventually { !conversation.acceptsMessages }
        #expect(conversation.sendingNotice(.untranslated)?.contains("permission") == true)
        service.headlines[b] = RoomHeadline(forbiddenMessages: .encrypted)
        service.encryption = { _ in throw ChatError.unreachable }
        let other = await open(b)
        await eventually { !other.acceptsMessages }
        #expect(other.sendingNotice(.untranslated)?.contains("once the server confirms") == true)
        service.encryption = { _ in false }
        other.refresh()
        await eventually { other.acceptsMessages }
    }

    private func messages(in conversation: Conversation) -> [MessageItem] {
        conversation.timeline.items.compactMap(\.message)
    }

    @Test("While a room accepts no messages, no reply or edit changes the draft in its hidden composer")
    func hiddenComposerIsLeftAlone() async {
        service.encryption = { _ in true }
        let conversation = await start()
        await eventually { conversation.isEncrypted }
        #expect(messages(in: conversation).map(\.canReply) == [true, true])
        coordinator.environment.session.encryption = .off(.missing)
        await eventually { self.messages(in: conversation).map(\.canReply) == [false, false] }
        #expect(messages(in: conversation).map(\.canEdit) == [false, false])
        #expect(messages(in: conversation).allSatisfy { $0.canDelete && $0.canCopy && $0.canForward })
        conversation.timeline.send(.message(MessageID("m1"), .reply))
        conversation.timeline.send(.message(MessageID("m1"), .edit))
        conversation.timeline.send(.composer(.editLast))
        await waitUntilIdle()
        #expect(conversation.composer.state.composer.reply == nil)
        #expect(conversation.composer.state.composer.editing == nil)
        coordinator.environment.session.encryption = .on
        await eventually { self.messages(in: conversation).map(\.canEdit) == [true, true] }
        conversation.timeline.send(.message(MessageID("m1"), .reply))
        await eventually { conversation.composer.state.composer.reply?.messageID == "m1" }
    }

    @Test("Forwarding from an encrypted room into one that is or may be unencrypted requires confirmation")
    func encryptedMessagesAreForwardedAfterAQuestion() async throws {
        let file = MediaReference(uri: "sealed", name: "a.bin", type: "application/octet-stream")
        service.known = { [a] in
            guard $0 == MessageID("m1") else { return nil }
            var message = Fixtures.message(1, in: a.rawValue, text: "secret")
            message.attachments = [file]
            return message
        }
        service.encryption = { [a] in $0 == a }
        let conversation = await start()
        await eventually { conversation.isEncrypted }
        let forwarder = coordinator.forwarder(of: conversation)
        let sent = Recorder<WrittenMessage>()
        service.onSend = { sent.record($0) }
        service.encryption = { _ in throw ChatError.unreachable }
        forwarder.forward([MessageID("m1")], to: b)
        await eventually { self.coordinator.toasts.contains(.failed(.unreachable)) }
        service.encryption = { [a] in $0 == a }
        forwarder.forward([MessageID("m1")], to: b)
        let asked = { () -> UnencryptedForwarding? in
            for entry in self.coordinator.requests.state.pending {
                if case .confirmForwarding(let forwarding) = entry.request { return forwarding }
            }
            return nil
        }
        await eventually { asked() != nil }
        let forwarding = try #require(asked())
        #expect(forwarding.confirmation(.untranslated).body.contains("“Room b” is not encrypted"))
        #expect(sent.values.isEmpty && !service.calls.contains(.decrypt("sealed")))
        // Also if the room was closed before the confirmation.
        await open(b)
        coordinator.forwarder(from: forwarding.source, reportingTo: coordinator.requests).forward(forwarding)
        await eventually { sent.values.count == 1 }
        #expect(sent.values.first?.text.source == "secret" && sent.values.first?.files.map(\.uri) == ["copy of sealed"])
        await eventually { self.coordinator.toasts.contains(.message("Forwarded to Room b")) }
        // Forwarding to another encrypted room needs neither confirmation nor decryption.
        service.encryption = { _ in true }
        forwarder.forward([MessageID("m1")], to: b)
        await eventually { sent.values.count == 2 }
        #expect(sent.values.last?.files.map(\.uri) == ["sealed"])
    }

    @Test("Several messages are forwarded in one step, in timeline order, so that none is without the others")
    func severalMessagesAreForwardedTogether() async throws {
        service.known = { [a] id in
            let place = Int64(id.rawValue.dropFirst())
            return place.map { Fixtures.message($0, in: a.rawValue, text: "text \($0)") }
        }
        let conversation = await start()
        coordinator.forwarder(of: conversation).forward([MessageID("m2"), MessageID("m1")], to: b)
        await eventually { self.coordinator.toasts.contains(.message("Forwarded to Room b")) }
        #expect(service.batches == [["text 1", "text 2"]])
    }

    @Test("Nothing is forwarded to a room in which the user may not send messages, or which was upgraded")
    func forwardingToAReadOnlyRoom() async throws {
        service.known = { [a] _ in Fixtures.message(1, in: a.rawValue, text: "text") }
        let forwarder = coordinator.forwarder(of: await start())
        service.headlines[b] = RoomHeadline(forbiddenMessages: .unencrypted)
        let reason = "You do not have permission to send messages in this room."
        #expect(await forwarder.obstacle(in: b) == reason)
        forwarder.forward([MessageID("m1")], to: b)
        await eventually { self.coordinator.toasts.contains(.message(reason)) }
        service.successions[b] = RoomSuccession(next: "c")
        let upgraded = "This room was upgraded and is no longer active."
        #expect(await forwarder.obstacle(in: b) == upgraded)
        forwarder.forward([MessageID("m1")], to: b)
        await eventually { self.coordinator.toasts.contains(.message(upgraded)) }
        #expect(service.batches.isEmpty)
        // What is not known is left to the server.
        service.successions[b] = nil
        service.encryption = { _ in throw ChatError.unreachable }
        #expect(await forwarder.obstacle(in: b) == nil)
    }

    // MARK: Links

    @Test("A link to a message opens its room and scrolls to the message")
    func messageLinkOpensItsRoomAndMessage() async throws {
        let conversation = await start()
        #expect(conversation.roomID == a)
        let effects = Recorder<TimelineViewModel.Effect>()
        coordinator.open("https://matrix.to/#/b/%24m1?via=example.org")
        #expect(coordinator.conversation?.roomID == a, "no room of Matrix")
        service.publish(["a", "!b:example.org"].map { .of($0, at: localTime(2026, 3, 10)) })
        let room = RoomID("!b:example.org")
        service.openings[room] = .opened(
            TimelinePage(messages: [own("$1", in: room.rawValue), own("$2", in: room.rawValue)], hasOlder: false),
            members: [Fixtures.own, Fixtures.other], fullyReadMarker: nil)
        await eventually { [coordinator] in coordinator.rooms.state.rows.contains { $0.id == room } }
        coordinator.open("https://matrix.to/#/%21b%3Aexample.org/%241?via=example.org")
        await eventually { [coordinator] in coordinator.conversation?.roomID == room }
        coordinator.conversation?.timeline.subscribe { effects.record($0) }
        await eventually { effects.values.contains(.reveal(.message(MessageID("$1")))) }
        // A link to the open room works as well.
        coordinator.open("matrix:roomid/b:example.org/e/2")
        await eventually { effects.values.contains(.reveal(.message(MessageID("$2")))) }
    }

    @Test("A room that is joined late opens only if no other one was opened meanwhile", arguments: [true, false])
    func lateJoin(_ isOtherOpened: Bool) async {
        _ = await start()
        service.capabilities = [.join]
        let gate = Gate()
        service.joining = { _ in
            await gate.pass()
            return RoomID("c")
        }
        coordinator.open("#c:example.org")
        await eventually { gate.waiting == 1 }
        if isOtherOpened { await open(b) }
        gate.open()
        await waitUntilIdle()
        await show(["a", "b", "c"])
        await waitUntilIdle()
        #expect(coordinator.rooms.state.selection == (isOtherOpened ? b : RoomID("c")))
    }

    @Test("A room that is joined by the link that started the program opens instead of the last one")
    func joinAtTheStart() async {
        service.capabilities = [.join]
        let gate = Gate()
        service.joining = { _ in
            await gate.pass()
            return RoomID("c")
        }
        coordinator.start(opening: a)
        coordinator.open("#c:example.org")
        await show(["a", "b"])
        await eventually { [coordinator, a] in coordinator.rooms.state.selection == a }
        gate.open()
        await waitUntilIdle()
        await show(["a", "b", "c"])
        await waitUntilIdle()
        #expect(coordinator.rooms.state.selection == RoomID("c"))
    }

    @Test(
        "A room that is not found is named by its address, or by what was typed",
        arguments: [
            ("#tee:example.org", "No room found with the address #tee:example.org."),
            ("https://matrix.to/#/%23tee:example.org", "No room found with the address #tee:example.org."),
            ("foo", "No room named foo."),
        ])
    func unknownAddress(address: String, text: String) async {
        _ = await start()
        service.capabilities = [.join]
        service.joining = { _ in throw ChatError.notFound }
        coordinator.open(address)
        await eventually { [coordinator] in coordinator.toasts == [.message(text)] }
    }

    @Test("Requests for a window of a hidden account are dropped")
    func requestsOfHiddenAccountsAreDropped() async {
        let requests = WindowRequests()
        requests.show(.message("before the first window"))
        requests.send(.windowAppeared)
        #expect(requests.state.pending.map(\.request) == [.show(.message("before the first window"))])
        requests.send(.handled(through: requests.state.pending[0].id))
        requests.show(.message("while hidden"))
        requests.send(.windowAppeared)
        #expect(requests.state.pending.isEmpty)
        requests.show(.message("one"))
        let first = requests.state.pending[0].id
        requests.show(.message("two"))
        requests.send(.handled(through: first))
        #expect(requests.state.pending.map(\.request) == [.show(.message("two"))])
    }

    // MARK: Rooms

    @Test("A window waits for the rooms, the messages and the draft")
    func waitingLoadsRoomsMessagesAndDraft() async {
        coordinator.start(opening: a)
        let settling = Task { await coordinator.waitUntilIdle(within: .seconds(1)) }
        service.publish(["a", "b"].map { .of($0, at: localTime(2026, 3, 10)) })
        await settling.value
        #expect(coordinator.conversation?.roomID == a)
        #expect(coordinator.conversation?.timeline.state.isLoaded == true)
        #expect(coordinator.conversation?.composer.state.isReady == true)
    }

    @Test("A failure before the first window is shown in it")
    func failuresBeforeTheFirstWindowAreShownLater() async {
        let quiet = ConversationCoordinator(service: service, time: Timekeeper(clock))
        service.before = { call in if case .draft = call { throw ChatError.notFound } }
        quiet.start(opening: a)
        let settling = Task { await quiet.waitUntilIdle(within: .seconds(1)) }
        service.publish([.of("a", at: localTime(2026, 3, 10))])
        await settling.value
        quiet.requests.send(.windowAppeared)
        let pending = quiet.requests.state.pending
        #expect(pending.map(\.request) == [.show(.failed(.notFound))])
        quiet.requests.send(.handled(through: pending[0].id))
        #expect(quiet.requests.state.pending.isEmpty)
    }

    @Test("Waiting for an unresponsive store ends after the limit")
    func waitingEndsAfterItsLimit() async {
        coordinator.start(opening: a)
        let settling = Task { await coordinator.waitUntilIdle(within: .seconds(1)) }
        await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        await settling.value
        #expect(!coordinator.rooms.state.isLoaded)
    }

    @Test func opensTheLastOpenRoom() async {
        coordinator.start(opening: b)
        await show(["a", "b"])
        #expect(coordinator.conversation?.roomID == b)
    }

    @Test func reselectingTheOpenRoomKeepsItsConversation() async {
        let conversation = await start()
        coordinator.rooms.send(.select(a))
        await show(["b", "a"])
        #expect(coordinator.conversation === conversation)
    }

    @Test func leavingTheOpenRoomClosesIt() async {
        let conversation = await start()
        service.before = { if $0.isSaveDraft { throw ChatError.notFound } }
        type("unsent", in: conversation)
        coordinator.rooms.send(.leave(a))
        service.publish(.closed, in: a)
        await show(["b"])
        await waitUntilIdle()
        #expect(coordinator.conversation == nil && coordinator.rooms.state.selection == nil)
        #expect(coordinator.toasts.isEmpty)
    }

    @Test func createdRoomIsOpened() async {
        _ = await start()
        coordinator.rooms.send(.create(name: "New"))
        await eventually { [service] in service.calls.contains(.create("New")) }
        await show(["New", "a", "b"])
        await eventually { [coordinator, a] in coordinator.conversation?.roomID != a }
        #expect(coordinator.conversation?.roomID == RoomID("New"))
        #expect(coordinator.rooms.state.selection == RoomID("New"))
    }

    @Test func detailsExistOnlyForListedRooms() async {
        _ = await start()
        #expect(coordinator.dialogs.details(of: b)?.state.name == "Room b")
        #expect(coordinator.dialogs.details(of: b)?.roomID == b)
        #expect(coordinator.dialogs.details(of: RoomID("none")) == nil)
    }

    @Test("A text for a draft that cannot be read yet is not added, so that adding it again adds it once")
    func textIsAddedToADraftOnce() async {
        let gate = Gate()
        service.before = { if $0.isReadDraft { await gate.pass() } }
        let adding = Task { await coordinator.addToDraft("At three", of: a) }
        await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        #expect(await adding.value == false)
        gate.open()
        #expect(await coordinator.addToDraft("At three", of: a))
        #expect(service.drafts[a]?.preview == "At three")
    }

    // MARK: Notices

    /// Failures are reported from every room; rejections only from the visible one.
    @Test func failuresAndRejectionsAreForwarded() async {
        let first = await start()
        service.before = { call in
            switch call {
            case .delete: throw ChatError.notPermitted
            case .create: throw ChatError.invalidName
            case .send: throw ChatError.diskFull
            default: break
            }
        }
        first.timeline.send(.message(MessageID("m1"), .delete))
        await eventually { [coordinator] in coordinator.toasts == [.failed(.notPermitted)] }
        coordinator.rooms.send(.create(name: ""))
        await eventually { [coordinator] in coordinator.toasts.last == .failed(.invalidName) }
        press("Return", in: first)
        #expect(coordinator.toasts.last == .rejected(.empty))
        type("one", in: first)
        press("Return", in: first)
        await open(b)
        await eventually { [coordinator] in coordinator.toasts.last == .failed(.diskFull) }
        first.composer.handle(.clear)
        first.composer.handle(.send)
        #expect(coordinator.toasts.count == 4)
    }

    // MARK: Midnight

    @Test func midnightUpdatesTheDays() async {
        wallClock.record(localTime(2026, 3, 10, 23, 50))
        let conversation = await start()
        func day() -> RelativeDay? {
            conversation.timeline.items.lazy.compactMap {
                if case .day(_, _, let day) = $0 { day } else { nil }
            }.first
        }
        await clock.waitForSleepers()
        #expect(coordinator.rooms.state.rows[0].day == .today && day() == .today)
        wallClock.record(localTime(2026, 3, 11, 0, 0, 1))
        clock.advance(by: .seconds(601))
        await eventually { [coordinator] in coordinator.rooms.state.rows[0].day == .yesterday }
        #expect(day() == .yesterday)
    }

    /// The system was suspended, or its clock was set.
    @Test func clockJumpsUpdateTheDays() async {
        let conversation = await start()
        for (date, day) in [((2026, 3, 14), RelativeDay.thisWeek), ((2026, 3, 10), .today)] {
            await clock.waitForSleepers()
            wallClock.record(localTime(date.0, date.1, date.2))
            clock.advance(by: .seconds(15 * 60))
            await eventually { [coordinator] in coordinator.rooms.state.rows[0].day == day }
        }
        #expect(conversation.timeline.state.isLoaded)
    }
}
