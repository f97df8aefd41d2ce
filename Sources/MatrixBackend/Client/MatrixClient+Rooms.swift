import ChatCore
import Foundation
import JSONReading

/// A chunk of a room's history.
struct HistoryPage: Equatable, Sendable {
    /// Newest first.
    var events: [MatrixEvent]
    /// The senders' membership events, where the server includes them.
    var state: [MatrixEvent]
    /// The token of the next chunk; `nil` at the end.
    var next: String?
}

/// An event with its neighbors, oldest first.
struct HistoryContext: Equatable, Sendable {
    var events: [MatrixEvent]
    /// As in ``HistoryPage``.
    var state: [MatrixEvent]
    /// The tokens for continuing backward and forward; `nil` at the ends.
    var older: String?
    var newer: String?
}

extension MatrixClient {
    private func room(_ id: RoomID, _ rest: String...) -> [String] { ["client", "v3", "rooms", id.rawValue] + rest }

    /// Sends an event. Repeating a transaction returns the same event and sends nothing.
    func send(_ type: String, _ content: JSONValue, to id: RoomID, transaction: String) async throws -> MessageID {
        try Self.event(await call(.put, room(id, "send", type, transaction), body: content))
    }

    /// - Returns: The ID of the redaction event.
    func redact(_ event: String, in id: RoomID, transaction: String) async throws -> MessageID {
        try Self.event(await call(.put, room(id, "redact", event, transaction), body: [:]))
    }

    /// Requests history before a token, or before now if it is `nil` or empty, newest first; or after a token, oldest
    /// first.
    func history(
        of id: RoomID, before token: String?, limit: Int, forwards: Bool = false
    ) async throws -> HistoryPage {
        let response = try await call(
            .get, room(id, "messages"),
            query: (token.map { $0.isEmpty ? [] : [("from", $0)] } ?? []) + [
                ("dir", forwards ? "f" : "b"), ("limit", String(limit)), ("filter", Self.lazyMembers),
            ])
        guard let chunk = response["chunk"]?.array else {
            throw MatrixError.malformed(reason: "history without events")
        }
        let next = response["end"]?.string
        return HistoryPage(
            events: chunk.compactMap(MatrixEvent.init),
            state: (response["state"]?.array ?? []).compactMap(MatrixEvent.init),
            // Stop if the server returns the same token: continuing would loop.
            next: next == token ? nil : next)
    }

