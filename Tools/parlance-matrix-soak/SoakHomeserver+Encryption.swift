import ChatCore
import Foundation
import JSONReading
import MatrixBackend
import ToolSupport

/// Encrypted rooms on the server.
extension SoakHomeserver {
    /// - Parameter messages: The number of messages after which a session is rotated.
    func encrypt(_ room: String, after messages: Int, as user: MatrixSession) async throws {
        let content: [String: Any] = ["algorithm": "m.megolm.v1.aes-sha2", "rotation_period_msgs": messages]
        _ = try await call(.put, "rooms/\(room)/state/m.room.encryption/", content, as: user)
    }

    func add(_ user: MatrixSession, to room: String, by owner: MatrixSession) async throws {
        _ = try await call(.post, "rooms/\(room)/invite", ["user_id": user.user.rawValue], as: owner)
        _ = try await call(.post, "rooms/\(room)/join", [:], as: user)
    }

    func leave(_ room: String, as user: MatrixSession) async throws {
        _ = try await call(.post, "rooms/\(room)/leave", [:], as: user)
    }

    /// Returns the public master key of a user's identity, or `nil` if the user has none.
    func masterKey(of user: MatrixSession) async throws -> String? {
        let id = user.user.rawValue
        let query: [String: Any] = ["device_keys": [id: [String]()]]
        let response = try await call(.post, "keys/query", query, as: user)
        guard response["device_keys"] is [String: Any] else { throw SoakFailure("no answer about the keys of \(id)") }
        let identities = response["master_keys"] as? [String: Any]
        guard let identity = identities?[id] as? [String: Any] else { return nil }
        guard let key = (identity["keys"] as? [String: String])?.values.first else {
            throw SoakFailure("an identity of \(id) without a key")
        }
        return key
    }

    /// Removes a session from a user's backup, as if its key had never been uploaded.
    /// - Throws: Also if the backup does not have it.
    func removeFromBackup(_ session: String, of room: String, as user: MatrixSession) async throws {
        guard let version = try await call(.get, "room_keys/version", nil, as: user)["version"] as? String else {
            throw SoakFailure("\(user.user) has no backup")
        }
        let names = [room, session].compactMap { $0.addingPercentEncoding(withAllowedCharacters: .alphanumerics) }
        let path = "room_keys/keys/\(names.joined(separator: "/"))?version=\(version)"
        _ = try await call(.get, path, nil, as: user)
        _ = try await call(.delete, path, nil, as: user)
    }

    /// The encrypted messages of a room by event ID.
    func sealedMessages(in room: String, as user: MatrixSession) async throws -> [String: SealedIndex] {
        var found: [String: SealedIndex] = [:]
        var from: String? = ""
        while let token = from {
            let query = "dir=b&limit=500" + (token.isEmpty ? "" : "&from=" + token)
            let response = try await call(.get, "rooms/\(room)/messages?\(query)", nil, as: user)
            for case let event as [String: Any] in response["chunk"] as? [Any] ?? [] {
                guard event["type"] as? String == "m.room.encrypted", let id = event["event_id"] as? String,
                    let content = event["content"],
                    let value = try? JSONValue(parsing: JSONSerialization.data(withJSONObject: content))
                else { continue }
                found[id] = SealedIndex(value)
            }
            from = response["end"] as? String
        }
        return found
    }
}
