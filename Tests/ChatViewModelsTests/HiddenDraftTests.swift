import ChatCore
import ChatTestSupport
import Composer
import ComposerSessions
import Foundation
import Testing

@testable import ChatViewModels

/// The draft of a room to which no messages can be sent, and its move to the room that replaced it.
@MainActor @Suite(.timeLimit(.minutes(10))) final class HiddenDraftTests: CoordinatorHarness {
    @Test("The draft of a room that accepts no messages stays readable.")
    func draftOfABlockedRoom() async {
        let conversation = await start()
        await eventually { conversation.composer.state.isReady }
        conversation.composer.handle(.insert("half", origin: .paste))
        #expect(conversation.hiddenDraft == nil, "the composer shows it")
        service.encryption = { _ in throw ChatError.unreachable }
        conversation.checkEncryption()
        await eventually { conversation.hiddenDraft == HiddenDraft(text: "half") }
        conversation.composer.handle(.clear)
        #expect(conversation.hiddenDraft == nil)
    }

    @Test("The draft of an upgraded room moves before what is written in the new one, with mentions and files.")
    func movedDraft() async {
        service.successions[a] = RoomSuccession(next: "b")
        let conversation = await start()
        let composer = conversation.composer
        composer.handle(.insert("@Ann, look", origin: .paste))
        let mention = Mention(.member("@ann:x"), text: "@Ann")
        composer.handle(.addMention(mention, over: TextRange(location: 0, length: 4)))
        composer.handle(.attach(Attachment(type: "a/b", name: "plan.pdf", bytes: 1, source: "local:1")))
        composer.send(.startReply(ReplyTarget(messageID: "m1", sender: "Bo")))
        await eventually { conversation.hiddenDraft?.canBeMoved == true }
        #expect(conversation.hiddenDraft == HiddenDraft(text: "@Ann, look", files: ["plan.pdf"], canBeMoved: true))
        let other = await open(b)
        type("@Ann, look there", in: other)
        // A second click does nothing.
        async let (first, second) = (conversation.moveDraft(), conversation.moveDraft())
        #expect(await [first, second].compactMap(\.self) == ["b"])
        await eventually { other.composer.draftText == "@Ann, look\n@Ann, look there" && composer.draftText.isEmpty }
        let draft = other.composer.movableDrafts.first
        #expect(
            draft?.content.written.marks == [
                .init(.mention(.member("@ann:x")), over: TextRange(location: 0, length: 4))
            ])
        #expect(draft?.content.attachments.map(\.source) == ["local:1"])
        #expect(other.composer.composer.reply == nil, "the message is in the former room")
        await eventually { composer.composer.attachments.isEmpty && composer.composer.reply == nil }
        #expect(conversation.hiddenDraft == nil)
        await eventually { [self] in service.drafts[b]?.preview.hasPrefix("@Ann") == true && service.drafts[a] == nil }
    }

    @Test("A user who opens another room while the draft is moved stays there.")
    func anotherRoomDuringTheMove() async {
        service.successions[a] = RoomSuccession(next: "b")
        let conversation = await start()
        let c = RoomID("c")
        await show(["a", "b", "c"])
        conversation.composer.handle(.insert("half", origin: .paste))
        await eventually { conversation.hiddenDraft?.canBeMoved == true }
        let gate = Gate()
        service.before = { [b] call in if call == .draft(b) { await gate.pass() } }
        let moving = Task { await conversation.moveDraft() }
        await eventually { gate.waiting == 1 }
        coordinator.rooms.send(.select(c))
        #expect(coordinator.conversation?.roomID == c)
        gate.open()
        #expect(await moving.value == nil)
        await eventually { [self] in
            service.drafts[b]?.preview.hasPrefix("half") == true && conversation.composer.draftText.isEmpty
        }
    }

    @Test("A draft that the new room cannot store stays in both, and a file alone is shown, too.")
    func draftThatCannotBeMoved() async {
        service.successions[a] = RoomSuccession(next: "b")
        let conversation = await start()
        let composer = conversation.composer
        composer.handle(.attach(Attachment(type: "a/b", name: "plan.pdf", bytes: 1, source: "local:1")))
        await eventually { conversation.hiddenDraft?.preview == "plan.pdf" }
        composer.handle(
            .attach(Attachment(type: "a/b", name: "late", bytes: 1, source: "incoming:", upload: .running(0))))
        #expect(conversation.hiddenDraft?.canBeMoved == false, "it is still copied")
        composer.handle(.detach(1))
        #expect(conversation.hiddenDraft?.canBeMoved == true)
        composer.handle(.attach(Attachment(type: "a/b", name: "gone", bytes: 1, source: "incoming:", upload: .failed)))
        #expect(conversation.hiddenDraft?.canBeMoved == true, "the other room offers to retry")
        composer.handle(.detach(1))
        service.before = { if case .saveDraft = $0 { throw ChatError.storage(reason: "full") } }
        #expect(await conversation.moveDraft() == "b")
        #expect(await conversation.moveDraft() == "b", "it is not added once more")
        #expect(composer.composer.attachments.map(\.name) == ["plan.pdf"])
        let other = await open(b)
        #expect(other.composer.composer.attachments.map(\.name) == ["plan.pdf"])
    }

    @Test("What an edit has set aside is shown and moved, after the text of the edit; a copy of its file is known.")
    func movedEdit() async {
        service.successions[a] = RoomSuccession(next: "b")
        let conversation = await start()
        let composer = conversation.composer
        composer.handle(.insert("new", origin: .paste))
        composer.handle(.attach(Attachment(type: "a/b", name: "plan.pdf", bytes: 1, source: "s", upload: .running(0))))
        composer.send(.startEdit(MessageID("m1"), WrittenText("old words")))
        #expect(composer.isCopyingFiles && composer.composer.attachments.isEmpty)
        await eventually { conversation.hiddenDraft?.files == ["plan.pdf"] }
        #expect(conversation.hiddenDraft?.canBeMoved == false)
        composer.handle(
            .updateAttachment(source: "s", Attachment(type: "a/b", name: "plan.pdf", bytes: 1, source: "local:1")))
        #expect(!composer.isCopyingFiles)
        await eventually { conversation.hiddenDraft?.canBeMoved == true }
        #expect(await conversation.moveDraft() == "b")
        let other = await open(b)
        #expect(other.composer.document.text == "old words\nnew")
        #expect(other.composer.composer.attachments.map(\.source) == ["local:1"])
        await eventually { conversation.hiddenDraft == nil }
    }

    @Test("A message that could not be queued stays when the edit that waits beside it is moved.")
    func failedMessageStays() async throws {
        var engine = ComposerEngine()
        _ = engine.handle(.insert("failed", origin: .paste), at: .zero)
        let sent = engine.handle(.send, at: .zero).compactMap { effect -> String? in
            if case .send(let message) = effect { message.id } else { nil }
        }
        _ = engine.handle(.startEdit(id: "m1", WrittenText("old words")), at: .zero)
        _ = engine.handle(.sendFailed(try #require(sent.first)), at: .zero)
        service.drafts[a] = SavedDraft(data: try engine.makeDraft().encoded(), preview: "")
        service.successions[a] = RoomSuccession(next: "b")
        let conversation = await start()
        let composer = conversation.composer
        await eventually { conversation.hiddenDraft?.canBeMoved == true }
        #expect(await conversation.moveDraft() == "b")
        let other = await open(b)
        #expect(other.composer.document.text == "old words")
        await eventually { composer.draftText == "failed" }
    }
}
