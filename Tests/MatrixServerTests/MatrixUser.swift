import ChatCore
import ChatStore
import ChatTestSupport
import Foundation
import JSONReading
import Testing

@testable import MatrixBackend

/// The Synapse instance that `make test` starts.
enum TestHomeserver {
    struct NotThere: Error, CustomStringConvertible {
        let description = """
            PARLANCE_HOMESERVER is not set: these tests talk to a real homeserver, which build-aux/test starts. \
            By hand: export PARLANCE_HOMESERVER=$(build-aux/synapse up)
            """
    }

    static func url() throws -> URL {
        guard let text = ProcessInfo.processInfo.environment["PARLANCE_HOMESERVER"], let url = URL(string: text) else {
            throw NotThere()
        }
        return url
    }
}

/// A new user on the test homeserver, with a store of its own.
struct MatrixUser {
    let session: MatrixSession
    let server: Homeserver
    let transport: CurlTransport
    let folder: TemporaryFolder
    let store: ChatStore
    let backend: MatrixBackend
    /// Direct chats are unencrypted by default, because most test users have no keys.
    let privacy = PrivacyPreference(Privacy(encryptsDirectChats: false))

    /// - Parameter sliding: whether to use sliding sync.
    static func make(_ name: String = "ann", sliding: Bool) async throws -> MatrixUser {
        let transport = CurlTransport()
        let server = try await Discovery(transport: transport).homeserver(for: TestHomeserver.url().absoluteString)
        let unique = "\(name)-\(UUID().uuidString.prefix(8).lowercased())"
        let client = MatrixClient(server: server.url, transport: transport)
        let body: JSONValue = [
            "username": .string(unique), "password": "password", "auth": ["type": "m.login.dummy"],
            "inhibit_login": true,
        ]
        _ = try await client.call(.post, ["client", "v3", "register"], body: body)
        let session = try await client.logIn(name: unique, password: "password", deviceName: "Parlance")
        return try await MatrixUser(
            session: session, server: server, transport: transport, folder: TemporaryFolder(), sliding: sliding)
    }

    private init(
        session: MatrixSession, server: Homeserver, transport: CurlTransport, folder: TemporaryFolder,
        sliding: Bool, credential: KeyCredential? = nil, through wrap: (CurlTransport) -> any MatrixTransport = { $0 }
    ) async throws {
        self.session = session
        var server = server
        if !sliding { server.features = [] }
        self.server = server
        self.transport = transport
        self.folder = folder
        store = try await ChatStore.open(in: folder.path("store"))
        // Opens the keys before the sync starts, like the program: otherwise the server would delete the to-device
        // messages of a plain sync.
        backend = try await MatrixBackend.start(
            over: store, server: server.url, ownUserID: session.user, token: credential == nil ? session.token : nil,
            hasSlidingSync: server.hasSlidingSync, transport: wrap(transport), privacy: privacy)
        guard let credential else { return }
        await backend.openKeys(of: session.device, credential: credential)
        await backend.resume(with: session.token)
    }

    /// Simulates a restart with the same account and store.
    /// - Parameters:
    ///   - credential: opens the keys before the sync starts.
    ///   - wrap: returns the transport that the account uses.
    func restarted(
        with credential: KeyCredential? = nil, through wrap: (CurlTransport) -> any MatrixTransport = { $0 }
    ) async throws -> MatrixUser {
        await close()
        return try await MatrixUser(
            session: session, server: server, transport: CurlTransport(), folder: folder,
            sliding: server.hasSlidingSync, credential: credential, through: wrap)
    }

    /// Signs the same account in on another device.
    func elsewhere(sliding: Bool) async throws -> MatrixUser {
        let client = MatrixClient(server: server.url, transport: transport)
        let name = String(session.user.rawValue.dropFirst().prefix { $0 != ":" })
        let session = try await client.logIn(name: name, password: "password", deviceName: "Elsewhere")
        var server = try await Discovery(transport: transport).homeserver(for: TestHomeserver.url().absoluteString)
        if !sliding { server.features = [] }
        return try await MatrixUser(
            session: session, server: server, transport: CurlTransport(), folder: TemporaryFolder(), sliding: sliding)
    }

    /// Marks a message as read from another device.
    func readElsewhere(_ message: MessageID, in room: RoomID) async throws {
        let transport = CurlTransport()
        let client = MatrixClient(server: server.url, token: session.token, transport: transport)
        try await client.markRead(message, in: room)
        transport.close()
    }

    func close() async {
        await backend.close()
        await store.close()
        transport.close()
    }

    var client: MatrixClient {
        MatrixClient(server: server.url, token: session.token, transport: transport)
    }

    /// Returns the messages of a room, optionally with room events, once they satisfy a condition.
    @discardableResult
    func messages(in room: RoomID, withEvents: Bool = false, where condition: @escaping ([Message]) -> Bool)
        async throws -> [Message]
    {
        var shown: [MessageID: Message] = [:]
        for await update in backend.timeline(of: room, limit: 200) {
            switch update {
            case .opened(let page, _, _): for message in page.messages { shown[message.id] = message }
            case .changed(let messages): for message in messages { shown[message.id] = message }
            case .removed(let ids): for id in ids { shown[id] = nil }
            case .members, .membersChanged, .encrypted, .typing: break
            case .closed: throw ChatError.notFound
            }
            let sorted = shown.values.filter { withEvents || $0.event == nil }.sorted { $0.position < $1.position }
            if condition(sorted) { return sorted }
        }
        throw CancellationError()
    }

    /// Returns the current and former members of a room once they satisfy a condition.
    @discardableResult
    func members(of room: RoomID, where condition: ([Member]) -> Bool) async throws -> [Member] {
        var known: [Member] = []
        for await update in backend.timeline(of: room, limit: 1) {
            switch update {
            case .opened(_, let members, _), .members(let members): known = members
            case .membersChanged(let members):
                known = known.filter { one in !members.contains { $0.id == one.id } } + members
            case .changed, .removed, .typing, .encrypted: continue
            case .closed: throw ChatError.notFound
            }
            if condition(known) { return known }
        }
        throw CancellationError()
    }

    /// Sends a message and waits until the sync delivers it.
    @discardableResult
    func say(_ text: String, in room: RoomID, replyTo: MessageID? = nil) async throws -> Message {
        let transaction = TransactionID(UUID().uuidString)
        try await backend.send(WrittenMessage(text, replyTo: replyTo), as: transaction, to: room)
        return try await syncedMessage(transaction, in: room)
    }

    func syncedMessage(_ transaction: TransactionID, in room: RoomID) async throws -> Message {
        let all = try await messages(in: room) { all in
            all.contains { $0.transactionID == transaction && LocalEchoes.transaction(of: $0.id) == nil }
        }
        return try #require(all.first { $0.transactionID == transaction })
    }

    func waitForRoom(_ room: RoomID, where condition: @escaping (RoomSummary) -> Bool = { _ in true }) async throws {
        for await rooms in backend.roomSummaries() {
            if let summary = rooms.first(where: { $0.id == room }), condition(summary) { return }
        }
        throw CancellationError()
    }
}
