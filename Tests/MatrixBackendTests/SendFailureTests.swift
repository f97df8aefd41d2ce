import ChatCore
import ChatStore
import ChatTestSupport
import Composer
import Foundation
import JSONReading
import MatrixCrypto
import Synchronization
import Testing

@testable import ChatOutbox
@testable import MatrixBackend

/// What the timeline is told of why something was not sent.
@Suite(.timeLimit(.minutes(10))) struct SendFailureTests {
    private let room = RoomID("!room:example.org")

    @Test("Each reason that an encrypted room gives is one that the user is told, but for what cannot be encoded")
    func encryptedRooms() {
        let rejections: [(CryptoMachine.Rejection, SendFailure?)] = [
            (.clear, .encryptionUnknown), (.algorithm, .encryptionUnknown), (.replaced, .encryptionUnavailable),
            (.changedIdentities([ExactText("@a:b")]), .changedIdentity), (.content, nil),
        ]
        for (rejection, failure) in rejections {
            let reason = RoomSealer.reason(rejection, by: MemberID("@me:b"))
            #expect(SendFailure(reason: reason) == failure, "\(rejection)")
        }
    }

    @Test("A replaced identity of the user's own is nobody else's, and holds the message back as theirs do")
    func ownIdentity() {
        for users in [["@me:b"], ["@a:b", "@me:b"]] {
            let rejection = CryptoMachine.Rejection.changedIdentities(users.map { ExactText($0) })
            let reason = RoomSealer.reason(rejection, by: MemberID("@me:b"))
            #expect(SendFailure(reason: reason) == .ownIdentityReplaced && RoomSealer.isHeld(reason: reason))
        }
    }

    @Test("The server's answers are told by their meaning; what is no answer of a server is not shown as one")
    func answers() {
        let expected: [(String, SendFailure?)] = [
            ("403 M_FORBIDDEN", .notPermitted), ("413 M_TOO_LARGE", .tooLarge), ("414 M_TOO_LARGE", .tooLarge),
            ("404 M_NOT_FOUND", .notFound), ("400 M_BAD_JSON", .rejected(reason: "400 M_BAD_JSON")),
            ("403 M_CONSENT_NOT_GIVEN", .termsNotAccepted),
            (OutboxAction.unreadableReason, nil), ("", nil), ("no", nil),
        ]
        for (reason, failure) in expected { #expect(SendFailure(reason: reason) == failure, "\(reason)") }
        for reason in DeliveryReason.allCases {
            if case .rejected = SendFailure(reason: reason.rawValue) { Issue.record("\(reason) is not the server's") }
        }
    }

    @Test("Reasons that earlier versions have stored still have their meaning")
    func storedReasons() {
        #expect(SendFailure(reason: "the file cannot be read") == .unreadableFile)
        #expect(SendFailure(reason: "larger than an event may be") == .messageTooLong)
        #expect(SendFailure(reason: "the identity of @c:b has changed since it was verified") == .changedIdentity)
    }

    @Test("A local echo has the reason while it is not sent")
    func echo() {
        var book = LocalEchoes(unreadable: "Unreadable")
        let own = MemberID("@me:example.org")
        let request = OutboxRequest(
            id: TransactionID("t"), room: room, action: .send(WrittenMessage("Text")), queuedAt: Fixtures.date)
        var item = OutboxItem(
            request: request,
            state: .failed(reason: RoomSealer.reason(.changedIdentities([ExactText("@a:b")]), by: own)),
            isOverdue: false)
        #expect(book.update([item], in: room, by: own).changed.map(\.failure) == [.changedIdentity])
        item.state = .failed(reason: "403 M_FORBIDDEN")
        #expect(book.update([item], in: room, by: own).changed.map(\.failure) == [.notPermitted])
        item.state = .sending
        #expect(book.update([item], in: room, by: own).changed.map(\.failure) == [nil])
    }

    /// A backend that is to edit a message, and to send another one.
    private func sending(
        to server: FakeHomeserver, in folder: TemporaryFolder
    ) async throws -> (MatrixBackend, ChatStore) {
        let (backend, store) = try await server.start(in: folder)
        server.sync([
            "next_batch": "s1",
            "rooms": [
                "join": [room.rawValue: ["timeline": ["events": [Events.text("$1", "Hello", by: "@me:example.org")]]]]
            ],
        ])
        await backend.waitForRoom(room)
        try await backend.edit(MessageID("$1"), in: room, text: "edited")
        try await backend.send(WrittenMessage("next"), as: TransactionID("t"), to: room)
        return (backend, store)
    }

    @Test("Terms to be accepted, and a limit of what is uploaded, reject the request")
    func rejections() {
        for (status, code) in [(403, "M_CONSENT_NOT_GIVEN"), (400, "M_RESOURCE_LIMIT_EXCEEDED"), (403, "M_FORBIDDEN")] {
            let error = DeliveryError(.rejected(status: status, code: code, reason: ""))
            #expect(error == .rejected(reason: "\(status) \(code)"))
        }
    }

    @Test(
        "An answer that says nothing of an edit or a message has them attempted again",
        arguments: [(404, "M_UNRECOGNIZED"), (403, "M_RESOURCE_LIMIT_EXCEEDED"), (401, "M_USER_LOCKED")])
    func blocked(status: Int, code: String) async throws {
        let attempts = Mutex(0)
        let server = FakeHomeserver { request in
            guard request.url.path.contains("/send/") else { return nil }
            let attempt = attempts.withLock { attempts in
                attempts += 1
                return attempts
            }
            // The first attempt of the edit, and then of the message.
            guard attempt % 2 == 1 else { return ["event_id": .string("$\(request.url.lastPathComponent)")] }
            return ["status": .integer(Int64(status)), "errcode": .string(code)]
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await sending(to: server, in: folder)
        var last: [OutboxItem] = []
        for await items in backend.outbox.items(in: room) {
            last = items
            if items.allSatisfy({ $0.isFailed || $0.isAccepted }) { break }
            // Without the delay.
            if let state = items.first?.state, case .retrying = state { try await backend.outbox.retryAll() }
        }
        #expect(last.map(\.state) == [.accepted(MessageID("$t"))])
        #expect(server.paths.filter { $0.contains("/send/") }.count == 4)
        await backend.close()
        await store.close()
    }

    @Test("A message and an edit that the server rejects say why in the timeline")
    func rejected() async throws {
        let server = FakeHomeserver { request in
            request.url.path.contains("/send/") ? ["status": 403, "errcode": "M_FORBIDDEN"] : nil
        }
        let folder = TemporaryFolder()
        let (backend, store) = try await sending(to: server, in: folder)
        let shown = await backend.displayed(in: room) { messages in
            messages.contains { $0.delivery == .failed } && messages.contains { $0.pendingChange?.isRejected == true }
        }
        #expect(shown.map(\.failure) == [nil, .notPermitted])
        #expect(shown.map(\.pendingChange?.failure) == [.notPermitted, nil])
        await backend.close()
        await store.close()
    }
}
