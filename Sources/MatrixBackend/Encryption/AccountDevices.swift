import ChatCore
import Foundation
import MatrixCrypto

/// The account's devices: the server's list, joined with what the ``CryptoMachine`` knows of their keys.
struct AccountDevices: Sendable {
    let client: MatrixClient
    let keys: AccountEncryption
    let user: MemberID

    func all() async throws -> [AccountDevice] {
        let listed = try await translating { try await client.devices() }
        // Without the keys, the list is still worth showing.
        let known = try? await keys.encrypting { machine in
            (identity: try await machine.ownIdentity(), devices: try await machine.ownDevices())
        }
        let own = await keys.deviceID
        let devices = listed.map { device in
            AccountDevice(
                id: device.id, name: device.name, lastSeen: device.lastSeen, isThis: device.id == own,
                trust: known.map { known in
                    let isConfirmed = known.devices[ExactText(device.id)]?.isConfirmed
                    return Self.trust(known.identity, isConfirmed: isConfirmed, isThis: device.id == own)
                } ?? .unknown)
        }
        return devices.sorted { one, other in
            if one.isThis != other.isThis { return one.isThis }
            if one.lastSeen != other.lastSeen { return one.lastSeen ?? .distantPast > other.lastSeen ?? .distantPast }
            return one.id < other.id
        }
    }

    /// - Parameter isConfirmed: Whether the identity that the server reports confirms the device; `nil` if it has
    ///   published no keys.
    static func trust(
        _ identity: EncryptionStatus.Identity, isConfirmed: Bool?, isThis: Bool
    ) -> AccountDevice.Trust {
        // Before the first device list, no device has keys.
        guard identity != .unknown else { return .unknown }
        guard let isConfirmed else { return .withoutEncryption }
        return switch identity {
        case .confirmed: isConfirmed ? .confirmed : .unconfirmed
        case .none: .unconfirmed
        // The server could have made up the identity.
        case .unconfirmed, .replaced: isThis ? .unconfirmed : .unproven
        case .unknown: .unknown
        }
    }

    func rename(_ device: String, to name: String) async throws {
        try await translating { try await client.renameDevice(device, to: name) }
    }

    func signOut(_ devices: [String], password: String?) async throws {
        try await translating { try await client.deleteDevices(devices, of: user, password: password) }
        await keys.outdateOwnDevices()
    }

    private func translating<Result>(_ body: () async throws -> Result) async throws -> Result {
        do { return try await body() } catch { throw EncryptionError.translated(error) }
    }
}
