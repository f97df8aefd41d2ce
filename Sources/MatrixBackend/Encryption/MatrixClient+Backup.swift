import ChatCore
import Foundation
package import JSONReading
import MatrixCrypto
package import Ratchets

/// A key backup as the server describes it. Anybody with one of the account's tokens may have created it.
package struct ListedBackup: Equatable, Sendable {
    static let algorithm = "m.megolm_backup.v1.curve25519-aes-sha2"

    package let version: String
    /// The signed object.
    package let authData: [String: JSONValue]
    /// `nil` if the algorithm is unknown.
    package let publicKey: Curve25519Key?
    /// The number of keys.
    package let count: Int?

    package init(_ json: JSONValue) throws(MatrixError) {
        guard let version = json["version"]?.identifier, version.utf8.count <= 255,
            let authData = json["auth_data"]?.object
        else { throw .malformed(reason: "a backup without a version") }
        self.version = version
        self.authData = authData
        let isKnown = json["algorithm"]?.string == Self.algorithm
        publicKey = isKnown ? authData["public_key"]?.string.flatMap { try? Curve25519Key(base64: $0) } : nil
        count = json["count"]?.integer.flatMap { Int(exactly: max(0, $0)) }
    }
}

extension MatrixClient {
    private static let versions = ["client", "v3", "room_keys", "version"]
    private static let keys = ["client", "v3", "room_keys", "keys"]

    /// - Returns: `nil` only if the server answers that there is no backup.
    package func keyBackup(timeout: Duration = .seconds(30)) async throws -> ListedBackup? {
        do {
            return try ListedBackup(try await call(.get, Self.versions, timeout: timeout))
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }

    /// - Returns: The version assigned by the server.
    func createKeyBackup(_ authData: [String: JSONValue]) async throws -> String {
        let answer = try await call(
            .post, Self.versions,
            body: ["algorithm": .string(ListedBackup.algorithm), "auth_data": .object(authData)], isOnce: true)
        guard let version = answer["version"]?.identifier, version.utf8.count <= 255 else {
            throw MatrixError.malformed(reason: "a new backup without a version")
        }
        return version
    }

    /// Deletes a backup with its keys. A missing one counts as deleted.
    func deleteKeyBackup(_ version: String) async throws {
        do {
            _ = try await call(.delete, Self.versions + [version])
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return
        }
    }

    func backUp(_ batch: BackupBatch) async throws {
        _ = try await call(
            .put, Self.keys, query: [("version", batch.version)], body: batch.body, timeout: .seconds(60))
    }

    /// Downloads a backup's keys to a file, since they may not fit into memory.
    /// - Parameter room: The room of the keys; `nil` for all rooms.
    func fetchBackedUpKeys(of room: ExactText?, version: String, to file: URL, limit: Int) async throws {
        let path = Self.keys + (room.map { [$0.text] } ?? [])
        var request = request(.get, path, query: [("version", version)])
        request.destination = .file(file)
        request.limit = limit
        request.timeout = .seconds(3_600)
        request.idleTimeout = .seconds(60)
        _ = try await response(to: request)
    }

    /// - Returns: `nil` if the backup does not contain the key.
    func backedUpKey(of session: SessionID, version: String) async throws -> JSONValue? {
        do {
            return try await call(
                .get, Self.keys + [session.room.text, session.session.text], query: [("version", version)])
        } catch MatrixError.rejected(404, "M_NOT_FOUND", _) {
            return nil
        }
    }
}
