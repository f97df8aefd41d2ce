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
            (hasIdentity: try await machine.ownIdentity() != .none, devices: try await machine.ownDevices())
        }
        let own = await keys.deviceID
        let devices = listed.map { device in
            AccountDevice(
                id: device.id, name: device.name, lastSeen: device.lastSeen, isThis: device.id == own,
                trust: known.map { known in
                    guard let keys = known.devices[ExactText(device.id)] else { return .withoutEncryption }
                    guard known.hasIdentity else { return .unknown }
                    return keys.isConfirmed ? .confirmed : .unconfirmed
                } ?? .unknown)
        }
        return devices.sorted { one, other in
            if one.isThis != other.isThis { return one.isThis }
            if one.lastSeen != other.lastSeen { return one.lastSeen ?? .distantPast > other.lastSeen ?? .distantPast }
            return one.id < other.id
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
