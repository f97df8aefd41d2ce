import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import Testing

@testable import ChatOutbox
@testable import MatrixBackend

/// Reading all that is stored of a room whose older history cannot be fetched, as an export does.
@Suite(.timeLimit(.minutes(10))) struct UnreachableHistoryTests {
    private let room = AccountParts.room

    @Test(
        "From where the history is complete, it is read without a request, also if its first messages are hidden",
        arguments: [true, false], [true, false])
    func completePart(isOnline: Bool, isFirstHidden: Bool) async throws {
        let transport = FakeTransport(502)
        let parts = try await AccountParts.make(transport.client)
        let events = ["$2", "$3"].map { AccountParts.message($0, at: 10, transaction: "t" + $0) }
        _ = try await parts.store.apply(SyncBatch(rooms: [AccountParts.batch(events: events)]))
        if isFirstHidden { try await parts.store.setIgnoredUsers([MemberID("@ann:example.org")]) }
        let reader = TimelineReader(
            ownUserID: parts.context.ownUserID,
            fetcher: MessageFetcher(client: parts.client, context: parts.context, opener: parts.opener),
            clock: ManualClock(), store: parts.store, unsent: parts.unsent, filler: parts.filler,
            targets: TargetLoader(
                client: parts.client, store: parts.store, entered: EnteredRooms(), filler: parts.filler),
            isOnline: { isOnline })
        let start = try #require(try await reader.fetchAll(of: room) { _ in })
        let requests = transport.requests.count
        let first = try await reader.messages(in: room, before: start + 1, limit: 1)
        let rest = try await reader.messages(in: room, after: start, limit: 10)
        let texts = (first.messages + rest.messages).map(\.text)
        #expect(texts == (isFirstHidden ? ["$2", "$3"] : ["$1", "$2", "$3"]))
        #expect(!rest.hasNewer && transport.requests.count == requests)
        await parts.store.close()
    }
}