    /// Returns the first event at or after a time, or `nil` if there is none.
    func event(at date: Date, in id: RoomID) async throws -> MessageID? {
        let milliseconds = Int64(max(date.timeIntervalSince1970, 0) * 1000)
        do {
            return try Self.event(
                await call(
                    .get, ["client", "v1", "rooms", id.rawValue, "timestamp_to_event"],
                    query: [("ts", String(milliseconds)), ("dir", "f")]))
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }

    /// Requests an event with its neighbors.
    func context(of event: MessageID, in id: RoomID, limit: Int) async throws -> HistoryContext {
        let response = try await call(
            .get, room(id, "context", event.rawValue),
            query: [("limit", String(limit)), ("filter", Self.lazyMembers)])
        let before = (response["events_before"]?.array ?? []).compactMap(MatrixEvent.init)
        let after = (response["events_after"]?.array ?? []).compactMap(MatrixEvent.init)
        guard let middle = response["event"].flatMap(MatrixEvent.init) else {
            throw MatrixError.malformed(reason: "a context without its event")
        }
        return HistoryContext(
            events: before.reversed() + [middle] + after,
            state: (response["state"]?.array ?? []).compactMap(MatrixEvent.init),
            older: response["start"]?.string, newer: response["end"]?.string)
    }

    private static let lazyMembers = #"{"lazy_load_members":true}"#

    /// Returns an event, or `nil` if it does not exist or is not visible to the user.
    func event(_ event: MessageID, in id: RoomID) async throws -> MatrixEvent? {
        do {
            return MatrixEvent(try await call(.get, room(id, "event", event.rawValue)))
        } catch MatrixError.rejected(let status, let code, _) where Self.isAbsence(status, code) {
            return nil
        }
    }

    /// Whether an error says of a single event that the user cannot have it. Any other may be temporary, as when a proxy
    /// sends the request to the wrong worker.
    static func isAbsence(_ status: Int, _ code: String) -> Bool {
        switch (status, code) {
        // An ID that no event can have.
        case (400, _), (403, "M_FORBIDDEN"), (404, "M_NOT_FOUND"): true
        default: false
        }
    }

    func createRoom(_ request: RoomRequest, named name: String) async throws -> RoomID {
        var body: [String: JSONValue] = [
            "name": .string(name), "preset": request.address == nil ? "private_chat" : "public_chat",
            "visibility": request.address == nil ? "private" : "public",
        ]
        body["topic"] = request.topic.map { .string($0) }
        body["room_alias_name"] = request.address.map { .string($0) }
        if request.isEncrypted { body["initial_state"] = Self.encrypted }
        if !request.invitees.isEmpty { body["invite"] = .array(request.invitees.map { .string($0.rawValue) }) }
        let path = ["client", "v3", "createRoom"]
        return try Self.room(await call(.post, path, body: .object(body), timeout: .seconds(120), isOnce: true))
    }

    /// Searches the user directory; best match first.
    func users(matching text: String, limit: Int) async throws -> [User] {
        let response = try await call(
            .post, ["client", "v3", "user_directory", "search"],
            body: ["search_term": .string(text), "limit": .integer(Int64(limit))])
        return (response["results"]?.array ?? []).prefix(limit).compactMap { result in
            guard let id = MatrixEvent.identifier(result["user_id"]), id.hasPrefix("@") else { return nil }
            let name = ParsedRoomState.line(result["display_name"]?.string)
            return User(
                id: MemberID(id), name: name.isEmpty ? nil : name,
                avatar: MatrixEvent.contentURI(result["avatar_url"]))
        }
    }

    /// Returns the membership events of all members except those who left.
    /// - Returns: `joined` includes users whose event cannot be read otherwise.
    func members(of id: RoomID) async throws -> (events: [MatrixEvent], joined: Set<MemberID>) {
        let events = try await memberEvents(of: id)
        let joined = events.filter { $0["content"]?["membership"]?.string ?? "join" == "join" }
        return (
            events.compactMap(MatrixEvent.init), Set(joined.compactMap { $0["state_key"]?.string }.map { MemberID($0) })
        )
    }

    /// Returns the memberships of all users except those who left. Nothing else of their events has to be readable.
    /// - Parameter ended: The events of memberships that have ended, whatever the server's list says.
    func memberships(of id: RoomID, except ended: Set<MessageID> = []) async throws -> [ExactText: String] {
        var found: [ExactText: String] = [:]
        for event in try await memberEvents(of: id) where event["type"]?.string == "m.room.member" {
            guard let user = event["state_key"]?.string, user.utf8.count <= MatrixEvent.maxIdentifierLength,
                let membership = event["content"]?["membership"]?.string,
                !ended.contains(MessageID(event["event_id"]?.string ?? ""))
            else { continue }
            found[ExactText(user)] = membership
        }
        return found
    }

    private func memberEvents(of id: RoomID) async throws -> [JSONValue] {
        let response = try await call(
            .get, room(id, "members"), query: [("not_membership", "leave")], timeout: .seconds(120))
        guard let chunk = response["chunk"]?.array else { throw MatrixError.malformed(reason: "no members") }
        return chunk
    }

    /// - Parameter via: Servers that are in the room. Older servers expect them as `server_name`.
    func join(_ address: String, via: [String] = []) async throws -> RoomID {
        let query = via.flatMap { [("via", $0), ("server_name", $0)] }
        return try Self.room(
            await call(.post, ["client", "v3", "join", address], query: query, body: [:], timeout: .seconds(120)))
    }

    /// The initial state of a room that is encrypted from its first event on.
    private static let encrypted: JSONValue = [
        ["type": "m.room.encryption", "state_key": "", "content": AccountEncryption.settings]
    ]

    /// Creates a direct chat, with `is_direct` set in the invitation.
    func createDirectRoom(with user: String, isEncrypted: Bool) async throws -> RoomID {
        var body: [String: JSONValue] = [
            "preset": "trusted_private_chat", "is_direct": true, "invite": [.string(user)],
        ]
        if isEncrypted { body["initial_state"] = Self.encrypted }
        let response = try await call(
            .post, ["client", "v3", "createRoom"], body: .object(body), timeout: .seconds(120), isOnce: true)
        return try Self.room(response)
    }

    /// Returns the content of `m.direct`: room IDs by user ID.
    func directRooms(of ownUserID: MemberID) async throws -> [String: JSONValue] {
        do {
            guard let rooms = try await call(.get, Self.directRooms(ownUserID)).object else {
                throw MatrixError.malformed(reason: "no list of direct chats")
            }
            return rooms
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return [:]
        }
    }

    func setDirectRooms(_ rooms: [String: JSONValue], of ownUserID: MemberID) async throws {
        _ = try await call(.put, Self.directRooms(ownUserID), body: .object(rooms))
    }

    private static func directRooms(_ ownUserID: MemberID) -> [String] {
        ["client", "v3", "user", ownUserID.rawValue, "account_data", "m.direct"]
    }

    func leave(_ id: RoomID) async throws {
        _ = try await call(.post, room(id, "leave"), body: [:])
    }

    func invite(_ user: String, to id: RoomID) async throws {
        _ = try await call(.post, room(id, "invite"), body: ["user_id": .string(user)])
    }

    func remove(_ member: MemberID, from id: RoomID) async throws {
        _ = try await call(.post, room(id, "kick"), body: ["user_id": .string(member.rawValue)])
    }

    /// - Returns: The event, if the server says which.
    @discardableResult
    func setState(_ type: String, _ content: JSONValue, of id: RoomID) async throws -> MessageID? {
        let response = try await call(.put, room(id, "state", type, ""), body: content)
        return MatrixEvent.identifier(response["event_id"]).map { MessageID($0) }
    }

    /// Returns the content of a state event, or `nil` if there is none.
    func state(_ type: String, of id: RoomID) async throws -> JSONValue? {
        do {
            return try await call(.get, room(id, "state", type, ""))
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }

    /// Returns a user's membership, such as `join`, or `nil` if there is none.
    func membership(of user: String, in id: RoomID) async throws -> String? {
        do {
            let content = try await call(.get, room(id, "state", "m.room.member", user))
            guard let membership = content["membership"]?.string else {
                throw MatrixError.malformed(reason: "a member without a membership")
            }
            return membership
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }

    func joinedRooms() async throws -> Set<RoomID> {
        guard let rooms = try await call(.get, ["client", "v3", "joined_rooms"])["joined_rooms"]?.array else {
            throw MatrixError.malformed(reason: "no rooms")
        }
        return Set(rooms.compactMap { MatrixEvent.identifier($0).map { RoomID($0) } })
    }

    /// Returns the ID of a user's reaction, or `nil` if there is none.
    func reaction(_ text: String, to event: MessageID, by user: MemberID, in id: RoomID) async throws -> String? {
        var from: String?
        for _ in 0..<20 {
            let response = try await call(
                .get,
                ["client", "v1", "rooms", id.rawValue, "relations", event.rawValue, "m.annotation", "m.reaction"],
                query: [("limit", "100")] + (from.map { [("from", $0)] } ?? []))
            let found = (response["chunk"]?.array ?? []).compactMap(MatrixEvent.init).first { event in
                event.sender == user && event.content["m.relates_to"]?["key"]?.string == text
            }
            if let found { return found.id.rawValue }
            from = response["next_batch"]?.string
            if from == nil { return nil }
        }
        return nil
    }

    func setDisplayName(_ name: String, of user: MemberID) async throws {
        _ = try await call(
            .put, ["client", "v3", "profile", user.rawValue, "displayname"], body: ["displayname": .string(name)])
    }

    func setTyping(_ isTyping: Bool, by user: MemberID, in id: RoomID) async throws {
        let body: JSONValue = isTyping ? ["typing": true, "timeout": 20000] : ["typing": false]
        _ = try await call(.put, room(id, "typing", user.rawValue), body: body)
    }

    /// Sets the fully-read marker and the read receipt.
    /// - Parameter isPrivate: whether only the user's own devices receive the receipt.
    func markRead(_ event: MessageID, in id: RoomID, isPrivate: Bool = false) async throws {
        let marker = JSONValue.string(event.rawValue)
        let receipt = isPrivate ? "m.read.private" : "m.read"
        _ = try await call(.post, room(id, "read_markers"), body: .object(["m.fully_read": marker, receipt: marker]))
    }

    /// Marks a room as unread on all devices of the user.
    func setMarkedUnread(_ isMarked: Bool, in id: RoomID, by user: MemberID) async throws {
        _ = try await call(
            .put,
            ["client", "v3", "user", user.rawValue, "rooms", id.rawValue, "account_data", "m.marked_unread"],
            body: ["unread": .bool(isMarked)])
    }

    // MARK: Files

    /// - Parameter name: `nil` to withhold it from the server.
    /// - Returns: The content URI, `mxc://…`.
    func upload(
        _ file: URL, named name: String?, type: String, progress: (@Sendable (Double) -> Void)? = nil
    ) async throws -> String {
        var request = request(.post, ["media", "v3", "upload"], query: name.map { [("filename", $0)] } ?? [])
        request.body = .file(file, type: type)
        request.timeout = .seconds(3600)
        request.idleTimeout = .seconds(60)
        request.progress = progress
        guard let uri = try await jsonResponse(to: request)["content_uri"]?.string, uri.hasPrefix("mxc://") else {
            throw MatrixError.malformed(reason: "an upload without an address")
        }
        return uri
    }

    /// Downloads media.
    /// - Throws: ``MatrixError/tooLarge(limit:)`` beyond ``MatrixLimits/mediaBytes``.
    func download(
        _ uri: String, to file: URL, progress: (@Sendable (Double) -> Void)? = nil
    ) async throws {
        try await fetch(
            request(.get, ["client", "v1", "media", "download"] + Self.components(of: uri)), to: file, progress)
    }

    /// Downloads a thumbnail with the image's aspect ratio (`method=scale`).
    /// - Parameter side: The requested width and height in pixels.
    func downloadThumbnail(of uri: String, side: Int, to file: URL) async throws {
        let path = ["client", "v1", "media", "thumbnail"] + (try Self.components(of: uri))
        let query = [
            ("width", String(side)), ("height", String(side)), ("method", "scale"), ("animated", "false"),
        ]
        try await fetch(request(.get, path, query: query), to: file)
    }

    private static func components(of uri: String) throws -> [String] {
        let components = uri.dropFirst("mxc://".count).split(separator: "/", omittingEmptySubsequences: false).map(
            String.init)
        guard uri.hasPrefix("mxc://"), components.count == 2, !components[0].isEmpty, !components[1].isEmpty else {
            throw MatrixError.malformed(reason: "no address of a file")
        }
        return components
    }

    private func fetch(
        _ request: MatrixRequest, to file: URL, _ progress: (@Sendable (Double) -> Void)? = nil
    ) async throws {
        var request = request
        request.destination = .file(file)
        request.limit = MatrixLimits.mediaBytes
        request.timeout = .seconds(3600)
        request.idleTimeout = .seconds(60)
        request.progress = progress
        request.followsRedirects = true
        _ = try await response(to: request)
    }

    /// Requests the Open Graph data of a URL.
    func linkPreview(of address: String) async throws -> JSONValue {
        try await call(
            .get, ["client", "v1", "media", "preview_url"], query: [("url", address)], timeout: .seconds(60))
    }

    private static func event(_ response: JSONValue) throws -> MessageID {
        guard let id = MatrixEvent.identifier(response["event_id"]) else {
            throw MatrixError.malformed(reason: "an event without identifier")
        }
        return MessageID(id)
    }

    private static func room(_ response: JSONValue) throws -> RoomID {
        guard let id = MatrixEvent.identifier(response["room_id"]) else {
            throw MatrixError.malformed(reason: "a room without identifier")
        }
        return RoomID(id)
    }
}
