import ChatCore
import ChatTestSupport
import Observation
import Testing

@testable import ChatViewModels

/// A user's display name, once known.
@MainActor @Observable private final class Names {
    var bo: String?
}

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct VerificationTests {
    private let service = FakeEncryptionService()
    private static let emoji = [0, 5, 63, 17, 29, 42, 8].compactMap { VerificationEmoji(index: $0) }

    private static func verification(
        _ phase: Verification.Phase, id: String = "v", isOwn: Bool = false, isIncoming: Bool = true,
        device: String = "",
        user: String = "@bo:example.org"
    ) -> Verification {
        Verification(
            id: id, user: MemberID(user), deviceName: device, isOwn: isOwn, isIncoming: isIncoming,
            phase: phase)
    }

    private func coordinator() -> EncryptionCoordinator {
        EncryptionCoordinator(service) { $0.rawValue == "@bo:example.org" ? "Bo" : $0.rawValue }
    }

    private func state(_ phase: Verification.Phase, isOwn: Bool = false, device: String = "")
        -> VerificationViewModel.State
    {
        VerificationViewModel.State(Self.verification(phase, isOwn: isOwn, device: device), name: "Bo")
    }

    // MARK: One verification

    @Test("An incoming request is accepted, compared and confirmed.")
    func acceptedAndConfirmed() async {
        let viewModel = VerificationViewModel(Self.verification(.requested), name: "Bo", service: service)
        service.set([Self.verification(.requested)])
        #expect(viewModel.state.page == .request)
        viewModel.send(.confirmMatch)
        viewModel.send(.accept)
        // A second click is ignored while the first is in progress.
        viewModel.send(.accept)
        #expect(viewModel.state.isBusy)
        await eventuallyCalled("accept v")
        viewModel.show(Self.verification(.comparing(emoji: Self.emoji, numbers: [1234, 5678, 9012])))
        #expect(viewModel.state.page == .emoji && viewModel.state.canChangeWay && !viewModel.state.isBusy)
        let text = VerificationText(.untranslated)
        #expect(text.title(viewModel.state) == "Compare the Emoji")
        viewModel.send(.showNumbers(true))
        #expect(viewModel.state.page == .numbers && text.title(viewModel.state) == "Compare the Numbers")
        viewModel.send(.confirmMatch)
        await eventuallyCalled("confirmMatch v")
        viewModel.show(Self.verification(.done))
        #expect(viewModel.state.page == .ended && viewModel.state.icon == .success)
        viewModel.send(.close)
        #expect(viewModel.state.isOver)
        // It stays listed, in case that the server rejects its signature.
        await waitUntilIdle()
        #expect(service.calls == ["accept v", "confirmMatch v"])
    }

    @Test("A mismatch can be reported while comparing only.")
    func mismatch() async {
        let viewModel = VerificationViewModel(Self.verification(.waiting), name: "Bo", service: service)
        viewModel.send(.reportMismatch)
        viewModel.send(.accept)
        await waitUntilIdle()
        #expect(service.calls.isEmpty)
        viewModel.show(Self.verification(.comparing(emoji: [], numbers: [1, 2, 3])))
        #expect(viewModel.state.page == .numbers && !viewModel.state.canChangeWay)
        let text = VerificationText(.untranslated)
        #expect(text.title(viewModel.state) == "Compare the Numbers")
        #expect(text.announcement(viewModel.state).hasPrefix("Compare the Numbers\n"))
        viewModel.send(.reportMismatch)
        await eventuallyCalled("reportMismatch v")
        viewModel.show(Self.verification(.canceled(.mismatch)))
        #expect(viewModel.state.icon == .failure)
    }

    @Test(
        "Closing a running verification cancels it on the other side.",
        arguments: [
            Verification.Phase.requested, .waiting, .preparing, .comparing(emoji: [], numbers: [1, 2, 3]), .confirming,
        ])
    func closingCancels(phase: Verification.Phase) async {
        let over = Recorder<String>()
        let viewModel = VerificationViewModel(Self.verification(phase), name: "Bo", service: service) {
            over.record($0.state.verification.id)
        }
        viewModel.send(.close)
        viewModel.send(.close)
        #expect(viewModel.state.isOver)
        await eventually { over.values == ["v"] }
        #expect(service.calls == ["cancel v", "dismiss v"])
    }

    @Test("A failed response can be repeated, unless the phase has changed.")
    func failure() async {
        service.fail("accept", with: .unreachable, .unreachable)
        let viewModel = VerificationViewModel(Self.verification(.requested), name: "Bo", service: service)
        viewModel.send(.accept)
        await eventually { viewModel.state.error == .unreachable }
        #expect(!viewModel.state.isBusy)
        viewModel.send(.accept)
        #expect(viewModel.state.error == nil)
        viewModel.show(Self.verification(.canceled(.there)))
        await waitUntilIdle()
        #expect(viewModel.state.error == nil)
    }

    // MARK: Several

    @Test("One verification at a time is shown; the next follows when the user closes it.")
    func oneAtATime() async {
        let (encryption, queue) = (coordinator(), VerificationQueue())
        queue.follow(encryption, of: "@ann:example.org")
        service.set([Self.verification(.requested, id: "1"), Self.verification(.requested, id: "2")])
        await eventually { queue.current?.state.verification.id == "1" }
        #expect(queue.current?.state.name == "Bo")
        queue.current?.send(.accept)
        await eventually { queue.current?.state.verification.phase == .preparing }
        #expect(queue.current?.state.verification.id == "1")
        queue.current?.send(.close)
        await eventually { queue.current?.state.verification.id == "2" }
        #expect(service.calls == ["accept 1", "cancel 1", "dismiss 1"])
        queue.current?.send(.close)
        await eventually { queue.current == nil }
    }

    @Test("A request of the same account waits until the displayed verification is closed, even if that waits.")
    func requestOfSameAccount() async {
        let (encryption, queue) = (coordinator(), VerificationQueue())
        queue.follow(encryption, of: "@ann:example.org")
        service.set([
            Self.verification(.waiting, id: "1", isIncoming: false), Self.verification(.requested, id: "2"),
        ])
        await eventually { queue.current?.state.verification.id == "1" }
        await waitUntilIdle()
        #expect(queue.current?.state.verification.id == "1" && queue.current?.state.isSetAside == false)
        queue.current?.send(.close)
        await eventually { queue.current?.state.verification.id == "2" }
    }

    @Test("Two accounts verify each other: the one is displayed that needs the user, while the other waits for it.")
    func accountsVerifyEachOther() async {
        let other = FakeEncryptionService()
        let queue = VerificationQueue()
        queue.follow(coordinator(), of: "@ann:example.org")
        queue.follow(EncryptionCoordinator(other) { $0.rawValue }, of: "@bo:example.org")
        let comparing = Verification.Phase.comparing(emoji: Self.emoji, numbers: [1, 2, 3])
        // In a room, both know it by the ID of the same event.
        service.set([Self.verification(.waiting, isIncoming: false)])
        await eventually { queue.current?.state.verification.phase == .waiting }
        let asking = queue.current
        #expect(!queue.isOtherPresented)
        asking?.isPresented = true
        other.set([Self.verification(.requested, user: "@ann:example.org")])
        await eventually { queue.current?.state.page == .request }
        let asked = queue.current
        #expect(asking?.state.isSetAside == true && asked?.state.isSetAside == false)
        #expect(queue.isOtherPresented, "its dialog closes first")
        asking?.isPresented = false
        asked?.send(.accept)
        await eventually { asked?.state.verification.phase == .preparing }
        #expect(queue.current === asked)
        other.set([Self.verification(comparing, user: "@ann:example.org")])
        await eventually { asked?.state.isComparing == true }
        service.set([Self.verification(comparing, isIncoming: false)])
        await eventually { asking?.state.isComparing == true }
        #expect(queue.current === asked, "it needs the user as well")
        asked?.send(.confirmMatch)
        await eventually { queue.current === asking }
        #expect(asking?.state.isSetAside == false && asked?.state.isSetAside == true)
        asking?.send(.confirmMatch)
        await eventually { asking?.state.verification.phase == .confirming }
        service.set([Self.verification(.done, isIncoming: false)])
        other.set([Self.verification(.done, user: "@ann:example.org")])
        await eventually { asking?.state.verification.phase == .done && asked?.state.verification.phase == .done }
        #expect(queue.current === asking)
        asking?.send(.close)
        await eventually { queue.current === asked }
        #expect(asked?.state.isSetAside == false)
        asked?.send(.close)
        await eventually { queue.current == nil }
        #expect(service.calls == ["confirmMatch v"] && other.calls == ["accept v", "confirmMatch v"])
    }

    @Test("A verification that was set aside ends with its account, and is displayed again after the other.")
    func setAsideEnds() async {
        let other = FakeEncryptionService()
        let queue = VerificationQueue()
        queue.follow(coordinator(), of: "@ann:example.org")
        queue.follow(EncryptionCoordinator(other) { $0.rawValue }, of: "@bo:example.org")
        service.set([Self.verification(.waiting, id: "1", isIncoming: false)])
        await eventually { queue.current?.state.verification.id == "1" }
        let first = queue.current
        // Anyone else's request waits.
        other.set([Self.verification(.requested, id: "3", user: "@cy:example.org")])
        service.set([Self.verification(.waiting, id: "1", isIncoming: false, device: "Phone")])
        await eventually { first?.state.verification.deviceName == "Phone" }
        #expect(queue.current === first)
        other.set([Self.verification(.requested, id: "2", user: "@ann:example.org")])
        await eventually { queue.current?.state.verification.id == "2" }
        // The user learns of its end later.
        service.set([Self.verification(.canceled(.timeout), id: "1", isIncoming: false)])
        await eventually { first?.state.page == .ended }
        #expect(queue.current?.state.verification.id == "2")
        queue.current?.send(.close)
        await eventually { queue.current === first }
        #expect(first?.state.isSetAside == false)
        queue.forget("@ann:example.org")
        #expect(first?.state.isOver == true && queue.current == nil)
    }

    @Test(
        "A verification that was closed as done is shown again if it is canceled later, once.",
        arguments: [Verification.Cancellation.signatureRejected, .there, .failed])
    func revokedSuccess(cancellation: Verification.Cancellation) async {
        let (encryption, queue) = (coordinator(), VerificationQueue())
        queue.follow(encryption, of: "@ann:example.org")
        service.set([Self.verification(.requested)])
        await eventually { queue.current != nil }
        service.set([Self.verification(.done)])
        await eventually { queue.current?.state.verification.phase == .done }
        queue.current?.send(.close)
        await eventually { queue.current == nil }
        service.set([Self.verification(.done), Self.verification(.canceled(.there), id: "other")])
        await eventuallyCalled("dismiss other")
        #expect(queue.current == nil)
        service.set([Self.verification(.canceled(cancellation))])
        await eventually { queue.current?.state.verification.phase == .canceled(cancellation) }
        #expect(queue.current?.state.page == .ended)
        queue.current?.send(.close)
        await eventually { queue.current == nil }
        await eventuallyCalled("dismiss v")
        #expect(service.calls == ["dismiss other", "dismiss v"])
    }

    @Test("A success that is undone while its dialog closes is shown again, too.")
    func revokedWhileClosing() async {
        let (encryption, queue) = (coordinator(), VerificationQueue())
        queue.follow(encryption, of: "@ann:example.org")
        service.set([Self.verification(.requested)])
        await eventually { queue.current != nil }
        service.set([Self.verification(.done)])
        await eventually { queue.current?.state.verification.phase == .done }
        let closing = queue.current
        closing?.send(.close)
        closing?.show(Self.verification(.canceled(.there)))
        #expect(closing?.state.verification.phase == .done)
        service.set([Self.verification(.canceled(.there))])
        await eventually { queue.current !== closing && queue.current?.state.page == .ended }
        #expect(queue.current?.state.verification.phase == .canceled(.there))
    }

    @Test("The other user's name is shown once it is known.")
    func lateName() async {
        let names = Names()
        let (encryption, queue) = (EncryptionCoordinator(service) { _ in names.bo }, VerificationQueue())
        queue.follow(encryption, of: "@ann:example.org")
        service.set([Self.verification(.requested)])
        await eventually { queue.current?.state.name == "@bo:example.org" }
        names.bo = "Bo"
        await eventually { queue.current?.state.name == "Bo" }
        // The room is closed, so the name is unknown again.
        names.bo = nil
        await waitUntilIdle()
        #expect(queue.current?.state.name == "Bo")
    }

    @Test("A verification that ends before it is shown is skipped; one that ends while shown stays.")
    func endedBeforeShown() async {
        let (encryption, queue) = (coordinator(), VerificationQueue())
        queue.follow(encryption, of: "@ann:example.org")
        service.set([Self.verification(.canceled(.answeredElsewhere), id: "1")])
        await eventuallyCalled("dismiss 1")
        #expect(queue.current == nil)
        service.set([Self.verification(.requested, id: "2")])
        await eventually { queue.current != nil }
        service.set([Self.verification(.canceled(.timeout), id: "2")])
        await eventually { queue.current?.state.verification.phase == .canceled(.timeout) }
        // The service removes the verification: the dialog closes.
        let shown = queue.current
        service.set([Verification]())
        await eventually { queue.current == nil }
        #expect(shown?.state.isOver == true)
    }

    @Test("Verifications of a removed account are no longer shown; others are.")
    func accountGoes() async {
        let other = FakeEncryptionService()
        let (first, second) = (coordinator(), EncryptionCoordinator(other) { $0.rawValue })
        let queue = VerificationQueue()
        queue.follow(first, of: "@ann:example.org")
        queue.follow(second, of: "@cy:example.org")
        service.set([Self.verification(.requested, id: "1")])
        await eventually { queue.current?.state.verification.id == "1" }
        other.set([Self.verification(.requested, id: "2")])
        await waitUntilIdle()
        #expect(queue.current?.state.verification.id == "1")
        queue.forget("@ann:example.org")
        await eventually { queue.current?.state.verification.id == "2" }
    }

    // MARK: Texts

    @Test("Every phase has a title and an explanation, different for devices and users.")
    func texts() {
        let text = VerificationText(.untranslated)
        let cancellations: [Verification.Cancellation] = [
            .here, .there, .timeout, .mismatch, .answeredElsewhere, .unsupported, .unconfirmedHere, .unconfirmedThere,
            .keyMissing, .failed, .undeliverable, .signatureRejected,
        ]
        let phases: [Verification.Phase] =
            [
                .requested, .waiting, .preparing, .comparing(emoji: Self.emoji, numbers: [1, 2, 3]), .confirming, .done,
            ] + cancellations.map { .canceled($0) }
        for isOwn in [false, true] {
            let explanations = phases.map { text.explanation(state($0, isOwn: isOwn)) }
            #expect(Set(explanations).count == phases.count)
            for phase in phases { #expect(!text.title(state(phase, isOwn: isOwn)).isEmpty) }
        }
        #expect(text.explanation(state(.requested, isOwn: true, device: "Laptop")).contains("“Laptop”"))
        #expect(text.title(state(.requested)) == "Bo Wants to Verify You")
        #expect(text.windowTitle(state(.requested)) == "Verify Bo")
    }

    @Test("The other side is named by its ID as well: anyone can choose a name, and devices have the same.")
    func identifiers() {
        let text = VerificationText(.untranslated)
        #expect(text.identifier(state(.requested)) == "@bo:example.org")
        #expect(text.announcement(state(.requested)).hasPrefix("Bo Wants to Verify You\n@bo:example.org\nYou will "))
        var own = state(.requested, isOwn: true, device: "Parlance")
        #expect(text.identifier(own).isEmpty)
        #expect(text.announcement(own).hasPrefix("Confirm Another Device?\nOnly accept "))
        own.verification.device = "ABCDEFGH"
        #expect(text.identifier(own) == "Device ID: ABCDEFGH")
    }

    @Test("A verification whose message is not sent yet says so, unless it has ended or the user has to compare.")
    func unsent() {
        let text = VerificationText(.untranslated)
        func texts(_ phase: Verification.Phase, isUnsent: Bool) -> [String] {
            var state = state(phase)
            state.verification.isUnsent = isUnsent
            return [text.title(state), text.explanation(state)]
        }
        for phase in [Verification.Phase.waiting, .preparing, .confirming] {
            #expect(
                texts(phase, isUnsent: true) == [
                    "Waiting for the Server",
                    "The server cannot be reached. The verification goes on as soon as it can.",
                ])
        }
        let others: [Verification.Phase] = [
            .requested, .comparing(emoji: Self.emoji, numbers: [1, 2, 3]), .done, .canceled(.there),
        ]
        for phase in others { #expect(texts(phase, isUnsent: true) == texts(phase, isUnsent: false)) }
    }

    @Test("A signature that the server rejects is a failure, though the person stays verified on this device.")
    func rejectedSignature() {
        let text = VerificationText(.untranslated)
        for isOwn in [false, true] {
            let state = state(.canceled(.signatureRejected), isOwn: isOwn)
            #expect(state.icon == .failure && state.page == .ended)
            #expect(text.title(state) == (isOwn ? "Verification Canceled" : "Verified Only on This Device"))
        }
    }

    @Test("Emoji are read as words, and numbers one by one.")
    func accessibleTexts() {
        let text = VerificationText(.untranslated)
        #expect(text.accessibleText(Self.emoji) == "Dog, Pig, Pin, Cactus, Heart, Book, Panda")
        #expect(text.accessibleText([1234, 5678, 9012]) == "1234, 5678, 9012")
    }

    @Test("The translated emoji names are those of the specification.")
    func emojiNames() {
        for index in 0..<64 {
            let emoji = VerificationEmoji(index: index)
            #expect(emoji?.name(.untranslated) == VerificationEmoji.all[index].name)
        }
        #expect(VerificationEmoji(index: 64) == nil)
    }

    /// Waits for a call. Calls are not observable, and the tasks that make them run on the main actor.
    private func eventuallyCalled(_ call: String) async {
        for _ in 0..<10_000 where !service.calls.contains(call) { await Task.yield() }
        #expect(service.calls.contains(call))
    }
}
