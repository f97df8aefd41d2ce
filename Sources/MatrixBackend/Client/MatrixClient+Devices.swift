import ChatCore
import Foundation
import JSONReading

/// A device of the account according to the server.
struct ListedDevice: Equatable, Sendable {
    let id: String
    /// Empty if unnamed.
    let name: String
    let lastSeen: Date?

    /// `nil` if it is malformed.
    init?(_ json: JSONValue) {
        guard let id = json["device_id"]?.string, !id.isEmpty else { return nil }
        self.id = id
        name = json["display_name"]?.string ?? ""
        lastSeen = json["last_seen_ts"]?.integer.map { Date(timeIntervalSince1970: Double($0) / 1000) }
    }
}

extension MatrixClient {
    private static let devices = ["client", "v3", "devices"]

    /// Requests the account's devices. Malformed entries are omitted.
    func devices() async throws -> [ListedDevice] {
        guard let list = try await call(.get, Self.devices)["devices"]?.array else {
            throw MatrixError.malformed(reason: "an answer without devices")
        }
        return list.compactMap { ListedDevice($0) }
    }

    func renameDevice(_ device: String, to name: String) async throws {
        _ = try await call(.put, Self.devices + [device], body: ["display_name": .string(name)])
    }

    /// Signs devices out. A device that is not signed in counts as signed out.
    /// - Parameter password: The account's password, if the server requires it.
    /// - Throws: The errors of ``InteractiveAuth``.
    func deleteDevices(_ devices: [String], of user: MemberID, password: String?) async throws {
        _ = try await InteractiveAuth(client: self, user: user).call(
            .post, ["client", "v3", "delete_devices"], body: ["devices": .array(devices.map { .string($0) })],
            password: password)
    }
}
