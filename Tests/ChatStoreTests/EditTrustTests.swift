import ChatCore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatStore

/// A message is only as certain as the least certain of its versions: otherwise an edit whose key proves nothing could put
/// words under a name without a mark.
@Suite(.timeLimit(.minutes(10))) struct EditTrustTests: SyncTesting {
    let folder = TemporaryFolder()

    private func edit(_ id: String, _ trust: MessageTrust?, at time: Double = 1000) -> TimelineEvent {
        var change = MessageChange(
            id: id, target: MessageID("$1"), sender: ann, at: Date(timeIntervalSince1970: time),
            kind: .edit(Wording("words \(id)")))
        (change.isEncrypted, change.trust) = (true, trust)
        return .change(change)
    }

    private func original(_ trust: MessageTrust?) -> TimelineEvent {
        var message = message(1)
        (message.isEncrypted, message.trust) = (true, trust)
        return .message(message)
    }

    private func shown(_ store: ChatStore) async throws -> Message? {
        try await store.messages([MessageID("$1")], in: room).first
    }

    @Test("An edit marks the message, whichever of them comes first", arguments: [true, false])
    func editMarks(editIsFirst: Bool) async throws {
        for trust in MessageTrust.allCases {
            let store = try await ChatStore.open(in: folder.path("store-\(trust)"))
            let events = [original(nil), edit("$e", trust)]
            for event in editIsFirst ? events.reversed() : events { try await apply([event], to: store) }
            let message = try await shown(store)
            #expect(message?.text == "words $e" && message?.trust == trust)
            #expect(try await store.roomSummaries().first?.lastMessage?.trust == trust)
            await store.close()
        }
    }

    @Test("An edit without a mark removes none, and one that is less serious replaces none")
    func marksStay() async throws {
        let store = try await open()
        try await apply([original(.unproven), edit("$e", nil)], to: store)
        #expect(try await shown(store)?.trust == .unproven)
        try await apply([edit("$f", .changedIdentity, at: 1001)], to: store)
        #expect(try await shown(store)?.trust == .changedIdentity)
        try await apply([edit("$g", .unproven, at: 1002)], to: store)
        let message = try await shown(store)
        #expect(message?.text == "words $g" && message?.trust == .changedIdentity)
        await store.close()
    }
}
