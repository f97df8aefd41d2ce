import ChatCore
import Composer
import Foundation
import JSONReading
import MatrixBackend
import ToolSupport

/// The requests from the first sync to the first message in a room with 1,000 devices, and after a restart.
struct SharingBench {
    let folder: URL

    private static let users = 500
    private static let devicesOfUser = 2

    func rows() async throws -> [BenchmarkRow] {
        let server = BenchHomeserver(users: try BenchUsers(Self.users, devices: Self.devicesOfUser))
        let credentials = MemoryCredentialStore()
        let room = RoomID(BenchHomeserver.room)
        var account = try await BenchAccount.start(in: folder, server, credentials)
        // The requests that every start makes do not count.
        try await server.waitUntilQuiet()
        let before = server.requests.count
        let start = ContinuousClock.now
        let cpu = try await ProcessTime.of {
            // A lazily loaded room, whose other members have to be requested.
            try server.sync(
                BenchEvents.sync(0, [room.rawValue: BenchEvents.state(isEncrypted: true, members: [])]))
            try await server.waitUntilConsumed()
            _ = try await account.backend.send(WrittenMessage(WrittenText("One")), as: TransactionID("1"), to: room)
            try await server.waitUntilSent(1)
        }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        let devices = Self.users * Self.devicesOfUser
        guard server.reachedDevices == devices else {
            throw SoakFailure("encryption, sharing: \(server.reachedDevices) of \(devices) devices got a key")
        }
        let first = Array(server.requests.dropFirst(before))
        Self.list(first)
        await account.close()

        let between = server.requests.count
        account = try await BenchAccount.start(in: folder, server, credentials)
        try server.sync(BenchEvents.sync(1, [:]))
        try await server.waitUntilConsumed()
        _ = try await account.backend.send(WrittenMessage(WrittenText("Two")), as: TransactionID("2"), to: room)
        try await server.waitUntilSent(2)
        let second = Array(server.requests.dropFirst(between))
        await account.close()
        Self.list(second)
        return [
            BenchmarkRow(
                name: "encryption: first message to \(devices) devices, requests", value: Double(first.count), unit: "",
                target: 20),
            BenchmarkRow(
                name: "encryption: first message to \(devices) devices, with the server's part", value: cpu,
                unit: "s CPU", target: 2),
            BenchmarkRow(
                name: "encryption: first message to \(devices) devices", value: elapsed, unit: "s"),
            BenchmarkRow(
                name: "encryption: after a restart, requests for the keys of a room",
                value: Double(second.count(where: Self.isForKeys)), unit: "", target: 0),
        ]
    }

    /// Whether a request concerns the readers of a room, unlike those that every start makes.
    private static func isForKeys(_ request: String) -> Bool {
        [" keys/", "sendToDevice", "members", "state/m.room"].contains { request.contains($0) }
    }

    private static func list(_ requests: [String]) {
        // Without IDs.
        let names = requests.map { $0.split(separator: "/").prefix(2).joined(separator: "/") }
        let counts = Dictionary(names.map { ($0, 1) }) { $0 + $1 }.sorted { $0.key < $1.key }
        print("requests: " + counts.map { "\($0.value) × \($0.key)" }.joined(separator: ", "))
    }
}
