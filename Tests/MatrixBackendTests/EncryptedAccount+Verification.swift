import ChatCore
import ChatTestSupport
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixCrypto
import Testing

@testable import MatrixBackend

/// Verifying Ann in a direct chat with her, which is not encrypted.
extension EncryptedAccount {
    static let ann = "@ann:example.org"
    static let requesting = "/send/m.room.message/"
    static let secretStorage = "/account_data/m.secret_storage.default_key"

    /// Returns a confirmed account with that chat.
    /// - Parameters:
    ///   - stored: the response to a request for the secret storage.
    ///   - sent: the response to an event that is sent.
    static func confirmed(
        in folder: TemporaryFolder, devices: KnownDevices, clock: any Clock<Duration> = ManualClock(),
        stored: JSONValue? = nil,
        sent: @escaping @Sendable (MatrixRequest) -> JSONValue = { _ in ["event_id": "$request"] }
    ) async throws -> EncryptedAccount {
        let own = ExactText(user.rawValue)
        try devices.add(TestDevice(own, "OTHER"))
        try devices.add(TestDevice(ExactText(ann), "PEER"))
        let account = try await start(in: folder, MemoryCredentialStore(), devices: devices, clock: clock) { request in
            let path = request.url.path
            if path.hasSuffix(secretStorage) { return stored }
            if path.hasSuffix("/account_data/m.direct") { return .object([ann: [.string(room.rawValue)]]) }
            if path.contains("/state/m.room.member/") { return ["membership": "join"] }
            if path.contains("/send/") { return sent(request) }
            if path.hasSuffix("/keys/signatures/upload") || path.contains("/sendToDevice/") { return [:] }
            return nil
        }
        try await account.sync(state.filter { $0["type"] != "m.room.encryption" })
        let machine = try #require(await account.backend.keys.machine)
        try await machine.track([own, ExactText(ann)])
        #expect(await account.backend.keys.makeAllRequests())
        #expect(try await !machine.adopt(TestIdentity(own).secrets).isEmpty)
        return account
    }

    /// Ann's answer to the request `$request`.
    static let ready = Events.event(
        "$ready", "m.key.verification.ready",
        [
            "from_device": "PEER", "methods": ["m.sas.v1"],
            "m.relates_to": ["rel_type": "m.reference", "event_id": "$request"],
        ], by: ann)

    /// Returns the first verification that satisfies a condition, once there is one.
    func verification(where condition: (Verification) -> Bool) async throws -> Verification {
        for await all in backend.verifications() {
            if let found = all.first(where: condition) { return found }
        }
        throw CancellationError()
    }

    /// Waits until the server has received this many requests whose path contains this.
    func received(_ part: String, _ count: Int = 1) async throws {
        while server.paths.count(where: { $0.contains(part) }) < count {
            try await Task.sleep(for: .milliseconds(5))
        }
    }
}
