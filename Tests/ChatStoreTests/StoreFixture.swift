import ChatCore
import ChatStore
import ChatTestSupport
import Foundation

/// A store in a temporary folder, with one room of two members.
struct StoreFixture {
    let folder: TemporaryFolder
    let store: ChatStore
    let room = Fixtures.room().id

    var url: URL { folder.path("store") }

    init() async throws {
        folder = TemporaryFolder()
        store = try await ChatStore.open(in: folder.path("store"))
        try await store.createRoom(
            NewRoom(
                room: Fixtures.room(), members: [Fixtures.own, Fixtures.other], createdAt: Fixtures.date))
    }

    @discardableResult
    func append(_ number: Int64, by sender: Member = Fixtures.own, text: String? = nil) async throws -> Message {
        let message = Fixtures.message(number, by: sender, text: text)
        let new = NewMessage(
            id: message.id, sender: message.sender, text: message.text, sentAt: message.sentAt,
            transactionID: TransactionID("transaction-\(number)"))
        return try await store.append(new, to: room).message
    }

    func summary() async throws -> RoomSummary? {
        try await store.roomSummaries().first { $0.id == room }
    }
}
