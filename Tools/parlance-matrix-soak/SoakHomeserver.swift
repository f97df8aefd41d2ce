import ChatCore
import Foundation
import Glibc
import MatrixBackend
import ToolSupport

/// A Synapse started by `build-aux/synapse`, with direct access to its API.
struct SoakHomeserver {
    struct Event {
        let id: String
        let sender: String
        let text: String
    }

    let url: URL
    private let folder: String
    private let transport = CurlTransport()

    var port: UInt16 { UInt16(clamping: url.port ?? 0) }

    /// - Parameter folder: The data folder, within the project's folder.
    static func start(in folder: String, isNew: Bool) throws -> SoakHomeserver {
        let output = try run(isNew ? "up --fresh" : "up", folder)
        guard let url = URL(string: output), url.port != nil else {
            throw SoakFailure("the homeserver does not start: \(output)")
        }
        return SoakHomeserver(url: url, folder: folder)
    }

    func stop() throws { _ = try Self.run("down", folder) }

    /// Stops the server, and removes what the users stored unless it shows what went wrong.
    func stop(removing stores: URL, if isFine: Bool) throws {
        try stop()
        if isFine {
            try FileManager.default.removeItem(at: stores)
        } else {
            print("left as it was found: \(stores.path)")
        }
    }

    /// Kills the server and restarts it with the same data and port.
    func killAndStart() throws {
        let text = try String(contentsOfFile: folder + "/pid", encoding: .utf8)
        guard let pid = pid_t(text.trimmingCharacters(in: .whitespacesAndNewlines)), kill(pid, SIGKILL) == 0 else {
            throw SoakFailure("the homeserver ended by itself")
        }
        guard try Self.start(in: folder, isNew: false).url == url else {
            throw SoakFailure("the homeserver has another port")
        }
    }

    func register(_ name: String) async throws -> MatrixSession {
        try Self.session(
            try await call(
                .post, "register",
                ["username": name, "password": "password", "auth": ["type": "m.login.dummy"]] as [String: Any]))
    }

    /// Registers an account or signs in to an existing one.
    func signIn(_ name: String) async throws -> MatrixSession {
        if let session = try? await register(name) { return session }
        let user = ["type": "m.id.user", "user": name]
        return try Self.session(
            try await call(
                .post, "login",
                ["type": "m.login.password", "identifier": user, "password": "password"] as [String: Any]))
    }

    private static func session(_ response: [String: Any]) throws -> MatrixSession {
        guard let user = response["user_id"] as? String, let device = response["device_id"] as? String,
            let token = response["access_token"] as? String
        else { throw SoakFailure("no registration: \(response)") }
        return MatrixSession(user: .init(user), device: device, token: AccessToken(token))
    }

    /// Creates a room with both users.
    func makeRoom(of owner: MatrixSession, with guest: MatrixSession) async throws -> String {
        let body: [String: Any] = ["preset": "private_chat", "invite": [guest.user.rawValue], "name": "Soak"]
        guard let room = try await call(.post, "createRoom", body, as: owner)["room_id"] as? String else {
            throw SoakFailure("no room")
        }
        _ = try await call(.post, "rooms/\(room)/join", [:], as: guest)
        return room
    }

    func makeRoom(named name: String, alias: String? = nil, of owner: MatrixSession) async throws -> String {
        var body: [String: Any] = ["preset": "private_chat", "name": name]
        body["room_alias_name"] = alias
        guard let room = try await call(.post, "createRoom", body, as: owner)["room_id"] as? String else {
            throw SoakFailure("no room")
        }
        return room
    }

    /// Returns the room ID of an alias, or `nil` if there is none.
    func room(aliased alias: String) async throws -> String? {
        try? await call(.get, "directory/room/%23\(alias):localhost", nil)["room_id"] as? String
    }

    func rooms(of user: MatrixSession) async throws -> [String] {
        try await call(.get, "joined_rooms", nil, as: user)["joined_rooms"] as? [String] ?? []
    }

    func send(_ text: String, to room: String, as user: MatrixSession) async throws {
        let body = ["msgtype": "m.text", "body": text]
        _ = try await call(.put, "rooms/\(room)/send/m.room.message/\(UUID().uuidString)", body, as: user)
    }

    /// Returns all messages of a room, oldest first.
    func messages(in room: String, as user: MatrixSession) async throws -> [Event] {
        var events: [Event] = []
        var from: String? = ""
        while let token = from {
            let query = "dir=b&limit=500" + (token.isEmpty ? "" : "&from=" + token)
            let response = try await call(.get, "rooms/\(room)/messages?\(query)", nil, as: user)
            for case let event as [String: Any] in response["chunk"] as? [Any] ?? [] {
                guard event["type"] as? String == "m.room.message", let content = event["content"] as? [String: Any],
                    let id = event["event_id"] as? String, let sender = event["sender"] as? String
                else { continue }
                events.append(Event(id: id, sender: sender, text: content["body"] as? String ?? ""))
            }
            from = response["end"] as? String
        }
        return events.reversed()
    }

    func call(
        _ method: MatrixRequest.Method, _ path: String, _ body: [String: Any]?, as session: MatrixSession? = nil
    ) async throws -> [String: Any] {
        guard let address = URL(string: "\(url.absoluteString)/_matrix/client/v3/\(path)") else { return [:] }
        var request = MatrixRequest(method, address, token: session?.token)
        if let body { request.body = .json(try JSONSerialization.data(withJSONObject: body)) }
        let response = try await transport.send(request)
        guard response.status == 200 else { throw SoakFailure("\(method) answers \(response.status)") }
        return try JSONSerialization.jsonObject(with: response.body) as? [String: Any] ?? [:]
    }

    /// Uses `popen` because Foundation's `Process` counts as running until all its descendants, including the server,
    /// have ended.
    private static func run(_ command: String, _ folder: String) throws -> String {
        guard let pipe = popen("build-aux/synapse \(command) --data \(folder)", "r") else {
            throw SoakFailure("build-aux/synapse does not start: \(errno)")
        }
        let output = try FileHandle(fileDescriptor: fileno(pipe)).readToEnd() ?? Data()
        guard pclose(pipe) == 0 else { throw SoakFailure("build-aux/synapse \(command) failed") }
        return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
