import ChatCore
import ChatStore
import CryptoTestSupport
import Foundation
import JSONReading
import MatrixBackend
import ToolSupport

/// Opening a room with 10,000 encrypted messages, relative to one with the same messages in the clear.
struct SealedRoomBench {
    let folder: URL

    private static let count = 10_000
    private static let batch = 100
    private static let clear = "!clear:example.org"
    private static let ann = "@ann:example.org"

    func rows() async throws -> [BenchmarkRow] {
        let device = try TestDevice(ExactText(Self.ann), "PEER")
        var users = BenchUsers()
        try users.add(Self.ann, [device])
        try users.setMembers([Self.ann])
        let server = BenchHomeserver(users: users)
        let account = try await BenchAccount.start(in: folder, server, MemoryCredentialStore())
        try server.sync(
            BenchEvents.sync(
                0,
                [
                    BenchHomeserver.room: BenchEvents.state(isEncrypted: true, members: [Self.ann]),
                    Self.clear: BenchEvents.state(isEncrypted: false, members: [Self.ann]),
                ]))
        try await server.waitUntilConsumed()
        try await fill(server, device)
        let rooms = [Self.clear, BenchHomeserver.room]
        for room in rooms { try await check(RoomID(room), account) }
        var times: [String: [Double]] = [:]
        for _ in 0..<101 {
            for room in rooms { times[room, default: []].append(try await open(RoomID(room), account)) }
        }
        await account.close()
        let (less, more) = (times[Self.clear]?.median ?? 0, times[BenchHomeserver.room]?.median ?? 0)
        return [
            BenchmarkRow(
                name: "encryption: opening a room of \(Self.count) messages in the clear", value: less, unit: "ms"),
            BenchmarkRow(
                name: "encryption: opening a room of \(Self.count) encrypted messages", value: more, unit: "ms"),
            BenchmarkRow(name: "encryption: opening, to the clear", value: more / less, unit: "x", target: 1.2),
        ]
    }

    /// Delivers messages of another user, with a new session for each hundred.
    private func fill(_ server: BenchHomeserver, _ device: TestDevice) async throws {
        try await server.waitForOneTimeKeys()
        guard let key = server.oneTimeKeys.first, let target = server.device("D") else {
            throw SoakFailure("no keys were uploaded")
        }
        let writer = try BenchWriter(device, to: target, oneTimeKey: key)
        for first in stride(from: 0, to: Self.count, by: Self.batch) {
            try writer.rotate()
            var (sealed, clear): ([JSONValue], [JSONValue]) = ([], [])
            for number in first..<first + Self.batch {
                let content: JSONValue = [
                    "msgtype": "m.text", "body": .string("Message \(number) of many, none of which says much"),
                ]
                let time = 1_700_000_000_000 + Int64(number) * 1000
                clear.append(
                    BenchEvents.event("$clear\(number)", "m.room.message", content, by: Self.ann, at: time))
                sealed.append(try writer.event("$sealed\(number)", content, at: time))
            }
            try server.sync(
                BenchEvents.sync(
                    1 + first / Self.batch, [BenchHomeserver.room: sealed, Self.clear: clear],
                    toDevice: [try writer.key()]))
            try await server.waitUntilConsumed()
        }
    }

    private func check(_ room: RoomID, _ account: BenchAccount) async throws {
        let page = try await account.store.messages(in: room, before: .max, limit: 100)
        let texts = page.messages.filter { $0.seal == nil && $0.text.hasPrefix("Message ") }
        guard texts.count == 100 else {
            throw SoakFailure("\(texts.count) of 100 messages can be read: \(page.messages.last?.seal as Any)")
        }
    }

    private func open(_ room: RoomID, _ account: BenchAccount) async throws -> Double {
        let start = ContinuousClock.now
        for await update in account.backend.timeline(of: room, limit: 100) {
            guard case .opened(let page, _, _) = update, !page.messages.isEmpty else { continue }
            break
        }
        return (ContinuousClock.now - start) / .milliseconds(1)
    }
}
