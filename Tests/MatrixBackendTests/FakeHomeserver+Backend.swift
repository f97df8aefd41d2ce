import ChatCore
import ChatOutbox
import ChatStore
import ChatTestSupport
import Foundation

@testable import MatrixBackend

extension FakeHomeserver {
    /// Starts a backend over a store in the folder.
    /// - Parameter time: the clock's time in milliseconds since 1970.
    func start(
        in folder: TemporaryFolder, as own: String = "@me:example.org", at time: Int64 = 1_700_000_000_000
    ) async throws -> (MatrixBackend, ChatStore) {
        let store = try await ChatStore.open(in: folder.path("store"))
        let session = MatrixSession(user: MemberID(own), device: "D", token: AccessToken("secret"))
        let backend = try await MatrixBackend.start(
            over: store, server: Homeserver(url: URL(filePath: "/"), versions: ["v1.11"], features: []),
            session: session, transport: self, now: { Date(timeIntervalSince1970: Double(time) / 1000) })
        return (backend, store)
    }
}

extension MatrixBackend {
    /// Follows a timeline until its messages meet the condition.
    @discardableResult
    func displayed(in room: RoomID, where condition: ([Message]) -> Bool) async -> [Message] {
        var shown: [MessageID: Message] = [:]
        for await update in timeline(of: room, limit: 100) {
            switch update {
            case .opened(let page, _, _): for message in page.messages { shown[message.id] = message }
            case .changed(let messages): for message in messages { shown[message.id] = message }
            case .removed(let ids): for id in ids { shown[id] = nil }
            case .members, .membersChanged, .encrypted, .typing, .closed: break
            }
            let sorted = shown.values.sorted { $0.position < $1.position }
            if condition(sorted) { return sorted }
        }
        return []
    }

    func waitForRoom(_ room: RoomID) async {
        for await rooms in roomSummaries() where rooms.contains(where: { $0.id == room }) { return }
    }

    func sendingEnds(in room: RoomID) async {
        for await items in outbox.items(in: room) where items.allSatisfy(\.isAccepted) { return }
    }
}
