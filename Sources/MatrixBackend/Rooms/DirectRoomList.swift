import ChatCore
import ChatStore
import Foundation
import JSONReading

/// The user's list of direct chats on the server, `m.direct`, which all their clients share. Additions that the server
/// does not have yet are in the store.
actor DirectRoomList {
    /// How often an addition is attempted while syncs bring other lists.
    private static let maxAttempts = 5

    private let client: MatrixClient
    private let context: AccountContext
    private let store: ChatStore
    /// One addition at a time: each replaces the whole list.
    private let gate = SerialGate()
    /// Whether additions may be waiting to be sent.
    private(set) var hasUnsent = false

    init(client: MatrixClient, context: AccountContext, store: ChatStore) {
        self.client = client
        self.context = context
        self.store = store
    }

    /// Requests the list: another client of the user may have changed it since the last sync.
    /// - Returns: the list with the additions that the server does not have yet.
    func current() async throws -> DirectRooms {
        let listed = DirectRooms(.object(try await client.directRooms(of: context.ownUserID)))
        return listed.adding(context.unlistedDirectRooms)
    }

    /// Adds a room, even if the task is canceled. Errors are ignored: the room works without being listed, and is added
    /// later.
    func add(_ room: RoomID, with user: String) async {
        // In a task of its own, as the store does nothing for one that is canceled.
        await Task {
            await gate.runEvenIfCanceled {
                let before = context.unlistedDirectRooms
                let additions = before.adding(room, with: user) ?? before
                context.unlistedDirectRooms = additions
                // Before the server is asked, which may not answer.
                try? await store.setSetting(additions.text, for: DirectRooms.unlistedSetting)
                await send(additions)
            }
        }.value
    }

    /// Call this after an interruption: the next ``sendUnsent()`` then sends what could not be added before.
    func noteUnsent() { hasUnsent = true }

    /// Adds what could not be added before.
    func sendUnsent() async {
        try? await gate.run {
            guard hasUnsent else { return }
            hasUnsent = false
            let additions = context.unlistedDirectRooms
            if additions != DirectRooms() { await send(additions) }
        }
    }

    private func send(_ additions: DirectRooms) async {
        do {
            for _ in 1...Self.maxAttempts {
                let version = context.directRoomsVersion
                let listed = DirectRooms(.object(try await client.directRooms(of: context.ownUserID)))
                // A list that a sync has brought meanwhile may be later.
                guard context.directRoomsVersion == version else { continue }
                let changed = listed.adding(additions)
                if changed != listed {
                    try await client.setDirectRooms(changed.json.object ?? [:], of: context.ownUserID)
                }
                guard context.noteListed(changed, since: version) else { continue }
                return try await store.setSetting(DirectRooms().text, for: DirectRooms.unlistedSetting)
            }
            hasUnsent = true
        } catch {
            // Another attempt is rejected again, until the server or the account has changed.
            if (error as? MatrixError)?.isTransient != false { hasUnsent = true }
        }
    }
}

extension DirectRooms {
    fileprivate var text: String { (try? json.encoded()).map { String(decoding: $0, as: UTF8.self) } ?? "{}" }
}
